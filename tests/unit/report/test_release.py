"""The report of a release."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from tenue.evaluate import associations, likeness, risk, utility
from tenue.evaluate.two_tables.distribution import marginals
from tenue.promise import Certificate, KAnonymity
from tenue.report.document import Block, Document, Grid, Section
from tenue.report.release import ReleaseFacts, release_document
from tenue.report.risk_utility_blocks import (
    _distance,
    association_blocks,
    class_blocks,
    distribution_blocks,
    loss_blocks,
    risk_blocks,
    size_figures,
)
from unit.publish.census import people, schema


def text(*blocks: Block) -> str:
    return Document("t", [], [Section("s", blocks)]).html()


def masked() -> object:
    table = people()
    place = table.column_names.index("income")
    return table.set_column(place, "income", table.column("income").combine_chunks()[::-1])


def test_risk_is_for_the_holder_and_explains_itself() -> None:
    found = risk(people(), masked(), schema())
    blocks = risk_blocks(found)
    assert all(block.holder for block in blocks)
    page = text(*blocks)
    for words in (
        "Record linkage",
        "0 % is safe",
        "Close to the truth",
        "with their true value",
    ):
        assert words in page


def test_look_alikes_say_k_l_and_t() -> None:
    found = risk(people(), masked(), schema()).check
    assert found is not None
    page = text(*class_blocks(found, holder=False))
    assert ">k<" in page
    assert "earth mover" in page
    assert all(block.holder for block in class_blocks(found, holder=True))


def test_both_kinds_of_loss_are_asked_and_others_are_none() -> None:
    for found in (utility(people(), masked(), schema()), likeness(people(), masked(), schema())):
        blocks = loss_blocks(found)
        assert all(block.holder for block in blocks)
        assert "is best" in text(*blocks)
    with pytest.raises(TypeError):
        loss_blocks(3)


@pytest.mark.parametrize(
    ("distance", "shown"),
    [(0.0, "0"), (1e-15, "0"), (3.3e-8, "< 0.0001"), (1e-4, "0.0001"), (0.25, "0.25")],
)
def test_a_small_distance_is_read_without_powers_of_ten(distance: float, shown: str) -> None:
    """It is still a number among numbers; the mutant writes 3.3e-08, or 0, which it is not."""
    assert _distance(distance) == shown
    assert 'td class="number"' in text(Grid(["column", "mean"], [["x", _distance(distance)]]))


def test_sizes_are_for_the_holder() -> None:
    block = size_figures(MappingProxyType({"": {5: 3}, "income": {4: 1}}), 4)
    assert block.holder
    assert "Sizes of groups of <code>income</code>" in text(block)


def test_others_see_the_release_and_not_the_original() -> None:
    original, released = people(), masked()
    found = associations(original, released, schema=schema())
    alone, both = marginals(None, released, schema()), marginals(original, released, schema())
    blocks = [
        *distribution_blocks(alone, both),
        *association_blocks(found, alone, compares=True),
    ]
    page = text(*blocks)
    assert "Associations in the original" in page
    assert found.worst[0].measure in page
    public = Document("t", [], [Section("s", blocks)]).public().html()
    assert "Associations in the original" not in public
    assert "Associations in the release" in public
    assert "original" not in public
    without = [*distribution_blocks(alone, ()), *association_blocks(found, alone, compares=False)]
    assert not any(block.holder for block in without)
    assert "not drawn" in text(*distribution_blocks(alone * 10, ()))


# -- release ---------------------------------------------------------------------------------------

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
        promised="4-anonymity",
        verdict=[("Largest risk", "A RISK."), ("Left out", "THREE ROWS.")],
        rows=60,
        columns=6,
        certificate=CERTIFICATE,
        released=marginals(None, table, schema()),
        compared=marginals(table, table, schema()),
        risk=risk(table, table, schema()),
        utility=utility(table, table, schema()),
        association=utility(table, table, schema()).association,
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
        "4-anonymity",
        "A RISK.",
        "THREE ROWS.",
        "A REMARK.",
        "A WARNING.",
        "A STEP.",
        "Disclosure risk",
        "Utility",
        "Sizes of groups",
        "--public",
    ):
        assert words in page


def test_the_public_one_has_nothing_of_the_original(facts: ReleaseFacts) -> None:
    document = release_document(facts).public()
    page = document.html()
    assert not document.for_holder
    for words in (
        "A REMARK.",
        "A RISK.",
        "THREE ROWS.",
        "A WARNING.",
        "A STEP.",
        "Risk:",
        "Utility:",
        "Sizes of groups",
    ):
        assert words not in page
    for words in ("What is promised", "Anything else.", "Equivalence classes"):
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
    assert "Equivalence classes" not in page


def test_a_table_made_elsewhere_has_no_promise(facts: ReleaseFacts) -> None:
    page = release_document(replace(facts, certificate=None)).html()
    assert "What is promised" not in page
    assert "Disclosure risk" in page
