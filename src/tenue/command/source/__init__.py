"""Verbs about where a table is."""
