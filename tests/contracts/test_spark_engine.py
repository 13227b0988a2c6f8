"""Spark passes the suite of engines, whole, in a session that the tests start."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from contracts.engine_suite import (
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
from tenue.engine.contract import Engine
from tenue.engine.open import open_engine
from tenue.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]
KINDS: dict[str, str] = {
    "AGE": "bigint",
    "pay": "double",
    "bonus": "double",
    "sex": "string",
    "town": "string",
    "member": "boolean",
    "born": "date",
    "seen": "timestamp_ntz",
    "secret": "string",
    "Who": "string",
    "n": "bigint",
    "x": "int",
    "y": "double",
    "c": "string",
}


def frame(spark: SparkSession, rows: Rows, schema: Schema, kinds: dict[str, str]) -> DataFrame:
    """A data frame of these rows."""
    declared = {name.lower() for name in schema.columns}
    names = list(rows[0]) if rows else [name for name in kinds if name.lower() in declared]
    listed = ", ".join(f"`{name}` {kinds[name]}" for name in names)
    return spark.createDataFrame([tuple(row[name] for name in names) for row in rows], listed)


class TestSpark(
    Counts, Computing, Products, Limits, Ranks, Contributions, LookUps, Steps, Reading, Texts
):
    """Everything that an engine can do."""

    @pytest.fixture(params=["typed", "zoned", "written"])
    def opened(self, request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Opened]:
        engines: list[Engine] = []

        def opener(rows: Rows, schema: Schema = SCHEMA) -> Engine:
            kinds, given = KINDS, rows
            if request.param == "zoned":
                kinds = KINDS | {"seen": "timestamp", "born": "timestamp_ntz"}
                given = [_in_utc(row) for row in rows]
            elif request.param == "written":
                # as a CSV file that was loaded without types
                kinds = dict.fromkeys(KINDS, "string")
                given = [{name: _written(value) for name, value in row.items()} for row in rows]
            engines.append(open_engine(frame(spark, given, schema, kinds), schema))
            return engines[-1]

        yield opener
        for engine in engines:
            engine.close()


def _in_utc(row: dict[str, Any]) -> dict[str, Any]:
    seen, born = row.get("seen"), row.get("born")
    if isinstance(seen, datetime):
        row = row | {"seen": seen.astimezone()}
    if born is not None:
        row = row | {"born": datetime(born.year, born.month, born.day)}
    return row


def _written(value: Any) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
