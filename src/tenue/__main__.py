"""`python -m tenue` is the command line."""

from .command import main

main()
