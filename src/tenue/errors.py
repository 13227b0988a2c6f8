"""Refusals, which are for the caller to correct, and faults, which are ours.

A message is an answer: it depends on the question, the schema and the ledger, never on rows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

__all__ = [
    "Conflict",
    "EngineFault",
    "Fault",
    "InvalidArgument",
    "InvalidPrior",
    "InvalidQuestion",
    "InvalidSchema",
    "InvalidTable",
    "InvalidTaxonomy",
    "LedgerFault",
    "NotPromised",
    "OverBudget",
    "Refused",
    "Unreachable",
    "nearest",
]


_MOST_NAMES = 12


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else text + "."


class Refused(Exception):
    """A refusal: what was wrong, what is allowed, how to fix it.

    `code` is stable and for programs, the three sentences are for people. The class is the kind of
    refusal and has a code of its own. Facts are given by keyword and become attributes.

    Example
        >>> str(InvalidArgument("epsilon is 0", "It must be above 0", "Try epsilon=1"))
        'epsilon is 0. It must be above 0. Try epsilon=1.'
    """

    code = "refused"

    def __init__(
        self, what: str, allowed: str, fix: str, *, code: str | None = None, **facts: object
    ) -> None:
        self.what = _sentence(what)
        self.allowed = _sentence(allowed)
        self.fix = _sentence(fix)
        self.facts = facts
        if code is not None:
            self.code = code
        super().__init__(f"{self.what} {self.allowed} {self.fix}")

    def __getattr__(self, name: str) -> object:
        facts = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(name)

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the three sentences without a traceback."""
        return [f"Refused: {self.what}", self.allowed, self.fix]

    def to_dict(self) -> dict[str, str]:
        """The refusal as the command line and the gateway send it."""
        sentences = {"what": self.what, "allowed": self.allowed, "fix": self.fix}
        return {"code": self.code, "kind": type(self).code, **sentences}


class InvalidArgument(Refused, ValueError):
    """A parameter is missing, unknown or outside its range."""

    code = "invalid-argument"


class InvalidSchema(Refused, ValueError):
    """The schema file does not describe a table."""

    code = "invalid-schema"


class InvalidTaxonomy(Refused, ValueError):
    """The categories do not form a taxonomy."""

    code = "invalid-taxonomy"


class InvalidTable(Refused, ValueError):
    """The table is not the one that the schema describes."""

    code = "invalid-table"


class InvalidQuestion(Refused, ValueError):
    """The question is outside what can be asked."""

    code = "invalid-question"


class InvalidPrior(Refused, ValueError):
    """The prior is not a distribution that Tenue can refine."""

    code = "invalid-prior"


class OverBudget(Refused):
    """The ledger cannot pay this price."""

    code = "over-budget"


class Conflict(Refused):
    """A key or a release that conflicts with an earlier one."""

    code = "conflict"


class NotPromised(Refused):
    """The guarantee cannot be given here."""

    code = "not-promised"


class Unreachable(Refused):
    """The privacy model cannot be reached with these parameters on this table."""

    code = "unreachable"


class Fault(Exception):
    """Our failure, never the caller's. Its text is for the operator's log, not for analysts."""

    code = "fault"


class EngineFault(Fault):
    """The engine failed. Its own message is withheld, because it may quote rows."""

    code = "engine-fault"


class LedgerFault(Fault):
    """The ledger could not be read, written or trusted."""

    code = "ledger-fault"


KINDS: dict[str, type[Refused]] = {
    kind.code: kind
    for kind in (
        Refused,
        *(InvalidArgument, InvalidSchema, InvalidTaxonomy, InvalidTable, InvalidQuestion),
        *(InvalidPrior, OverBudget, Conflict, NotPromised, Unreachable),
    )
}
"""The refusals that a catalogue may name, by their codes."""

_HOUSE = Path(__file__).parent


def refuse(key: str, /, **facts: object) -> Refused:
    """The refusal that a room's `refusals.toml` has under a key, ready to be raised.

    An entry has a `kind` and three sentences, `what`, `allowed` and `fix`, in which `{name}` stands
    for the fact of that name. Its key is its public code, unless it names another `code`. Further
    entries become facts.

    Parameters
        key: the room, a dot and the entry: "ledger.ledger-closed".
        facts: what the sentences name, and what a caller may want to read off the refusal.
    """
    room, _, entry = key.partition(".")
    given = dict(catalogue(room)[entry])
    kind = KINDS[given.pop("kind")]
    what, allowed, fix = (given.pop(part).format(**facts) for part in ("what", "allowed", "fix"))
    return kind(what, allowed, fix, code=given.pop("code", entry), **{**given, **facts})


@cache
def catalogue(room: str) -> Mapping[str, Mapping[str, str]]:
    """The sentences with which a room refuses, by their keys."""
    folder = _HOUSE.parent / "tenue_papers" if room == "papers" else _HOUSE / room
    return tomllib.loads((folder / "refusals.toml").read_text(encoding="utf-8"))


def nearest(word: str, known: Iterable[str]) -> str:
    """A sentence that names the known name nearest to `word`, or lists all.

    Example
        >>> nearest("sensitivty", ["sensitivity", "epsilon"])
        'Did you mean `sensitivity`?'
        >>> nearest("x", ["sensitivity", "epsilon"])
        'Choose one of `epsilon`, `sensitivity`.'
        >>> nearest("male", ["Female", "Male"])
        'Did you mean `Male`?'
    """
    import difflib  # a question without a mistake does not need it

    names = sorted(known)
    same = [name for name in names if name.casefold() == word.casefold() and name != word]
    close = same[:1] or difflib.get_close_matches(word, names, n=1)
    if close:
        return f"Did you mean `{close[0]}`?"
    if not names:
        return "Nothing of this kind exists here."
    most = len(names) if len(names) <= _MOST_NAMES + 1 else _MOST_NAMES  # one more is no longer
    shown = ", ".join(f"`{name}`" for name in names[:most])
    more = f" and {len(names) - most} others" if len(names) > most else ""
    return f"Choose one of {shown}{more}."
