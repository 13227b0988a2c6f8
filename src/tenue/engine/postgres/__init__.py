"""The engine that asks a table in a PostgreSQL server."""
