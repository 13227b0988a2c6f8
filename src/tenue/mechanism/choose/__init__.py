"""One value or category, chosen with exponentially falling weights."""
