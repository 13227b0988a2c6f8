"""What a fact costs in a ledger.

Facts are priced here and nowhere else:

* answers about the whole table add up (sequential composition);
* questions about one person each cost their maximum over persons (parallel composition over
  identities), so a data set has lost  sum(statistical) + max over persons sum(about that person);
* one ledger, one adjacency: under "replace" an answer proved for "add-or-remove" counts twice;
* individual differential privacy and syntactic releases have columns of their own and are never
  added to differential privacy.

Source
    Sequential and parallel composition; to replace a record is to remove one and add another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Literal

from ..errors import nearest, refuse
from ..number import NANO, checked_call, nano, whole
from .amount import ATTO, LARGEST, atto
from .text import given_text

Neighbours = Literal["replace", "add-or-remove"]
Column = Literal["dp", "individual"]
REPLACE: Neighbours = "replace"
ADD_OR_REMOVE: Neighbours = "add-or-remove"


def given_neighbours(value: object) -> Neighbours:
    """One of the two adjacencies, or a refusal."""
    if value == REPLACE:
        return REPLACE
    if value == ADD_OR_REMOVE:
        return ADD_OR_REMOVE
    given = str(value)[:60]
    near = nearest(given, [REPLACE, ADD_OR_REMOVE])
    raise refuse("ledger.ledger-unknown-neighbours", value=given, nearest=near)


@dataclass(frozen=True, slots=True)
class Charge:
    """The price of one answer, as its mechanism's proof states it.

    Guarantee
        The integers that are debited are these, after `charge_in`; the same `nano` must have
        driven the law.

    Parameters
        nano: epsilon in nano-epsilon, at least 1.
        atto: delta in atto-delta.
        neighbours: the adjacency under which the proof holds.
        person: for a question about one person, the digest of the person's typed canonical
            identifier. Such questions compose in parallel over persons. The proof must then hold
            under "add-or-remove": replacing Ann by Bob touches the questions about both, so two
            prices that hold under "replace" would have to be added.

    Example
        >>> Charge.of(epsilon=0.5, neighbours="replace").nano
        500000000
    """

    nano: int
    atto: int
    neighbours: Neighbours
    person: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "nano", whole(self.nano, "nano", least=1))
        object.__setattr__(self, "atto", whole(self.atto, "atto"))
        given_neighbours(self.neighbours)
        if self.nano > LARGEST:
            raise refuse("ledger.price-too-large", largest=LARGEST // NANO)
        if self.atto >= ATTO:
            raise refuse("ledger.price-delta-too-large")
        if self.person is not None:
            object.__setattr__(self, "person", given_text(self.person, "person"))
            if self.neighbours == REPLACE:
                raise refuse("ledger.person-price-under-replace")

    @classmethod
    @checked_call
    def of(
        cls,
        *,
        epsilon: object,
        delta: object = 0,
        neighbours: Neighbours,
        person: str | None = None,
    ) -> Charge:
        """The charge for a given epsilon and delta, both rounded up to whole coins."""
        return cls(nano(epsilon), atto(delta), given_neighbours(neighbours), person)


def charge_in(ledger: Neighbours, answer: Neighbours, nano: int) -> int:
    """What an epsilon proved under `answer` counts in a ledger kept under `ledger`.

    To replace a record is to remove one and add another, so an epsilon under add-or-remove is
    2 epsilon under replace. The other way round nothing follows: a sum over values in [1000, 1001]
    with sensitivity 1 under replace moves by 1001 when a record leaves, and the number of records,
    free under replace, is not free at all. Such an answer is refused, not priced.

    Example
        >>> charge_in("replace", "add-or-remove", 3), charge_in("replace", "replace", 3)
        (6, 3)
    """
    if ledger == answer:
        return nano
    if ledger == REPLACE:
        return 2 * nano
    raise refuse("ledger.answer-under-replace")


def delta_in(ledger: Neighbours, answer: Neighbours, nano: int, atto: int) -> int:
    """What a delta counts, in atto-delta, rounded up and never above 1.

    Two steps of (epsilon, delta) are (2 epsilon, delta * (1 + e**epsilon)): group privacy.

    Example
        >>> delta_in("replace", "add-or-remove", 10**9, 1000)
        3719
    """
    if atto == 0 or ledger == answer:
        return atto
    charge_in(ledger, answer, nano)  # refuses what has no price
    return min(ATTO, math.ceil(atto * (1 + _exp_above(nano))))


def _exp_above(nano: int) -> Fraction:
    """A rational at least e**(nano / 10**9)."""
    if nano > 50 * NANO:  # e**50 > 10**21: whatever atto-delta it multiplies is above 1
        return Fraction(ATTO)
    precise = Context(prec=40, rounding=ROUND_CEILING)
    # Decimal.exp is correctly rounded to half-even whatever the context; one unit more is above
    return Fraction(precise.next_plus(precise.exp(Decimal(nano).scaleb(-9))))
