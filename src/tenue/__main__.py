"""`python -m tenue` is the command line."""

from .cli.entry_point import run

run()
