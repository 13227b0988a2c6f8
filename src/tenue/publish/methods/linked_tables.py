"""Two tables linked by the number of a group: its members, and its confidential values.

Quasi-identifiers stay unchanged; which value belongs to whom is hidden. A release also has one
table, in which the values of a group are beside its members in random order: anyone can make such a
table from the two. Where a person may have several rows it is never handed out: all of them have
the same values there, which would show that they belong to one person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    "Quasi-identifiers are published unchanged, so an intruder who knows them finds rows; the "
    "confidential values beside them may belong to other members of the group."
)
LEARNED = (
    "It does not protect against an intruder who knows, or learns from the groups, how "
    "confidential columns relate to others: they can assign some values of a group to the members "
    "whom they fit best."
)


def check_no_group(method: Method) -> None:
    """Refuses a schema with a column of the name that links the tables."""
    for name in method.released:
        if name.lower() == GROUP:
            raise refuse("publish.column-named-group", column=name)


def numbered(groups: Numbers, source: Source) -> Cells:
    """The column of group numbers, from 1, in random order: they do not show how groups formed."""
    count = int(groups.max()) + 1
    return group_cells(group_numbers(count, source)[groups], count)


def group_numbers(count: int, source: Source) -> Numbers:
    """The published number of each group."""
    return shuffled(count, source) + 1


def group_cells(numbers: Numbers, count: int) -> Cells:
    one = Fraction(1)
    column = Number(name=GROUP, role="other", low=one, high=Fraction(count), grid=one)
    return Cells(column, numbers, np.ones(numbers.size, dtype=bool), None)


def linked(
    method: Method, original: Original, cells: Mapping[str, Cells], group: Cells
) -> dict[str, Any]:
    """The two tables: a row for each row, and a row for each unit.

    Parameters
        cells: the columns, values already in random order within each group.
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
    """Rows that are units and are read in passes, each followed by the number of its group.

    before, after: the rows before and after confidential values were permuted.
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
        coding, count, width = self.coding, self.sizes.size, len(self.coding.columns)
        return lambda rows: {**coding.cells(rows), GROUP: group_cells(rows[:, width], count)}

    def on_disk(
        self,
        found: Prepared,
        check: Check | None,
        *,
        steps: Sequence[Step],
        shown: bool = True,
        centres: CellsOf | None = None,
    ) -> Made:
        """The release, as `finished` makes it.

        Parameters
            shown: whether groups are shown, as two linked tables.
        """
        method, source = found.method, found.source
        names, width, cells = method.confidential, len(self.coding.columns), self.coding.cells
        sides = Sides(names, self.before, self.after, lambda rows: rows[:, width] - 1, self.sizes)

        def attacked(found: Assessment) -> Assessment:
            return undone_in_passes(found, cells, method.released, [sides], width + 1, source)

        made = finished(
            found,
            self.after,
            self.cells if shown else cells,
            check,
            steps=steps,
            sizes=sizes_counted({names[0] if len(names) == 1 else "": self.sizes}),
            centres=centres or cells,
            attacked=attacked,
        )
        return replace(made, tables=self._linked(method, source)) if shown else made

    def _linked(self, method: Method, source: Source) -> dict[str, WrittenTable]:
        """The two tables, each in a random order of its own."""
        visible = (*method.quasi, *method.unprotected)
        tables = {
            PEOPLE: [*(name for name in self.coding.names if name in visible), GROUP],
            VALUES: [GROUP, *method.confidential],
        }
        return {
            table: written(self.after, _only(self.cells, names), method.schema, source)
            for table, names in tables.items()
        }


def _only(cells: CellsOf, names: Sequence[str]) -> CellsOf:
    def some(rows: Numbers) -> Mapping[str, Cells]:
        found = cells(rows)
        return {name: found[name] for name in names}

    return some


def standing_alone(names: Iterable[str], share: float) -> str:
    """The sentence about unique rows, where quasi-identifiers are published unchanged."""
    unique = f"{percent(share)} of the rows are unique in {', '.join(names)}"
    return sentence(f"{unique}; the method does not change this.")
