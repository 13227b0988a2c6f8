"""Questions answered with individual differential privacy."""
