"""The engine that comes with Tenue. Only this room imports DuckDB."""
