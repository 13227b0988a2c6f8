"""A private table that is drawn in blocks has the law of one that is drawn at once.

Blocks are drawn independently of each other from what was released. A random row of each block is
then an independent draw, whose law must be that of the released distribution, however small blocks
are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from alarm import assert_accepted, assert_rejected, claim, draws_for
from private_laws import numbers
from tenue.engine.passes.in_memory import InMemory
from tenue.noise.samplers import uniform
from tenue.noise.source import SYSTEM, Seeded
from tenue.publish.synthetic import privtree, synthesis
from tenue.publish.synthetic.counts import Weights
from tenue.publish.synthetic.domain import Places
from tenue.publish.synthetic.plan import WAYS

pytestmark = pytest.mark.random

FILE = "statistics/test_private_blocks.py"
SIZES = (40, 12)
IN_BLOCK = 5
FAR = 0.1
BLOCKS = draws_for(FAR)
RECORDS = 4_000


def released(by: str) -> tuple[Any, Any]:
    """A way for so many rows, and what it released of a skewed table."""
    rng = np.random.default_rng(3)
    x = np.minimum(rng.geometric(0.12, RECORDS), SIZES[0]) - 1
    y = (x // 4 + rng.integers(0, 4, RECORDS)) % SIZES[1]
    small = WAYS[by].planned(numbers(*SIZES), RECORDS, Fraction(4))
    drawing = small.release(InMemory(np.stack([x, y], axis=1)), Seeded(1))
    return WAYS[by].planned(numbers(*SIZES), BLOCKS * IN_BLOCK, Fraction(4)), drawing


def law_of(drawing: Any) -> Weights:
    """P(place ≤ x) of the first column, as it was released."""
    if not hasattr(drawing, "boxes"):
        margin = drawing.margins[0] if hasattr(drawing, "margins") else drawing.groups[0].margin
        edges, weights = margin.edges, margin.weights
        low, high = edges[:-1], edges[1:]
    else:
        low, high = drawing.boxes.low[:, 0], drawing.boxes.high[:, 0]
        weights = drawing.weights / drawing.weights.sum()
    mass = np.zeros(SIZES[0])
    for begin, end, weight in zip(low, high, weights, strict=True):
        mass[begin:end] += weight / (end - begin)
    return np.cumsum(mass)


def one_of_each(blocks: list[Places]) -> Places:
    chosen = uniform(IN_BLOCK, len(blocks), SYSTEM)
    return np.array([block[row, 0] for block, row in zip(blocks, chosen, strict=True)])


@pytest.mark.parametrize("by", ["tree", "columns", "two-stage", "copula"])
def test_a_row_of_a_block_has_the_law_that_was_released(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(FILE, by)
    monkeypatch.setattr(synthesis, "CELLS", len(SIZES) * IN_BLOCK)
    way, drawing = released(by)
    blocks = list(way.blocks(drawing, SYSTEM))
    assert [len(block) for block in blocks] == [IN_BLOCK] * BLOCKS
    upto = np.concatenate([[0.0], law_of(drawing)])
    law, below = (lambda x: upto[x + 1]), (lambda x: upto[x])
    assert_accepted(one_of_each(blocks), law, below, f"{by} in blocks")


def test_blocks_without_an_offset_of_their_own_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant rounds the shares of a block: what has less than a row of it never appears."""

    def rounded(weights: Weights, total: int, source: object) -> Any:
        ends = np.cumsum(weights) * (total / weights.sum())
        ends[-1] = total
        return np.diff(np.floor(ends).astype(np.int64), prepend=0)

    claim(FILE, "rounded")
    monkeypatch.setattr(synthesis, "CELLS", len(SIZES) * IN_BLOCK)
    monkeypatch.setattr(privtree, "apportioned", rounded)
    way, drawing = released("tree")
    upto = np.concatenate([[0.0], law_of(drawing)])
    law, below = (lambda x: upto[x + 1]), (lambda x: upto[x])
    assert_rejected(one_of_each(list(way.blocks(drawing, SYSTEM))), law, below, "rounded shares")
