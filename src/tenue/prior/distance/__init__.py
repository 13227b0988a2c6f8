"""How far apart two values of a belief are."""
