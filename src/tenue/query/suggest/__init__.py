"""Limits of what one person may add, chosen in private."""
