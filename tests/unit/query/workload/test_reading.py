"""Estimates are read with intervals that hold, means included."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.query.workload.block import FINE
from tenue.query.workload.estimate import estimated_plans
from tenue.query.workload.reading import Estimated, EstimatedMean
from unit.query.workload.small import TABLE, planned, session, thresholds

MEANS = [
    "SELECT c, AVG(pay), COUNT(*) FROM t GROUP BY c",
    "SELECT AVG(pay), SUM(pay) FROM t WHERE x < 20",
]


def test_means_are_near_the_truth_and_inside_their_interval() -> None:
    with session() as data:
        answers = data.ask_many(MEANS, epsilon=20, minimise="mean")
    assert isinstance(answers[0].plan.readings[0], EstimatedMean)
    wanted = TABLE.groupby("c")["pay"].mean()
    for row, ends in zip(answers[0].value, answers[0].interval(0.95), strict=True):
        assert row["avg_pay"] == pytest.approx(wanted[row["c"]], abs=2)
        low, high = ends["avg_pay"]
        assert 0 <= low <= row["avg_pay"] <= high <= 50
    assert answers[1].value["sum_pay"] == pytest.approx(TABLE[TABLE.x < 20]["pay"].sum(), abs=60)


def test_nothing_visible_is_the_middle_of_the_range() -> None:
    workload = planned(*MEANS, minimise="mean")
    reading = workload.plans[0].readings[0]
    assert isinstance(reading, EstimatedMean)
    assert reading.value(((-5, -7, 0), (0, 1)), None) == 25
    assert reading.value(((0, 10, 0), (0, 1)), None) == 50


def test_arithmetic_keeps_the_error_of_what_is_linear() -> None:
    with session() as data:
        plain, scaled = data.ask_many(
            ["SELECT COUNT(*) FROM t WHERE x < 9", "SELECT 100 * COUNT(*) - 7 FROM t WHERE x < 9"],
            epsilon=1,
        )
    if not isinstance(plain.plan.readings[0], Estimated):
        pytest.skip("another way was better")
    (one, two) = (a.exact for a in (plain, scaled))
    assert two == 100 * one - 7
    (low, high), (least, most) = plain.interval(0.9), scaled.interval(0.9)
    assert most - least == pytest.approx(100 * (high - low), rel=1e-3)


def test_the_worst_cell_is_what_is_told_before() -> None:
    texts = ["SELECT COUNT(*) FROM t", "SELECT BIN(x, 7), COUNT(*) FROM t GROUP BY 1"]
    workload = planned(*texts)
    for plan in workload.plans:
        for reading in plan.readings:
            assert isinstance(reading, Estimated)
            told = reading.before_rows((), None)
            every = [reading._at(cell).variance for cell in range(plan.cells)]
            assert told.variance == pytest.approx(max(every))
            assert reading.term is None
            cell = int(np.argmax(every))
            half = told.half_width(Fraction(19, 20))
            low, high = reading.interval((), Fraction(19, 20), ((0,), (cell, 0)), None)
            assert float(high - low) == pytest.approx(2 * half)


def test_thresholds_are_read_with_narrow_intervals() -> None:
    with session() as data:
        answers = data.ask_many(thresholds(), epsilon=1)
        low, high = answers[12].interval(0.95)
    assert high - low < 30
    assert answers[12].expected_error < 6


CUBE = [
    "SELECT c, BIN(x, 8), COUNT(*), AVG(pay) FROM t GROUP BY c, 2",
    "SELECT c, COUNT(*), AVG(pay) FROM t GROUP BY c",
    "SELECT BIN(x, 8), COUNT(*), AVG(pay) FROM t GROUP BY 1",
]


@pytest.mark.parametrize("texts", [CUBE, thresholds(20), thresholds(2)])
def test_rows_that_are_alike_have_the_same_weights(texts: list[str]) -> None:
    """Mutants: cells of different tables, or ranges of different lengths, are said to be alike."""
    shared = 0
    for way in planned(*texts, minimise="mean").ways:
        for block in way.blocks:
            lengths = np.cumsum(block.strategy.lengths)[:-1]
            for place in range(len(block.rows)):
                first = block.first_like(place)
                shared += first != place
                pairs = (np.split(block.weights(one), lengths) for one in (place, first))
                for own, other in zip(*pairs, strict=True):
                    assert np.allclose(np.sort(np.abs(own)), np.sort(np.abs(other)))
    assert (shared > 0) == (texts is CUBE)


def test_what_shares_a_noise_twice_is_not_taken_for_another_cell() -> None:
    """Two counts of one cell are in the same noise: rows that are alike alone are not together."""
    texts = ["SELECT c, COUNT(*) - 2 * COUNT(y) AS d FROM t GROUP BY c", "SELECT COUNT(y) FROM t"]
    for way in planned(*texts, minimise="mean").ways:
        for block in (block for block in way.blocks if len(way.blocks) == 1):
            spread = 1 / (2 * np.sinh(block.rates / 2) ** 2)
            made, _ = estimated_plans(planned(*texts).alone, way)
            reading = made[0].readings[0]
            for cell in range(3):
                terms = [(reading.found.row(t.component, cell), t.weight) for t in reading.terms]
                weights = sum(float(w * FINE) * block.weights(row) for (_, _, row), w in terms)
                assert reading._at(cell).variance == pytest.approx((weights**2) @ spread)


def test_a_mean_between_two_shares_reaches_as_far_as_its_own_law() -> None:
    """Mutant: the law of the nearest share alone."""
    workload = planned(*CUBE, minimise="mean")
    reading = next(r for plan in workload.plans for r in plan.readings if hasattr(r, "reach"))
    level = Fraction(19, 20)
    for share in (0.0, 0.0039, 0.2, 0.4961, 0.5, 0.73, 0.9999):
        own = reading._blend(0, share).half_width(level)
        assert own * 0.999 <= reading.reach(0, share, level) <= own * 1.03
        assert reading.reach(0, share, level) >= own or share * 128 % 1 == 0
