"""`python -m tenue` is the command line."""

from .command.process import run

run()
