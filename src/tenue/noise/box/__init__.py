"""Noise for several answers at once, by the norm of what one unit can change."""
