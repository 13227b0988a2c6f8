"""Windows over the groups of an answer: values as in SQL, intervals that hold."""

from __future__ import annotations

import datetime as dt
import itertools
from fractions import Fraction
from typing import Any

import duckdb
import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidQuestion, NotPromised

MONTHS = [dt.date(2024, month, 3) for month in (1, 2, 3)]
ROWS = pd.DataFrame(
    [
        {"region": region, "sex": sex, "day": day, "age": (7 * i) % 90}
        for i, (region, sex, day, _) in enumerate(
            itertools.chain.from_iterable(
                itertools.product([r], "fm", MONTHS, range(many))
                for r, many in (("n", 30), ("s", 20), ("e", 50), ("w", 10))
            )
        )
    ]
)
SCHEMA: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {
        "region": {"type": "category", "categories": ["n", "s", "e", "w"]},
        "sex": {"type": "category", "categories": ["f", "m"]},
        "day": {"type": "date", "bounds": ["2024-01-01", "2024-03-31"]},
        "age": {"type": "number", "bounds": [0, 99]},
    },
    "budget": {"total": 1_000_000},
}


@pytest.fixture(scope="module")
def data() -> Any:
    with tn.protect(ROWS, schema=SCHEMA, ledger=tn.ledger.Memory()) as opened:
        yield opened


QUESTIONS = [
    "SELECT region, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS w FROM t GROUP BY region",
    "SELECT region, sex, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY region) AS w FROM t "
    "GROUP BY region, sex",
    "SELECT region, RANK() OVER (ORDER BY COUNT(*) DESC) AS w FROM t GROUP BY region",
    "SELECT sex, region, ROW_NUMBER() OVER (PARTITION BY sex ORDER BY COUNT(*)) AS w FROM t "
    "GROUP BY 1, 2",
    "SELECT sex, region, COUNT(*) AS n, DENSE_RANK() OVER (ORDER BY region) AS w FROM t GROUP BY "
    "1, 2",
    "SELECT DATE_TRUNC('month', day) AS month, SUM(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', "
    "day)) AS w "
    "FROM t GROUP BY 1",
    "SELECT DATE_TRUNC('month', day) AS month, region, SUM(COUNT(*)) OVER (ORDER BY "
    "DATE_TRUNC('month', day)) "
    "AS w FROM t GROUP BY 1, 2",
    "SELECT region, SUM(COUNT(*)) OVER (ORDER BY COUNT(*) DESC ROWS UNBOUNDED PRECEDING) AS w "
    "FROM t GROUP BY region",
    "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY "
    "DATE_TRUNC('month', day)) "
    "AS w FROM t GROUP BY 1",
    "SELECT DATE_TRUNC('month', day) AS month, AVG(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', "
    "day) "
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS w FROM t GROUP BY 1",
    "SELECT region, 100.0 * COUNT(*) / MAX(COUNT(*)) OVER () AS w FROM t GROUP BY region",
    "SELECT region, COUNT(*) - FIRST_VALUE(COUNT(*)) OVER (ORDER BY region DESC) AS w FROM t "
    "GROUP BY region",
    "SELECT region, SUM(SUM(age)) OVER (PARTITION BY region) AS w FROM t GROUP BY region",
]
NO_INTERVAL = ("RANK", "ROW_NUMBER", "ORDER BY COUNT(*) DESC ROWS")


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_window_is_what_sql_says_and_lies_in_its_interval(data: Any, sql: str) -> None:
    """At a price without noise: as DuckDB answers it, over the declared groups."""
    answer = data.ask(sql, epsilon=2_000)
    keys = [name for name in answer.columns if name not in ("n", "w")]
    connection = duckdb.connect()
    try:
        connection.register("rows_of_t", ROWS)
        connection.execute("CREATE TYPE regions AS ENUM ('n', 's', 'e', 'w')")
        connection.execute(
            "CREATE TABLE t AS SELECT region::regions AS region, sex, day, age FROM rows_of_t"
        )
        found = connection.sql(sql).pl().to_dicts()
    finally:
        connection.close()

    def label(row: dict[str, Any]) -> tuple[str, ...]:
        return tuple(str(row[key])[:10] for key in keys)

    truth = {label(row): row["w"] for row in found}
    assert len(truth) == len(answer.value)
    for row, ends in zip(answer.value, answer.interval(0.95), strict=True):
        expected = truth[label(row)]
        if expected is None:
            assert row["w"] is None
        elif any(word in sql for word in NO_INTERVAL):
            assert row["w"] == float(expected)
            assert ends["w"] is None
        else:
            assert row["w"] == pytest.approx(float(expected), abs=1e-6)
            assert ends["w"][0] - 1e-9 <= float(expected) <= ends["w"][1] + 1e-9


