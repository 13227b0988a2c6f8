"""How the columns of a private table depend on each other."""
