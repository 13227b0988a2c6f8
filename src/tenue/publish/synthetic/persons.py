"""Rows of persons as a table whose number of rows is public.

A person has several rows, of which at most r are kept, chosen at random. How many rows are kept in
all is secret: it is counted with noise. From the noisy count alone follows a number m. If more rows
are kept, m of them are chosen at random; if fewer, empty rows are added, in which every value is
missing. A method of drawing then sees a table of m rows, as if that number had always been public.

Guarantee
    `epsilon`-differential privacy when the rows of one person are added or removed, or replaced by
    those of another, if a method of drawing is `row_epsilon`-differentially private when one of m
    rows is replaced.

    Proof. Two such tables share the kept rows C of all other persons, whose choice does not depend
    on this person. One has a ≤ r rows A of the person besides, the other b ≤ r rows B; a or b may
    be 0. The counts differ by |a − b| ≤ r, so that the noisy count, of scale r/count_epsilon, costs
    count_epsilon. Now m is known. Let rows have independent random tags, those of C the same in
    both tables, and let empty rows without end follow behind all others: the first m rows in this
    order are what the method sees. Of one table they are some i ≤ a rows of A and the first m − i
    of the others, of the second some j ≤ b rows of B and the first m − j of the same others. So
    at most max(i, j) ≤ r rows are replaced, whatever the tags are, which costs r·row_epsilon at
    most; and a ratio that holds for all tags holds on average. In all count_epsilon +
    r·row_epsilon = epsilon.

Rows are drawn one by one: which of them would belong to one person is not in the release.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...engine.contribution_bounds.rows_by_unit import few
from ...errors import refuse
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.source import Source
from ...privacy.loss import EpsilonDelta
from ...schema import Schema
from ...schema.table import RECORD
from ...text import exactly, many, shortly
from ..permute import shuffled
from ..table.cells import Numbers
from .domain import Domain, Places

_COUNT = Fraction(1, 20)
"""The part of epsilon that counts the kept rows."""
_WIDEST = 100_000
"""Rows of noise in their number, at most."""
_RARELY = 50
"""Empty rows are added in one of so many releases, or in fewer."""


@dataclass(frozen=True)
class Persons:
    """The limit of rows of a person, and the price of the release.

    most: of each person at most so many rows are kept.
    """

    most: int
    epsilon: Fraction

    @classmethod
    def of(cls, schema: Schema, epsilon: Fraction) -> Persons | None:
        """None where every row is a person, and their number is public."""
        if schema.unit == RECORD or schema.rows_per_unit is None:
            return None
        return cls(schema.rows_per_unit, epsilon)

    @property
    def count_epsilon(self) -> Fraction:
        """The price of the number of rows."""
        return _COUNT * self.epsilon

    @property
    def row_epsilon(self) -> Fraction:
        """For which each of m rows is protected by the method of drawing."""
        return (self.epsilon - self.count_epsilon) / self.most

    @property
    def law(self) -> DiscreteLaplace:
        """The noise in the number of kept rows."""
        return DiscreteLaplace(sensitivity=self.most, epsilon=self.count_epsilon)

    @property
    def spare(self) -> int:
        """How many rows fewer than the noisy count are used, so that empty ones are rarely needed;
        as many more are drawn."""
        return math.ceil(self.law.scale * math.log(_RARELY / 2))

    def check(self) -> None:
        """Refuses noise so wide that the number of rows would follow from it alone."""
        if self.law.scale > _WIDEST:
            needed = Fraction(self.most) / (_COUNT * _WIDEST)
            raise refuse(
                "publish.persons-noise-too-wide",
                limit=self.most,
                epsilon=exactly(self.epsilon),
                scale=f"{self.law.scale:,.0f}",
                most=f"{_WIDEST:,}",
                needed=exactly(EpsilonDelta.of(needed).epsilon),
            )

    def kept(self, persons: Numbers, source: Source) -> NDArray[np.int64]:
        """The rows that are kept: at most `most` of each person, every choice equally likely.

        persons: whose each row is; below 0 for rows of nobody, which are left out.
        """
        named = np.flatnonzero(persons >= 0)
        return np.asarray(named[few(persons[named], self.most, source)])

    def counted(self, rows: int, source: Source) -> tuple[int, int]:
        """How many rows the method of drawing sees, and how many are drawn, from the noisy number
        of kept rows alone; both at least 1."""
        noisy = rows + int(self.law.steps(1, source)[0])
        return max(noisy - self.spare, 1), max(noisy, 1)

    def resized(self, places: Places, rows: int, domain: Domain, source: Source) -> Places:
        """So many of the rows, chosen at random; or all, and empty ones behind them."""
        chosen = places[shuffled(len(places), source)[:rows]]
        return np.concatenate([chosen, np.repeat(domain.empty, rows - len(chosen), axis=0)])

    @property
    def parameters(self) -> Mapping[str, str]:
        """Sentences of the certificate."""
        return {
            "persons": (
                f"At most {many(self.most, 'row')} of a person, chosen at random. Each is "
                f"protected with epsilon {shortly(float(self.row_epsilon), 6)}, all of a person "
                f"together with {exactly(self.epsilon - self.count_epsilon)}."
            ),
            "number of rows": (
                f"A noisy count of the rows of all persons, for epsilon "
                f"{exactly(self.count_epsilon)}; its noise has scale {shortly(self.law.scale)}."
            ),
        }