def test_categories_are_ordered_as_they_are_declared(data: Any) -> None:
    rows = data.ask(QUESTIONS[4], epsilon=2_000).value
    assert [(row["region"], row["w"]) for row in rows[:4]] == [
        ("n", 1),
        ("s", 2),
        ("e", 3),
        ("w", 4),
    ]


def test_a_total_includes_groups_without_rows(data: Any) -> None:
    """They have noise as well: a total of the groups that have rows would say which they are."""
    sql = "SELECT region, AVG(COUNT(*)) OVER () AS w FROM t WHERE region = 'n' GROUP BY region"
    assert [row["w"] for row in data.ask(sql, epsilon=2_000).value] == [45] * 4


def test_a_total_is_over_all_declared_groups_and_not_those_that_limit_keeps(data: Any) -> None:
    sql = "SELECT region, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS w FROM t GROUP BY region LIMIT 1"
    assert data.ask(sql, epsilon=2_000).value == [{"region": "n", "n": 180, "w": 660}]


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_intervals_of_sums_differences_and_shares_hold(neighbours: str) -> None:
    """Coverage of at least .95, and not by being wide: a sum is no wider than twice the normal."""
    schema = {**SCHEMA, "table": {**SCHEMA["table"], "neighbours": neighbours}}
    sql = (
        "SELECT region, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY region) AS run, COUNT(*) / "
        "SUM(COUNT(*)) "
        "OVER () AS share, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY region) AS step FROM t GROUP "
        "BY region"
    )
    inside, asked = dict.fromkeys(("run", "share", "step"), 0), 0
    with tn.protect(ROWS, schema=schema, ledger=tn.ledger.Memory()) as opened:
        for _ in range(90):
            asked += 1
            answer = opened.ask(sql, epsilon=0.1, fresh=True).interval(0.9)
            run, before = 0, None
            for row, many in zip(answer, (180, 120, 300, 60), strict=True):
                run += many
                true = {
                    "run": run,
                    "share": many / 660,
                    "step": None if before is None else many - before,
                }
                before = many
                for name, value in true.items():
                    if value is not None and row[name] is not None:
                        inside[name] += row[name][0] - 1e-9 <= value <= row[name][1] + 1e-9
                    elif name != "step":
                        inside[name] += 1
    # 600 or 450 dependent tries at 90 %: below 83 % would be six deviations
    assert inside["run"] >= 0.83 * 4 * asked
    assert inside["share"] >= 0.83 * 4 * asked
    assert inside["step"] >= 0.83 * 3 * asked


def test_a_sum_of_noisy_counts_is_as_wide_as_independent_noise_allows(data: Any) -> None:
    """A wrong version that adds up the intervals of 96 groups is ten times as wide."""
    sql = "SELECT BIN(age, 1) AS a, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS w FROM t GROUP BY 1"
    row = data.ask(sql, epsilon=1).interval(0.95)[0]
    one, total = (row[name][1] - row[name][0] for name in ("n", "w"))
    assert 6 * one < total < 10.5 * one


