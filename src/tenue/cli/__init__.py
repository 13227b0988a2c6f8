"""The command line: one verb per file, no logic of its own."""

from .main import main

__all__ = ["main"]
