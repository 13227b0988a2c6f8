"""Thresholds, ranges and tables that are declared, and what is added up from them."""

from __future__ import annotations

from typing import Any

import pytest

import tenue as tn
from tenue.errors import Refused
from unit.query.workload.small import TABLE, schema, session


def test_a_declared_histogram_gives_thresholds_and_ranges() -> None:
    with session() as data:
        below = data.ask_many(tn.workload.prefixes("x"), epsilon=30)
        between = data.ask_many(tn.workload.ranges("x"), epsilon=30)
    assert below.up_to(19).value == pytest.approx((TABLE.x <= 19).sum(), abs=4)
    wanted = TABLE.x.between(5, 30).sum()
    assert between.between(5, 30).value == pytest.approx(wanted, abs=4)
    low, high = between.between(5, 30).interval(0.999)
    assert low <= wanted <= high
    assert len(below[0].value) == 40


def test_their_noise_is_shaped_to_what_is_added_up() -> None:
    with session() as data:
        line = data.ask_many(tn.workload.prefixes("x"), epsilon=1)
        flat = data.ask_many(["SELECT BIN(x, 1), COUNT(*) FROM t GROUP BY 1"] * 2, epsilon=1)
    assert line.up_to(30).variance < 0.8 * 31 * 1.85
    assert line._workload.blocks[0].digest != flat._workload.chosen.name  # type: ignore[union-attr]


def test_rows_are_every_threshold_or_range() -> None:
    assert tn.workload.prefixes("x").rows(3).dense().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert len(tn.workload.ranges("x").rows(5)) == 15
    assert {tuple(row) for row in tn.workload.ranges("x").rows(2).dense()} == {
        (1, 0),
        (0, 1),
        (1, 1),
    }


def test_tables_are_written_out() -> None:
    asked = tn.workload.marginals(["c", "BIN(x, 10)", "born"], ways=1, where="y > 0")
    texts = asked.texts(schema())
    assert texts[0] == 'SELECT "c", COUNT(*) AS count FROM t WHERE y > 0 GROUP BY 1'
    assert len(tn.workload.marginals(["a", "b", "c", "d"], ways=2).texts(schema())) == 6
    with session() as data:
        found = data.ask_many(tn.workload.marginals(["c", "BIN(x, 10)"], ways=1), epsilon=1)
    assert [len(one.value) for one in found] == [3, 4]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: tn.workload.prefixes("c").texts(schema()),
        lambda: tn.workload.marginals("c"),  # type: ignore[arg-type]
        lambda: tn.workload.marginals(["c"], ways=2),
        lambda: tn.workload.marginals([3]),  # type: ignore[list-item]
    ],
)
def test_refusals(wrong: Any) -> None:
    with pytest.raises(Refused):
        wrong()


def test_refusals_of_answers() -> None:
    with session() as data:
        line = data.ask_many(tn.workload.prefixes("x", width=10), epsilon=1)
        other = data.ask_many(
            ["SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t WHERE y > 1"], epsilon=1
        )
        for wrong in (lambda: line.between(7, 9), lambda: other.up_to(3)):
            with pytest.raises(Refused):
                wrong()
        spent = data.budget.spent
        with pytest.raises(Refused):
            data.ask_many(tn.workload.prefixes("x", width=0.5), epsilon=1)
        assert data.budget.spent == spent
