"""What limits for each person cost, and what values by rank cost, beside DuckDB itself.

    python benchmarks/people.py [--rows 10000000] [--rounds 3]

Part 1: COUNT(*), SUM and AVG by 100 groups over a Parquet file of 10 rows for each person, raw and
through `engine.measure` with the person as unit: with a limit of 5 rows, which most exceed; with
one that nobody exceeds; with a limit of 3 groups too; with persons named by numbers of 64 bits, and
by text.

Part 2: the values near the median of a million untied values (those that selection at epsilon 1
needs), raw MEDIAN against `engine.ranks`.

The two kinds take turns in processes of their own, each of which asks three times (ten times in
part 2) once the table is open. Seconds are processor seconds of all threads; ratios are of the
least seconds of each kind. Writes benchmarks/results/people.json.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
from beside import least, measure, show
from record import record

from tenue.engine.open import open_engine
from tenue.engine.request import Group, Measure, People, RankRequest, Request, Window
from tenue.schema import Schema

GROUPS = 100
ROWS_EACH = 10
HIGH = 200_000
VALUES = 1_000_000
PEOPLE_BAR, RANKS_BAR = 12.0, 3.0
MEASURES = (Measure("rows"), Measure("total", "value"), Measure("present", "value"))
NEAR = Window(b=2, a=1, c1=0, c2=0, reach=100)


@dataclass(frozen=True)
class Case:
    """A kind of question, its limits, and what the ratio of seconds may be at most."""

    name: str
    unit: str = "person"
    rows: int = 5
    groups: int | None = None
    bar: float | None = None


CASES = {
    case.name: case
    for case in (
        Case("most above the limit", bar=PEOPLE_BAR),
        Case("nobody above the limit", rows=1000, bar=PEOPLE_BAR),
        Case("limit of groups too", groups=3),
        Case("persons numbered far apart", unit="far", bar=PEOPLE_BAR),
        Case("persons named by text", unit="name"),
    )
}
RANKS = Case("values near the median", bar=RANKS_BAR)


def schema() -> Schema:
    names = [f"g{i:02d}" for i in range(GROUPS)]
    return Schema.from_dict(
        {
            "table": {
                "name": "t",
                "unit": "person",
                "neighbours": "add-or-remove",
                "rows_per_unit": 5,
            },
            "columns": {
                "person": {"type": "identifier"},
                "far": {"type": "identifier"},
                "name": {"type": "identifier"},
                "text": {"type": "category", "categories": names},
                "value": {"type": "number", "bounds": [0, HIGH], "grid": 0.01},
            },
        }
    )


def write_table(path: Path, rows: int) -> None:
    """Rows that depend on nothing but their number."""
    person = f"CAST(hash(11 * i + 5) % {max(rows // ROWS_EACH, 1)} AS BIGINT)"
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT {person} AS person, printf('person-%d', {person}) AS name,
                hash({person}) AS far,
                printf('g%02d', CAST(hash(i) % {GROUPS} AS INTEGER)) AS text,
                (hash(7 * i + 1) >> 11) / 9007199254740992.0 * {HIGH} AS value
            FROM range({rows}) AS r(i)) TO '{path}' (FORMAT parquet)"""  # noqa: S608
        )


def worker(kind: str, name: str, path: str) -> None:
    """Asks, in this process, and prints the least seconds and the peak of memory."""
    least(*_asker(kind, name, path))


def _asker(kind: str, name: str, path: str) -> tuple[Callable[[], None], int]:
    times = 10 if name == RANKS.name else 3
    if kind == "raw":
        connection = duckdb.connect()
        source = f"FROM read_parquet('{path}')"
        sql = f"SELECT text, COUNT(*), SUM(value), AVG(value) {source} GROUP BY text"
        if name == RANKS.name:
            sql = f"SELECT MEDIAN(value) {source}"

        def ask_raw() -> None:
            assert connection.execute(sql).fetchall()

        return ask_raw, times
    engine = open_engine(path, schema())
    if name == RANKS.name:

        def ask_ranks() -> None:
            assert len(engine.ranks(RankRequest("value", (NEAR,)))[()].values) >= NEAR.reach // 2

        return ask_ranks, times
    case = CASES[name]

    def ask() -> None:
        people = People(case.unit, case.rows, case.groups)
        cells = engine.measure(Request(MEASURES, None, (Group("text", GROUPS),), people))
        assert len(cells) == GROUPS

    return ask, times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(*given.worker)
        return
    with tempfile.TemporaryDirectory() as folder:
        path, values = Path(folder) / "people.parquet", Path(folder) / "values.parquet"
        write_table(path, given.rows)
        write_table(values, VALUES)
        tables = [*((case, path, given.rows) for case in CASES.values()), (RANKS, values, VALUES)]
        rows = []
        for case, table, size in tables:
            words = [case.name, str(table)]
            rows.append(
                measure(
                    case.name,
                    size,
                    given.rounds,
                    lambda kind, words=words: [kind, *words],  # type: ignore[misc]
                    case.bar,
                )
            )
    show(rows)
    record("people", [asdict(row) for row in rows])


if __name__ == "__main__":
    main()
