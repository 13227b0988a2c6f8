"""Probabilistic k-anonymity by swapping (thesis, chapter 3)."""
