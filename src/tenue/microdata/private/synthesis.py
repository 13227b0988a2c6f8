"""What every way of drawing a private table says and does; one file beside this one for each.

A way is planned from public facts alone: the domain, the number of rows, epsilon and its options.
Then it is paid for. Then it sees the rows, once.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from ...noise.source import Source
from .domain import Domain, Places


@dataclass(frozen=True, kw_only=True)
class Synthesis(abc.ABC):
    """A way to draw a table, for a domain, a public number of rows and a price.

    Guarantee
        `draw` is `epsilon`-differentially private: one record may take any other value of the
        domain, and the number of rows is public. Everything else here reads no row.
    """

    name: ClassVar[str]
    """What the option `by` calls it."""
    mechanism: ClassVar[str]
    """What is done, in a few words, as the certificate says it."""
    source: ClassVar[str]
    """Where it is proved."""

    domain: Domain
    rows: int
    epsilon: Fraction

    @classmethod
    @abc.abstractmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        """The way with its parameters, chosen from these public facts alone; refused if it does
        not suit them."""

    @abc.abstractmethod
    def draw(self, places: Places, source: Source) -> Places:
        """The private table for a table of `rows` rows; as many rows, in no order that tells."""

    @property
    @abc.abstractmethod
    def expected_error(self) -> float:
        """By how much the share of rows in a random interval of a random column is expected to be
        off, absolutely, from noise and resolution alone; what the rows' own shape adds is unknown.

        For a table whose values are spread evenly over their places.
        """

    @property
    def parameters(self) -> Mapping[str, str]:
        """What the certificate states, each in a sentence: budgets, scales, numbers of
        cells; nothing of the rows."""
        return {}

    @property
    def limits(self) -> Sequence[str]:
        """What is not promised, in sentences, besides what no private table promises."""
        return ()
