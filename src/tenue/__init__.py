"""Tenue: the least noise that keeps the promise."""
