"""Question → SQL, as people and the ledger see it."""
