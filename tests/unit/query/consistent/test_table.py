"""A consistent answer has an honest error of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import NotPromised
from tenue.query.consistent.table import Consistent, Raw, make_consistent

WARDS = ["a", "b", "c", "d"]
BOTH = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM t GROUP BY ward"


def session(**table: Any) -> Any:
    """Few rows, so that much noise is below 0."""
    frame = pd.DataFrame(
        {"who": range(12), "ward": ["a"] * 11 + ["b"], "cost": [3.5] * 12, "change": [1] * 12}
    )
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"} | table,
        "budget": {"total": 100},
        "columns": {
            "who": {"type": "identifier"},
            "ward": {"type": "category", "categories": WARDS, "missing": "a"},
            "cost": {"type": "number", "bounds": [0, 5], "grid": 0.5},
            "change": {"type": "number", "bounds": [-5, 5]},
        },
    }
    return tn.protect(frame, schema=schema, ledger=tn.ledger.Memory())


Halves = Callable[[Consistent, str, int], Fraction]
LEVEL = Fraction(19, 20)


def check_covers(found: Consistent, half: Halves) -> None:
    """Whatever the raw interval holds, the consistent one holds: so it covers as often."""
    for alias, made in found.raw.made.items():
        for cell in range(found.raw.plan.cells):
            middle, reach = found.raw.near(made, cell, LEVEL)
            value = found.steps[alias][cell] * made.grid
            assert value - half(found, alias, cell) <= middle - reach
            assert value + half(found, alias, cell) >= middle + reach


def test_it_covers_whenever_the_raw_answer_does() -> None:
    with session() as data:
        for number in range(5):
            found = data.ask(BOTH, epsilon=0.1, key=str(number), fresh=True).consistent()
            check_covers(found, lambda one, alias, cell: one._half(alias, cell, LEVEL))


def test_the_error_of_the_raw_answer_is_too_small() -> None:
    """The mutant: r alone, though the value was moved."""

    def unmoved(found: Consistent, alias: str, cell: int) -> Fraction:
        return found.raw.near(found.raw.made[alias], cell, LEVEL)[1]

    with session() as data:
        asked = [data.ask(BOTH, epsilon=0.1, key=str(i), fresh=True) for i in range(20)]
    found = [answer.consistent() for answer in asked]
    assert any(row["n"] == 0 for one in found for row in one.value), "something was below 0"
    with pytest.raises(AssertionError):
        check_all(found, unmoved)


def check_all(several: list[Consistent], half: Halves) -> None:
    for one in several:
        check_covers(one, half)


def test_values_are_whole_on_their_grid_and_not_negative() -> None:
    with session() as data:
        answer = data.ask(BOTH, epsilon=0.1)
        found = answer.consistent()
    assert [row["ward"] for row in found.value] == [row["ward"] for row in answer.value]
    for row, ends, half in zip(
        found.exact, found.interval(0.95), found.half_width(0.95), strict=True
    ):
        assert row["n"] >= 0
        assert row["n"].denominator == 1
        assert (row["s"] / Fraction(1, 2)).denominator == 1
        for name in ("n", "s"):
            low, high = ends[name]
            assert 0 <= low <= float(row[name]) <= high
            assert high == pytest.approx(float(row[name]) + float(half[name]))


def test_answers_asked_together_add_up() -> None:
    with session() as data:
        total, parts = data.ask_many(
            [
                "SELECT COUNT(*) AS n, SUM(cost) AS s FROM t WHERE cost > 1",
                "SELECT ward, COUNT(*) AS n, SUM(cost) AS s, COUNT(*) AS again FROM t "
                "WHERE cost > 1 GROUP BY ward",
            ],
            epsilon=0.5,
        ).consistent()
    for name in ("n", "s"):
        assert sum(row[name] for row in parts.exact) == total.exact[name]
    assert [row["n"] for row in parts.value] == [row["again"] for row in parts.value]
    for one in (total, parts):
        check_covers(one, lambda one, alias, cell: one._half(alias, cell, LEVEL))
    assert make_consistent([]) == []


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("AVG(cost)", "neither a count nor"),
        ("SUM(change)", "neither a count nor"),
        ("MEDIAN(cost)", "neither a count nor"),
        ("COUNT(*) + 1", "neither a count nor"),
        ("COUNT(DISTINCT who)", "counts different persons"),
    ],
)
def test_what_may_be_negative_or_does_not_add_up_is_refused(output: str, reason: str) -> None:
    with session(unit="who", rows_per_unit=1) as data:
        answer = data.ask(f"SELECT {output} AS n FROM t", epsilon=1)  # noqa: S608
    with pytest.raises(NotPromised, match=reason):
        answer.consistent()


def test_the_raw_answer_stays_as_it_is_and_shows_the_same_rows() -> None:
    sql = BOTH + " HAVING COUNT(*) > -1000 ORDER BY n DESC LIMIT 3"
    with session() as data:
        answer = data.ask(sql, epsilon=0.1)
        before = answer.value
        found = answer.consistent()
        assert answer.value == before
    assert [row["ward"] for row in found.value] == [row["ward"] for row in before]
    assert len(found.to_pandas()) == 3
    told = json.loads(found.to_json())
    assert told["value"] == found.value
    assert told["consistent"] is True
    for text in (str(found), repr(found), found._repr_html_()):
        assert "Made consistent, at no price" in " ".join(text.split())
        assert "±" in text


def test_what_was_cut_is_said_here_too() -> None:
    with session(unit="who", rows_per_unit=1) as data:
        found = data.ask("SELECT COUNT(*) AS n FROM t", epsilon=1).consistent()
    assert [limit.kind for limit in found.limits] == ["rows"]
    assert json.loads(found.to_json())["limits"]
    assert str(found).split("\n\n")[1].startswith("At most 1 row of each who counts")
    assert isinstance(found.raw, Raw)
    assert found.value >= 0