def test_a_window_adds_nothing_to_the_price(data: Any) -> None:
    plain = data.explain("SELECT region, COUNT(*) AS n FROM t GROUP BY region", epsilon=1)
    window = data.explain(QUESTIONS[0], epsilon=1)
    assert window.price == plain.price
    assert window.request == plain.request
    assert [draw.line for draw in window.strategy.draws] == [
        draw.line for draw in plain.strategy.draws
    ]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_the_text_of_a_plan_is_the_same_question(data: Any, sql: str) -> None:
    plan = data.explain(sql, epsilon=1)
    assert data.explain(plan.sql, epsilon=1).question == plan.question


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        (
            "SELECT region, SUM(age) OVER (PARTITION BY region) FROM t GROUP BY region",
            "unsupported-window",
        ),
        ("SELECT COUNT(*) OVER () FROM t", "unsupported-window"),
        ("SELECT region, RANK() OVER (ORDER BY region) FROM t GROUP BY region", "no-aggregate"),
        ("SELECT SUM(COUNT(*)) OVER () FROM t", "window-without-groups"),
        (
            "SELECT region, NTILE(4) OVER (ORDER BY COUNT(*)) FROM t GROUP BY region",
            "unsupported-window",
        ),
        ("SELECT region, RANK() OVER () FROM t GROUP BY region", "window-without-order"),
        (
            "SELECT region, SUM(COUNT(*)) OVER () AS s FROM t GROUP BY region HAVING s > 1",
            "window-with-having",
        ),
        (
            "SELECT region, SUM(COUNT(*)) OVER () FROM t GROUP BY ROLLUP (region)",
            "window-with-sets",
        ),
        (
            "SELECT region, SUM(COUNT(*)) OVER (PARTITION BY sex) FROM t GROUP BY region",
            "not-grouped",
        ),
        (
            "SELECT region, SUM(SUM(COUNT(*)) OVER ()) OVER () FROM t GROUP BY region",
            "window-in-window",
        ),
        (
            "SELECT region, SUM(COUNT(*)) OVER (ORDER BY s) AS s FROM t GROUP BY region",
            "window-in-window",
        ),
        (
            "SELECT region, FIRST_VALUE(MODE(sex)) OVER (ORDER BY region) FROM t GROUP BY region",
            "window-of-values",
        ),
        (
            "SELECT region, SUM(COUNT(*)) OVER (ORDER BY region RANGE BETWEEN UNBOUNDED "
            "PRECEDING AND CURRENT "
            "ROW) FROM t GROUP BY region",
            "unsupported-window",
        ),
        (
            "SELECT region, RANK() OVER (ORDER BY COUNT(*) ROWS UNBOUNDED PRECEDING) FROM t "
            "GROUP BY region",
            "window-frame",
        ),
        (
            "SELECT region, SUM(COUNT(*)) OVER (PARTITION BY COUNT(*)) FROM t GROUP BY region",
            "window-key",
        ),
    ],
)
def test_what_is_no_window_over_groups_is_refused(data: Any, sql: str, code: str) -> None:
    with pytest.raises(InvalidQuestion) as refused:
        data.explain(sql, epsilon=1)
    assert refused.value.code == code


def test_a_question_with_windows_is_asked_together_by_itself(data: Any) -> None:
    together = [QUESTIONS[0], "SELECT region, COUNT(*) AS n FROM t GROUP BY region"]
    first, second = data.ask_many(together, epsilon=4_000)
    assert [row["w"] for row in first.value] == [660] * 4
    assert [row["n"] for row in second.value] == [180, 120, 300, 60]
    with pytest.raises(NotPromised):
        first.consistent()


def test_an_accuracy_is_that_of_the_longest_window(data: Any) -> None:
    plan = data.explain(QUESTIONS[0], accuracy=("interval", 0.95, 10))
    assert plan.readings[1].before_rows(plan.parts, None).half_width(Fraction(19, 20)) <= 10
    assert (
        plan.price
        > data.explain(
            "SELECT region, COUNT(*) AS n FROM t GROUP BY region", accuracy=("interval", 0.95, 10)
        ).price
    )


def test_a_rank_says_that_it_has_no_margin(data: Any) -> None:
    answer = data.ask(QUESTIONS[2], epsilon=2_000)
    assert "no margin of error is stated" in str(answer)
    assert "not stated" in str(data.explain(QUESTIONS[2], epsilon=1))
