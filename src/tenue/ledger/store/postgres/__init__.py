"""A ledger in a PostgreSQL database, for many machines."""
