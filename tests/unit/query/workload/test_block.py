"""A block is proved when it is made; what it releases is whole, and adds up exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tenue.engine.request import Measure
from tenue.errors import Fault, Refused
from tenue.noise.source import SYSTEM
from tenue.promise.loss import EpsilonDelta
from tenue.query.workload.block import FINE, Quantity
from unit.query.workload.small import planned, schema, thresholds


def test_sides_hold_count_and_sum() -> None:
    pair = Quantity("pair", "x", -2, 6)
    measured = {Measure("present", "x"): 3, Measure("total", "x"): 7}
    above, below = pair.sides(measured)
    assert (above, below) == (6 * 3 - 7, 7 + 2 * 3)
    assert above + below == 3 * pair.span
    assert Quantity("total", "x", -2, 6).sides(measured) == (7,)
    assert Quantity("rows").sides({Measure("rows"): 5}) == (5,)


def test_a_block_that_costs_too_much_is_a_fault() -> None:
    (block,) = planned(*thresholds()).blocks
    with pytest.raises(Fault):
        replace(block, prices=tuple(price * 2 for price in block.prices))
    with pytest.raises(Fault):
        replace(block, swap=Fraction(1, 2))


def test_prices_use_nearly_all_of_the_price() -> None:
    for described in (schema(), schema("replace"), schema("replace", 3)):
        for block in planned(*thresholds(), described=described).blocks:
            top, bottom = block.strategy.largest_cost(block.prices)
            assert 0.999 * block.price.units <= top / bottom <= block.price.units


def test_too_little_is_refused_and_not_rounded_to_nothing() -> None:
    from tenue.query.workload.block import make_block
    from tenue.query.workload.strategy.contract import Candidate

    (block,) = planned(*thresholds()).blocks
    tents = Candidate(block.strategy, (0.5,) * len(block.prices), block.rows, block.labels)
    with pytest.raises(Refused):
        make_block(
            block.quantity, block.slices, tents, EpsilonDelta(1), replace=False, rows_per_unit=1
        )


def test_what_is_released_is_whole_and_estimates_are_near() -> None:
    (block,) = planned(*thresholds(), price=EpsilonDelta.of(50)).blocks
    measured = {cell: {Measure("rows"): cell + 1} for cell in range(len(block.labels))}
    drawn = block.release(measured, SYSTEM)
    assert all(type(v) is int for side in drawn for level in side for v in level)
    truth, near = block.truth(measured), block.estimates(drawn)[0]
    assert block.estimates(truth)[0][3] == pytest.approx((1 + 2 + 3 + 4) * FINE, abs=9)
    assert near[3] / FINE == pytest.approx(10, abs=3)
    assert all(0 < parts < FINE // 1000 for parts in block.slack(drawn))


def test_other_prices_have_another_name() -> None:
    one, other = planned(*thresholds()).blocks[0], planned(*thresholds(29)).blocks[0]
    assert one.digest == planned(*thresholds()).blocks[0].digest != other.digest


def test_the_largest_price_leaves_errors_that_floats_hold() -> None:
    """Mutant: weights 1/variance of noise whose variance is 0 in floats."""
    chosen = planned(*thresholds(), price=EpsilonDelta.of(10_000))
    assert any(way.blocks for way in chosen.ways)
    for block in (block for way in chosen.ways for block in way.blocks):
        atoms = list(range(1 + int(block.labels.max())))
        (found,) = block.estimates([block.strategy.answers(atoms)])
        assert found == [FINE * total for total in block.rows.whole_sums(atoms)]
        assert 0 < block.variances.max() < 1e-5


def test_a_public_number_of_rows_is_released_and_met() -> None:
    (block,) = planned(*thresholds(), described=schema("replace")).blocks
    assert block.has_outside
    measured = {cell: {Measure("rows"): cell + 1} for cell in range(len(block.labels))}
    rows = sum(own[Measure("rows")] for own in measured.values()) + 17
    (levels,) = block.release(measured, SYSTEM, rows)
    assert levels[-1] == [rows]
    assert len(levels) == len(block.laws) + 1
    every = block.estimator.estimate([np.array(level, dtype=np.float64) for level in levels])
    assert every.sum() == pytest.approx(rows)
    assert block.digest != replace(block, strategy=replace(block.strategy, sum_public=False)).digest
    for other in (schema(), schema("replace", 2)):
        assert not any(b.has_outside for b in planned(*thresholds(), described=other).blocks)
