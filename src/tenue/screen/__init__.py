"""How facts are shown: one way to write a number, a table, a page of text, for people."""
