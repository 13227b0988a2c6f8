"""GROUP BY: which cells an answer has."""
