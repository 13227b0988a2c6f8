"""The transactions of a ledger: which facts may be written, and in which order."""
