"""What may be written in a ledger, and in which order."""
