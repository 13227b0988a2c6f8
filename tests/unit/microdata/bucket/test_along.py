"""People in one order, and groups that take from it what was counted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.bucket.along import along, group_at
from tenue.schema.column import Category, Number
from tenue.taxonomy import Taxonomy


@pytest.mark.parametrize("seed", range(20))
def test_every_group_has_its_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (rng.integers(1, 7), rng.integers(1, 5)))
    cells = np.repeat(np.arange(counts.shape[1]), counts.sum(axis=0))
    found = group_at(counts)(np.arange(cells.size))
    made = np.zeros_like(counts)
    np.add.at(made, (found, cells), 1)
    assert made.tolist() == counts.tolist()
    for cell in range(counts.shape[1]):  # and who come next stay together
        assert (np.diff(found[cells == cell]) >= 0).all()


def number(name: str, high: int) -> Number:
    return Number(name=name, role="other", low=Fraction(0), high=Fraction(high), grid=Fraction(1))


def test_neighbours_on_the_curve_are_close_in_every_column() -> None:
    """The mutant goes along the first column alone, and jumps in the second."""
    axis = np.arange(1, 17)
    rows = np.array([(9, x, y) for x in axis for y in axis])
    where = along([number("x", 15), number("y", 15)], [1, 2], [17, 17])(rows)
    steps = np.abs(np.diff(rows[np.argsort(where, kind="stable"), 1:], axis=0)).sum(axis=1)
    assert steps.mean() < 1.2
    first = along([number("x", 15)], [1], [17])(rows)
    jumps = np.abs(np.diff(rows[np.argsort(first, kind="stable"), 1:], axis=0)).sum(axis=1)
    assert jumps.max() > 10


def test_categories_lie_depth_first_and_many_columns_are_few() -> None:
    tree = Taxonomy.from_nested({"all": {"b": ["b1", "b2"], "a": ["a1", "a2"]}})
    town = Category(name="t", role="other", taxonomy=tree, stated="tree.json")
    names = [town.categories[i] for i in np.argsort(along([town], [0], [5])(np.c_[1:5]))]
    assert {names[0][0], names[1][0]} != {names[1][0], names[2][0]}
    wide = along([number(f"x{i}", 9) for i in range(20)], range(20), [11] * 20)
    assert wide(np.ones((3, 20), np.int64)).tolist() == [0, 0, 0]
