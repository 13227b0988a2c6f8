"""A tree of boxes that is deep where many records are: noisy decisions, then noisy counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ...engine.contract import Passes
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.source import Source
from ..permute import shuffled
from .counts import MOVED, Weights, apportioned, fitted, noisy
from .domain import Domain, Places
from .growth import Boxes, Line, grown, parts
from .synthesis import Synthesis
from .tree_loss import SplitLaw

SPLITS = Fraction(3, 10)
"""The part of the budget of a tree that decides about splits; the rest is for counts."""


@dataclass(frozen=True)
class Leaves:
    """Rows from the boxes of a tree, by how many each is taken to hold."""

    boxes: Boxes
    weights: Weights

    def block(self, rows: range, source: Source) -> Places:
        made = self.boxes.drawn(apportioned(self.weights, len(rows), source), source)
        return np.asarray(made[shuffled(len(rows), source)])


@dataclass(frozen=True, kw_only=True)
class Tree(Synthesis):
    """Rows drawn from boxes that a private tree cuts the whole domain into.

    Guarantee
        `epsilon`-differential privacy for one record that takes any other value: decisions about
        splits keep within three tenths of it, and the counts of leaves, which a record moves by 2
        in all, have the rest.

    Source
        Zhang, Xiao and Xie 2016 (PrivTree); for whole numbers and replaced records: `SplitLaw`.
    """

    name: ClassVar[str] = "tree"
    mechanism: ClassVar[str] = "tree of boxes with noisy decisions and noisy counts"
    source: ClassVar[str] = "Zhang, Xiao and Xie 2016, with the exact loss for whole numbers"

    @classmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        planned = cls(domain=domain, rows=rows, epsilon=epsilon, **options)
        planned.law.require_within(SPLITS * epsilon)
        return planned

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(Line(axis.size, int(axis.blank)) for axis in self.domain.axes)

    @property
    def law(self) -> SplitLaw:
        """How splits are decided."""
        return SplitLaw.within(SPLITS * self.epsilon, parts(self.lines))

    def release(self, records: Passes, source: Source) -> Leaves:
        return Leaves(*weighed(records, self.lines, self.epsilon, source))

    @property
    def expected_error(self) -> float:
        return tree_error(self.lines, self.rows, self.epsilon)

    @property
    def least_epsilon(self) -> Fraction:
        return tree_least(self.epsilon)

    @property
    def parameters(self) -> Mapping[str, str]:
        counts = DiscreteLaplace(sensitivity=MOVED, epsilon=(1 - SPLITS) * self.epsilon)
        return {
            "splits": (
                "Whether a box is halved is decided with noise of scale "
                f"{float(1 / self.law.rate):.6g}, {self.law.bias} records harder with every level, "
                f"for epsilon {float(SPLITS * self.epsilon):.6g}."
            ),
            "counts": (
                f"The number of records in a box has noise of scale {counts.scale:.6g}, "
                f"for epsilon {float((1 - SPLITS) * self.epsilon):.6g}."
            ),
        }

    @property
    def limits(self) -> Sequence[str]:
        return ("Inside a box of the tree all values are equally likely, whatever they were.",)


def weighed(
    records: Passes, lines: Sequence[Line], epsilon: Fraction, source: Source
) -> tuple[Boxes, Weights]:
    """The leaves of a tree and how many rows each is taken to hold, none below 0.

    Guarantee
        `epsilon`-differential privacy for one record that is replaced.
    """
    law = SplitLaw.within(SPLITS * epsilon, parts(lines))
    boxes, counts = grown(records, lines, law, source)
    released = noisy(counts, (1 - SPLITS) * epsilon, source)
    return boxes, fitted(released, max(records.rows, 1))


def tree_least(epsilon: Fraction) -> Fraction:
    """`Synthesis.least_epsilon` of a tree: no decision has less than a quarter of its part."""
    return SPLITS * epsilon / 4


def tree_error(lines: Sequence[Line], rows: int, epsilon: Fraction) -> float:
    """`Synthesis.expected_error` of a tree: noise of the leaves inside an interval, and the rows
    of the leaves at its two ends."""
    many = parts(lines)
    depth = SplitLaw.within(SPLITS * epsilon, many).depth(rows, many)
    sd = math.sqrt(DiscreteLaplace(sensitivity=MOVED, epsilon=(1 - SPLITS) * epsilon).variance)
    most = math.prod(min(line.size, 2**depth) for line in lines)
    leaves = min(float(many) ** depth, most)
    noise = interval_error(leaves, sd, rows)
    ends = math.sqrt(2 / 6 * 2.0**-depth / rows)
    return math.hypot(noise, ends)


def interval_error(cells: float, sd: float, rows: int) -> float:
    """The mean absolute error of the share of a random interval of `cells` cells with independent
    noise that is then fitted to the number of rows: √(2/π)·sd·√cells·E√(p(1 − p)), p the share."""
    return math.sqrt(2 / math.pi) * math.pi / 8 * sd * math.sqrt(cells) / rows
