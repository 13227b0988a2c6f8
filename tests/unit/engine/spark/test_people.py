from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenue.engine.open import open_engine
from tenue.engine.request import Measure, People, Request
from tenue.noise import source
from tenue.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 2},
        "columns": {
            "who": {"type": "identifier"},
            "x": {"type": "number", "bounds": [0, 2**20]},
        },
    }
)
ASKED = Request((Measure("rows"), Measure("total", "x")), people=People("who", 2, None))
ROWS = [(f"p{i % 10}", 1 << (i // 10)) for i in range(100)]


def test_each_question_has_a_key_of_its_own_that_decides_all(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one key, whatever the partitions are, the same rows are kept; with another, others."""
    drawn: list[int] = []

    def words(self: object, count: int, bits: int = 64) -> object:
        drawn.append(count)
        return source.Seeded(fixed[0]).words(count, 64)

    monkeypatch.setattr(source.OperatingSystem, "words", words)
    fixed, found = [1], []
    for parts, rows in ((1, ROWS), (7, ROWS[::-1]), (3, ROWS)):
        given = spark.createDataFrame(rows, "who string, x bigint").repartition(parts)
        engine = open_engine(given, SCHEMA)
        found.append(engine.measure(ASKED))
        engine.close()
    assert found[0] == found[1] == found[2]
    assert drawn == [4, 4, 4], "a key for each question, and nothing else"
    fixed[0] = 2
    engine = open_engine(spark.createDataFrame(ROWS, "who string, x bigint"), SCHEMA)
    other = engine.measure(ASKED)
    assert other != found[0]
    assert other[()][0] == found[0][()][0] == 20
    engine.close()
