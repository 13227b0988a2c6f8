"""The columns of a table that is published."""
