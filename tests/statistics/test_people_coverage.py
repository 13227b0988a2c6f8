"""Over tables of people: does every stated interval cover the true answer where nothing is cut, and
is it said wherever something can be?

Two hundred settings: limits, groups, filters, aggregates, neighbours, price. In each, people have
as much as the limits of the plan allow, and more of whatever it does not limit. The truth is
computed by pandas, from all rows.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import Any

import pandas as pd
import pytest

from alarm import SHARE, budget, claim
from oracle_engine import OracleEngine
from tenue.ask.paid_request import inquire
from tenue.ask.plan.plan import Plan
from tenue.ask.plan.planner import make_plan
from tenue.ask.plan.truncation import Limit
from tenue.ask.release import release
from tenue.ask.sql.parse import parse
from tenue.engine.open import open_engine
from tenue.engine.request import Measure, People, RankRequest, Request, Window
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

FILE = "statistics/test_people_coverage.py"
LEVEL = Fraction(19, 20)
SETTINGS, DRAWS = 200, 10
ONE = EpsilonDelta.of(1)
WARDS = ["a", "b", "c", "d"]
ASKED = [
    "COUNT(*) AS n",
    "COUNT(x) AS n",
    "COUNT(DISTINCT who) AS n",
    "SUM(x) AS n",
    "SUM(y) AS n",
    "AVG(x) AS n",
    "COUNT(DISTINCT who) AS n, COUNT(*) AS m",
    "SUM(y) AS n, COUNT(DISTINCT who) AS m",
    "COUNT(*) AS n, SUM(x) AS m",
]
TRUTH: dict[str, Callable[[pd.DataFrame], float]] = {
    "COUNT(*)": len,
    "COUNT(x)": lambda rows: rows["x"].count(),
    "COUNT(DISTINCT who)": lambda rows: rows["who"].nunique(),
    "SUM(x)": lambda rows: rows["x"].sum(),
    "SUM(y)": lambda rows: rows["y"].sum(),
    "AVG(x)": lambda rows: rows["x"].mean(),
}


@dataclass(frozen=True)
class Setting:
    """How a question about people is asked."""

    neighbours: str
    rows: int
    groups: int | None
    grouped: bool
    filtered: bool
    asked: str
    price: EpsilonDelta

    @cached_property
    def schema(self) -> Schema:
        table: dict[str, Any] = {"name": "t", "unit": "who", "neighbours": self.neighbours}
        table |= {"rows_per_unit": self.rows}
        table |= {} if self.groups is None else {"groups_per_unit": self.groups}
        columns = {
            "who": {"type": "identifier"},
            "ward": {"type": "category", "categories": WARDS},
            "x": {"type": "number", "bounds": [-4, 9]},
            "y": {"type": "number", "bounds": [0, 9], "bounds_per_unit": [0, 12]},
        }
        return Schema.from_dict({"table": table, "columns": columns, "budget": {"total": 1}})

    @cached_property
    def plan(self) -> Plan:
        where = " WHERE y <= 5" if self.filtered else ""
        key, by = ("ward, ", " GROUP BY ward") if self.grouped else ("", "")
        sql = f"SELECT {key}{self.asked} FROM t{where}{by}"  # noqa: S608
        given = self.schema
        return make_plan(parse(sql, given), given, self.price, sql=sql)


def every_setting() -> Iterator[Setting]:
    yield from itertools.starmap(
        Setting,
        itertools.product(
            ("add-or-remove", "replace"),
            (1, 5),
            (None, 1, 2, 4),
            (False, True),
            (False, True),
            ASKED,
            (ONE, 40 * ONE),
        ),
    )


def people_within(limits: tuple[Limit, ...], made: random.Random) -> pd.DataFrame:
    """Persons below every limit that the plan has, with many rows where it has none."""
    most = {limit.kind: limit.most for limit in limits}
    rows = []
    for who in range(25):
        wards = made.sample(WARDS, made.randint(1, most.get("groups") or 4))
        left = 12
        for _ in range(made.randint(1, most.get("rows") or 14)):
            y = made.randint(0, min(9, left) if "sum" in most else 9)
            left -= y
            x = made.choice([None, *range(-4, 10)])
            rows.append((f"p{who}", made.choice(wards), x, y))
    return pd.DataFrame(rows, columns=["who", "ward", "x", "y"]).astype({"x": "Int64"})


class Kept:
    """An engine that measures each request once: where nothing is cut, nothing is drawn."""

    files = None

    def __init__(self, engine: Any) -> None:
        self._engine, self._known = engine, dict[Any, Any]()

    def measure(self, request: Request) -> Any:
        if request not in self._known:
            self._known[request] = self._engine.measure(request)
        return self._known[request]


class Dropping(OracleEngine):
    """The mutant: 0.1.0, which dropped rows before different persons were counted."""

    def measure(self, request: Request) -> Any:
        people = request.people
        assert people is not None
        if Measure("units") not in request.measures:
            return super().measure(request)
        rows = self.kept(people, self._rows(request.where, request.keys), keyed=bool(request.keys))
        cut = OracleEngine(self.schema, [row for _, row in rows])
        everything = People(people.unit, 10**6, None)
        return cut.measure(replace(request, people=everything))


def missed(setting: Setting, seed: int, opener: Callable[[pd.DataFrame, Schema], Any]) -> int:
    """How many of so many answers have the truth outside of the interval that is looked at."""
    plan, given, made = setting.plan, setting.schema, random.Random(seed)
    frame = people_within(plan.limits, made)
    engine: Any = Kept(opener(frame, given))
    asked_once = inquire(plan, given)
    some = frame[frame["y"] <= 5] if setting.filtered else frame
    misses = 0
    for _ in range(DRAWS):
        answer = asked_once.read(release(plan, engine, given).to_bytes(), False)
        ends = answer.interval(LEVEL)
        place = made.choice(ends) if setting.grouped else ends
        asked = dict(reversed(one.split(" AS ")) for one in setting.asked.split(", "))
        alias = made.choice(sorted(asked))
        rows = some[some["ward"] == place["ward"]] if setting.grouped else some
        found = place[alias] if isinstance(place, dict) else place
        truth = TRUTH[asked[alias]](rows)
        if found is not None and not pd.isna(truth):  # a mean of no rows, or one that may be any
            misses += not float(found[0]) - 1e-9 <= float(truth) <= float(found[1]) + 1e-9
    return misses


def most_misses(draws: int) -> int:
    """How many misses chance explains if each has a probability of at most 1 − LEVEL."""
    p = float(1 - LEVEL)
    log = math.log(1 / SHARE)
    return math.ceil(draws * p + math.sqrt(2 * draws * p * (1 - p) * log) + 2 * log / 3)


def chosen() -> list[tuple[int, Setting]]:
    return list(enumerate(random.Random(11).sample(list(every_setting()), SETTINGS)))


def by_duckdb(frame: pd.DataFrame, given: Schema) -> Any:
    return open_engine(frame, given)


def by_oracle(frame: pd.DataFrame, given: Schema, kind: type = OracleEngine) -> Any:
    rows = frame.astype(object).where(frame.notna(), None)
    return kind(given, rows.to_dict("records"))


@pytest.mark.random
def test_intervals_about_people_cover_the_truth_where_nothing_is_cut() -> None:
    claim(FILE, "coverage")

    misses = 0
    for seed, setting in chosen():  # the oracle is quick to open, and engines equal it
        misses += missed(setting, seed, by_duckdb if seed % 5 == 0 else by_oracle)
    limit = most_misses(SETTINGS * DRAWS)
    assert misses <= limit, budget(misses=misses, of=SETTINGS * DRAWS, limit=limit)


def test_rows_dropped_before_persons_are_counted_are_seen() -> None:
    old = partial(by_oracle, kind=Dropping)
    asked = [(seed, one) for seed, one in chosen() if "DISTINCT" in one.asked]
    misses = sum(missed(setting, seed, old) for seed, setting in asked)
    assert misses > most_misses(len(asked) * DRAWS)


# -- wherever something can be cut, it is said -----------------------------------------------------

EVERYWHERE = [
    {"who": f"p{who}", "ward": ward, "x": 5, "y": 5} for who in "12" for ward in WARDS * 3
]
"""Persons above every limit: three rows in each ward."""


def is_cut(plan: Plan, given: Schema) -> bool:
    """Whether what is measured of them is less than all there is."""
    engine, request = OracleEngine(given, EVERYWHERE), plan.request
    # votes for categories are rows
    request = request if request.measures else replace(request, measures=(Measure("rows"),))
    wide = tuple(
        replace(m, low=-(10**6), high=10**6) if m.kind == "unit-total" else m
        for m in request.measures
    )
    everything = People("who", 10**6, None)
    whole = replace(request, measures=wide, people=everything)
    if engine.measure(request) != engine.measure(whole):
        return True
    window = Window(1, 0, 10**6, -(10**6), 10**6)
    for column in {name for draw in plan.strategy.draws for name in draw.windows}:
        ranked = RankRequest(column, (window,), request.where, request.keys, request.people)
        if engine.ranks(ranked) != engine.ranks(replace(ranked, people=everything)):
            return True
    return False


@cache
def looked_at() -> list[tuple[Plan, bool]]:
    """Every setting with the usual aggregates, and some with others; and whether it cuts."""
    settings = list(every_setting())
    others = ["MEDIAN(x) AS n", "VARIANCE(x) AS n", "MODE(ward) AS n", "SUM(y) AS n, MIN(x) AS m"]
    settings += [replace(one, asked=asked) for one in settings[::18] for asked in others]
    return [(one.plan, is_cut(one.plan, one.schema)) for one in settings]


def check_said(limits: Callable[[Plan], tuple[Limit, ...]]) -> None:
    for plan, cut in looked_at():  # here no row lacks a unit, which is said all the same
        assert any(one.kind != "unit" for one in limits(plan)) == cut, plan


def test_limits_are_said_just_where_something_can_be_cut() -> None:
    check_said(lambda plan: plan.limits)


@pytest.mark.parametrize("forgotten", ["rows", "groups", "sum"])
def test_a_limit_that_is_not_said_is_seen(forgotten: str) -> None:
    with pytest.raises(AssertionError):
        check_said(lambda plan: tuple(one for one in plan.limits if one.kind != forgotten))
