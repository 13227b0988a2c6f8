"""The least noise that differential privacy allows (thesis, chapter 4)."""
