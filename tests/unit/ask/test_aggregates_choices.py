"""Distinct values, modes and values with a rank."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.ask.aggregates.mode import VOTE
from tenue.ask.aggregates.noise import MOST_VALUES
from tenue.ask.aggregates.order_statistics import (
    INTERVAL_END,
    Choice,
    RankInterval,
    RankReading,
    choices_for,
    smoothed_for,
)
from tenue.ask.aggregates.strategy import Span
from tenue.ask.plan.planner import make_plan
from tenue.ask.question import Aggregate
from tenue.ask.sql.parse import parse
from tenue.errors import InvalidArgument, InvalidQuestion, NotPromised, Refused
from tenue.mechanism.exponential_mechanism import Selection
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema
from unit.ask.asked import CENSUS, refused


def schema(neighbours: str) -> Schema:
    return CENSUS.replace(table={"neighbours": neighbours})


@pytest.mark.parametrize(
    ("neighbours", "sql", "moved"),
    [
        ("add-or-remove", "SELECT COUNT(DISTINCT age) FROM census", 3),
        ("replace", "SELECT COUNT(DISTINCT age) FROM census", 3),
        ("add-or-remove", "SELECT sex, COUNT(DISTINCT age) FROM census GROUP BY sex", 3),
        ("replace", "SELECT sex, COUNT(DISTINCT age) FROM census GROUP BY sex", 6),
    ],
)
def test_a_person_moves_all_counts_by_its_rows(neighbours: str, sql: str, moved: int) -> None:
    given = schema(neighbours)
    plan = make_plan(parse(sql, given), given, EpsilonDelta(10**9))
    (draw,) = plan.strategy.draws
    assert draw.law.sensitivity == moved  # type: ignore[attr-defined]
    assert draw.required == "age"
    assert "different values of age" in draw.line


def test_different_values_are_counted_in_each_group() -> None:
    given = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {
                "x": {"type": "number", "bounds": [0, 10], "grid": 2},
                "c": {"type": "category", "categories": ["a", "b", "z"]},
                "b": {"type": "boolean"},
            },
            "budget": {"total": 100_000},
        }
    )
    rows = pd.DataFrame(
        {
            "x": [0, 1, 5, 99, None],
            "c": ["a", "a", "a", "b", "b"],
            "b": [True, True, None, None, None],
        }
    )
    with tn.protect(rows, schema=given, ledger=tn.ledger.Memory()) as data:
        found = data.ask(
            "SELECT c, COUNT(DISTINCT x) AS n, COUNT(DISTINCT b) AS m FROM t GROUP BY c",
            epsilon=5000,
        )
        # 1 becomes 2, and 99 becomes the bound
        assert found.value == [
            {"c": "a", "n": 3, "m": 1},
            {"c": "b", "n": 1, "m": 0},
            {"c": "z", "n": 0, "m": 0},
        ]


def test_columns_with_too_many_values_are_refused() -> None:
    assert MOST_VALUES == 10**6
    refusal = refused("SELECT COUNT(DISTINCT income * 10 + age) FROM census", "distinct")
    assert "FLOOR" in refusal.fix


# -- MODE with differential privacy, through the whole journey -------------------------------------

MODE_TABLE = pd.DataFrame(
    {
        "c": ["red"] * 60 + ["blue"] * 30 + ["green"] * 9 + [None],
        "g": (["a"] * 60) + (["b"] * 40),
        "id": [f"p{i // 2}" for i in range(100)],
    }
)


def mode_session(**table: Any) -> Any:
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace", **table},
        "columns": {
            "c": {"type": "category", "categories": ["blue", "green", "red"]},
            "g": {"type": "category", "categories": ["a", "b", "nobody"]},
            "id": {"type": "identifier"},
        },
        "budget": {"total": 1000},
    }
    return tn.protect(MODE_TABLE, schema=schema, ledger=tn.ledger.Memory())


def test_the_most_frequent_category_is_found_where_epsilon_is_large() -> None:
    with mode_session() as data:
        answer = data.ask("SELECT MODE(c) FROM t", epsilon=20)
        assert answer.value == "red"
        assert answer.interval(0.95) is None
        assert answer.plan.chosen.mechanism == VOTE
        assert "rows behind" in str(answer)
        assert "rows behind" in str(answer.plan)
        assert "categories of c" in answer.certificate.parameters["part 1"]
        assert data.budget.spent == 20


def test_groups_filters_and_other_aggregates() -> None:
    with mode_session(neighbours="add-or-remove") as data:
        rows = data.ask("SELECT g, MODE(c) AS m, COUNT(*) AS n FROM t GROUP BY g", epsilon=60).value
        assert [row["m"] for row in rows][:2] == ["red", "blue"]
        assert rows[2]["m"] in ("blue", "green", "red")  # nobody: any of them
        assert data.ask("SELECT MODE(c) FROM t WHERE c <> 'red'", epsilon=40).value == "blue"
        kept = data.ask(
            "SELECT g, MODE(c) AS m FROM t GROUP BY g HAVING m = 'blue' ORDER BY m", epsilon=60
        )
        assert "b" in [row["g"] for row in kept.value]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MODE(c) + 1 FROM t",
        "SELECT MODE(id) FROM t",
        "SELECT MODE(*) FROM t",
        "SELECT MODE(c) FROM t HAVING MODE(c) > 3",
        "SELECT MODE(c) FROM t HAVING MODE(c) = 'pink'",
        "SELECT MODE(c) FROM t HAVING MODE(c) > 'blue'",
    ],
)
def test_what_has_no_meaning_is_refused(sql: str) -> None:
    with mode_session() as data:
        with pytest.raises(InvalidQuestion):
            data.ask(sql, epsilon=1)
        assert data.budget.spent == 0


@pytest.mark.parametrize(
    ("table", "per_row"),
    [
        ({"neighbours": "add-or-remove"}, Fraction(1)),
        ({}, Fraction(1, 2)),
        ({"neighbours": "add-or-remove", "unit": "id", "rows_per_unit": 2}, Fraction(1, 2)),
        ({"unit": "id", "rows_per_unit": 2}, Fraction(1, 4)),
    ],
)
def test_a_row_pays_its_share(table: dict[str, Any], per_row: Fraction) -> None:
    with mode_session(**table) as data:
        answer = data.ask("SELECT MODE(c) FROM t", epsilon=1)
        (ballot,) = answer.plan.strategy.draws
        assert ballot.vote.epsilon == per_row
        assert ballot.epsilon == 1
        assert answer.value in ("blue", "green", "red")


# Value intervals: exact coverage on every small table, and what an answer says of them.

SPAN = Span(0, 4, Fraction(1))
LEVEL = Fraction(9, 10)
ASKED = [
    Aggregate("quantile", "x", q=Fraction(1, 2)),
    Aggregate("quantile", "x", q=Fraction(1, 4)),
    Aggregate("quantile", "x", q=Fraction(9, 10)),
    Aggregate("min", "x"),
    Aggregate("max", "x"),
]


def tables(most: int) -> Iterator[tuple[int, ...]]:
    for n in range(1, most + 1):
        yield from itertools.combinations_with_replacement(range(5), n)


def masses(selection: Selection, table: Sequence[int]) -> dict[int, float]:
    """The law that is drawn from, by the intervals that are drawn from."""
    counts, below, values = Counter(table), 0, []
    for value in sorted(counts):
        values.append((value, below, counts[value]))
        below += counts[value]
    scores = dict.fromkeys(range(selection.low, selection.high + 1), selection.reach)
    for interval in selection.intervals(len(table), values):
        scores |= dict.fromkeys(range(interval.first, interval.first + interval.points), 0)
        for v in range(interval.first, interval.first + interval.points):
            scores[v] = interval.score
    weights = {v: math.exp(-float(selection.law.fall) * s) for v, s in scores.items()}
    return {v: w / sum(weights.values()) for v, w in weights.items()}


def truths(asked: Aggregate, table: Sequence[int]) -> list[Fraction]:
    """All that may be called the quantile: the rank below, the rank above, and in between."""
    if asked.q is None:
        return [Fraction(min(table) if asked.kind == "min" else max(table))]
    place = asked.q * (len(table) - 1)
    low = table[math.floor(place)]
    between = low + (place - math.floor(place)) * (table[math.ceil(place)] - low)
    ranked = table[max(1, math.ceil(asked.q * len(table))) - 1]
    after = table[min(len(table), math.floor(asked.q * len(table)) + 1) - 1]
    return [Fraction(ranked), Fraction(after), between]


def coverage(
    choices: Sequence[Choice], bought: RankInterval, table: Sequence[int], truth: Fraction
) -> float:
    """The exact probability that the interval holds the truth; selections are independent."""
    reading = RankReading(0, Fraction(1), choices[0].selection, bought)
    laws = [masses(c.selection, table) for c in choices]
    total = 0.0
    for drawn in itertools.product(range(5), repeat=len(choices)):
        low, high = _ends(reading, drawn)
        if low <= truth <= high:
            total += math.prod(law[v] for law, v in zip(laws, drawn, strict=True))
    return total


@lru_cache
def _ends(reading: RankReading, drawn: tuple[int, ...]) -> tuple[Fraction, Fraction]:
    assert reading.bought is not None
    found = reading.interval((), reading.bought.level, [drawn], None)
    assert found is not None
    return found


def bought_for(
    asked: Aggregate, neighbours: str, epsilon: Fraction
) -> tuple[list[Choice], RankInterval]:
    choices, bought = choices_for(asked, SPAN, neighbours, epsilon, lambda share: share, LEVEL)
    assert bought is not None
    return choices, bought


def worst(choices: Sequence[Choice], bought: RankInterval, asked: Aggregate, most: int) -> float:
    return min(
        coverage(choices, bought, table, truth)
        for table in tables(most)
        for truth in set(truths(asked, table))
    )


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(8), Fraction(60)])
def test_the_interval_holds_the_truth_in_every_small_table(
    asked: Aggregate, neighbours: str, epsilon: Fraction
) -> None:
    choices, bought = bought_for(asked, neighbours, epsilon)
    assert sum(c.epsilon for c in choices) == epsilon
    assert worst(choices, bought, asked, 4) >= LEVEL


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_few_rows_need_the_spared_end(asked: Aggregate) -> None:
    """Mutant: without it, all points miss the aim alike, and the ends fall anywhere."""
    choices, bought = bought_for(asked, "replace", Fraction(2))

    def unspared(choice: Choice) -> Choice:
        score = replace(choice.selection.score, spared=None)
        return replace(choice, selection=replace(choice.selection, score=score))

    assert worst([unspared(c) for c in choices], bought, asked, 2) < LEVEL


def test_ends_aimed_at_the_quantile_itself_would_miss() -> None:
    """Mutant: two more draws of the median are no interval."""
    asked = ASKED[0]
    choices, bought = bought_for(asked, "replace", Fraction(8))
    middle = choices[0]
    ends = [replace(middle, selection=replace(middle.selection, epsilon=Fraction(2)))] * 2
    assert worst([middle, *ends], bought, asked, 5) < LEVEL


def test_without_a_level_nothing_is_bought() -> None:
    for asked in ASKED:
        (only,), bought = choices_for(asked, SPAN, "replace", Fraction(1), lambda share: share)
        assert (bought, only.epsilon, only.selection.score.spared) == (None, 1, None)
        assert RankReading(0, Fraction(1), only.selection).interval((), LEVEL, [[2]], None) is None


def test_half_of_the_price_buys_the_ends_of_a_quantile_and_nothing_those_of_an_extreme() -> None:
    spent = [
        sum(
            c.epsilon
            for c in bought_for(asked, "replace", Fraction(1))[0]
            if c.name == INTERVAL_END
        )
        for asked in ASKED
    ]
    assert spent == [Fraction(1, 2)] * 3 + [0, 0]


def test_an_interval_holds_its_answer_and_is_none_for_higher_levels() -> None:
    choices, bought = bought_for(ASKED[0], "replace", Fraction(1))
    reading = RankReading(0, Fraction(1, 2), choices[0].selection, bought)
    assert reading.interval((), LEVEL, [[4, 1, 3]], None) == (Fraction(1, 2), 2)
    assert reading.interval((), Fraction(1, 2), [[2, 3, 1]], None) == (
        Fraction(1, 2),
        Fraction(3, 2),
    )
    assert reading.interval((), Fraction(91, 100), [[4, 1, 3]], None) is None
    choices, bought = bought_for(Aggregate("max", "x"), "replace", Fraction(1))
    assert RankReading(0, Fraction(1), choices[0].selection, bought).interval(
        (), LEVEL, [[3]], None
    ) == (3, 4)


def test_a_grid_without_end_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="coarser"):
        choices_for(ASKED[0], Span(0, 2**62, Fraction(1)), "replace", Fraction(1), lambda s: s)


# -- A mechanism asked by name; smooth sensitivity through the whole journey -----------------------

TABLE = pd.DataFrame({"x": [3.5, 4, None, 6, 70, 1], "y": [1, 2, 3, 4, 5, 6], "g": ["a", "b"] * 3})
MEDIAN = "SELECT MEDIAN(x) FROM t"


def session(**table: Any) -> Any:
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace", **table},
        "columns": {
            "x": {"type": "number", "bounds": [0, 10], "grid": 0.5, "missing": 2},
            "y": {"type": "number", "bounds": [0, 10]},
            "g": {"type": "category", "categories": ["a", "b"]},
        },
        "budget": {"total": 50},
    }
    return tn.protect(TABLE, schema=schema, ledger=tn.ledger.Memory())


@pytest.mark.parametrize("gamma", range(2, 7))
def test_smooth_sensitivity_answers_by_name_and_tells_nothing_but_the_value(gamma: int) -> None:
    with session() as data:
        answer = data.ask(MEDIAN, epsilon=1, mechanism=f"smooth sensitivity {gamma}")
        assert 0 <= answer.value <= 10
        assert answer.exact % Fraction(1, 4) == 0  # an even median lies on half steps
        assert answer.interval(0.5) is None
        assert answer.expected_error is None
        assert answer.rank_error(0.5) is None
        with pytest.raises(NotPromised):
            answer.estimate(tn.prior.Uniform(0, 10))
        assert answer.price == data.budget.spent == 1
        assert answer.certificate.promise == tn.Pure(1)
        assert any("Bayes" in line for line in answer.certificate.does_not_promise)
        assert f"gamma = {gamma}" in answer.certificate.parameters["part 1"]
        assert "fact about the rows" in str(answer)


@pytest.mark.parametrize(
    ("sql", "statistic", "q"),
    [
        (MEDIAN, "median", None),
        ("SELECT QUANTILE(x, 0.3) FROM t", "quantile", Fraction(3, 10)),
        ("SELECT MAX(x) FROM t", "max", None),
        ("SELECT MIN(x) FROM t", "min", None),
    ],
)
def test_the_rows_of_the_logical_table_are_what_it_is_told(
    sql: str, statistic: str, q: Fraction | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def spy(*arguments: Any, **options: Any) -> Fraction:
        seen.append((arguments, options))
        return Fraction(7, 2)

    monkeypatch.setattr("tenue.mechanism.smooth.smooth_release", spy)
    with session() as data:
        assert data.ask(sql, epsilon=1, mechanism="smooth sensitivity 3").exact == Fraction(7, 4)
    ((arguments, options),) = seen
    assert arguments[0] == statistic
    assert arguments[1].tolist() == [2, 4, 7, 8, 12, 20]  # clamped, missing filled, in steps
    assert arguments[2:6] == (0, 20, 1, 3)
    assert options == {"rows_public": True, "q": q}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MEDIAN(x) FROM t WHERE y > 1",
        "SELECT g, MEDIAN(x) FROM t GROUP BY g",
        "SELECT MEDIAN(y) FROM t",
        "SELECT MEDIAN(x), MAX(x) FROM t",
        "SELECT COUNT(*) FROM t",
    ],
)
def test_it_is_refused_where_the_number_of_rows_is_not_public(sql: str) -> None:
    with session() as data:
        with pytest.raises(NotPromised, match="number of rows is public"):
            data.ask(sql, epsilon=1, mechanism="smooth sensitivity 3")
        assert data.budget.spent == 0
    with session(neighbours="add-or-remove") as data, pytest.raises(NotPromised):
        data.ask(MEDIAN, epsilon=1, mechanism="smooth sensitivity 3")


def test_it_takes_no_interval_and_no_accuracy() -> None:
    with session() as data:
        with pytest.raises(NotPromised):
            data.ask(MEDIAN, epsilon=1, mechanism="smooth sensitivity 3", interval=0.9)
        with pytest.raises(NotPromised):
            data.ask(MEDIAN, accuracy=("interval", 0.9, 1), mechanism="smooth sensitivity 3")
        assert data.budget.spent == 0


def test_unknown_names_are_refused_with_the_names_there_are() -> None:
    with session() as data:
        for name in ("laplace", "", "smooth sensitivity 7", "smooth sensitivity"):
            with pytest.raises(InvalidArgument, match='"selection", "smooth sensitivity 2"'):
                data.ask(MEDIAN, epsilon=1, mechanism=name)
        with pytest.raises(Refused, match="together"):
            data.ask(MEDIAN, epsilon=1, mechanism="selection", individual=True)


def test_a_named_mechanism_is_planned_drawn_and_cached_as_such() -> None:
    sql = "SELECT SUM(y) FROM t"
    with session() as data:
        assert data.ask(sql, epsilon=1).plan.chosen.mechanism == "optimal"
        answer = data.ask(sql, epsilon=1, mechanism="discrete Laplace")
        assert not answer.replayed
        assert isinstance(answer.plan.parts[0].law, tn.noise.DiscreteLaplace)
        assert data.ask(sql, epsilon=1, mechanism="discrete Laplace").replayed
        plan = data.explain(sql, epsilon=1, mechanism="discrete Laplace")
        assert "→  discrete Laplace" in str(plan)


def test_noise_that_cannot_be_drawn_is_not_offered() -> None:
    asked = Aggregate("max", "x")
    assert len(smoothed_for(asked, Span(0, 100, Fraction(1)), Fraction(1))) == 5
    assert smoothed_for(asked, Span(0, 2**61, Fraction(1)), Fraction(1)) == []
