"""Noise with a polynomial tail, for smooth sensitivity."""
