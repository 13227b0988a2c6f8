"""Short questions that would compute for ever, or numbers that no float holds.

Each is refused before the debit, from the text and the schema alone.
"""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidQuestion

SCHEMA: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {
        "x": {"type": "number", "bounds": [-2, 5]},
        "y": {"type": "number", "bounds": [0, 4], "missing": 0},
        "c": {"type": "category", "categories": ["a", "b"]},
        "p": {"type": "boolean"},
    },
    "budget": {"total": 1_000_000},
}


@pytest.fixture
def data() -> Any:
    table = pd.DataFrame(
        {
            "x": [1, 5, None, -2],
            "y": [0, 4, 4, 1],
            "c": list("abab"),
            "p": [True, False, None, True],
        }
    )
    with tn.protect(table, schema=SCHEMA, ledger=tn.ledger.Memory()) as opened:
        yield opened


def chain(first: str, step: str, last: str, many: int = 28) -> str:
    """Derived tables, each of which makes `v` of the `v` of the one before."""
    tables = [f"a0 AS (SELECT {first} AS v, x, y FROM t)"]
    tables += [f"a{i} AS (SELECT {step} AS v, x, y FROM a{i - 1})" for i in range(1, many)]
    return f"WITH {', '.join(tables)} {last.format(f'a{many - 1}')}"


BOMBS = {
    "branches": chain(
        "CASE WHEN x > 0 THEN 1 ELSE 0 END",
        "CASE WHEN v > 0 THEN v ELSE v + 1 END",
        "SELECT COUNT(*) FROM {} WHERE v > 0",
    ),
    "same branches": chain("x", "CASE WHEN y > 1 THEN v ELSE v END", "SELECT SUM(v) FROM {}"),
    "floors": chain("x", "FLOOR(v / 2) + FLOOR(v / 3)", "SELECT SUM(v) FROM {}"),
    "conditions": chain(
        "x + y",
        f"CASE WHEN {' AND '.join(f'v <> {2 * i}' for i in range(4))} THEN v + 1 ELSE 0 END",
        "SELECT SUM(v) FROM {}",
    ),
    "names": chain(
        "CASE WHEN x > 0 THEN 'a' WHEN x < 0 THEN 'c' ELSE 'b' END",
        "CASE WHEN v = 'a' AND y > 1 THEN 'b' WHEN v = 'b' AND y > 2 THEN 'c' WHEN v = 'c' AND "
        "y > 3 OR v = 'a' AND x > 2 THEN 'a' END",
        "SELECT v, COUNT(*) FROM {} GROUP BY v",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_derived_tables_that_double_are_refused(data: Any, name: str) -> None:
    """Twenty-eight derived tables of one line each had two to the 28th parts, and more."""
    with pytest.raises(InvalidQuestion) as caught:
        data.explain(BOMBS[name], epsilon=1)
    assert caught.value.reason == "too-long"
    assert "derived column" in caught.value.fix


def test_long_questions_that_do_not_double_are_answered(data: Any) -> None:
    cases = " ".join(f"WHEN x + y = {i} THEN {i % 7}" for i in range(-2, 300))
    data.explain(f"SELECT SUM(CASE {cases} ELSE 0 END) FROM t", epsilon=1)
    steps = chain("x", "CASE WHEN y > 1 THEN v ELSE 0 END", "SELECT SUM(v) FROM {}", many=5)
    assert data.ask(steps, epsilon=1000).value == 5


@pytest.mark.parametrize(
    "output",
    [
        *("COUNT(*) * 1e200 * 1e200", "COUNT(*) / COUNT(x) * 1e200 * 1e200", "AVG(x) * 1e299"),
        *("COUNT(*) / 1e-299", "COUNT(*) / 1e299 / 1e299", "ROUND(SUM(x) * 1e299) * 1e299"),
        *("COALESCE(COUNT(*), 1) * 1e15 * 1e15 * 1e15", "STDDEV(x) * 1e250", "MEDIAN(x) * 1e290"),
        *("SUM(x * 1e299)", "SUM(x * 1e-299)", "AVG(x / 1e299)", "STDDEV(x * 1e200)"),
        *("COVAR_POP(x * 1e20 * 1e20, y)", "SUM(CASE WHEN p THEN 1e200 ELSE 0 END)", "SUM(1e200)"),
    ],
)
def test_numbers_beyond_floats_are_refused_before_the_debit(data: Any, output: str) -> None:
    """Python raised an OverflowError, of some questions after they had been paid."""
    for ask in (
        lambda: data.ask(f"SELECT {output} AS n FROM t", epsilon=1),
        lambda: data.ask(f"SELECT c, {output} AS n FROM t GROUP BY ROLLUP (c)", epsilon=1),
        lambda: data.ask_many(
            [f"SELECT {output} AS n FROM t", "SELECT COUNT(*) FROM t"], epsilon=1
        ),
    ):
        with pytest.raises(InvalidQuestion) as caught:
            ask()
        assert caught.value.reason == "number"
    assert data.budget.spent == 0


@pytest.mark.parametrize(
    "output",
    [
        *("SUM(x * 1e29)", "SUM(x) * 1e29", "AVG(x * 1e-29)", "SUM(x * 1e14) * 1e14"),
        *("SUM(x) * SUM(y) * SUM(x) * SUM(y) * 1e29", "STDDEV(x * 1e29)", "SUM(x / 1e29)"),
    ],
)
def test_large_numbers_are_told_in_every_shape(data: Any, output: str) -> None:
    for grouped in ("", " GROUP BY ROLLUP (c)"):
        keys = "c, " if grouped else ""
        answer = data.ask(f"SELECT {keys}{output} AS n FROM t{grouped}", epsilon=1000)
        assert len(str(answer)) > 0
        assert answer.to_arrow().num_rows == answer.to_pandas().shape[0] == len(answer.to_polars())
        assert '"value"' in answer.to_json()


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("SUM(IF(p, 1, 0))", "CASE WHEN"),
        ("COUNT_IF(x > 3)", "FILTER (WHERE"),
        ("SUM(x % 2)", "FLOOR(x / 2)"),
        ("SUM(x ^ 2)", "x * x"),
        ("SUM(LN(x))", "LN(GREATEST(x, "),
        ("SUM(SIN(x))", "derived column"),
        ("SUM(error('x'))", "ERROR"),
        ("CAST(AVG(x) AS TINYINT)", "CAST(SUM(column) AS INTEGER)"),
        ("CAST(AVG(x) AS VARCHAR)", "CAST(SUM(column) AS INTEGER)"),
        ("CAST(AVG(x) AS DECIMAL)", "DECIMAL(p, s)"),
    ],
)
def test_a_refusal_names_the_nearest_thing_that_works(data: Any, output: str, says: str) -> None:
    """Some said that a word is not understood, or that an aggregate has no column."""
    with pytest.raises(InvalidQuestion) as caught:
        data.explain(f"SELECT {output} AS n FROM t", epsilon=1)
    assert says in str(caught.value)


def test_two_columns_are_compared_by_their_difference(data: Any) -> None:
    with pytest.raises(InvalidQuestion, match="a - b > 0"):
        data.explain('SELECT COUNT(*) FROM t WHERE "x" > "y"', epsilon=1)
    assert data.ask("SELECT COUNT(*) FROM t WHERE x - y > 0", epsilon=1000).value == 2
