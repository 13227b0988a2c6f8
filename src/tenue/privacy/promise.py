"""What can be promised, and to whom.

A promise is a value. The certificate of an answer or a release says how the promise is kept and
what is not promised. Its price, in the whole units of a ledger, is a `Loss` (`privacy.loss`), which
is never added to a promise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal, cast, get_args

from ..arguments import Number, above_zero, checked_call, exact, fraction_of_one, whole
from ..errors import nearest, refuse
from ..text import exactly

_LARGEST_POWER = 700.0
_ABOVE = 1 + 2.0**-40
"""Covers what a sum of doubles loses."""

Neighbours = Literal["replace", "add-or-remove"]


def checked_neighbours(given: object) -> Neighbours:
    """ "replace" or "add-or-remove", on which every price depends."""
    if given in get_args(Neighbours):
        return cast(Neighbours, given)
    raise refuse("privacy.unknown-neighbours", given=given)


@dataclass(frozen=True)
class Promise:
    """What can be promised."""

    kind: ClassVar[str]
    is_differential_privacy: ClassVar[bool] = False

    def sentence(self) -> str:
        """The promise in one sentence."""
        raise NotImplementedError

    @property
    def former_sentences(self) -> tuple[str, ...]:
        """The sentences of earlier versions."""
        return ()

    def for_group(self, size: int) -> Promise:
        """What the same mechanism promises to `size` units together; refused if that is nothing."""
        raise refuse("privacy.no-group-privacy", kind=self.kind)

    def parameters(self) -> dict[str, str]:
        """The numbers of the promise, exactly, as text."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: exactly(Fraction(value)) for name, value in values.items()}

    def to_dict(self) -> dict[str, str]:
        return {"kind": self.kind, **self.parameters()}

    def __str__(self) -> str:
        inside = ", ".join(f"{name} = {value}" for name, value in self.parameters().items())
        return f"{self.kind} ({inside})"


class _Additive(Promise):
    is_differential_privacy: ClassVar[bool] = True
    epsilon: Fraction

    @property
    def _delta(self) -> Fraction:
        return Fraction(getattr(self, "delta", 0))

    @checked_call
    def for_group(self, size: int) -> Pure | Approximate:
        """What the same mechanism promises to `size` units together (group privacy).

        Neighbours are then tables that differ in so many units: size·epsilon, and
        delta·(1 + e^epsilon + … + e^((size - 1)·epsilon)), rounded up; never a delta of 1 or more.

        Example
            >>> str(Pure(0.5).for_group(4))
            'pure differential privacy (epsilon = 2)'
        """
        many = whole(size, "size", least=1)
        if not self._delta:
            return Pure(many * self.epsilon)
        power = float(self.epsilon) * (many - 1)
        delta = Fraction(1)
        if power < _LARGEST_POWER:
            terms = (math.exp(float(self.epsilon) * i) for i in range(many))
            delta = self._delta * Fraction(sum(terms) * _ABOVE)
        if delta >= 1:
            raise refuse("privacy.group-too-large", size=many)
        return Approximate(many * self.epsilon, delta)

    @property
    def former_sentences(self) -> tuple[str, ...]:
        return (self.sentence().replace("Any output", "Whatever is seen", 1),)

    def __add__(self, other: _Additive) -> Pure | Approximate:
        """Both, about the same units: sequential composition."""
        if not isinstance(other, _Additive):
            return NotImplemented
        epsilon, delta = self.epsilon + other.epsilon, self._delta + other._delta
        return Approximate(epsilon, delta) if delta else Pure(epsilon)

    def __le__(self, other: _Additive) -> bool:
        """Whether this promise implies the other."""
        if not isinstance(other, _Additive):
            return NotImplemented
        return self.epsilon <= other.epsilon and self._delta <= other._delta

    def __lt__(self, other: _Additive) -> bool:
        return self != other and self <= other


@dataclass(frozen=True, init=False)
class Pure(_Additive):
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
    epsilon: Fraction

    @checked_call
    def __init__(self, epsilon: Number) -> None:
        # 0 is an answer that no row has a part in
        free = exact(epsilon, "epsilon") == 0
        object.__setattr__(self, "epsilon", Fraction(0) if free else above_zero(epsilon, "epsilon"))

    def sentence(self) -> str:
        return (
            "Any output is at most e^epsilon times as likely with one unit's data as with "
            f"its neighbour's, epsilon = {exactly(self.epsilon)}."
        )


