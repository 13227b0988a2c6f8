"""Individual differential privacy (Soria-Comas and others, 2017)."""
