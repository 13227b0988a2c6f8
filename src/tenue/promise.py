"""What can be promised, to whom, and the certificate that says so.

    Pure(epsilon)                  differential privacy
    Approximate(epsilon, delta)    differential privacy but for delta
    Individual(epsilon)            the same for the actual table only: not differential privacy
    KAnonymity(k)                  groups of k that share their quasi-identifiers
    ProbabilisticKAnonymity(k)     a value came from a unit's record with probability at most 1/k
    TCloseness(t)                  groups distributed like the whole, up to a factor t

A promise is a value. It says nothing about how it is kept; the `Certificate` that travels with
every answer and every release does, and also says what is not promised.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from .errors import InvalidArgument, nearest, refuse
from .number import Number, above_zero, checked_call, exact, fraction_of_one, whole

__all__ = [
    "PROMISES",
    "Approximate",
    "Certificate",
    "Individual",
    "KAnonymity",
    "Neighbours",
    "ProbabilisticKAnonymity",
    "Promise",
    "Pure",
    "TCloseness",
    "checked_neighbours",
    "promise_from",
]

Neighbours = Literal["replace", "add-or-remove"]


def checked_neighbours(given: object) -> Neighbours:
    """ "replace" or "add-or-remove"; every price depends on which."""
    if given == "replace":
        return "replace"
    if given == "add-or-remove":
        return "add-or-remove"
    raise refuse("promise.neighbours-is-neighbours-is-replace-number-of", given=given)


def show(number: Fraction) -> str:
    """A rational as people write it: an integer, a short decimal, or a fraction."""
    if number.denominator == 1:
        return str(number.numerator)
    bottom = number.denominator
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    if bottom != 1:
        return f"{number.numerator}/{number.denominator}"
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    text = f"{int(abs(number) * 10**digits):0{digits + 1}d}"
    return f"{'-' if number < 0 else ''}{text[:-digits]}.{text[-digits:]}"


@dataclass(frozen=True)
class Promise:
    """The root of what can be promised."""

    kind: ClassVar[str]
    is_differential_privacy: ClassVar[bool] = False

    def sentence(self) -> str:
        """The promise in one sentence."""
        raise AssertionError("each promise has its sentence")

    def parameters(self) -> dict[str, str]:
        """The numbers of the promise, exactly, as text."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: show(Fraction(value)) for name, value in values.items()}

    def to_dict(self) -> dict[str, str]:
        return {"kind": self.kind, **self.parameters()}

    def __str__(self) -> str:
        inside = ", ".join(f"{name} = {value}" for name, value in self.parameters().items())
        return f"{self.kind} ({inside})"


@dataclass(frozen=True, init=False)
class Pure(Promise):
    """ε-differential privacy: one unit changes any output's probability by a factor e^ε at most.

    Example
        >>> str(Pure(epsilon=0.5))
        'pure differential privacy (epsilon = 0.5)'
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
            f"its neighbour's, epsilon = {show(self.epsilon)}."
        )


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
            f"its neighbour's, plus delta: epsilon = {show(self.epsilon)}, "
            f"delta = {show(self.delta)}."
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
            f"for the table as for its neighbours, epsilon = {show(self.epsilon)}."
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
class ProbabilisticKAnonymity(Promise):
    """A confidential value in a unit's row came from that unit's record with probability at most
    1/k.

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
            f"each of which came from that unit's record with probability at most 1/{self.k}. The "
            "value itself may be the same for all of its group, as it often is with yes and no or "
            "few categories, and is then known all the same."
        )


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
            raise refuse("promise.t-is-t-is-factor-at-least", t=t)
        object.__setattr__(self, "t", value)

    def sentence(self) -> str:
        return (
            "On buckets, each group's shares of the confidential attribute differ from the whole "
            f"table's by a factor of at most {show(self.t)}."
        )