@dataclass(frozen=True, init=False)
class Approximate(_Additive):
    """(ε, δ)-differential privacy: as `Pure`, but for events of probability δ."""

    kind: ClassVar[str] = "approximate differential privacy"
    epsilon: Fraction
    delta: Fraction

    @checked_call
    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", above_zero(epsilon, "epsilon"))
        object.__setattr__(self, "delta", fraction_of_one(delta, "delta"))

    def sentence(self) -> str:
        return (
            "Any output is at most e^epsilon times as likely with one unit's data as with "
            f"its neighbour's, plus delta: epsilon = {exactly(self.epsilon)}, "
            f"delta = {exactly(self.delta)}."
        )


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
class _OfK(Promise):
    k: int

    @checked_call
    def __init__(self, k: Number) -> None:
        object.__setattr__(self, "k", whole(k, "k", least=2))


@dataclass(frozen=True, init=False)
class KAnonymity(_OfK):
    """Each combination of quasi-identifiers is shared by at least k units."""

    kind: ClassVar[str] = "k-anonymity"

    def sentence(self) -> str:
        return f"Each combination of quasi-identifiers is shared by at least {self.k} units."


@dataclass(frozen=True, init=False)
class ColumnKAnonymity(_OfK):
    """Each value of each quasi-identifier is shared by at least k units. It is less than
    k-anonymity: several quasi-identifiers together may single out one unit."""

    kind: ClassVar[str] = "k-anonymity of single columns"

    def sentence(self) -> str:
        return (
            f"Each value of each quasi-identifier is shared by at least {self.k} units. "
            "Combinations of several quasi-identifiers need not be."
        )


@dataclass(frozen=True, init=False)
class ProbabilisticKAnonymity(_OfK):
    """A confidential value in a unit's row originates from that unit's record with probability at
    most 1/k, provided the intruder considers every assignment of the group's records to its
    members equally likely.

    It is about records, not about values: where a whole group has one value, the intruder learns
    that value of everybody in it, whichever record it originates from.
    """

    kind: ClassVar[str] = "probabilistic k-anonymity"

    def sentence(self) -> str:
        return (
            "An intruder who finds a unit's row by its quasi-identifiers sees confidential values "
            "in it, each of which originates from that unit's record with probability at most "
            f"1/{self.k}, provided the intruder considers every assignment of the group's records "
            "to its members equally likely. The whole group may have the same value, as is common "
            "for columns with few categories, and the intruder then learns it."
        )

    @property
    def former_sentences(self) -> tuple[str, ...]:
        condition = ", as long as all records of a group are equally likely anybody's in it to him"
        sentences = (
            "Whoever finds a unit's row by its quasi-identifiers sees confidential values in it, "
            f"each of which came from that unit's record with probability at most 1/{self.k}"
            f"{stated}. The value itself may be the same for all of its group, as it often is with "
            "yes and no or few categories, and is then known all the same."
            for stated in ("", condition)
        )
        return tuple(sentences)


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


@dataclass(frozen=True)
class NoFormalPromise(Promise):
    """No bound on what an intruder learns: values were changed at random, by a law that the
    certificate states. What some attacks reach was measured, for the holder only.

    Example
        >>> str(NoFormalPromise()), NoFormalPromise().parameters()
        ('no formal promise', {})
    """

    kind: ClassVar[str] = "no formal promise"

    def sentence(self) -> str:
        return (
            "Nothing is promised about what an intruder can learn: values were changed at random, "
            "by the law stated here, from which no bound follows."
        )

    def __str__(self) -> str:
        return self.kind


PROMISES: Mapping[str, type[Promise]] = {
    kind.kind: kind
    for kind in (
        *(Pure, Approximate, Individual),
        *(KAnonymity, ColumnKAnonymity, ProbabilisticKAnonymity, TCloseness),
        NoFormalPromise,
    )
}


def promise_from(given: Mapping[str, Any]) -> Promise:
    """The promise written by `to_dict`."""
    values = dict(given)
    kind = str(values.pop("kind", ""))
    if kind not in PROMISES:
        raise refuse("privacy.unknown-promise", kind=kind, nearest=nearest(kind, PROMISES))
    return PROMISES[kind](**values)
