"""Question → all admissible candidates and the chosen one, without rows."""
