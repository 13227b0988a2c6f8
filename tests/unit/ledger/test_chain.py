from __future__ import annotations

import hashlib

import pytest

from tenue.errors import LedgerFault
from tenue.ledger import chain
from tenue.ledger.fact import SchemaChanged

FACT = SchemaChanged(dataset="census", schema_digest="ab")


def test_a_link_covers_the_text_and_what_came_before() -> None:
    text = chain.write(1, "now", FACT)
    link = chain.link(chain.GENESIS, text)
    assert (
        link == hashlib.sha256(hashlib.sha256(b"tenue ledger 1").digest() + text.encode()).digest()
    )
    assert chain.link(link, text) != link
    assert chain.link(chain.GENESIS, chain.write(2, "now", FACT)) != link
    assert chain.link(chain.GENESIS, chain.write(1, "then", FACT)) != link


def test_a_text_is_read_back() -> None:
    assert chain.read(4, chain.write(4, "now", FACT)) == ("now", FACT)
    entry = chain.entry(4, chain.write(4, "now", FACT), b"\1" * 32)
    assert (entry.sequence, entry.fact, entry.hash) == (4, FACT, "01" * 32)


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "{}", '{"time":"now"}', "{", chain.write(5, "now", FACT), "null"]
)
def test_a_text_that_does_not_belong_there_is_a_fault(text: str) -> None:
    with pytest.raises(LedgerFault):
        chain.read(4, text)


def test_nothing_may_follow_the_text() -> None:
    with pytest.raises(LedgerFault):
        chain.read(4, chain.write(4, "now", FACT) + "{}")
