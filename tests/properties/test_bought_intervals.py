"""Which intervals a question buys, through the whole journey."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.ask.plan.planner import levels_for
from tenue.ask.question import Aggregate
from tenue.errors import InvalidArgument, NotPromised, Refused
from unit.ask.asked import ask as question

TABLE = pd.DataFrame(
    {"x": range(1000), "g": ["a", "b"] * 500, "d": pd.date_range("2020-01-01", periods=1000)}
)
SCHEMA: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "replace"},
    "columns": {
        "x": {"type": "number", "bounds": [0, 2000], "missing": 0},
        "g": {"type": "category", "categories": ["a", "b"]},
        "d": {"type": "date", "bounds": ["2019-01-01", "2024-01-01"]},
    },
    "budget": {"total": 100},
}


def session(**table: Any) -> Any:
    schema = SCHEMA | {"table": SCHEMA["table"] | table}
    return tn.protect(TABLE, schema=schema, ledger=tn.ledger.Memory())


def test_what_stands_deeper_is_bought_at_a_higher_level() -> None:
    found = levels_for(question("SELECT MEDIAN(age), MAX(age) - MIN(age) * 2 FROM census"), 0.9)
    by_kind = {aggregate.kind: level for aggregate, level in found.items()}
    assert by_kind == {
        "quantile": Fraction(9, 10),
        "max": Fraction(19, 20),
        "min": Fraction(39, 40),
    }


def test_a_value_asked_twice_is_bought_once_at_the_higher_level() -> None:
    found = levels_for(question("SELECT MAX(age), MAX(age) - MIN(age) FROM census"), 0.9)
    assert found[Aggregate("max", "age")] == Fraction(19, 20)


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        ("SELECT COUNT(*) FROM census", 0.95),
        ("SELECT MEDIAN(age) FROM census", 1),
        ("SELECT MEDIAN(age) FROM census", 0),
        ("SELECT MEDIAN(age) FROM census", "0.9999999999"),
        ("SELECT MEDIAN(age) - MAX(age) FROM census", "0.999999999"),
    ],
)
def test_what_cannot_be_bought_is_refused(sql: str, level: Any) -> None:
    with pytest.raises(InvalidArgument):
        levels_for(question(sql), level)


def test_an_answer_has_its_interval_and_says_what_it_cost() -> None:
    with session() as data:
        answer = data.ask("SELECT MEDIAN(x) FROM t", epsilon=1, interval=0.95)
        low, high = answer.interval(0.95)
        assert 0 <= low <= answer.value <= high <= 2000
        assert answer.interval(0.9) == (low, high)
        assert answer.interval(0.96) is None
        assert answer.price == 1
        assert answer.plan.interval_epsilon == Fraction(1, 2)
        told = answer.to_dict()["interval_bought"]
        assert told == {"level": "0.95", "epsilon": "0.5", "interval": [low, high]}
        assert "Epsilon 0.5 paid" in str(answer)
        assert "epsilon 0.5 of 1 pays for them" in " ".join(str(answer.plan).split())
        assert data.budget.spent == 1


def test_the_cache_tells_an_answer_with_an_interval_from_one_without() -> None:
    with session() as data:
        data.ask("SELECT MAX(x) FROM t", epsilon=1)
        assert not data.ask("SELECT MAX(x) FROM t", epsilon=1, interval=0.95).replayed
        assert not data.ask("SELECT MAX(x) FROM t", epsilon=1, interval=0.96).replayed
        assert data.ask("SELECT MAX(x) FROM t", epsilon=1, interval=0.96).replayed
        data.ask("SELECT MIN(x) FROM t", epsilon=1, key="k")
        with pytest.raises(Refused, match="another question"):
            data.ask("SELECT MIN(x) FROM t", epsilon=1, key="k", interval=0.9)


def test_groups_dates_and_differences_have_intervals() -> None:
    with session(neighbours="add-or-remove") as data:
        rows = data.ask(
            "SELECT g, MEDIAN(x) AS m, QUANTILE(x, 0.9) AS q FROM t GROUP BY g",
            epsilon=4,
            interval=0.9,
        )
        assert all(row["m"][0] <= row["m"][1] for row in rows.interval(0.9))
        day = data.ask("SELECT MAX(d) FROM t", epsilon=1, interval=0.9).interval(0.9)
        assert day[1] == date(2024, 1, 1)
        assert isinstance(day[0], date)
        span = data.ask("SELECT MAX(x) - MIN(x) AS r FROM t", epsilon=1, interval=0.9)
        low, high = span.interval(0.9)
        assert low <= span.value <= high == 2000


def test_it_is_refused_beside_other_promises() -> None:
    with session() as data:
        for more in ({"individual": True}, {"prior": object()}):
            with pytest.raises(InvalidArgument, match="together"):
                data.ask("SELECT MEDIAN(x) FROM t", epsilon=1, interval=0.9, **more)
        with pytest.raises(NotPromised):
            data.ask("SELECT MEDIAN(x) FROM t", accuracy=("interval", 0.95, 10), interval=0.95)
        assert data.budget.spent == 0


def test_few_rows_and_none_have_intervals_as_wide_as_they_must_be() -> None:
    schema = SCHEMA | {"table": SCHEMA["table"] | {"neighbours": "add-or-remove"}}
    for rows in (0, 1, 3):
        with tn.protect(TABLE.head(rows), schema=schema, ledger=tn.ledger.Memory()) as data:
            answer: Any = data.ask(
                "SELECT MEDIAN(x) AS m, MIN(x) AS a, MAX(x) AS b FROM t",
                epsilon="0.3",
                interval="0.999999",
            )
            low, high = answer.interval("0.999999")["m"]
            assert low <= 0
            assert high >= max(0, rows - 1)
