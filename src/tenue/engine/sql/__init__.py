"""A request, written anew in SQL."""
