"""Few rows of each person."""
