"""Bayes estimates of one noisy count (Naldi and D'Acquisto)."""
