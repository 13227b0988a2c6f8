"""Methods that form groups, for tables that are read in passes.

Rows are read once and kept by the engine as whole numbers. The promise is measured on all released
rows; risk and utility on a random sample, which the history states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...engine.contract import KeptThere, Passes
from ...errors import refuse
from ...evaluate.klt import Secret, check_in_passes
from ...evaluate.one_table.identifying_columns import NEARLY
from ...noise.source import Source
from ...schema import Schema
from ...text import many, percent
from ..assessment import MOST_LINKED, Assessment, Step, assessed
from ..permute import some_rows
from ..row_fingerprint import Marking
from ..table.cells import Cells, Coding, Numbers, table_of
from ..table.input_table import Validated
from ..table.parquet_output import WrittenTable, write_passes
from .contract import Made, Method, Passable, read_steps

if TYPE_CHECKING:
    from ...evaluate import Check

CellsOf = Callable[[Numbers], Mapping[str, Cells]]
"""The columns of some rows."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """The rows that can be published, as `Method.prepare` gives them, and what works on them.

    coding: what their numbers mean.
    kept: the rows as they were read.
    tell: receives the name of each step.
    """

    method: Method
    coding: Coding
    passes: Passes
    kept: KeptThere
    source: Source
    tell: Callable[[str], None]

    def place(self, name: str) -> int:
        """The position of a column in a row."""
        return self.coding.names.index(name)

    def values(self, name: str) -> tuple[Numbers, Numbers]:
        """The different values of a column, as they are coded, and how many rows have each."""
        tally = self.passes.only(self.place(name)).tally(lambda rows: [rows[:, 0]])
        values, counts = (np.concatenate(part) for part in zip(*tally, strict=True))
        return values, counts


@contextmanager
def prepared(
    method: Passable, table: Validated, source: Source, tell: Callable[[str], None], look: Marking
) -> Iterator[Prepared]:
    """Reads the rows; refused in the same cases as `Method.prepare`. Ends the step of reading."""
    coding, rows = Coding.of(method.schema), table.rows
    with table.keep(
        coding.numbers,
        coding.sizes,
        method.room_for_rows,
        lambda read: tell(f"read ({percent(read / rows)})"),
        look.name,
        all_values=method.reads_all,
    ) as kept:
        coding = replace(coding, types=kept.told.types)
        look.rows(kept.passes, coding)
        for name in method.quasi + method.confidential:
            column = method.schema.columns[name]
            if column.missing is None and kept.missing[name] == rows:
                raise refuse("publish.published-column-empty", column=name, role=column.role)
        needed = coding.places(method.compared)

        def usable(batch: Numbers) -> Numbers:
            full = coding.filled(batch)
            return full[(full[:, needed] > 0).all(axis=1)]

        with kept.passes.map(usable, coding.sizes) as passes:
            if passes.rows == 0:
                raise refuse("publish.no-complete-row")
            method.check_units(passes.rows, "rows")
            found = Prepared(method, coding, passes, kept, source, tell)
            for name in method.quasi + method.confidential:
                if _is_constant(passes.only(found.place(name))):
                    role = method.schema.columns[name].role
                    raise refuse("publish.constant-column", column=name, role=role)
            tell(method.step)
            yield found


def _is_constant(column: Passes) -> bool:
    different = 0
    for values, _ in column.tally(lambda rows: [rows[:, 0]]):
        different += int((values > 0).sum())
        if different > 1:
            return False
    return True


@contextmanager
def labelled(
    found: Prepared, labels: Callable[[Numbers], Sequence[Numbers]], groups: Sequence[int]
) -> Iterator[Passes]:
    """The rows, each followed by its group in each partition.

    Parameters
        labels: for each partition the group of each row.
        groups: how many groups each partition has.
    """
    sizes = [*found.coding.sizes, *groups]
    with found.passes.map(lambda rows: np.column_stack([rows, *labels(rows)]), sizes) as after:
        yield after


def by_group(coding: Coding, made: Mapping[str, Cells], places: Mapping[str, int]) -> CellsOf:
    """The columns of rows, some of them with the value of the row's group.

    Parameters
        made: for these columns the value of each group.
        places: the position of the row's group, by column.
    """

    def cells(rows: Numbers) -> Mapping[str, Cells]:
        taken = {name: one.take(rows[:, places[name]]) for name, one in made.items()}
        return {**coding.cells(rows), **taken}

    return cells


def finished(
    found: Prepared,
    after: Passes,
    cells: CellsOf,
    check: Check | None,
    *,
    steps: Sequence[Step],
    sizes: Mapping[str, Mapping[int, int]],
    centres: CellsOf | None = None,
    attacked: Callable[[Assessment], Assessment] = lambda found: found,
) -> Made:
    """The released table, with risk and utility measured on rows drawn at random.

    Parameters
        after: the released rows, in the order in which they were read.
        cells: their columns.
        check: k, l and t of all rows.
        steps: what the history says about groups.
        sizes: how many groups have how many units, by column where each has its own groups.
        centres: the values by which risk and utility are measured; the released ones if None.
        attacked: adds further attacks.
    """
    method, source = found.method, found.source
    table = written(after, cells, method.schema, source)
    found.tell("evaluate")
    numbers = some_rows(after.rows, MOST_LINKED, source)
    before = table_of(found.coding.cells(found.passes.take(numbers)), method.schema)
    drawn = after.take(numbers)
    sample = table_of(cells(drawn), method.schema)
    values = sample if centres is None else table_of(centres(drawn), method.schema)
    assessment = assessed(before, values, method.schema, source, None, method.explained)
    if assessment.risk is not None:
        exact = None if check is None else method.explained(check)
        assessment = assessment._replace(risk=replace(assessment.risk, check=exact))
    text = f"{many(numbers.size, 'row')} drawn at random; k, l, t of all rows"
    assessment = attacked(assessment._replace(steps=(Step("evaluate", text),)))
    read = found.kept.passes.rows
    needed = [n for n in method.compared if method.schema.columns[n].missing is None]
    gaps = {name: found.kept.missing[name] for name in needed}
    history = [
        *read_steps(read, len(found.kept.missing), found.kept.told.beyond),
        Step("passes", "the table was read in passes; intermediate results were kept on disk"),
        *method.left_out_steps(read - found.passes.rows, read, gaps),
        *steps,
        *method.publish_steps(),
        *assessment.steps,
    ]
    telling = telling_in_passes(found)
    return Made(table, sample, assessment, tuple(history), before, sizes, telling)


def written(passes: Passes, cells: CellsOf, schema: Schema, source: Source) -> WrittenTable:
    """The released table, in random order. `cells` is sent to the machines that hold the rows."""
    with passes.shuffle(source) as mixed:
        return write_passes(mixed, lambda rows: table_of(cells(rows), schema))


def check_of(
    found: Prepared, after: Passes, groups: Callable[[Numbers], Sequence[Numbers]] | None = None
) -> Check | None:
    """k, l and t of all released rows.

    Parameters
        groups: what rows show of their quasi-identifiers; their values if None.
    """
    method, coding = found.method, found.coding
    places = coding.places(method.quasi)
    if not places:
        return None

    def values(rows: Numbers) -> Sequence[Numbers]:
        return [rows[:, j] for j in places]

    columns = [Secret(coding.column(name), found.place(name)) for name in method.confidential]
    return check_in_passes(after, groups or values, method.quasi, columns, method.unprotected)


def telling_in_passes(found: Prepared) -> dict[str, float]:
    """The unprotected columns that identify nearly every row; as `telling`."""
    shares = {}
    for name in found.method.unprotected:
        tallied = found.passes.only(found.place(name)).tally(lambda rows: [rows[:, 0]])
        different = sum(int((values > 0).sum()) for values, _ in tallied)
        shares[name] = different / found.passes.rows if found.passes.rows > 1 else 0.0
    return {name: share for name, share in shares.items() if share >= NEARLY}


def sizes_in_passes(
    passes: Passes, groups: Callable[[Numbers], Sequence[Numbers]]
) -> dict[int, int]:
    """How many groups have how many rows.

    Parameters
        groups: what distinguishes groups.
    """
    counted: Counter[int] = Counter()
    for *_, counts in passes.tally(groups):
        size, times = np.unique(counts, return_counts=True)
        counted.update(dict(zip(size.tolist(), times.tolist(), strict=True)))
    return dict(sorted(counted.items()))
