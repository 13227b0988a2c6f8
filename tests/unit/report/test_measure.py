from __future__ import annotations

from types import MappingProxyType

import pytest

from tenue.evaluate import likeness, risk, utility
from tenue.evaluate.pair.correlation import correlation_difference
from tenue.evaluate.pair.marginal import marginals
from tenue.report.document import Block, Document, Grid, Section
from tenue.report.measure import (
    _seen,
    distribution_blocks,
    look_alike_blocks,
    loss_blocks,
    risk_blocks,
    size_figures,
)
from unit.microdata.census import people, schema


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
    for words in ("Record linkage", "0 % is safe", "Close to the truth", "own true value"):
        assert words in page


def test_look_alikes_say_k_l_and_t() -> None:
    found = risk(people(), masked(), schema()).check
    assert found is not None
    page = text(*look_alike_blocks(found, holder=False))
    assert ">k<" in page
    assert "earth mover" in page
    assert all(block.holder for block in look_alike_blocks(found, holder=True))


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
    assert _seen(distance) == shown
    assert 'td class="number"' in text(Grid(["column", "mean"], [["x", _seen(distance)]]))


def test_sizes_are_for_the_holder() -> None:
    block = size_figures(MappingProxyType({"": {5: 3}, "income": {4: 1}}), 4)
    assert block.holder
    assert "Sizes of groups of <code>income</code>" in text(block)


def test_others_see_the_release_and_not_the_original() -> None:
    original, released = people(), masked()
    pair = correlation_difference(original, released)
    alone, both = marginals(None, released, schema()), marginals(original, released, schema())
    blocks = distribution_blocks(alone, both, pair)
    page = text(*blocks)
    assert "Correlations in the original" in page
    public = Document("t", [], [Section("s", blocks)]).public().html()
    assert "Correlations in the original" not in public
    assert "Correlations in the release" in public
    assert "original" not in public
    assert not any(block.holder for block in distribution_blocks(alone, (), pair))
    assert "not drawn" in text(*distribution_blocks(alone * 10, (), None))
