"""Two tables: an original and its masked version, row by row."""
