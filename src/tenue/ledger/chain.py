"""The hash chain: each entry's hash covers its text and the hash before it.

Guarantee
    Changing, deleting, inserting or moving an entry is seen by whoever walks the chain. Two things
    are not, for the chain holds no secret: a tail that was cut off cleanly, and a history that was
    written anew from some entry on, hashes and all. An `anchor` kept elsewhere shows both.

The hash of entry n is SHA-256(hash of entry n-1 followed by the entry's canonical JSON), and the
text holds the sequence number.
"""

from __future__ import annotations

import hashlib
import json

from ..errors import LedgerFault
from .fact import Entry, Fact, from_fields, to_fields
from .text import canonical

_decode = json.JSONDecoder().raw_decode

GENESIS = hashlib.sha256(b"tenue ledger 1").digest()
"""What stands before the first entry."""


def write(sequence: int, time: str, fact: Fact) -> str:
    """The text of an entry, the one that is stored and hashed."""
    plain = to_fields(fact)
    plain["sequence"] = sequence
    plain["time"] = time
    return canonical(plain)


def link(previous: bytes, text: str) -> bytes:
    """The hash of an entry."""
    return hashlib.sha256(previous + text.encode()).digest()


def read(sequence: int, text: str) -> tuple[str, Fact]:
    """Time and fact of an entry's text; a text that does not belong there is a fault."""
    try:
        plain, end = _decode(text)
        time = plain.pop("time")
        if plain.pop("sequence") != sequence or end != len(text):
            raise LedgerFault(f"entry {sequence} carries another number")
    except (ValueError, AttributeError, KeyError, TypeError):
        raise LedgerFault(f"entry {sequence} is not the text of an entry") from None
    return time, from_fields(plain)


def entry(sequence: int, text: str, link: bytes) -> Entry:
    """The entry as callers see it."""
    time, fact = read(sequence, text)
    return Entry(sequence, time, fact, link.hex())
