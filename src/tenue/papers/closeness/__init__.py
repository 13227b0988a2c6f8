"""t-closeness by buckets, Anatomy, and differential privacy (thesis, chapter 7)."""
