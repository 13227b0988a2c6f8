from __future__ import annotations

import dataclasses

import pytest

from tenue.errors import LedgerFault
from tenue.ledger.fact import KINDS, Answered, Entry, from_fields, to_fields

# The kinds that ledgers in use hold. A meaning never changes: add a kind, do not edit one.
KNOWN = {
    "dataset-opened": "dataset neighbours total_nano total_atto per_analyst_nano schema_digest"
    " data_version",
    "cap-changed": "dataset total_nano total_atto per_analyst_nano",
    "individual-capped": "dataset individual_nano",
    "neighbours-changed": "dataset neighbours",
    "protocol-changed": "dataset protocol",
    "schema-changed": "dataset schema_digest",
    "data-changed": "dataset data_version",
    "source-validated": "dataset names size modified mark reading digest",
    "reserved": "dataset analyst column nano atto neighbours person question_digest question_name"
    " key cache_key owner",
    "asked": "dataset reservation text",
    "unit-stated": "dataset unit",
    "answered": "dataset reservation answer_digest size",
    "returned": "dataset reservation reason",
    "unanswered": "dataset reservation reason",
    "release-registered": "dataset release_digest method override",
    "rows-released": "dataset release_digest method override marks",
    "release-withdrawn": "dataset release_digest reason",
}


def test_old_ledgers_stay_readable() -> None:
    found = {
        kind: [field.name for field in dataclasses.fields(fact)] for kind, fact in KINDS.items()
    }
    assert found == {kind: names.split() for kind, names in KNOWN.items()}


def test_facts_are_frozen_and_survive_the_journey() -> None:
    fact = Answered(dataset="census", reservation=2, answer_digest="ab", size=1)
    assert from_fields(to_fields(fact)) == fact
    with pytest.raises(dataclasses.FrozenInstanceError):
        fact.size = 2  # type: ignore[misc]


@pytest.mark.parametrize("plain", [{"kind": "future"}, {}, {"kind": "answered", "dataset": "x"}])
def test_an_unknown_fact_is_never_skipped(plain: dict[str, object]) -> None:
    with pytest.raises(LedgerFault):
        from_fields(plain)


def test_an_entry_prints_its_hash() -> None:
    entry = Entry(3, "now", Answered(dataset="c", reservation=2, answer_digest="ab", size=1), "ff")
    assert entry.to_json() == (
        '{"answer_digest":"ab","dataset":"c","hash":"ff","kind":"answered","reservation":2,'
        '"sequence":3,"size":1,"time":"now"}'
    )
    assert (entry.kind, entry.dataset) == ("answered", "c")
