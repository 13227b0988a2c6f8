from __future__ import annotations

import math
import re

import pytest

from tenue.engine.spark.dialect import SPARK, storage
from tenue.engine.storage import Day, Fixed, Floating, Integer, Moment, Nothing, Opaque, Text, Truth

HOSTILE = ["'", "\\'", "`", "a'; DROP TABLE t; --", "\n", "${x}", "é", "\U0001f600", ""]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_written_as_its_bytes(text: str) -> None:
    found = re.fullmatch(r"CAST\(X'([0-9a-f]*)' AS STRING\)", SPARK.literal(text))
    assert found is not None
    assert bytes.fromhex(found[1]).decode() == text


def test_names_are_quoted() -> None:
    assert SPARK.quoted("a`b") == "`a``b`"


def test_doubles_are_typed() -> None:
    assert SPARK.number(1.5) == "1.5D"
    assert SPARK.number(-2.0) == "(-2.0D)"
    assert SPARK.number(5e-324) == "5e-324D"
    assert SPARK.number(math.inf) == "CAST('inf' AS DOUBLE)"


def test_sums_are_cut_into_so_few_bits_that_none_overflows() -> None:
    assert SPARK.total("x", 1000) == "SUM(x)"
    assert SPARK.total("x") == "SUM(CAST(x AS DECIMAL(38, 0)))"
    assert SPARK.total("x", 2**40).count("SUM(") == 2
    assert SPARK.total("x", 2**62).count("SUM(") == 3
    for largest in (2**22, 2**23, 2**40, 2**45, 2**62):
        sql = SPARK.total("x", largest)
        for value in (largest, -largest, largest - 1, 1 - largest, -1, 0):
            assert _evaluated(sql, value) == value
    assert SPARK.total("x", 2**63).startswith("SUM(CAST(")


def _evaluated(sql: str, value: int) -> int:
    """The sum over one row, by the meaning that Spark gives these functions."""
    text = re.sub(r"CAST\(SUM\((.*?)\) AS DECIMAL\(38, 0\)\)(?= \*)", r"(\1)", sql)
    text = re.sub(r"SUM\(x\)", "x", text)
    text = re.sub(r"shiftright\(x, (\d+)\)", r"(x >> \1)", text)
    return int(eval(text, {"x": value}))  # noqa: S307 - numbers and signs that were written above


def test_words_are_found_by_few_comparisons() -> None:
    few = SPARK.category("t", SPARK.words(["b", "a"]))
    assert few.count("WHEN") == 2
    many = SPARK.category("t", SPARK.words([f"word {i}" for i in range(10_000)]))
    assert many.count("from_json") == 2, "Spark parses two texts, and not a test for each word"
    assert many.count("CASE") == 0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tinyint", Integer("TINYINT", -128, 127)),
        ("bigint", Integer("BIGINT", -(2**63), 2**63 - 1)),
        ("decimal(38,10)", Fixed(38, 10)),
        ("float", Floating(single=True)),
        ("double", Floating()),
        ("string", Text()),
        ("string collate UTF8_LCASE", Text("other")),
        ("varchar(9)", Text("other")),
        ("boolean", Truth()),
        ("date", Day()),
        ("timestamp", Moment("TIMESTAMP")),
        ("timestamp_ntz", Moment("TIMESTAMP_NTZ")),
        ("void", Nothing()),
        ("array<int>", Opaque()),
        ("binary", Opaque()),
    ],
)
def test_types_are_known_by_their_names(name: str, kind: object) -> None:
    assert storage(name) == kind
