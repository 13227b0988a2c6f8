"""What methods that form groups share when they read a table in passes.

Rows are read once and lie with the engine as whole numbers. What was promised is measured on all
rows that leave; risk and utility on rows drawn at random, and the history says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...engine.contract import Passes
from ...errors import refuse
from ...evaluate.klt import Secret, check_in_passes
from ...evaluate.one_table.identifying_columns import NEARLY
from ...noise.source import Source
from ...schema import Schema
from ...text import many, percent
from ..assessment import MOST_LINKED, Assessment, Step, assessed
from ..permute import some_rows
from ..table.cells import Cells, Coding, Numbers, table_of
from ..table.input_table import KeptRows, Validated
from ..table.parquet_output import WrittenTable, write_passes
from .contract import Look, Made, Method, read_steps

if TYPE_CHECKING:
    import pyarrow

    from ...evaluate import Check

CellsOf = Callable[[Numbers], Mapping[str, Cells]]
"""The columns of some rows."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """The rows that can be published, as `Method.prepare` would give them.

    coding: what their numbers mean.
    passes: the rows.
    kept: the rows as they were read.
    """

    coding: Coding
    passes: Passes
    kept: KeptRows

    def place(self, name: str) -> int:
        """Which number of a row is the value of a column."""
        return self.coding.names.index(name)

    def measured_columns(self, names: Sequence[str]) -> list[Secret]:
        """These confidential columns, as they are measured."""
        columns = {column.name: column for column in self.coding.columns}
        return [Secret(columns[name], self.place(name)) for name in names]


@contextmanager
def prepared(
    method: Method, table: Validated, memory: int, tell: Callable[[str], None], look: Look
) -> Iterator[Prepared]:
    """Reads the rows; refused as they would be if they were held.

    Parameters
        look: is shown the rows as they were read, before anything is made of them.
    """
    coding, rows = Coding.of(method.schema), table.rows
    with table.keep(
        coding.numbers,
        coding.sizes,
        memory,
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
            found = Prepared(coding, passes, kept)
            _check(method, found)
            yield found


def _check(method: Method, found: Prepared) -> None:
    units = found.passes.rows
    if units == 0:
        raise refuse("publish.no-complete-row")
    if units < method.fewest:
        fix = f"Choose k = {units} at most" if units > 1 else "Publish a larger table"
        raise refuse("publish.fewer-units-than-k", largest=method.fewest, word="rows", word2=fix)
    for name in method.quasi + method.confidential:
        if not _varies(found.passes.only(found.place(name))):
            role = method.schema.columns[name].role
            raise refuse("publish.constant-column", column=name, role=role)


def _varies(column: Passes) -> bool:
    different = 0
    for values, _ in column.tally(lambda rows: [rows[:, 0]]):
        different += int((values > 0).sum())
        if different > 1:
            return True
    return False


@contextmanager
def labelled(
    found: Prepared, labels: Callable[[Numbers], Sequence[Numbers]], groups: Sequence[int]
) -> Iterator[Passes]:
    """The rows, each followed by the groups that it is in.

    Parameters
        labels: for each partition the group of each row.
        groups: how many groups each partition has.
    """

    def make(rows: Numbers) -> Numbers:
        return np.column_stack([rows, *labels(rows)])

    with found.passes.map(make, [*found.coding.sizes, *groups]) as after:
        yield after


def by_group(coding: Coding, made: Mapping[str, Cells], places: Mapping[str, int]) -> CellsOf:
    """The columns of rows, some of them as their group has them.

    Parameters
        made: of these columns a value for each group.
        places: which number of a row is its group, by column.
    """

    def cells(rows: Numbers) -> Mapping[str, Cells]:
        taken = {name: one.take(rows[:, places[name]]) for name, one in made.items()}
        return {**coding.cells(rows), **taken}

    return cells


def finished(
    method: Method,
    found: Prepared,
    after: Passes,
    cells: CellsOf,
    check: Check | None,
    source: Source,
    tell: Callable[[str], None],
    *,
    steps: Sequence[Step],
    sizes: Mapping[str, Mapping[int, int]],
    centres: CellsOf | None = None,
    attacked: Callable[[Assessment], Assessment] = lambda told: told,
) -> Made:
    """The table that leaves, and what its holder is told.

    Parameters
        after, cells, check, centres: as `measured` has them.
        steps: what the history says of groups.
        sizes: how many groups have how many units, by column where each has its own.
        attacked: adds what an intruder can do besides.
    """
    table = written(after, cells, method.schema, source)
    tell("evaluate")
    before, sample, told = measured(method, found, after, cells, check, source, centres)
    told = attacked(told)
    return Made(
        table,
        sample,
        told,
        history(method, found, steps, told.steps),
        before,
        sizes,
        telling_in_passes(method, found),
    )


def written(
    passes: Passes,
    cells: CellsOf,
    schema: Schema,
    source: Source,
) -> WrittenTable:
    """The table that leaves, in random order, so that it says nothing of the order in which rows
    came.

    Parameters
        cells: is sent to the machines that hold the rows.
    """
    with passes.shuffle(source) as mixed:
        return write_passes(mixed, lambda rows: table_of(cells(rows), schema))


def measured(
    method: Method,
    found: Prepared,
    after: Passes,
    cells: CellsOf,
    check: Check | None,
    source: Source,
    centres: CellsOf | None = None,
) -> tuple[pyarrow.Table, pyarrow.Table, Assessment]:
    """Rows drawn at random before and after, and what they tell of risk and utility.

    Parameters
        after: the rows as they leave, in the order of those that were read.
        cells: what leaves of them.
        check: k, l and t of all rows.
        centres: what stands for them where values are compared; what leaves, if not given.
    """
    numbers = some_rows(after.rows, MOST_LINKED, source)
    before = table_of(found.coding.cells(found.passes.take(numbers)), method.schema)
    some = after.take(numbers)
    shown = table_of(cells(some), method.schema)
    values = shown if centres is None else table_of(centres(some), method.schema)
    told = assessed(before, values, method.schema, source, None, method.explained)
    if told.risk is not None:
        exact = None if check is None else method.explained(check)
        told = told._replace(risk=replace(told.risk, check=exact))
    text = f"{many(numbers.size, 'row')} drawn at random; k, l, t of all rows"
    return before, shown, told._replace(steps=(Step("evaluate", text),))


def history(
    method: Method, found: Prepared, group_steps: Sequence[Step], told: Sequence[Step]
) -> tuple[Step, ...]:
    """The steps from the table as it was read to the table as it leaves."""
    read = found.kept.passes.rows
    steps = read_steps(read, found.kept.columns, found.kept.told.beyond)
    steps.append(Step("passes", "it was read in passes, and what was made of it lay on disk"))
    gone = read - found.passes.rows
    if gone:
        text = f"{gone} rows with a missing value in " + ", ".join(method.compared)
        steps.append(Step("left out", text))
    return (*steps, *group_steps, *method.publish_steps(), *told)


def check_of(
    method: Method,
    found: Prepared,
    after: Passes,
    groups: Callable[[Numbers], Sequence[Numbers]] | None = None,
) -> Check | None:
    """k, l and t of all rows as they leave.

    Parameters
        groups: what rows show of their quasi-identifiers; their values, if not given.
    """
    places = found.coding.places(method.quasi)
    if not places:
        return None

    def values(rows: Numbers) -> Sequence[Numbers]:
        return [rows[:, j] for j in places]

    columns = found.measured_columns(method.confidential)
    return check_in_passes(after, groups or values, method.quasi, columns, method.unprotected)


def telling_in_passes(method: Method, found: Prepared) -> dict[str, float]:
    """The unprotected columns that tell nearly everybody apart; as `telling`."""
    shares = {}
    for name in method.unprotected:
        tallied = found.passes.only(found.place(name)).tally(lambda rows: [rows[:, 0]])
        different = sum(int((values > 0).sum()) for values, _ in tallied)
        shares[name] = different / found.passes.rows if found.passes.rows > 1 else 0.0
    return {name: share for name, share in shares.items() if share >= NEARLY}


def sizes_in_passes(
    passes: Passes, groups: Callable[[Numbers], Sequence[Numbers]]
) -> dict[int, int]:
    """How many groups have how many rows.

    Parameters
        groups: what tells groups apart.
    """
    counted: Counter[int] = Counter()
    for *_, counts in passes.tally(groups):
        size, times = np.unique(counts, return_counts=True)
        counted.update(dict(zip(size.tolist(), times.tolist(), strict=True)))
    return dict(sorted(counted.items()))
