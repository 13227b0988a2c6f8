"""The version of Tenue, and of the layout of stored answers."""

VERSION = "0.2.0.dev0"

LAYOUT = 3
"""To be increased by every change of what a question measures, or of how its answer is stored.

It is part of the key under which an answer is stored. As long as it is the same, every version
answers a repeated question from the ledger free of charge; a change prevents that a stored answer
is misread.
"""
