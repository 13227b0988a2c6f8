"""Debits as a data officer reads them."""

from __future__ import annotations

from fractions import Fraction

from tenue.ledger import Memory
from tenue.ledger.composition import Charge
from tenue.ledger.statement import debits

CHARGE = Charge.of(epsilon=0.5, neighbours="replace")


def test_every_debit_has_its_words_and_its_end() -> None:
    ledger = Memory()
    ledger.open_dataset("census", total=5, individual=1, neighbours="replace")
    first = ledger.reserve("census", "ann", CHARGE, "k", "q1", asked="SELECT\n COUNT(*)  FROM c")
    second = ledger.reserve("census", "bob", CHARGE, None, "q2")
    ledger.reserve("census", "bob", CHARGE, None, "q3", column="individual", asked="x" * 5000)
    ledger.commit(first, b"1")
    ledger.abandon(second, "no answer")
    one, two, three = debits(ledger.entries())
    assert (one.analyst, one.asked, one.outcome) == ("ann", "SELECT COUNT(*) FROM c", "answered")
    assert (two.asked, two.outcome) == (None, "spent, not answered")
    assert (three.column, three.outcome) == ("individual", "being answered")
    assert three.asked is not None
    assert len(three.asked) == 2000
    assert three.asked.endswith("…")
    assert {debit.epsilon for debit in (one, two, three)} == {Fraction(1, 2)}
    assert ledger.verify()


def test_a_replayed_key_is_one_debit() -> None:
    ledger = Memory()
    ledger.open_dataset("census", total=5, neighbours="replace")
    ledger.commit(ledger.reserve("census", "ann", CHARGE, "k", "q", asked="a"), b"1")
    ledger.reserve("census", "ann", CHARGE, "k", "q", asked="a")
    assert len(debits(ledger.entries())) == 1


def test_what_cannot_be_printed_is_not_stored() -> None:
    ledger = Memory()
    ledger.open_dataset("census", total=5, neighbours="replace")
    ledger.reserve("census", "ann", CHARGE, None, "q", asked="a\x1b[31mb\u2028c\ud800")
    (debit,) = debits(ledger.entries())
    assert debit.asked is not None
    assert debit.asked.isprintable()
