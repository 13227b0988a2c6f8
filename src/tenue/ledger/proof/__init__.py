"""That the entries are those that were written: chain, anchor, recount."""
