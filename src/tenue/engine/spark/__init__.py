"""The engine that asks a table in Spark."""
