"""A schema as TOML: read with every mistake at once, and written."""
