"""The first lines of every screen and report of a release: what is promised, the largest risk,
what was lost, what was left out, and where the release is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ..text import named, wrapped_facts
from .assessment import Step

if TYPE_CHECKING:
    from ..evaluate import Likeness, Risk, Utility
    from .methods.contract import Method

HOLDER = "holder only"
PROMISED, RISK, UTILITY = "Promised", "Largest risk", "Utility"
LEFT_OUT, WHERE = "Left out", "Where"
ALL = "nothing: it has all rows and all declared columns"
_LEFT = ("left out", "suppressed", "missing")
"""The steps of a history that say what of the table is not in the release."""


@dataclass(frozen=True)
class Verdict:
    """Five facts about a release; all but the promise are for the holder only."""

    promised: str
    risk: str
    utility: str
    left_out: str
    where: str

    @classmethod
    def of(
        cls,
        method: Method,
        risk: Risk | None,
        utility: Utility | Likeness,
        history: Sequence[Step],
        telling: Mapping[str, float],
        columns: Sequence[str],
        where: str,
    ) -> Verdict:
        """The verdict on a release.

        Parameters
            telling: unprotected columns that identify nearly every row.
            columns: those of the release.
            where: where it is, and where it is registered.
        """
        return cls(
            promised(method),
            method.largest_risk(risk, telling),
            utility.in_short,
            left_out(method, history, columns),
            where,
        )

    def for_holder(self) -> list[tuple[str, str]]:
        """The lines that are for the holder only."""
        return [
            (RISK, self.risk),
            (UTILITY, self.utility),
            (LEFT_OUT, self.left_out),
            (WHERE, self.where),
        ]

    def lines(self) -> list[tuple[str, str]]:
        """All five, with their names."""
        return [(PROMISED, self.promised), *self.for_holder()]

    def to_dict(self) -> dict[str, str]:
        """The facts as JSON has them."""
        return asdict(self)

    def text(self) -> str:
        """The lines of a terminal."""
        return "\n".join(wrapped_facts(self.lines()))

    __str__ = text


def promised(method: Method) -> str:
    """The promise, and the columns that it does not cover."""
    loose = method.unprotected
    verb = "is" if len(loose) == 1 else "are"
    return f"{method.promise}" + (f"; {named(loose)} {verb} unprotected" if loose else "")


def left_out(method: Method, history: Sequence[Step], columns: Sequence[str]) -> str:
    """The rows and columns of the table that are not in the release."""
    parts = [step.text for step in history if step.name in _LEFT]
    gone = [name for name in method.schema.columns if name not in columns]
    if gone:
        parts.append(f"{'column' if len(gone) == 1 else 'columns'} {named(gone)}")
    return "; ".join(parts) or ALL
