"""How a release leaves the house: registered, then written whole."""
