"""The version, in one place; and the layout of answers, which outlives versions."""

VERSION = "0.2.0.dev0"

LAYOUT = 3
"""Whoever changes what a question measures, or how its answer is stored, adds one.

It is part of the key under which an answer is kept. While it stays, a repeated question is answered
from the ledger free of charge, whatever version asks; once it changes, no stored answer is read as
what it was not.
"""
