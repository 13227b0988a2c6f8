"""Rows of whole numbers that are read in passes: in memory, sorted, or in parts on disk."""
