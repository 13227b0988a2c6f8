"""The rows of a ledger in SQL tables, of whichever database."""
