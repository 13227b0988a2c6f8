"""What can be promised, and to whom.

    Pure(epsilon)                  differential privacy
    Approximate(epsilon, delta)    differential privacy but for delta
    Individual(epsilon)            the same for the actual table only: not differential privacy
    KAnonymity(k)                  groups of k that share their quasi-identifiers
    ColumnKAnonymity(k)            the same of each quasi-identifier by itself
    ProbabilisticKAnonymity(k)     a value came from a unit's record with probability at most 1/k
    TCloseness(t)                  groups distributed like the whole, up to a factor t

A promise is a value. It says nothing about how it is kept; the certificate that travels with every
answer and every release does, and also says what is not promised. What was paid for it, in the
whole units of a ledger, is a `Loss` (`promise.loss`), which is never added to a promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal

from ..arguments import Number, above_zero, checked_call, exact, fraction_of_one, whole
from ..errors import nearest, refuse
from ..text import exactly

Neighbours = Literal["replace", "add-or-remove"]


def checked_neighbours(given: object) -> Neighbours:
    """ "replace" or "add-or-remove"; every price depends on which."""
    if given == "replace":
        return "replace"
    if given == "add-or-remove":
        return "add-or-remove"
    raise refuse("privacy.unknown-neighbours", given=given)


@dataclass(frozen=True)
class Promise:
    """The root of what can be promised."""

    kind: ClassVar[str]
    is_differential_privacy: ClassVar[bool] = False

    def sentence(self) -> str:
        """The promise in one sentence."""
        raise AssertionError("each promise has its sentence")

    @property
    def former_sentences(self) -> tuple[str, ...]:
        """How earlier versions said it."""
        return ()

    def parameters(self) -> dict[str, str]:
        """The numbers of the promise, exactly, as text."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: exactly(Fraction(value)) for name, value in values.items()}

    def to_dict(self) -> dict[str, str]:
        return {"kind": self.kind, **self.parameters()}

    def __str__(self) -> str:
        inside = ", ".join(f"{name} = {value}" for name, value in self.parameters().items())
        return f"{self.kind} ({inside})"


@dataclass(frozen=True, init=False)
class Pure(Promise):
    """ε-differential privacy: one unit changes any output's probability by a factor e^ε at most.

    Promises of differential privacy about the same units and neighbours add up (two answers, or one
    after the other), and `<=` says whether one implies the other.

    Example
        >>> str(Pure(epsilon=0.5))
        'pure differential privacy (epsilon = 0.5)'
        >>> Pure(1) + Pure(2) == Pure(3), Pure(1) <= Approximate(1, 1e-6), Pure(2) <= Pure(1)
        (True, True, False)
    """

    kind: ClassVar[str] = "pure differential privacy"
    is_differential_privacy: ClassVar[bool] = True
    epsilon: Fraction

    @checked_call
    def __init__(self, epsilon: Number) -> None:
        # 0 is an answer that no row has a part in
        free = exact(epsilon, "epsilon") == 0
        object.__setattr__(self, "epsilon", Fraction(0) if free else above_zero(epsilon, "epsilon"))

    def sentence(self) -> str:
        return (
            "Whatever is seen is at most e^epsilon times as likely with one unit's data as with "
            f"its neighbour's, epsilon = {exactly(self.epsilon)}."
        )

    def __add__(self, other: Pure | Approximate) -> Pure | Approximate:
        return _both(self, other)

    def __le__(self, other: Pure | Approximate) -> bool:
        return _follows(self, other)

    def __lt__(self, other: Pure | Approximate) -> bool:
        return self != other and _follows(self, other)


@dataclass(frozen=True, init=False)
class Approximate(Promise):
    """(ε, δ)-differential privacy: as `Pure`, but for events of probability δ."""

    kind: ClassVar[str] = "approximate differential privacy"
    is_differential_privacy: ClassVar[bool] = True
    epsilon: Fraction
    delta: Fraction

    @checked_call
    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", above_zero(epsilon, "epsilon"))
        object.__setattr__(self, "delta", fraction_of_one(delta, "delta"))

    def sentence(self) -> str:
        return (
            "Whatever is seen is at most e^epsilon times as likely with one unit's data as with "
            f"its neighbour's, plus delta: epsilon = {exactly(self.epsilon)}, "
            f"delta = {exactly(self.delta)}."
        )

    def __add__(self, other: Pure | Approximate) -> Pure | Approximate:
        return _both(self, other)

    def __le__(self, other: Pure | Approximate) -> bool:
        return _follows(self, other)

    def __lt__(self, other: Pure | Approximate) -> bool:
        return self != other and _follows(self, other)


