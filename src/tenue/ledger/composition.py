"""How losses compose in a ledger, and the price of one answer.

* answers about the whole table add up (sequential composition);
* questions about one person each cost their maximum over persons (parallel composition over
  identities), so a data set has lost  sum(statistical) + max over persons sum(about that person);
* a ledger has one adjacency: under "replace" an answer proved for "add-or-remove" counts twice;
* individual differential privacy and syntactic releases have columns of their own and are never
  added to differential privacy.

The arithmetic is that of `privacy.loss`.

Source
    Sequential and parallel composition; to replace a record is to remove one and add another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..arguments import Number, checked_call, whole
from ..errors import nearest, refuse
from ..privacy import Neighbours
from ..privacy.loss import EpsilonDelta, Loss, check_price
from .canonical_text import given_text

Column = Literal["dp", "individual"]
REPLACE: Neighbours = "replace"
ADD_OR_REMOVE: Neighbours = "add-or-remove"


def given_neighbours(value: object) -> Neighbours:
    """One of the two adjacencies, or a refusal."""
    adjacencies = (REPLACE, ADD_OR_REMOVE)
    if value in adjacencies:
        return value
    given = str(value)[:60]
    near = nearest(given, adjacencies)
    raise refuse("ledger.ledger-unknown-neighbours", value=given, nearest=near)


@dataclass(frozen=True, slots=True)
class Charge:
    """The price of one answer, as its mechanism's proof states it.

    Guarantee
        These integers are debited, after `Loss.under`; the same `nano` must have driven the law.

    Parameters
        nano: epsilon in nano-epsilon, at least 1.
        atto: delta in atto-delta.
        neighbours: the adjacency under which the proof holds.
        person: for a question about one person, the digest of the person's typed canonical
            identifier. Such questions compose in parallel over persons. The proof must then hold
            under "add-or-remove": replacing Ann by Bob affects the questions about both, so two
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
        check_price(self.nano, self.atto)
        if self.person is not None:
            object.__setattr__(self, "person", given_text(self.person, "person"))
            if self.neighbours == REPLACE:
                raise refuse("ledger.person-price-under-replace")

    @classmethod
    @checked_call
    def of(
        cls,
        *,
        epsilon: Number,
        delta: Number = 0,
        neighbours: Neighbours,
        person: str | None = None,
    ) -> Charge:
        """The charge for a given epsilon and delta, both rounded up to whole units."""
        return cls(*EpsilonDelta.of(epsilon, delta).stored, given_neighbours(neighbours), person)

    @property
    def loss(self) -> EpsilonDelta:
        """The price as a value, under the adjacency of its proof."""
        return EpsilonDelta(self.nano, self.atto)


def charge(price: Loss, neighbours: Neighbours, person: str | None = None) -> Charge:
    """The charge of a price, whose proof holds under these neighbours."""
    return Charge(*price.stored, neighbours, person)


def charge_in(ledger: Neighbours, answer: Neighbours, nano: int) -> int:
    """What an epsilon proved under `answer` counts in a ledger kept under `ledger`: `Loss.under`.

    Example
        >>> charge_in("replace", "add-or-remove", 3), charge_in("replace", "replace", 3)
        (6, 3)
    """
    return EpsilonDelta(nano).under(answer, ledger).nano


def delta_in(ledger: Neighbours, answer: Neighbours, nano: int, atto: int) -> int:
    """What a delta counts, in atto-delta, rounded up and never above 1: `Loss.under`.

    Example
        >>> delta_in("replace", "add-or-remove", 10**9, 1000)
        3719
    """
    return EpsilonDelta(nano, atto).under(answer, ledger).atto
