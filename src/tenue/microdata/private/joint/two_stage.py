"""First each column by itself, then how columns depend on each other, on the scale of ranks.

On that scale columns are spread evenly, whatever their heaps and tails, so that the second stage
spends nothing on what the first has found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from ....engine.contract import Passes
from ....errors import refuse
from ....noise.source import Source
from ....screen.number import many
from ...permute import shuffled
from ..column import Margin
from ..columns import margin_parameters, margins_error, margins_least, private_margins
from ..counts import Weights, apportioned, uniforms
from ..domain import Domain, Places
from ..growth import Boxes, Line
from ..synthesis import Drawing, Synthesis
from ..tree import tree_least, weighed
from .pair_tables import PairTables

Joint = Literal["tree", "pair-tables"]

_RANKS = 1 << 20
"""Steps of the scale of ranks that a tree splits."""
_ROWS_A_COLUMN = 1000


@dataclass(frozen=True, kw_only=True)
class TwoStage(Synthesis):
    """Rows whose columns follow private margins, and depend as private tables of ranks say.

    Guarantee
        `epsilon`-differential privacy for one record that takes any other value: the budgets of
        the margins and of the second stage, which sees ranks by released margins, sum to it.

    joint: what says how columns depend on each other: one "tree" over all ranks, or "pair-tables"
        along a spanning tree of columns.
    """

    name: ClassVar[str] = "two-stage"
    mechanism: ClassVar[str] = "noisy columns, then noisy counts of how they depend on each other"
    source: ClassVar[str] = "Zhang, Xiao and Xie 2016; McSherry and Talwar 2007"

    joint: Joint

    @classmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        """Pair tables where a column has no order, else a tree."""
        if len(domain.axes) < 2:
            raise refuse("microdata.one-column-in-two-stages", column=domain.axes[0].name)
        ordered = all(axis.ordered for axis in domain.axes)
        chosen = {"joint": "tree" if ordered else "pair-tables"} | options
        if chosen["joint"] not in get_args(Joint):
            raise refuse("microdata.joint-is", joint=chosen["joint"])
        return cls(domain=domain, rows=rows, epsilon=epsilon, **chosen)

    @property
    def margins_epsilon(self) -> Fraction:
        """The budget of single columns: one half, or three quarters of a small one, where noise
        drowns dependence first."""
        small = self.rows * self.epsilon < _ROWS_A_COLUMN * len(self.domain.axes)
        return self.epsilon * (Fraction(3, 4) if small else Fraction(1, 2))

    @property
    def joint_epsilon(self) -> Fraction:
        return self.epsilon - self.margins_epsilon

    @property
    def pairs(self) -> PairTables:
        return PairTables(len(self.domain.axes), self.rows, self.joint_epsilon)

    def release(self, records: Passes, source: Source) -> Drawing:
        margins = private_margins(self.domain, records, self.margins_epsilon, source)
        if self.joint == "tree":
            return self._by_ranks(records, margins, source)
        return self.pairs.release(records, self.pairs.grouped(self.domain, margins), source)

    def _by_ranks(self, records: Passes, margins: Sequence[Margin], source: Source) -> Ranked:
        """A record's ranks are drawn once, whatever the number of passes that the tree takes."""

        def ranks(places: Places) -> Places:
            made = np.empty_like(places)
            for j, margin in enumerate(margins):
                made[:, j] = margin.rank(places[:, j], source) * _RANKS
            return made

        lines = [
            Line(_RANKS, _blank_ranks(margin) if axis.blank else 0)
            for axis, margin in zip(self.domain.axes, margins, strict=True)
        ]
        with records.map(ranks, [_RANKS] * len(lines)) as ranked:
            boxes, weights = weighed(ranked, lines, self.joint_epsilon, source)
        return Ranked(boxes, weights, margins)

    @property
    def least_epsilon(self) -> Fraction:
        columns = margins_least(self.domain, self.rows, self.margins_epsilon)
        if self.joint == "tree":
            return min(columns, tree_least(self.joint_epsilon))
        return min(columns, self.pairs.choosing or self.pairs.counting, self.pairs.counting)

    @property
    def expected_error(self) -> float:
        return margins_error(self.domain, self.rows, self.margins_epsilon)

    @property
    def parameters(self) -> Mapping[str, str]:
        columns = margin_parameters(self.domain, self.rows, self.margins_epsilon)
        if self.joint == "tree":
            return columns | {
                "tree of ranks": (
                    "A tree of noisy counts over the ranks of all columns together, for epsilon "
                    f"{float(self.joint_epsilon):.6g}."
                )
            }
        pairs = self.pairs
        return columns | {
            "pair tables": (
                f"{many(pairs.columns - 1, 'noisy table')} of two columns, for epsilon "
                f"{float(pairs.counting):.6g} each."
            ),
            "choice of pairs": (
                "Which two columns have a table is chosen with noise, for epsilon "
                f"{float(pairs.choosing):.6g} each."
            ),
            "groups of a column": f"A table has at most {pairs.groups} of each column.",
        }

    @property
    def limits(self) -> Sequence[str]:
        if self.joint == "tree":
            return (
                "How columns depend on each other is kept only as finely as the tree of ranks.",
            )
        return ("Columns depend on each other through pairs of them only, in groups of values.",)


@dataclass(frozen=True)
class Ranked:
    """Rows of ranks from the boxes of a tree, mapped to the margins column by column."""

    boxes: Boxes
    weights: Weights
    margins: Sequence[Margin]

    def block(self, rows: range, source: Source) -> Places:
        made = self.boxes.drawn(apportioned(self.weights, len(rows), source), source)
        for j, margin in enumerate(self.margins):
            made[:, j] = forced(made[:, j], margin, source)
        return np.asarray(made[shuffled(len(rows), source)])


def forced(ranks: NDArray[np.int64], margin: Margin, source: Source) -> NDArray[np.int64]:
    """Places in the order of the ranks, distributed as the margin says."""
    rows = ranks.size
    order = np.argsort(ranks + uniforms(rows, source))
    made = np.empty(rows, np.int64)
    made[order] = margin.quantile((np.arange(rows) + uniforms(rows, source)) / rows)
    return made


def _blank_ranks(margin: Margin) -> int:
    """The ranks of blanks, which lie above all others."""
    return int(_RANKS - np.floor(margin.ends[-2] * _RANKS))
