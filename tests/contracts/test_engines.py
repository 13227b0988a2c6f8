"""The suite of engines, passed by the oracle and by DuckDB whatever holds its rows."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contracts.engine_suite import (
    NAMES,
    SCHEMA,
    Computing,
    Contributions,
    Counts,
    Limits,
    LookUps,
    Opened,
    Products,
    Ranks,
    Reading,
    Rows,
    Steps,
    Texts,
)
from oracle_engine import OracleEngine
from tenue.engine.contract import Engine
from tenue.engine.open import open_engine
from tenue.schema import Schema

ARROW = pa.schema(
    [
        ("AGE", pa.int64()),
        ("pay", pa.float64()),
        ("bonus", pa.float32()),
        ("sex", pa.string()),
        ("town", pa.string()),
        ("member", pa.bool_()),
        ("born", pa.date32()),
        ("seen", pa.timestamp("us")),
        ("secret", pa.string()),
        ("Who", pa.string()),
    ]
)
Maker = Callable[[Rows, Path], object]


def arrow(rows: Rows, folder: Path | None = None) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=ARROW)


class OnlyCapsule:
    """Something that no library knows and that hands out Arrow data."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def parquet(rows: Rows, folder: Path) -> str:
    pq.write_table(arrow(rows), folder / "people.parquet")
    return str(folder / "people.parquet")


def parts(rows: Rows, folder: Path) -> str:
    for i in range(3):
        pq.write_table(arrow(rows[i::3]), folder / f"part-{i}.parquet")
    return str(folder / "part-*.parquet")


def written(value: Any) -> str:
    return "" if value is None else str(value)


def as_csv(rows: Rows, folder: Path, name: str = "people.csv", separator: str = ",") -> str:
    opened: Any = gzip.open if name.endswith(".gz") else open
    with opened(folder / name, "wt", newline="") as file:
        lines = csv.writer(file, delimiter=separator)
        lines.writerow(NAMES)
        lines.writerows([written(row[name]) for name in NAMES] for row in rows)
    return str(folder / name)


def as_json(rows: Rows, folder: Path, name: str = "people.jsonl") -> str:
    spelled = {"AGE": "age", "pay": "Pay", "Who": "who"}
    texts = [
        json.dumps({spelled.get(key, key): value for key, value in row.items()}, default=str)
        for row in rows
    ]
    whole = "\n".join(texts) if name.endswith("l") else "[" + ",\n".join(texts) + "]"
    (folder / name).write_text(whole)
    return str(folder / name)


def database(rows: Rows, folder: Path, name: str = "#people") -> str:
    with duckdb.connect(folder / "held.duckdb") as connection:
        connection.register("given", arrow(rows))
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
        connection.execute("CREATE SCHEMA s; CREATE VIEW s.seen_people AS SELECT * FROM people")
    return f"duckdb://{folder / 'held.duckdb'}{name}"


def connection_of(rows: Rows, folder: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("given", arrow(rows))
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return connection


MAKERS: dict[str, Maker] = {
    "arrow": arrow,
    "pandas": lambda rows, folder: arrow(rows).to_pandas(),
    "pandas of objects": lambda rows, folder: pd.DataFrame(rows, columns=list(NAMES), dtype=object),
    "polars": lambda rows, folder: pl.from_arrow(arrow(rows)),
    "capsule": lambda rows, folder: OnlyCapsule(arrow(rows)),
    "parquet": parquet,
    "pattern": parts,
    "csv": as_csv,
    "csv;": lambda rows, folder: as_csv(rows, folder, separator=";"),
    "csv.gz": lambda rows, folder: as_csv(rows, folder, "people.csv.gz"),
    "tsv": lambda rows, folder: as_csv(rows, folder, "people.tsv", "\t"),
    "json": lambda rows, folder: as_json(rows, folder, "people.json"),
    "jsonl": as_json,
    "database": database,
    "view": lambda rows, folder: database(rows, folder, "#s.seen_people"),
    "unnamed": lambda rows, folder: database(rows, folder, ""),
    "connection": connection_of,
    "relation": lambda rows, folder: connection_of(rows, folder).table("people"),
}


def no_maker(rows: Rows, folder: Path) -> pa.Table:
    return pa.Table.from_pylist(rows)


RARE = ("csv;", "csv.gz", "tsv", "json", "unnamed")
"""Read as others are, but for a detail; packed and separated files and JSON are tried in
`tests/properties/test_door_files.py` too."""


@pytest.fixture(
    params=[pytest.param(kind, marks=[pytest.mark.slow] * (kind in RARE)) for kind in MAKERS],
    scope="module",
)
def once_opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    """Equal rows are opened once: one engine answers all that the tests ask of them."""
    engines: dict[str, Engine] = {}

    def opener(rows: Rows, schema: Schema = SCHEMA) -> Engine:
        known = f"{schema.name} {rows}"
        if known not in engines:
            make = MAKERS[request.param] if schema is SCHEMA else no_maker
            source = make(rows, tmp_path_factory.mktemp("rows"))
            engines[known] = open_engine(source, schema)
        return engines[known]

    yield opener
    for engine in engines.values():
        engine.close()


class TestOracle(Counts, Computing, Products, Limits, Ranks, Contributions, LookUps, Steps):
    """The engine in plain Python that all others are compared with."""

    @pytest.fixture
    def opened(self) -> Opened:
        return lambda rows, schema=SCHEMA: OracleEngine(schema, rows)


class TestDuckDB(
    Counts, Computing, Products, Limits, Ranks, Contributions, LookUps, Steps, Reading, Texts
):
    """The engine that comes with Tenue."""

    @pytest.fixture
    def opened(self, once_opened: Opened) -> Opened:
        return once_opened
