"""The certificate that is attached to every answer and every release."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from ..errors import InvalidArgument, refuse
from ..text import hanging, html_facts
from ..version import VERSION
from .promise import Neighbours, Promise, checked_neighbours, promise_from

STREAM = "The AES-256 stream keyed by the operating system is indistinguishable from uniform bits."
ONE_RECORD = "Each person has at most one record."

_ASSUMED, _NOT_PROMISED = "Assumes", "Does not promise"
_LISTS = (_ASSUMED, _NOT_PROMISED)


class Described(Protocol):
    """What a certificate says about the table."""

    @property
    def neighbours(self) -> str: ...

    @property
    def unit(self) -> str: ...


@dataclass(frozen=True)
class About:
    """The same of a table without a schema."""

    neighbours: str
    unit: str


@dataclass(frozen=True)
class Certificate:
    """What an answer or a release promises, to whom, at what price, and what it does not promise.

    Every field depends on question, schema, law, day and released values only, never on other facts
    about the rows. `to_json` and `from_json` are inverse to each other.

    table, date: which table a release was made of, and on which day (UTC); empty in certificates
        of answers and of releases before 0.2, whose text has no such keys.
    schema_hash: identifies the schema, sealed under a key that only the ledger's holder has
        (`ledger.verify_certificate`); empty without a ledger. 0.1.0 wrote a plain digest.

    Example
        >>> from tenue.promise import Pure
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
    table: str = ""
    date: str = ""

    def __post_init__(self) -> None:
        checked_neighbours(self.neighbours)
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))
        object.__setattr__(self, "assumptions", tuple(self.assumptions))
        object.__setattr__(self, "does_not_promise", tuple(self.does_not_promise))

    def __hash__(self) -> int:
        return hash(self.to_json())

    def to_dict(self) -> dict[str, Any]:
        made = {"table": self.table, "date": self.date}
        return {
            **{name: text for name, text in made.items() if text},
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

    def to_json(self, *, indent: int | None = None) -> str:
        """One JSON object.

        Parameters
            indent: None for the canonical text, by which digests are computed: the same certificate
                gives the same text. A number for lines that people read, as in `certificate.json`:
                indented, the table and the promise first.
        """
        pretty = indent is not None
        return json.dumps(self.to_dict(), sort_keys=not pretty, ensure_ascii=False, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """The certificate written by `to_json`; anything else is refused."""
        try:
            given = json.loads(text)
            values = {name: given[name] for name in given if name != "sentence"}
            sentence, promise = given["sentence"], promise_from(values.pop("promise"))
            certificate = cls(promise=promise, **values)
        except InvalidArgument:
            raise
        except (ValueError, TypeError, KeyError):
            raise refuse("privacy.not-a-certificate") from None
        expected = certificate.to_dict()
        if sentence in promise.former_sentences:
            expected["sentence"] = sentence
        if expected != given:
            raise refuse("privacy.certificate-changed")
        return certificate

    def _lines(self) -> list[tuple[str, str]]:
        lines = [
            ("Table", self.table),
            ("Date", self.date),
            ("Promise", str(self.promise)),
            ("", self.promise.sentence()),
            ("To whom", f"unit = {self.unit}, neighbours = {self.neighbours}"),
            ("Mechanism", self.mechanism),
            *((name, value) for name, value in self.parameters.items()),
            ("Source", self.source),
            *((_ASSUMED, text) for text in self.assumptions),
            *((_NOT_PROMISED, text) for text in self.does_not_promise),
            ("Schema", _in_short(self.schema_hash)),
            ("Tenue", self.version),
        ]
        return [(name, value) for name, value in lines if value]

    def __str__(self) -> str:
        lines = self._lines()
        width = max(len(name) for name, _ in lines)
        shown, before = [], ""
        for name, value in lines:
            title = "" if name == before else name
            bullet = "* " if name in _LISTS else ""
            shown.append(hanging(value, f"{title:<{width}}  {bullet}"))
            before = name or before
        return "\n".join(shown)

    def to_html(self) -> str:
        """A self-contained HTML fragment; every value is escaped."""
        rows = html_facts(self._lines())
        return f"<table class='tenue-certificate'><tbody>{rows}</tbody></table>"

    _repr_html_ = to_html


def _in_short(schema_hash: str) -> str:
    _, colon, code = schema_hash.rpartition(":")
    return f"sealed {code[:16]}" if colon else code[:16]


def certify(
    promise: Promise,
    table: Described,
    mechanism: str,
    parameters: Mapping[str, str],
    source: Iterable[str],
    assumptions: Iterable[str],
    does_not_promise: Iterable[str],
    seal: str = "",
    *,
    name: str = "",
    date: str = "",
) -> Certificate:
    """The one way to make a certificate. It omits parameters without a value, and repetitions.

    Parameters
        table: its unit and neighbours.
        source: where each part of the mechanism is proved.
        seal: identifies the schema, as sealed by the ledger; empty if there is none.
        name, date: of the table of a release, and the day on which it was made.
    """
    return Certificate(
        promise=promise,
        neighbours=checked_neighbours(table.neighbours),
        unit=table.unit,
        mechanism=mechanism,
        parameters={name: value for name, value in parameters.items() if value},
        source="; ".join(dict.fromkeys(source)),
        assumptions=tuple(dict.fromkeys(assumptions)),
        does_not_promise=tuple(dict.fromkeys(does_not_promise)),
        schema_hash=seal,
        version=VERSION,
        table=name,
        date=date,
    )
