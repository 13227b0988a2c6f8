"""Answers that could be those of a table."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenue as tn
from tenue.ask.consistent_answer import (
    Consistent,
    cells_of,
    make_consistent,
    raw_interval,
    reconciled,
    shared_out,
    totals_of,
)
from tenue.ask.plan.planner import make_plan
from tenue.ask.sql.parse import parse
from tenue.engine.request import Group
from tenue.errors import NotPromised
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

NUMBERS = st.fractions(min_value=-30, max_value=30, max_denominator=8)


def test_a_number_alone_is_rounded_half_up_and_not_negative() -> None:
    raw = [Fraction(n, 2) for n in (-3, -1, 0, 1, 3, 5)]
    assert reconciled(raw, [1.0] * 6, {}) == [0, 0, 0, 1, 2, 3]


@given(st.integers(0, 60), st.lists(NUMBERS, min_size=1, max_size=7))
def test_a_total_is_shared_out_whole(total: int, wanted: list[Fraction]) -> None:
    found = shared_out(total, wanted)
    assert sum(found) == total
    assert min(found) >= 0


@given(st.integers(0, 8), st.lists(NUMBERS, min_size=3, max_size=3))
def test_it_is_nearly_the_nearest_way(total: int, wanted: list[Fraction]) -> None:
    """At most a step in each part from the best of all ways to share the total out."""
    ways = [w for w in itertools.product(range(total + 1), repeat=3) if sum(w) == total]

    def distance(way: tuple[int, ...] | list[int]) -> Fraction:
        return sum(((Fraction(a) - b) ** 2 for a, b in zip(way, wanted, strict=True)), Fraction(0))

    best = min(ways, key=distance)
    found = shared_out(total, wanted)
    assert all(abs(a - b) <= 1 for a, b in zip(best, found, strict=True))


@given(st.lists(NUMBERS, min_size=7, max_size=7))
def test_every_total_is_that_of_its_parts(raw: list[Fraction]) -> None:
    """0 = 1 + 2 = 3 + 4, and 2 = 5 + 6."""
    sums = {0: [[1, 2], [3, 4]], 2: [[5, 6]]}
    found = reconciled(raw, [1.0, 2.0, 2.0, 1.0, 1.0, 3.0, 3.0], sums)
    assert min(found) >= 0
    for total, ways in sums.items():
        for way in ways:
            assert found[total] == sum(found[place] for place in way)


def test_a_better_estimate_counts_for_more() -> None:
    """The total is 100 with a small variance, its parts say 160."""
    sums = {0: [[1, 2]]}
    sure = reconciled([Fraction(100), Fraction(80), Fraction(80)], [1.0, 50.0, 50.0], sums)
    unsure = reconciled([Fraction(100), Fraction(80), Fraction(80)], [10_000.0, 1.0, 1.0], sums)
    assert sure == [101, 51, 50]
    assert unsure == [160, 80, 80]
    known = reconciled([Fraction(100), Fraction(80), Fraction(80)], [0.0, 1.0, 1.0], sums)
    assert known == [100, 50, 50]


def test_what_is_consistent_already_stays() -> None:
    raw = [Fraction(n) for n in (7, 3, 4, 0, 4)]
    assert reconciled(raw, [1.0] * 5, {0: [[1, 2]], 2: [[3, 4]]}) == [7, 3, 4, 0, 4]


# -- One answer is the total of another only if no row can be missing from the parts ---------------

ONE = EpsilonDelta.of(1)
ALL = "SELECT COUNT(*) AS n FROM t"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward"
BY_SEX = "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex"
BY_BOTH = "SELECT sex, ward, COUNT(*) AS n FROM t GROUP BY sex, ward"


def schema(missing: bool = True, **table: Any) -> Schema:
    filled = {"missing": "a"} if missing else {}
    columns = {
        "who": {"type": "identifier"},
        "ward": {"type": "category", "categories": ["a", "b", "c"], **filled},
        "sex": {"type": "category", "categories": ["f", "a"], **filled},
    }
    stated = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    return Schema.from_dict({"table": stated | table, "columns": columns})


def found(*texts: str, given: Schema | None = None) -> dict[int, int]:
    described = given or schema()
    plans = [make_plan(parse(sql, described), described, ONE, sql=sql) for sql in texts]
    return totals_of(plans, described)


def test_the_nearest_total_is_found() -> None:
    assert found(ALL, BY_WARD, BY_BOTH) == {1: 0, 2: 1}
    assert found(BY_BOTH, BY_WARD, ALL) == {0: 1, 1: 2}
    assert found(ALL, BY_WARD, BY_SEX) == {1: 0, 2: 0}
    assert found(BY_WARD, BY_WARD) == {1: 0}


def test_other_rows_have_no_total_here() -> None:
    some = "SELECT ward, COUNT(*) AS n FROM t WHERE sex = 'f' GROUP BY ward"
    assert found(ALL, some) == {}
    assert found("SELECT COUNT(*) AS n FROM t WHERE sex = 'f'", some) == {1: 0}


def test_rows_without_a_ward_are_in_the_total_and_in_no_part() -> None:
    """Whoever took the parts for the whole would say too much in each of them."""
    assert found(ALL, BY_WARD, given=schema(missing=False)) == {}


def test_what_is_kept_of_a_person_is_drawn_for_each_question() -> None:
    people = schema(unit="who", rows_per_unit=2)
    assert found(ALL, BY_WARD, given=people) == {}


def test_two_totals_at_once_are_refused() -> None:
    with pytest.raises(NotPromised, match="two totals"):
        found(BY_WARD, BY_SEX, BY_BOTH)


def test_cells_of_a_total() -> None:
    ward, sex = Group("ward", 3), Group("sex", 2)
    assert cells_of((), (sex, ward)) == [[0, 1, 2, 3, 4, 5]]
    assert cells_of((ward,), (sex, ward)) == [[0, 3], [1, 4], [2, 5]]
    assert cells_of((sex,), (sex, ward)) == [[0, 1, 2], [3, 4, 5]]
    assert cells_of((ward, sex), (sex, ward)) == [[0], [3], [1], [4], [2], [5]]


# -- A consistent answer has an honest error of its own --------------------------------------------

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
    for alias, made in found.outputs.items():
        for cell in range(found.raw.plan.cells):
            middle, reach = raw_interval(found.raw, made, cell, LEVEL)
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
        return raw_interval(found.raw, found.outputs[alias], cell, LEVEL)[1]

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
    assert [limit.kind for limit in found.limits] == ["rows", "unit"]
    assert json.loads(found.to_json())["limits"]
    assert str(found).split("\n\n")[1].startswith("At most 1 row of each who counts")
    assert isinstance(found.raw, tn.query.Answer)
    assert found.value >= 0
