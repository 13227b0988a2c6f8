"""Schemas as TOML: drafted, read with every mistake at once, and written."""
