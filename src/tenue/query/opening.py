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


@dataclass(frozen=True)
class Opening:
    """How a table was opened, as text and as facts.

    read: whether every row was read now; False if that was done before and nothing changed since.
    unreadable: for each column with such values, how many are there and cannot be read as the
        declared type; to questions they are missing. Empty if nothing was read now.
    """

    read: bool
    unreadable: Mapping[str, int] = field(default_factory=dict)
    _types: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def now(cls, schema: Schema, found: Validated) -> Opening:
        """Of a table that was read from end to end."""
        types = {name: schema.columns[name].type for name in found.unreadable}
        return cls(True, dict(found.unreadable), types)

    @classmethod
    def before(cls) -> Opening:
        """Of one that was read at an earlier opening."""
        return cls(False)

    def __str__(self) -> str:
        if not self.read:
            return "The table was read from end to end at an earlier opening and has not changed."
        if not self.unreadable:
            return "The table was read from end to end, and every declared value could be read."
        told = ", ".join(
            f"`{name}` {count:,} (no {self._types[name]})"
            for name, count in self.unreadable.items()
        )
        return f"Values that cannot be read as declared count as missing: {told}."


def refuse_other_rows(schema: Schema, found: int) -> None:
    """Refuses a table that has not as many rows as the schema states, where the number is public.

    Answers are computed with the stated number; if it were wrong, they would be wrong unseen.
    """
    if schema.rows is None or schema.neighbours != "replace" or schema.unit != RECORD:
        return
    if found != schema.rows:
        raise refuse("query.schema-states-rows-another-number", rows=schema.rows, name=schema.name)
