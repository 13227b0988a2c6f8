"""From what is stored to the cells of every question: totals are sums of parts, exactly."""

from __future__ import annotations

import pytest

from tenue.query.workload.block import FINE
from tenue.query.workload.estimate import estimated
from unit.query.workload.small import planned, session

TEXTS = [
    "SELECT COUNT(*) FROM t WHERE x < 20",
    "SELECT c, COUNT(*) FROM t WHERE x < 20 GROUP BY c",
    "SELECT c, BIN(x, 10), COUNT(*) FROM t WHERE x < 20 GROUP BY c, 2",
]


@pytest.mark.parametrize("minimise", ["variance", "mean"])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_totals_are_the_sums_of_their_parts(neighbours: str, minimise: str) -> None:
    with session(neighbours) as data:
        total, parts, cells = data.ask_many(TEXTS, epsilon=1, minimise=minimise)
    assert total.exact == sum(row["count"] for row in parts.exact)
    for row in parts.exact:
        own = [cell["count"] for cell in cells.exact if cell["c"] == row["c"]]
        assert sum(own) == row["count"]


def test_true_answers_come_back() -> None:
    workload = planned(*TEXTS)
    measured = {
        cell: {workload.request.measures[0]: 1} for cell in range(len(workload.blocks[0].labels))
    }
    drawn = [block.truth(measured) for block in workload.blocks]
    found = estimated(workload, drawn)
    ((count,), (cell, slack)) = found[0][0]
    atoms = int((workload.blocks[0].labels >= 0).sum())
    assert count == pytest.approx(atoms * FINE, abs=slack)
    assert cell == 0
    assert 0 < slack < FINE / 100
