"""The most frequent category of a column: how it is chosen, and what may be said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...mechanism.choose.vote import Vote

VOTE = "selection by votes"
"""The name of the mechanism."""


@dataclass(frozen=True)
class Ballot:
    """One vote that is paid for: among the categories of a column, at a price."""

    column: str
    vote: Vote
    epsilon: Fraction
    name: str = VOTE


@dataclass(frozen=True)
class Voted:
    """The place of the chosen category; how many rows it is behind can be told, and nothing else.

    place: which of the ballots of a cell it is, counted from the last part.
    """

    place: int
    vote: Vote

    def value(self, noisy: Sequence[Sequence[int]], rows: int | None) -> Fraction:
        return Fraction(noisy[-1][self.place])

    def behind(self, level: Fraction) -> float:
        """By how many rows it is behind the most frequent one at most, with that probability."""
        return self.vote.behind(float(max(1 - level, Fraction(1, 10**12))))

    def interval(self, *anything: object) -> None:
        """None: categories have no order."""

    def expected_error(self, *anything: object) -> None:
        """None: categories have no distance."""

    def before_rows(self, *anything: object) -> None:
        """None: categories have no distance."""
