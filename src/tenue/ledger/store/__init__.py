"""Where ledgers are kept: in memory, in a SQLite file, in a PostgreSQL schema."""
