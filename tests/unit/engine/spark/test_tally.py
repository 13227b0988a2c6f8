from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from tenue.engine.open import open_tally
from tenue.engine.source.location import Distributed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


def test_decimals_are_doubles_and_zeros_keep_their_sign(spark: SparkSession) -> None:
    rows = [(Decimal("1.50"), 0.0), (Decimal("1.50"), -0.0), (None, -0.0)]
    given = spark.createDataFrame(rows, "`d e` decimal(9,2), z double")
    with open_tally(Distributed(given), 0) as counted:
        found = pa.concat_tables(counted.tally(["d e", "z"])).to_pydict()
        assert counted.different("z") == 2
        assert counted.different("d e") == 1
        assert counted.load(["d e"]).schema.field("d e").type == pa.float64()
    told = zip(found["d e"], map(str, found["z"]), found[""], strict=True)
    assert sorted(told, key=str) == [(1.5, "-0.0", 1), (1.5, "0.0", 1), (None, "-0.0", 1)]


def test_a_collation_does_not_make_two_words_one(spark: SparkSession) -> None:
    given = spark.sql("SELECT w COLLATE UTF8_LCASE AS w FROM VALUES ('a'), ('A'), ('a') AS t(w)")
    assert given.select("w").distinct().count() == 1
    with open_tally(Distributed(given), 0) as counted:
        assert counted.different("w") == 2
        assert [part.tolist() for part in counted.sizes(["w"])] == [[1, 2], [1, 1]]


def test_no_name_is_left_in_the_session(spark: SparkSession) -> None:
    before = spark.catalog.listTables()
    with open_tally(Distributed(spark.range(3)), 0) as counted:
        next(iter(counted.tally(["id"])))
    assert spark.catalog.listTables() == before
