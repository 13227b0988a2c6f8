"""What the holder learns when a table is opened: what in it could not be read.

It is counted from rows, so it is shown to the holder alone, and written down nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..engine.contract import Validated
from ..errors import refuse
from ..schema import Schema
from ..schema.table import RECORD
from ..text import paragraphs


@dataclass(frozen=True, repr=False)
class Opening:
    """How a table was opened, as text and as facts.

    read: whether every row was read now; False if that was done before and nothing changed since.
    unreadable: for each column with such values, how many are there and cannot be read as the
        declared type; to questions they are missing. Empty if nothing was read now.
    rounded: for each column without a declared grid, how many values have a fraction and count as
        the nearest whole number. Empty likewise.
    excess: what the role that reads a table in a server may do besides.
    """

    read: bool
    unreadable: Mapping[str, int] = field(default_factory=dict)
    rounded: Mapping[str, int] = field(default_factory=dict)
    excess: tuple[str, ...] = ()
    _types: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def now(cls, schema: Schema, found: Validated, excess: tuple[str, ...] = ()) -> Opening:
        """Of a table that was read from end to end."""
        types = {name: schema.columns[name].type for name in found.unreadable}
        return cls(True, dict(found.unreadable), dict(found.rounded), excess, types)

    @classmethod
    def before(cls, excess: tuple[str, ...] = ()) -> Opening:
        """Of one that was read at an earlier opening."""
        return cls(False, excess=excess)

    def __str__(self) -> str:
        if self.remarks:
            return " ".join(self.remarks)
        if not self.read:
            return "The table was read from end to end at an earlier opening and has not changed."
        return "The table was read from end to end, and every declared value could be read."

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return paragraphs(self.remarks or [str(self)])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the holder should know, a sentence each; nothing if all is as declared."""
        said = []
        if self.unreadable:
            told = ", ".join(
                f"`{name}` {count:,} (no {self._types[name]})"
                for name, count in self.unreadable.items()
            )
            said.append(f"Values that cannot be read as declared count as missing: {told}.")
        if self.rounded:
            told = ", ".join(f"`{name}` {count:,}" for name, count in self.rounded.items())
            said.append(
                "Values with a fraction count as the nearest whole number, for no grid is "
                f"declared: {told}. Write grid = 0.01, or what is right, to keep more of them."
            )
        if self.excess:
            told = "; it ".join(self.excess)
            said.append(
                f"The role that reads the table may do more than that: it {told}. "
                "Named analysts are refused until it may only read; tenue doctor says how."
            )
        return tuple(said)


def refuse_excess(excess: tuple[str, ...]) -> None:
    """Refuses to ask for a named analyst through a role that may do more than read."""
    if excess:
        raise refuse("ask.excessive-grant", excess="; it ".join(excess))


def refuse_other_rows(schema: Schema, found: int) -> None:
    """Refuses a table that has not as many rows as the schema states, where the number is public.

    Answers are computed with the stated number; if it were wrong, they would be wrong unseen.
    """
    if schema.rows is None or schema.neighbours != "replace" or schema.unit != RECORD:
        return
    if found != schema.rows:
        raise refuse("ask.row-count-differs", rows=schema.rows, name=schema.name)
