"""One table: groups of equal rows, and how diverse they are."""
