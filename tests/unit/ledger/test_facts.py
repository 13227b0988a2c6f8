"""Facts, what they cost, and the chain of entries."""

from __future__ import annotations

import dataclasses
import hashlib

import pytest

from tenue.errors import InvalidArgument, LedgerFault, NotPromised
from tenue.ledger import facts
from tenue.ledger.canonical_text import canonical, digest, given_text
from tenue.ledger.composition import Charge, charge, charge_in, delta_in
from tenue.ledger.facts import KINDS, Answered, Entry, SchemaChanged, from_fields, to_fields
from tenue.privacy.loss import ATTO, EpsilonDelta


def test_a_digest_knows_types_and_ignores_order() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest(17) != digest("17")
    assert len(digest(None)) == 64


def test_no_float_that_json_cannot_say() -> None:
    with pytest.raises(ValueError):
        canonical(float("nan"))


def test_names_in_one_spelling() -> None:
    assert given_text("cafe\u0301", "dataset") == given_text("caf\u00e9", "dataset")
    assert given_text("", "reason", empty=True) == ""


@pytest.mark.parametrize(
    "value", ["", " ", " ann", "ann ", "a\0b", "a\u2028b", "\udcff", "x" * 201, None, 3, b"x"]
)
def test_what_is_no_name(value: object) -> None:
    with pytest.raises(InvalidArgument):
        given_text(value, "dataset")


# -- composition -----------------------------------------------------------------------------------


def test_what_epsilon_counts_in_which_ledger() -> None:
    assert charge_in("replace", "replace", 7) == 7
    assert charge_in("add-or-remove", "add-or-remove", 7) == 7
    assert charge_in("replace", "add-or-remove", 7) == 14
    with pytest.raises(NotPromised):
        charge_in("add-or-remove", "replace", 7)


def test_the_numbers_are_those_of_the_loss() -> None:
    assert delta_in("replace", "add-or-remove", 10**9, 1000) == 3719
    assert delta_in("replace", "replace", 10**9, 1000) == 1000
    assert charge(EpsilonDelta(5, 7), "add-or-remove", "17") == Charge(5, 7, "add-or-remove", "17")
    assert Charge(5, 7, "replace").loss == EpsilonDelta(5, 7)


def test_a_delta_under_replace_has_no_price_under_add_or_remove() -> None:
    with pytest.raises(NotPromised):
        delta_in("add-or-remove", "replace", 1, 1)


def test_a_price_about_a_person_must_hold_under_add_or_remove() -> None:
    with pytest.raises(NotPromised, match="counts it twice"):
        Charge.of(epsilon=1, neighbours="replace", person="17")
    assert Charge.of(epsilon=1, neighbours="add-or-remove", person="17").person == "17"


@pytest.mark.parametrize(
    "arguments",
    [
        {"nano": 0},
        {"nano": -5},
        {"nano": 1.5},
        {"nano": 10**15 + 1},
        {"atto": -1},
        {"atto": ATTO},
        {"neighbours": "both"},
        {"person": ""},
        {"person": 17},
    ],
)
def test_a_charge_is_a_price(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        Charge(**{"nano": 1, "atto": 0, "neighbours": "add-or-remove", **arguments})  # type: ignore[arg-type]


def test_a_price_is_rounded_up() -> None:
    charge = Charge.of(epsilon="1e-10", delta="1e-19", neighbours="replace")
    assert (charge.nano, charge.atto) == (1, 1)


def test_missing_words_are_named() -> None:
    with pytest.raises(InvalidArgument, match="neighbours"):
        Charge.of(epsilon=1)  # type: ignore[call-arg]


# -- fact ------------------------------------------------------------------------------------------

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
    "release-saved": "dataset release_digest method place",
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


# -- chain -----------------------------------------------------------------------------------------

FACT = SchemaChanged(dataset="census", schema_digest="ab")


def test_a_link_covers_the_text_and_what_came_before() -> None:
    text = facts.write(1, "now", FACT)
    link = facts.link(facts.GENESIS, text)
    assert (
        link == hashlib.sha256(hashlib.sha256(b"tenue ledger 1").digest() + text.encode()).digest()
    )
    assert facts.link(link, text) != link
    assert facts.link(facts.GENESIS, facts.write(2, "now", FACT)) != link
    assert facts.link(facts.GENESIS, facts.write(1, "then", FACT)) != link


def test_a_text_is_read_back() -> None:
    assert facts.read(4, facts.write(4, "now", FACT)) == ("now", FACT)
    entry = facts.entry(4, facts.write(4, "now", FACT), b"\1" * 32)
    assert (entry.sequence, entry.fact, entry.hash) == (4, FACT, "01" * 32)


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "{}", '{"time":"now"}', "{", facts.write(5, "now", FACT), "null"]
)
def test_a_text_that_does_not_belong_there_is_a_fault(text: str) -> None:
    with pytest.raises(LedgerFault):
        facts.read(4, text)


def test_nothing_may_follow_the_text() -> None:
    with pytest.raises(LedgerFault):
        facts.read(4, facts.write(4, "now", FACT) + "{}")
