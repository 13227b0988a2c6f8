from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from tenue.engine.open import open_tally
from tenue.engine.source.location import Distributed
from tenue.errors import InvalidTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


def test_decimals_are_doubles_and_zeros_keep_their_sign(spark: SparkSession) -> None:
    rows = [(Decimal("1.50"), 0.0), (Decimal("1.50"), -0.0), (None, -0.0)]
    given = spark.createDataFrame(rows, "`d e` decimal(9,2), z double")
    counted = open_tally(Distributed(given), 0)
    found = pa.concat_tables(counted.tally(["d e", "z"])).to_pydict()
    told = zip(found["d e"], map(str, found["z"]), found[""], strict=True)
    assert sorted(told, key=str) == [(1.5, "-0.0", 1), (1.5, "0.0", 1), (None, "-0.0", 1)]
    assert counted.different("z") == 2
    assert counted.different("d e") == 1
    assert len(counted.some(["z"], 1, 2)) == 2


def test_a_collation_does_not_make_two_words_one(spark: SparkSession) -> None:
    given = spark.sql("SELECT w COLLATE UTF8_LCASE AS w FROM VALUES ('a'), ('A'), ('a') AS t(w)")
    assert given.select("w").distinct().count() == 1
    counted = open_tally(Distributed(given), 0)
    assert counted.different("w") == 2
    assert [part.tolist() for part in counted.sizes(["w"])] == [[1, 2], [1, 1]]


def test_rows_that_fail_are_refused_without_a_word_of_them(spark: SparkSession) -> None:
    failing = spark.sql("SELECT CAST(concat('canary-', id) AS INT) AS a FROM range(3)")
    counted = open_tally(Distributed(failing), 0)
    with pytest.raises(InvalidTable) as refused:
        counted.sizes(["a"])
    assert "canary" not in str(refused.value)
    assert refused.value.__context__ is None


def test_no_name_is_left_in_the_session(spark: SparkSession) -> None:
    before = spark.catalog.listTables()
    counted = open_tally(Distributed(spark.range(3)), 0)
    next(iter(counted.tally(["id"])))
    assert spark.catalog.listTables() == before