PROMISES: Mapping[str, type[Promise]] = {
    kind.kind: kind
    for kind in (Pure, Approximate, Individual, KAnonymity, ProbabilisticKAnonymity, TCloseness)
}


def promise_from(given: Mapping[str, Any]) -> Promise:
    """The promise written by `to_dict`."""
    values = dict(given)
    kind = str(values.pop("kind", ""))
    if kind not in PROMISES:
        raise refuse("promise.is-not-promise", kind=kind, nearest=nearest(kind, PROMISES))
    return PROMISES[kind](**values)


@dataclass(frozen=True)
class Certificate:
    """What travels with an answer or a release: who is promised what, at what price, and what not.

    Every field depends on question, schema, law and released values only; facts computed from rows
    never enter. `to_json` and `from_json` are inverse to each other.

    Example
        >>> c = Certificate(promise=Pure(1), neighbours="replace", unit="record",
        ...                 mechanism="discrete Laplace", does_not_promise=("secrecy of groups",))
        >>> Certificate.from_json(c.to_json()) == c
        True
    """

    promise: Promise
    neighbours: Neighbours
    unit: str
    mechanism: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    assumptions: tuple[str, ...] = ()
    does_not_promise: tuple[str, ...] = ()
    schema_hash: str = ""
    version: str = ""

    def __post_init__(self) -> None:
        checked_neighbours(self.neighbours)
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))
        object.__setattr__(self, "assumptions", tuple(self.assumptions))
        object.__setattr__(self, "does_not_promise", tuple(self.does_not_promise))

    def __hash__(self) -> int:
        return hash(self.to_json())

    def to_dict(self) -> dict[str, Any]:
        return {
            "promise": self.promise.to_dict(),
            "sentence": self.promise.sentence(),
            "neighbours": self.neighbours,
            "unit": self.unit,
            "mechanism": self.mechanism,
            "parameters": dict(self.parameters),
            "source": self.source,
            "assumptions": list(self.assumptions),
            "does_not_promise": list(self.does_not_promise),
            "schema_hash": self.schema_hash,
            "version": self.version,
        }

    def to_json(self) -> str:
        """One canonical JSON object: the same certificate gives the same text."""
        return json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """The certificate written by `to_json`; anything else is refused."""
        try:
            given = json.loads(text)
            values = dict(given)
            values.pop("sentence")
            values["promise"] = promise_from(values["promise"])
            for name in ("assumptions", "does_not_promise"):
                values[name] = tuple(values[name])
            certificate = cls(**values)
        except (ValueError, TypeError, KeyError) as error:
            if isinstance(error, InvalidArgument):
                raise
            raise refuse("promise.text-is-not-certificate") from None
        if certificate.to_dict() != given:
            raise refuse("promise.certificate-was-changed-its-parts-do-not")
        return certificate

    def _lines(self) -> list[tuple[str, str]]:
        lines = [
            ("Promise", str(self.promise)),
            ("", self.promise.sentence()),
            ("To whom", f"unit = {self.unit}, neighbours = {self.neighbours}"),
            ("Mechanism", self.mechanism),
            *((name, value) for name, value in self.parameters.items()),
            ("Source", self.source),
            *(("Assumes", text) for text in self.assumptions),
            *(("Does not promise", text) for text in self.does_not_promise),
            ("Schema", self.schema_hash[:16]),
            ("Tenue", self.version),
        ]
        return [(name, value) for name, value in lines if value]

    def __str__(self) -> str:
        lines = self._lines()
        width = max(len(name) for name, _ in lines)
        shown: list[str] = []
        before = ""
        for name, value in lines:
            label = "" if name == before else name
            shown.append(f"{label:<{width}}  {value}")
            before = name or before
        return "\n".join(shown)

    def to_html(self) -> str:
        """A self-contained HTML fragment; every value is escaped."""
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
            for name, value in self._lines()
        )
        return f"<table class='tenue-certificate'><tbody>{rows}</tbody></table>"

    def _repr_html_(self) -> str:
        return self.to_html()
