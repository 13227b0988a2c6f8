from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tenue.engine.open import describe_table, open_table
from tenue.engine.source.location import Distributed
from tenue.errors import InvalidTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


def test_a_table_is_read_and_described_without_a_schema(spark: SparkSession) -> None:
    rows = [("a", Decimal("1.50"), 3), ("b", None, 4)]
    given = spark.createDataFrame(rows, "c string, `d e` decimal(9,2), n int")
    names, load = open_table(Distributed(given))
    assert names == ("c", "d e", "n")
    assert load(["n", "d e"]).to_pydict() == {"n": [3, 4], "d e": [1.5, None]}
    found = describe_table(given, values=True)
    assert [(one.name, one.type) for one in found] == [
        ("c", "category"),
        ("d e", "number"),
        ("n", "number"),
    ]
    assert found[2].bounds == (3, 4)


def test_rows_that_fail_are_refused_without_a_word_of_them(spark: SparkSession) -> None:
    failing = spark.sql("SELECT CAST(concat('canary-', id) AS INT) AS a FROM range(3)")
    _, load = open_table(Distributed(failing))
    with pytest.raises(InvalidTable) as refused:
        load(["a"])
    assert "canary" not in str(refused.value)
    assert refused.value.__context__ is None
