from __future__ import annotations

from dataclasses import replace

import pytest

from tenue.evaluate import risk, utility
from tenue.evaluate.pair.marginal import marginals
from tenue.promise import Certificate, KAnonymity
from tenue.report.release import ReleaseFacts, release_document
from unit.microdata.census import people, schema

CERTIFICATE = Certificate(
    promise=KAnonymity(4),
    neighbours="replace",
    unit="record",
    mechanism="a mechanism",
    parameters={"by": "mdav"},
    does_not_promise=("Anything else.",),
    assumptions=("An assumption.",),
)


@pytest.fixture(scope="module")
def facts() -> ReleaseFacts:
    table = people()
    return ReleaseFacts(
        title="A protected copy of people",
        rows=60,
        columns=6,
        certificate=CERTIFICATE,
        released=marginals(None, table, schema()),
        compared=marginals(table, table, schema()),
        risk=risk(table, table, schema()),
        utility=utility(table, table, schema()),
        correlation=utility(table, table, schema()).correlation,
        k=4,
        sizes={"": {4: 15}},
        remarks=["A REMARK."],
        warnings=["A WARNING."],
        history=["A STEP."],
    )


def test_it_says_what_is_promised_and_what_is_not(facts: ReleaseFacts) -> None:
    page = release_document(facts).html()
    for words in (
        "What is promised",
        "a mechanism",
        "Anything else.",
        "An assumption.",
        "A REMARK.",
        "A WARNING.",
        "A STEP.",
        "Risk: what an intruder could do",
        "Utility: what it is still good for",
        "Sizes of groups",
        "--public",
    ):
        assert words in page


def test_the_public_one_has_nothing_of_the_original(facts: ReleaseFacts) -> None:
    document = release_document(facts).public()
    page = document.html()
    assert not document.for_holder
    for words in ("A REMARK.", "A WARNING.", "A STEP.", "Risk:", "Utility:", "Sizes of groups"):
        assert words not in page
    for words in ("What is promised", "Anything else.", "Who looks alike"):
        assert words in page


def test_what_the_public_sees_does_not_change_with_the_original(facts: ReleaseFacts) -> None:
    """Whatever was computed from another original, the public page is the same."""
    other = replace(
        facts,
        compared=marginals(people().slice(0, 7), people(), schema()),
        warnings=["ANOTHER."],
        history=[],
        remarks=[],
        sizes={"": {9: 1}},
    )
    assert release_document(other).public().html() == release_document(facts).public().html()
    assert release_document(other).html() != release_document(facts).html()


def test_persons_that_the_release_does_not_name_are_for_the_holder(facts: ReleaseFacts) -> None:
    assert facts.risk is not None
    assert facts.risk.check is not None
    counted = replace(facts.risk, check=replace(facts.risk.check, unit="person"))
    page = release_document(replace(facts, risk=counted)).public().html()
    assert "Who looks alike" not in page


def test_a_table_made_elsewhere_has_no_promise(facts: ReleaseFacts) -> None:
    page = release_document(replace(facts, certificate=None)).html()
    assert "What is promised" not in page
    assert "Risk: what an intruder could do" in page
