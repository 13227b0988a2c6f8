"""Question → every admissible way and the best one, without rows."""
