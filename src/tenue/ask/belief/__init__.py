"""Questions asked with a prior."""
