"""One file for each family of aggregates."""
