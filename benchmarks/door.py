"""What the door costs: validating a file beside DuckDB's own reading of it, and opening it later.

    python benchmarks/door.py [--rows 10000000] [--rounds 3]

Part 1, validation: all that the holder's first opening does with the rows of a CSV and of a Parquet
file (structure, digest, every declared column read and converted), beside DuckDB reading all
columns of the same file as they are stored: the text of CSV, counted; the types of Parquet, hashed,
for a count would be read off the footer. The two kinds take turns in processes of their own.
Seconds are processor seconds of all threads; ratios are of the least.

Part 2, a question afterwards: COUNT and SUM by group through `Engine.measure`. Run the same on the
commit before, with `--only ask`, to compare; the table is the same.

Part 3, a later opening of a file of a thousand rows and of one of all rows: the least seconds.

Writes benchmarks/results/door.json.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import duckdb
from beside import Row, least, measure, show
from record import record

import tenue as tn
from tenue.engine.open import open_engine
from tenue.engine.request import Group, Measure, Request
from tenue.schema import Schema

GROUPS = 20
BAR = 2.5
KINDS = ("csv", "parquet")
MEASURES = (Measure("rows"), Measure("total", "income"), Measure("present", "age"))


def schema() -> Schema:
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
            "columns": {
                "id": {"type": "identifier"},
                "age": {"type": "number", "bounds": [0, 120]},
                "income": {"type": "number", "bounds": [0, 200_000], "grid": 0.01},
                "town": {"type": "category", "categories": [f"town {i}" for i in range(GROUPS)]},
                "day": {"type": "date", "bounds": ["2000-01-01", "2029-12-31"]},
            },
            "budget": {"total": 1000},
        }
    )


def write_table(path: Path, rows: int) -> None:
    """Five declared columns, and a note with quotes and line feeds that nobody declared."""
    options = "FORMAT parquet" if path.suffix == ".parquet" else "FORMAT csv, HEADER"
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT i AS id, CAST(hash(i) % 100 AS INTEGER) AS age,
                round((hash(7 * i + 1) >> 11) / 9007199254740992.0 * 200000, 2) AS income,
                printf('town %d', CAST(hash(3 * i) % {GROUPS} AS INTEGER)) AS town,
                DATE '2000-01-01' + CAST(hash(5 * i) % 10000 AS INTEGER) AS day,
                CASE WHEN i % 10 = 0 THEN 'said "yes", and' || chr(10) || 'left' ELSE 'plain' END
                    AS note
            FROM range({rows}) AS r(i)) TO '{path}' ({options})"""  # noqa: S608
        )


def worker(what: str, path: str) -> None:
    """Does it in this process, and prints the least seconds and the peak of memory."""
    least(*_task(what, path))


def _task(what: str, path: str) -> tuple[Callable[[], None], int]:
    if what == "raw":
        connection = duckdb.connect()
        read, one = f"read_parquet('{path}')", "bit_xor(hash({}))"
        if path.endswith(".csv"):
            read, one = f"read_csv('{path}', header = true, all_varchar = true)", "count({})"
        names = [one.format(name) for name in ("id", "age", "income", "town", "day", "note")]
        sql = f"SELECT {', '.join(names)} FROM {read}"  # noqa: S608

        def read_raw() -> None:
            assert connection.execute(sql).fetchall()

        return read_raw, 2
    engine = open_engine(path, schema())
    if what == "validate":

        def validate() -> None:
            assert engine.validate().unreadable == {}

        return validate, 3  # the first one compiles
    request = Request(MEASURES, None, (Group("town", GROUPS),))

    def ask() -> None:
        assert len(engine.measure(request)) == GROUPS

    return ask, 5


def opening(path: Path) -> Row:
    """How long a later opening takes."""
    books = tn.ledger.Memory()
    tn.protect(path, schema=schema(), ledger=books)
    found = []
    for _ in range(20):
        begin = time.perf_counter()
        tn.protect(path, schema=schema(), ledger=books, analyst="ann")
        found.append(time.perf_counter() - begin)
    return Row(f"open {path.name} later", 0, 0, min(found), 0, 0, 0, 0, None, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["validate", "ask", "open"])
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(*given.worker)
        return
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            path, small = Path(folder) / f"t.{kind}", Path(folder) / f"small.{kind}"
            write_table(path, given.rows)
            write_table(small, 1000)
            for what, bar in (("validate", BAR), ("ask", None)):
                if given.only in (None, what):
                    rows.append(
                        measure(
                            f"{what} {kind}",
                            given.rows,
                            given.rounds,
                            lambda which, what=what, path=path: [  # type: ignore[misc]
                                "raw" if which == "raw" else what,
                                str(path),
                            ],
                            bar,
                        )
                    )
            if given.only in (None, "open"):
                rows += [opening(small), opening(path)]
    show(rows)
    record("door", [asdict(row) for row in rows])


if __name__ == "__main__":
    main()
