"""Answers that could be those of a table: whole, not negative, and adding up."""
