"""The one door for tables: what may be given, and how large it may be."""
