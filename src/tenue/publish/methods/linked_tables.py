"""Two tables linked by the number of a group: who is in it, and which confidential values it has.

Quasi-identifiers stay as they are; which value is whose is not said. The one table that a release
also has puts the values of a group into a random order beside its people: whoever has the two
tables can make such a table himself. Where a person may have several rows it is never handed out:
it gives all of them the same values, and so would show which rows are one person's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.contract import Passes
from ...errors import refuse
from ...evaluate.klt import Secret, check_in_passes
from ...noise.source import Source
from ...schema import Number
from ...text import percent, sentence
from ..assessment import Assessment, Step
from ..permute import shuffled
from ..table.cells import Cells, Coding, Numbers
from ..table.input_table import Original
from ..table.parquet_output import WrittenTable
from .contract import Made, Method, sizes_counted
from .permuted_columns import Sides, undone_in_passes
from .streamed import CellsOf, Prepared, finished, written

if TYPE_CHECKING:
    from ...evaluate import Check

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
            raise refuse("publish.column-named-group", column=name)


def numbered(groups: Numbers, source: Source) -> Cells:
    """The groups with numbers from 1 on, drawn at random: how they were formed gives no number."""
    many = int(groups.max()) + 1
    return group_cells(group_numbers(many, source)[groups], many)


def group_numbers(many: int, source: Source) -> Numbers:
    """The number that is shown of each of so many groups."""
    return shuffled(many, source) + 1


def group_cells(numbers: Numbers, many: int) -> Cells:
    """The column of the numbers of so many groups."""
    column = Number(
        name=GROUP, role="other", low=Fraction(1), high=Fraction(many), grid=Fraction(1)
    )
    return Cells(column, numbers, np.ones(numbers.size, dtype=bool), None)


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


@dataclass(frozen=True, eq=False)
class InGroups:
    """Rows that are units and are read in passes, followed by the number of their group.

    before, after: the rows, row by row, before and after confidential values changed places.
    coding: what their numbers mean.
    sizes: how many rows each group has.
    """

    before: Passes
    after: Passes
    coding: Coding
    sizes: Numbers

    @classmethod
    def of(cls, before: Passes, after: Passes, coding: Coding) -> InGroups:
        width = len(coding.columns)
        tallied = after.only(width).tally(lambda rows: [rows[:, 0]])
        return cls(before, after, coding, np.concatenate([counts for _, counts in tallied]))

    def check(self, confidential: Iterable[str]) -> Check:
        """k, l and t of the groups."""
        width = len(self.coding.columns)
        columns = [
            Secret(self.coding.column(name), self.coding.names.index(name)) for name in confidential
        ]
        return check_in_passes(self.after, lambda rows: [rows[:, width]], [GROUP], columns)

    @property
    def cells(self) -> CellsOf:
        """The columns of rows, and their group."""
        coding, many, width = self.coding, self.sizes.size, len(self.coding.columns)
        return lambda rows: {**coding.cells(rows), GROUP: group_cells(rows[:, width], many)}

    def on_disk(
        self,
        method: Method,
        found: Prepared,
        check: Check | None,
        source: Source,
        tell: Callable[[str], None],
        *,
        steps: Sequence[Step],
        shown: bool = True,
        centres: CellsOf | None = None,
    ) -> Made:
        """What leaves, and what its holder is told.

        Parameters
            check, steps, centres: as `finished` has them.
            shown: whether groups are shown, as two linked tables.
        """
        names, width = method.confidential, len(self.coding.columns)
        leave = (*method.quasi, *names, *method.unprotected)
        sides = Sides(names, self.before, self.after, _group(width), self.sizes)

        def attacked(told: Assessment) -> Assessment:
            cells = self.coding.cells
            return undone_in_passes(told, cells, cells, leave, [sides], width + 1, source)

        made = finished(
            method,
            found,
            self.after,
            self.cells if shown else self.coding.cells,
            check,
            source,
            tell,
            steps=steps,
            sizes=sizes_counted({names[0] if len(names) == 1 else "": self.sizes}),
            centres=centres or self.coding.cells,
            attacked=attacked,
        )
        return replace(made, tables=self._linked(method, source)) if shown else made

    def _linked(self, method: Method, source: Source) -> dict[str, WrittenTable]:
        """The two tables, each in a random order of its own."""
        known = [
            *(n for n in self.coding.names if n in (*method.quasi, *method.unprotected)),
            GROUP,
        ]
        made = {PEOPLE: known, VALUES: [GROUP, *method.confidential]}
        return {
            name: written(self.after, _only(self.cells, names), method.schema, source)
            for name, names in made.items()
        }


def _only(cells: CellsOf, names: Sequence[str]) -> CellsOf:
    def some(rows: Numbers) -> Mapping[str, Cells]:
        found = cells(rows)
        return {name: found[name] for name in names}

    return some


def _group(width: int) -> Callable[[Numbers], Numbers]:
    return lambda rows: rows[:, width] - 1


def standing_alone(names: Iterable[str], share: float) -> str:
    """What to say of look-alikes where quasi-identifiers leave as they are."""
    return sentence(
        f"{percent(share)} of the rows share {', '.join(names)} with nobody; that stays as it is."
    )
