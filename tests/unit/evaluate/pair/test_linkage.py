"""Record linkage by hand; ties, categories, missing values; wrong readings that are caught."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from tenue.evaluate.pair.attributes import paired
from tenue.evaluate.pair.linkage import linked_share
from unit.evaluate.stated import AGE, schema

link = tn.evaluate.record_linkage


def test_the_nearest_original_is_guessed() -> None:
    original = [[0.0], [10.0], [20.0]]
    assert link(original, original) == 1
    assert link(original, [[1.0], [11.0], [19.0]]) == 1
    assert link(original, [[9.0], [0.0], [19.0]]) == pytest.approx(1 / 3)
    assert link(original, [[19.0], [1.0], [11.0]]) == 0


def test_equally_near_originals_share_the_guess() -> None:
    original = [[1.0], [1.0], [1.0], [5.0]]
    assert link(original, original) == pytest.approx((3 * (1 / 3) + 1) / 4)
    assert link([[0.0], [2.0]], [[1.0], [1.0]]) == 0.5
    counting_ties_as_found = 1.0
    counting_ties_as_lost = 0.25
    assert link(original, original) not in (counting_ties_as_found, counting_ties_as_lost)


def test_the_masked_record_looks_for_the_original_and_not_the_other_way() -> None:
    original, masked = [[0.0], [4.0]], [[3.0], [100.0]]
    assert link(original, masked) == 0.5
    assert link(masked, original) == 0.5
    original, masked = [[0.0], [1.0], [10.0]], [[0.4], [0.6], [0.0]]
    assert link(original, masked) == pytest.approx(2 / 3)
    assert link(masked, original) == pytest.approx(1 / 3)


def test_the_share_is_a_fraction() -> None:
    attributes = paired([[1.0]] * 3 + [[2.0]] * 4, [[1.0]] * 7)
    assert linked_share(attributes, [1.0]) == Fraction(1, 7)


def test_scale_decides_what_is_near() -> None:
    original = np.array([[0.0, 0.0], [10.0, 1.0]])
    masked = np.array([[4.0, 0.9], [9.0, 0.0]])
    assert link(original, masked) == 1
    assert link(original, masked, scale=[10, 1]) == 0
    assert link(original, masked, columns=[1]) == 0
    assert link(original, masked, columns=[1, 0], scale={"0": 10, "1": 1}) == 0
    with pytest.raises(InvalidArgument):
        link(original, masked, scale=[1])
    with pytest.raises(InvalidArgument, match="overflow"):
        link(original * 1e90, masked, scale=[1e-90, 1])


def test_categories_and_blanks_link_too() -> None:
    original = pa.table({"job": ["a", "b", None], "age": [1, None, 3]})
    assert link(original, original) == 1
    masked = pa.table({"job": ["a", "a", None], "age": [1, None, 1]})
    stated = schema({"job": _JOB, "age": AGE})
    widths = {"job": 0.7369655941662062, "age": 100}
    # the second row differs from its own in the job, and as much from the first by its blank age
    assert link(original, masked, scale=widths, schema=stated) == pytest.approx(5 / 6)
    assert link(original, masked, schema=stated) == pytest.approx(2 / 3)
    assert link(original.select(["job"]), masked.select(["job"])) == pytest.approx(2 / 3)


_JOB = {"type": "category", "categories": ["a", "b"]}


def test_many_rows_go_through_blocks() -> None:
    """A thousand points a unit apart, each shown a little beside; then each beside the next."""
    line = np.arange(1000.0)[:, None]
    assert link(line, line + 0.4) == 1
    assert link(line, line + 0.6) == pytest.approx(1 / 1000)
    assert link(line, line + 0.5) == pytest.approx((999 * 0.5 + 1) / 1000)


def test_whole_numbers_beyond_2_to_the_53_are_told_apart() -> None:
    """As doubles the first two are one value, and half of them would be linked by a guess."""
    values = [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 5]
    table = pa.table({"x": values})
    assert tn.evaluate.record_linkage(table, table) == 1
    doubles = pa.table({"x": list(map(float, values))})
    assert tn.evaluate.record_linkage(doubles, doubles) == 0.75  # the mutant
    shifted = pa.table({"x": [value + 1 for value in values]})
    assert tn.evaluate.record_linkage(table, shifted) == 0.5  # two find their neighbours
    assert tn.evaluate.sse(table, shifted) == 4
    unsigned = pa.table({"x": pa.array([2**63 + value for value in range(4)], pa.uint64())})
    assert tn.evaluate.record_linkage(unsigned, unsigned) == 1
