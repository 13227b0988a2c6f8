"""Plan, refusal, columns, cells and messages are the same for tables that share only the schema."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tenue as tn
from small_tables import unsealed
from tenue.errors import Refused

SCHEMA = tn.Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "x": {"type": "number", "bounds": [-10, 10], "grid": 0.5},
            "c": {"type": "category", "categories": ["a", "b", "c"]},
            "b": {"type": "boolean"},
        },
        "budget": {"total": 2},
    }
)

numbers = st.none() | st.floats(width=64) | st.integers(-(2**60), 2**60).map(float)
words = st.none() | st.sampled_from(["a", "b", "z", "=1+1"])
rows = st.lists(
    st.tuples(numbers, words, st.none() | st.booleans()),
    max_size=6,
)
parts = {
    "outputs": [
        "COUNT(*)",
        "SUM(x)",
        "AVG(x)",
        "COUNT(x) AS n, SUM(x) AS s",
        "c, COUNT(*)",
        "SUM(x) / COUNT(*) AS r",
        "MEDIAN(x)",
        "MODE(c)",
        "REGR_SLOPE(x, x), MAX(x)",
        "x",
        "SUM(nothing)",
    ],
    "where": ["", "WHERE x > 3", "WHERE c = 'a' OR b", "WHERE x = 'a'", "WHERE c LIKE 'b%'"],
    "after": ["", "GROUP BY c", "GROUP BY c ORDER BY 1", "LIMIT 1", "GROUP BY BIN(x, 2)"],
}
questions = st.builds(
    "SELECT {} FROM t {} {}".format,
    *(st.sampled_from(parts[name]) for name in ("outputs", "where", "after")),
)


def table(given_rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*given_rows, strict=True)) if given_rows else [(), (), ()]
    return pa.table(
        {
            "x": pa.array(columns[0], pa.float64()),
            "c": pa.array(columns[1], pa.string()),
            "b": pa.array(columns[2], pa.bool_()),
        }
    )


def seen(data: Any, sql: str, epsilon: str) -> Any:
    """Everything an analyst sees but the values themselves."""
    try:
        bought = "0.9" if "MEDIAN" in sql else None
        explained = data.explain(sql, epsilon=epsilon, interval=bought).to_json()
        answer = data.ask(sql, epsilon=epsilon, interval=bought)
    except Refused as refusal:
        return refusal.to_dict(), str(data.budget)
    shape = answer.value
    size = len(shape) if isinstance(shape, list) else 1
    keys = [row.get("c") for row in shape] if isinstance(shape, list) and size else None
    return (
        explained,
        answer.columns,
        len(answer.released.cells),
        size,
        keys,
        unsealed(answer, data),
        str(answer.price),
        str(data.budget),
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows, rows, st.lists(questions, min_size=1, max_size=4), st.sampled_from(["0.5", "1", "9"]))
def test_nothing_but_values_depends_on_rows(
    one: list[Any], two: list[Any], asked: list[str], epsilon: str
) -> None:
    told = []
    for given_rows in (one, two):
        ledger = tn.ledger.Memory()
        with tn.protect(table(given_rows), schema=SCHEMA, ledger=ledger) as data:
            told.append([seen(data, sql, epsilon) for sql in asked])
    assert told[0] == told[1]