def _both(one: Pure | Approximate, other: Pure | Approximate) -> Pure | Approximate:
    """What two answers about the same units promise together: sequential composition."""
    if not isinstance(other, Pure | Approximate):
        return NotImplemented
    epsilon, delta = one.epsilon + other.epsilon, _delta(one) + _delta(other)
    return Approximate(epsilon, delta) if delta else Pure(epsilon)


def _follows(one: Pure | Approximate, other: Pure | Approximate) -> bool:
    """Whether whoever is promised the one is promised the other."""
    if not isinstance(other, Pure | Approximate):
        return NotImplemented
    return one.epsilon <= other.epsilon and _delta(one) <= _delta(other)


def _delta(promise: Pure | Approximate) -> Fraction:
    return promise.delta if isinstance(promise, Approximate) else Fraction(0)


@dataclass(frozen=True, init=False)
class Individual(Promise):
    """ε-individual differential privacy: the bound of `Pure`, for neighbours of the actual table
    only and with the actual table's noise. It is not differential privacy."""

    kind: ClassVar[str] = "individual differential privacy"
    epsilon: Fraction

    @checked_call
    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", above_zero(epsilon, "epsilon"))

    def sentence(self) -> str:
        return (
            "With the noise of the actual table, the answer is at most e^epsilon times as likely "
            f"for the table as for its neighbours, epsilon = {exactly(self.epsilon)}."
        )


@dataclass(frozen=True, init=False)
class KAnonymity(Promise):
    """Each combination of quasi-identifiers is shared by at least k units."""

    kind: ClassVar[str] = "k-anonymity"
    k: int

    @checked_call
    def __init__(self, k: Number) -> None:
        object.__setattr__(self, "k", whole(k, "k", least=2))

    def sentence(self) -> str:
        return f"Each combination of quasi-identifiers is shared by at least {self.k} units."


@dataclass(frozen=True, init=False)
class ColumnKAnonymity(Promise):
    """Each value of each quasi-identifier is shared by at least k units. It is less than
    k-anonymity: several quasi-identifiers together may be one unit's alone."""

    kind: ClassVar[str] = "k-anonymity of single columns"
    k: int

    @checked_call
    def __init__(self, k: Number) -> None:
        object.__setattr__(self, "k", whole(k, "k", least=2))

    def sentence(self) -> str:
        return (
            f"Each value of each quasi-identifier is shared by at least {self.k} units. "
            "Combinations of several quasi-identifiers need not be."
        )


@dataclass(frozen=True, init=False)
class ProbabilisticKAnonymity(Promise):
    """A confidential value in a unit's row came from that unit's record with probability at most
    1/k, for whoever cannot tell the records of a group apart.

    It is about records, not about what they say: where a whole group has one value, that value is
    everybody's, whoever's record it came from.
    """

    kind: ClassVar[str] = "probabilistic k-anonymity"
    k: int

    @checked_call
    def __init__(self, k: Number) -> None:
        object.__setattr__(self, "k", whole(k, "k", least=2))

    def sentence(self) -> str:
        return (
            "Whoever finds a unit's row by its quasi-identifiers sees confidential values in it, "
            f"each of which came from that unit's record with probability at most 1/{self.k}, as "
            "long as all records of a group are equally likely anybody's in it to him. The "
            "value itself may be the same for all of its group, as it often is with yes and no or "
            "few categories, and is then known all the same."
        )

    @property
    def former_sentences(self) -> tuple[str, ...]:
        condition = ", as long as all records of a group are equally likely anybody's in it to him"
        return (self.sentence().replace(condition, ""),)


@dataclass(frozen=True, init=False)
class TCloseness(Promise):
    """In each group the confidential attribute is distributed as in the table, up to a factor t,
    on buckets."""

    kind: ClassVar[str] = "t-closeness"
    t: Fraction

    @checked_call
    def __init__(self, t: Number) -> None:
        value = exact(t, "t")
        if value < 1:
            raise refuse("privacy.t-factor-below-one", t=t)
        object.__setattr__(self, "t", value)

    def sentence(self) -> str:
        return (
            "On buckets, each group's shares of the confidential attribute differ from the whole "
            f"table's by a factor of at most {exactly(self.t)}."
        )


PROMISES: Mapping[str, type[Promise]] = {
    kind.kind: kind
    for kind in (
        Pure,
        Approximate,
        Individual,
        KAnonymity,
        ColumnKAnonymity,
        ProbabilisticKAnonymity,
        TCloseness,
    )
}


def promise_from(given: Mapping[str, Any]) -> Promise:
    """The promise written by `to_dict`."""
    values = dict(given)
    kind = str(values.pop("kind", ""))
    if kind not in PROMISES:
        raise refuse("privacy.unknown-promise", kind=kind, nearest=nearest(kind, PROMISES))
    return PROMISES[kind](**values)
