"""Differentially private data sets through microaggregation (thesis, chapter 6)."""
