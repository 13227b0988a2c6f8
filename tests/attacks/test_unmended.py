"""Attacks that succeed: each states what should hold, and fails until it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from parquet_lies import spliced

NUMBER = {"type": "number", "bounds": [0, 10]}


def of_people(**columns: Any) -> tn.Schema:
    return tn.Schema.from_dict(
        {
            "table": {
                "name": "t",
                "unit": "p",
                "neighbours": "add-or-remove",
                "rows_per_unit": 2,
            },
            "columns": {"p": {"type": "identifier"}, **columns},
            "budget": {"total": 50_000},
        }
    )


def asked(source: Any, schema: Any, sql: str, ledger: Any = None) -> Any:
    try:
        with tn.protect(source, schema=schema, ledger=ledger) as session:
            return session.ask(sql, epsilon=1).value
    except tn.Refused as refused:
        return refused.code
    except tn.Fault as fault:
        return f"fault: {fault.code}"


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM t", "SELECT SUM(x) FROM t"])
def test_a_posterior_says_what_was_cut(sql: str) -> None:
    """1,000 rows of 100 people, two of each counted: "95 % between 348 and 408", and no word of a
    limit in the answer, in `.limits` or in `explain`: only the certificate assumes it."""
    rows = pa.table({"p": [i // 10 for i in range(1000)], "x": [1] * 1000})
    with tn.protect(rows, schema=of_people(x=NUMBER), ledger=tn.ledger.Memory()) as data:
        prior = tn.prior.Binomial(1000, 0.5)
        plan = data.explain(sql, epsilon=1, prior=prior)
        answer = data.ask(sql, epsilon=1, prior=prior)
    limit = "at most 2 rows of each p"
    assert [limit in text for text in (str(plan), str(answer))] == [True] * 2
    assert getattr(answer, "limits", ())


@pytest.mark.parametrize("value", [10**12, -5, 2999 + 2**33])
def test_statistics_of_the_unit_are_compared_too(tmp_path: Path, value: int) -> None:
    """`COUNT(DISTINCT p)` and `suggest_limits` fault after they were paid, or two people are one
    (2,999 of 3,000): DuckDB packs the groups by what the footer says of them."""
    people = list(range(3000))
    told = pa.table({"p": people, "x": [1] * 3000})
    held = pa.table({"p": [value if p == 1234 else p for p in people], "x": [1] * 3000})
    spliced(tmp_path / "t.parquet", data=held, footer=told)
    path, ledger = tmp_path / "t.parquet", tmp_path / "t.ledger"
    try:
        data = tn.protect(path, schema=of_people(x=NUMBER), ledger=ledger)
    except tn.Refused:
        return
    with data:
        assert data.ask("SELECT COUNT(DISTINCT p) FROM t", epsilon=1000).value == 3000


def test_a_damaged_page_of_truth_values_is_found_when_the_holder_opens_it(tmp_path: Path) -> None:
    """No missing value in the footer: then no test of the validation reads the column, and the
    first question about it faults after it was paid."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [True, False] * 500}), path, use_dictionary=False)
    start = pq.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset
    written = bytearray(path.read_bytes())
    written[start : start + 40] = b"\xff" * 40
    path.write_bytes(written)
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {"x": {"type": "boolean"}},
        "budget": {"total": 5},
    }
    sql = "SELECT x, COUNT(*) FROM t GROUP BY x"
    assert asked(path, schema, sql, tmp_path / "t.ledger") == "invalid-table"


def test_nobody_is_above_a_limit_that_cuts_nothing() -> None:
    """MEDIAN leaves out rows without a value before the limit, its count of persons does not: "200
    to 200 persons, 100 % of all", where nobody lost a row."""
    rows = pa.table({"p": [i // 5 for i in range(1000)], "x": [7, None, None, None, None] * 200})
    with tn.protect(rows, schema=of_people(x=NUMBER), ledger=tn.ledger.Memory()) as data:
        answer = data.ask("SELECT MEDIAN(x) FROM t", epsilon=1000, measure_cut=0.5)
    assert [limit.above.value for limit in answer.limits] == [0]
