"""Two tables linked by the number of a group: who is in it, and which confidential values it has.

Quasi-identifiers stay as they are; which value is whose is not said. The one table that a release
also has puts the values of a group into a random order beside its people: whoever has the two
tables can make such a table himself. Where a person may have several rows it is never handed out:
it gives all of them the same values, and so would show which rows are one person's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ...errors import refuse
from ...noise.source import Source
from ...schema import Number
from ...screen.number import percent
from ...screen.page import sentence
from ..permute import shuffled
from ..table.cells import Cells, Numbers
from ..table.original import Original
from .contract import Method

GROUP = "group"
PEOPLE, VALUES = "quasi_identifiers", "confidential"
"""The two tables."""

FOUND = (
    "Quasi-identifiers leave as they are, so whoever has them finds rows; what stands beside them "
    "may come from others of the group."
)
LEARNED = (
    "Nothing is promised against whoever knows how confidential columns relate to others, or "
    "learns it from the groups: he can tell some values of a group from others by whose they fit."
)


def check_no_group(method: Method) -> None:
    """Refuses a schema that has a column of the name by which the tables are linked."""
    names = (*method.quasi, *method.confidential, *method.unprotected)
    for name in names:
        if name.lower() == GROUP:
            raise refuse("microdata.column-is-named-group", column=name)


def numbered(groups: Numbers, source: Source) -> Cells:
    """The groups with numbers from 1 on, drawn at random: how they were formed gives no number."""
    many = int(groups.max()) + 1
    drawn = shuffled(many, source) + 1
    column = Number(
        name=GROUP, role="other", low=Fraction(1), high=Fraction(many), grid=Fraction(1)
    )
    return Cells(column, drawn[groups], np.ones(groups.size, dtype=bool), None)


def linked(
    method: Method, original: Original, cells: Mapping[str, Cells], group: Cells
) -> dict[str, Any]:
    """The two tables: a row for each row, and a row for each unit.

    Parameters
        cells: the columns, values already in random order inside each group.
        group: the group of each row.
    """
    import pyarrow

    def table(columns: Iterable[Cells]) -> Any:
        return pyarrow.table({column.name: column.to_arrow() for column in columns})

    units = original.of_persons(np.arange(original.size))
    shown = {*method.quasi, *method.unprotected}
    people = [column for name, column in cells.items() if name in shown]
    values = [cells[name].take(units) for name in method.confidential]
    return {PEOPLE: table([*people, group]), VALUES: table([group.take(units), *values])}


def standing_alone(names: Iterable[str], share: float) -> str:
    """What to say of look-alikes where quasi-identifiers leave as they are."""
    return sentence(
        f"{percent(share)} of the rows share {', '.join(names)} with nobody; that stays as it is."
    )
