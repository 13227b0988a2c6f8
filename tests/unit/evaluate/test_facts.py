"""Facts do not depend on how groups are handed over, as long as each is whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tenue.evaluate.code import Codes
from tenue.evaluate.facts import Asked, Loaded
from tenue.evaluate.group.count import Counts, Groups, counted
from tenue.evaluate.group.diversity import distinct_values
from tenue.evaluate.klt import Fold, Part, evaluate
from tenue.evaluate.rows import open_rows
from tenue.evaluate.verdict import Confidential

LABELS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3])
VALUES = np.array([0, 1, 2, 0, 2, 0, 1, 1, -1, 1, 2])


def part(first: int, last: int) -> tuple[Counts, np.ndarray]:
    """The counts of some groups, beside the totals of the whole table."""
    here = (first <= LABELS) & (last > LABELS)
    groups = Groups(LABELS[here] - first, last - first)
    totals = np.bincount(VALUES[VALUES >= 0], minlength=3)
    return replace(counted(groups, Codes(VALUES[here], 3)), totals=totals), groups.sizes


def folded(*parts: tuple[int, int], ordered: bool) -> Confidential:
    fold = Fold("x", ordered=ordered)
    for ends in parts:
        counts, sizes = part(*ends)
        fold.add(Part(counts, distinct_values(counts), sizes))
    return fold.measured(LABELS.size)


@pytest.mark.parametrize("ordered", [True, False])
def test_parts_and_their_order_change_nothing(ordered: bool) -> None:
    whole = folded((0, 4), ordered=ordered)
    assert folded((0, 1), (1, 2), (2, 4), ordered=ordered) == whole
    assert folded((2, 4), (0, 2), ordered=ordered) == whole
    assert whole.l == 2
    assert folded((0, 2), ordered=ordered) != whole  # a group that is left out is missed


def test_facts_of_rows_are_those_of_each_group() -> None:
    rows = open_rows([[30, 1], [30, 2], [40, 1], [40, 1], [40, 1]])
    found = evaluate(Loaded(rows, Asked(("0",), ("1",), None, None)))
    assert (found.sizes.rows, found.sizes.groups, found.sizes.sizes.tolist()) == (5, 2, [2, 3])
    assert (found.homogeneous_groups, found.homogeneous_rows) == (1, 3)
