"""What is kept of each person, and what was truncated."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from oracle_engine import OracleEngine
from tenue.ask.aggregates.strategy import Strategy, sizes
from tenue.ask.plan.plan import Plan
from tenue.ask.plan.planner import make_plan, setting_of, strategies
from tenue.ask.plan.truncation import (
    Above,
    CutCount,
    check_limited,
    cut_count,
    people_of,
    spares,
    ways_to_keep,
)
from tenue.ask.sql.parse import parse
from tenue.engine.contract import Engine, Profile
from tenue.engine.request import ContributionRequest, People
from tenue.errors import InvalidArgument, Refused
from tenue.ledger import Memory
from tenue.mechanism.additive_noise import Component, Part
from tenue.noise import DiscreteLaplace, Seeded
from tenue.noise.criterion import VARIANCE
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

PEOPLE_ONE = EpsilonDelta.of(1)
WARDS = ["a", "b", "c", "d"]
PEOPLE_ASKED = [
    "COUNT(*)",
    "SUM(x)",
    "SUM(y)",
    "AVG(x)",
    "COUNT(DISTINCT who)",
    "COUNT(DISTINCT who), COUNT(*)",
    "COUNT(*), SUM(x)",
    "MEDIAN(x)",
    "VARIANCE(x)",
]


def people_schema(groups: int | None, neighbours: str = "add-or-remove", rows: int = 3) -> Schema:
    table: dict[str, Any] = {"name": "t", "unit": "who", "neighbours": neighbours}
    table |= {"rows_per_unit": rows} | ({} if groups is None else {"groups_per_unit": groups})
    columns = {
        "who": {"type": "identifier"},
        "ward": {"type": "category", "categories": WARDS},
        "x": {"type": "number", "bounds": [0, 50]},
        "y": {"type": "number", "bounds": [0, 50], "bounds_per_unit": [0, 60]},
    }
    return Schema.from_dict({"table": table, "columns": columns})


def planned(asked: str, given: Schema, price: EpsilonDelta, **more: Any) -> Plan:
    question = parse(f"SELECT ward, {asked} FROM t GROUP BY ward", given)  # noqa: S608
    return make_plan(question, given, price, **more)


def lines(strategy: Strategy) -> list[str]:
    return [draw.line for draw in strategy.draws]


def check_rule(plan: Plan, given: Schema) -> None:
    """No group is cut, or to cut none has more than twice the error."""
    kept = ways_to_keep(plan.question, given)
    people = plan.request.people
    assert people in kept
    if len(kept) == 1:
        return
    errors = []
    for way in kept:
        setting = setting_of(plan.question, given, way)
        found = strategies(plan.question.aggregates(), setting, plan.price, VARIANCE)
        preferred = [one for one in found if one.preferred] or found
        names = [one for one in preferred if one.name == plan.chosen.mechanism]
        if way == people:
            assert names, "the draws are those for what is kept"
            assert any(lines(one) == lines(plan.strategy) for one in names)
        best = min(preferred, key=lambda one: sum(sizes(one, VARIANCE).values()))
        errors.append(sizes(best, VARIANCE))
    whole, cut = errors
    worth = all(size <= 2 * cut[a] + 0.5 for a, size in whole.items())
    assert (people == kept[0]) == worth


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("asked", PEOPLE_ASKED)
def test_groups_are_cut_only_where_that_halves_the_error(asked: str, neighbours: str) -> None:
    for groups, price in itertools.product(
        [None, 1, 2, 4], [PEOPLE_ONE // 10, PEOPLE_ONE, 30 * PEOPLE_ONE]
    ):
        given = people_schema(groups, neighbours)
        check_rule(planned(asked, given, price), given)


def test_rows_are_not_kept_for_another_noise() -> None:
    """The mutant: the strategy of one limit, and the rows of another."""
    given = people_schema(1)
    plan = planned("SUM(x)", given, 40 * PEOPLE_ONE)
    assert plan.request.people == People("who", 3, 1)
    wrong = replace(plan, request=replace(plan.request, people=People("who", 3, None)))
    with pytest.raises(AssertionError):
        check_rule(wrong, given)


def test_a_limit_of_groups_is_no_reason_to_cut_rows() -> None:
    """The mutant: as in 0.1.0, whatever is stated is cut."""
    given = people_schema(2)
    plan = planned("COUNT(*)", given, PEOPLE_ONE)
    assert [limit.kind for limit in plan.limits] == ["rows", "unit"]
    stated = replace(plan, request=replace(plan.request, people=People("who", 3, 2)))
    with pytest.raises(AssertionError):
        check_rule(stated, given)


def test_sums_cut_by_person_keep_all_groups_where_that_at_most_doubles_the_noise() -> None:
    assert [
        limit.kind for limit in planned("SUM(y)", people_schema(2, rows=99), PEOPLE_ONE).limits
    ] == ["sum", "unit"]
    kinds = [
        limit.kind for limit in planned("SUM(y)", people_schema(1, rows=99), PEOPLE_ONE).limits
    ]
    assert kinds == ["sum", "groups", "unit"]


def test_a_mechanism_that_only_one_way_has_can_be_named() -> None:
    given = people_schema(1)
    assert planned("SUM(x)", given, PEOPLE_ONE).chosen.mechanism == "discrete Laplace"
    named = planned("SUM(x)", given, PEOPLE_ONE, mechanism="optimal")
    assert named.chosen.mechanism == "optimal"
    assert named.request.people == People("who", 3, 1)
    with pytest.raises(Refused):
        planned("SUM(x)", given, PEOPLE_ONE, mechanism="magic")


def test_half_a_step_is_no_reason_to_cut() -> None:
    given = people_schema(1)
    question = parse("SELECT ward, COUNT(DISTINCT who) FROM t GROUP BY ward", given)
    (asked,) = question.aggregates()
    setting = setting_of(question, given, None)
    assert spares({asked: 0.5}, {asked: 0.0}, setting=setting)
    assert not spares({asked: 0.51}, {asked: 0.0}, setting=setting)
    assert spares({asked: 20.5}, {asked: 10.0}, setting=setting)
    assert not spares({asked: 20.6}, {asked: 10.0}, setting=setting)


def test_what_no_price_decides() -> None:
    given = people_schema(None)
    question = parse("SELECT ward, COUNT(DISTINCT who) FROM t GROUP BY ward", given)
    assert people_of(question, given) == People("who", 3, None)
    assert people_of(question, people_schema(1)) == People("who", 3, 1)
    assert ways_to_keep(parse("SELECT COUNT(*) FROM t", given), given) == [People("who", 3, None)]
    with pytest.raises(Refused):
        check_limited(replace(given, rows_per_unit=None))


# -- A ± is about what was asked, or says what may have been cut -----------------------------------


def table(visits: int = 8, people: int = 500) -> pd.DataFrame:
    """Everybody is in every ward, several times."""
    rows = [(f"p{i}", WARDS[j % 4], i % 50) for i in range(people) for j in range(visits)]
    return pd.DataFrame(rows, columns=["who", "ward", "age"])


def limit_schema(**stated: Any) -> dict[str, Any]:
    given = {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 3}
    return {
        "table": given | stated,
        "budget": {"total": 10_000},
        "columns": {
            "who": {"type": "identifier"},
            "ward": {"type": "category", "categories": WARDS},
            "age": {"type": "number", "bounds": [0, 50]},
        },
    }


def asked(sql: str, epsilon: float = 500, **stated: Any) -> Any:
    with tn.protect(table(), schema=limit_schema(**stated), ledger=Memory()) as data:
        return data.ask(sql, epsilon=epsilon)


@pytest.mark.parametrize("rows", [2, 3, 100])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_people_are_counted_whatever_their_rows(rows: int, neighbours: str) -> None:
    """0.1.0 dropped rows first: with three of them it said 375 people in a ward of 500."""
    by_ward = "SELECT ward, COUNT(DISTINCT who) AS n FROM t GROUP BY ward ORDER BY ward"
    found = asked(by_ward, rows_per_unit=rows, neighbours=neighbours)
    assert [round(row["n"]) for row in found.value] == [500] * 4
    assert found.limits == ()
    alone = asked(
        "SELECT COUNT(DISTINCT who) FROM t WHERE ward = 'a'",
        rows_per_unit=rows,
        neighbours=neighbours,
    )
    assert round(alone.value) == 500
    assert alone.limits == ()


def test_the_noise_is_that_of_the_wards_and_not_of_the_rows() -> None:
    """Four wards with 100 rows per person had ± 300."""
    by_ward = "SELECT ward, COUNT(DISTINCT who) AS n FROM t GROUP BY ward"
    found = asked(by_ward, epsilon=1, rows_per_unit=100)
    low, high = found.interval(0.95)[0]["n"]
    assert high - low <= 2 * 13


@pytest.mark.parametrize(
    ("sql", "stated", "kinds"),
    [
        ("SELECT COUNT(*) FROM t", {}, ["rows", "unit"]),
        ("SELECT MEDIAN(age) FROM t", {}, ["rows", "unit"]),
        (
            "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward",
            {"groups_per_unit": 2},
            ["rows", "unit"],
        ),
        ("SELECT ward, SUM(age) AS n FROM t GROUP BY ward", {"groups_per_unit": 1}, None),
        ("SELECT ward, COUNT(DISTINCT who) AS n FROM t GROUP BY ward", {}, []),
        (
            "SELECT ward, COUNT(DISTINCT who) AS n FROM t GROUP BY ward",
            {"groups_per_unit": 1},
            ["groups"],
        ),
        (
            "SELECT ward, COUNT(DISTINCT who) AS n FROM t GROUP BY ward",
            {"rows_per_unit": 1},
            ["groups"],
        ),
    ],
)
def test_what_can_be_cut_is_said_wherever_the_number_is(
    sql: str, stated: dict[str, Any], kinds: list[str] | None
) -> None:
    # where the noise is next to nothing, groups are cut only to make optimal noise possible
    epsilon = 40 if kinds is None else 1
    found = asked(sql, epsilon=epsilon, **stated)
    kinds = ["rows", "groups", "unit"] if kinds is None else kinds
    assert [limit.kind for limit in found.limits] == kinds
    told = json.loads(found.to_json())["limits"]
    assert [limit["kind"] for limit in told] == kinds
    frame = found.to_pandas(interval=0.95)
    footer = str(found).split("\n\n", 1)[-1]
    with tn.protect(table(), schema=limit_schema(**stated), ledger=Memory()) as data:
        plan = data.explain(sql, epsilon=epsilon)
    for limit in found.limits:
        assert limit.words in frame["limits"].iloc[0]
        assert limit.words.lower() in " ".join(found._repr_html_().lower().split())
        assert limit.words.lower() in " ".join(str(plan).lower().split())
    if kinds:
        assert footer.startswith(found.limits[0].words[0].upper() + found.limits[0].words[1:20])
        assert "± does not cover what that leaves out" in " ".join(footer.split())
        assert "± is the margin of error, at" not in footer
    else:
        assert "limits" not in frame
        assert "± does not cover what that leaves out" not in footer


def test_cells_are_chosen_where_all_would_cost_too_much() -> None:
    """One ward of each person is kept, each as likely, and the noise is that of one."""
    by_ward = "SELECT ward, COUNT(DISTINCT who) AS n FROM t GROUP BY ward"
    found = asked(by_ward, epsilon=4, groups_per_unit=1)
    assert [limit.kind for limit in found.limits] == ["groups"]
    assert 480 < sum(row["n"] for row in found.value) < 520
    assert all(80 < row["n"] < 170 for row in found.value)


def test_who_is_above_a_limit_is_bought_and_said_wherever_the_number_is() -> None:
    """Everybody has eight rows, in four wards: all 500 are above both limits."""
    sql = "SELECT ward, SUM(age) AS n FROM t GROUP BY ward"
    with tn.protect(table(), schema=limit_schema(groups_per_unit=1), ledger=Memory()) as data:
        found = data.ask(sql, epsilon=40, measure_cut=0.25)
        assert data.budget.spent == 40
        again = data.ask(sql, epsilon=40, measure_cut=0.25)
        assert (again.price, again.limits) == (0, found.limits)
        assert data.ask(sql, epsilon=40).limits[0].above is None, "another answer, not asked for"
    *measured, nobody = found.limits
    assert (nobody.kind, nobody.above) == ("unit", None)
    for limit in measured:
        assert limit.above is not None
        low, high = limit.above.interval(0.95)
        assert high - low <= 4
        assert abs(limit.above.value - 500) <= 10
        least, most = limit.above.share_interval(0.95) or (0, 0)
        assert 0.9 < least <= most <= 1
        told = limit.to_dict()["above"]
        assert told["interval_95"] == [low, high]
        for text in (str(found), found._repr_html_(), found.to_pandas(interval=0.9)["limits"][0]):
            assert f"{low:,} to {high:,} persons" in " ".join(text.split())
    assert "not how many rows" in " ".join(str(found).split())
    lines = [v for k, v in found.certificate.parameters.items() if k.startswith("part")]
    assert "how many persons are above each limit" in lines[-1]
    assert any(
        "does not bound how many rows" in text for text in found.certificate.does_not_promise
    )


def test_nobody_is_above_a_limit_that_nobody_reaches() -> None:
    above = Above(_part(), -3, 40)
    assert (above.value, above.share) == (0, 0)
    assert above.interval(0.95)[0] == 0
    least, most = above.share_interval(0.95) or (1, 1)
    assert least == 0 < most < 0.2
    alone = Above(_part(), 7)
    assert alone.share is None
    assert alone.share_interval(0.95) is None
    assert alone.to_dict()["share_interval_95"] is None


def _part() -> Part:
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    return Part("discrete Laplace", (Component("units"),) * 2, (law, law), Fraction(1))


# -- How many persons are above a limit: private at its price, and about persons -------------------

ONE = EpsilonDelta.of(1)
Person = tuple[tuple[str, int], ...]
"""The rows of one person: a group and a value each."""
PEOPLE: list[Person] = [
    rows
    for size in range(4)
    for rows in itertools.combinations_with_replacement([("a", 0), ("a", 9), ("b", 9)], size)
]
ASKED = [
    "SELECT COUNT(*) FROM t",
    "SELECT SUM(x) FROM t",
    "SELECT SUM(x), COUNT(*) FROM t WHERE g = 'a'",
    "SELECT g, COUNT(DISTINCT who) AS n FROM t GROUP BY g",
    "SELECT g, SUM(x) AS s, COUNT(DISTINCT who) AS n, COUNT(*) AS m FROM t GROUP BY g",
]


def schema(neighbours: str) -> Schema:
    table = {"name": "t", "unit": "who", "neighbours": neighbours, "rows_per_unit": 1}
    columns = {
        "who": {"type": "identifier"},
        "g": {"type": "category", "categories": list("abcdef")},
        "x": {"type": "number", "bounds": [0, 9], "bounds_per_unit": [0, 8]},
    }
    return Schema.from_dict({"table": table, "columns": columns})


def counted(sql: str, neighbours: str) -> CutCount:
    given = schema(neighbours)
    plan = make_plan(parse(sql, given), given, ONE // 10, measure_cut=Fraction(1, 5))
    assert plan.cut is not None
    return plan.cut


def opened(people: Sequence[Person], neighbours: str) -> OracleEngine:
    rows = [{"who": f"p{i}", "g": g, "x": x} for i, own in enumerate(people) for g, x in own]
    return OracleEngine(schema(neighbours), rows)


def neighbouring(neighbours: str) -> Iterator[tuple[list[Person], list[Person]]]:
    """All pairs of small tables that differ in one person; whoever has no rows is not there."""
    for rest in ([], [PEOPLE[-1]]):
        for one, other in itertools.combinations(PEOPLE, 2):
            if neighbours == "replace" or () in (one, other):
                yield [one, *rest], [other, *rest]


Counts = Callable[[CutCount, Engine], tuple[int, ...]]


def truth(cut: CutCount, engine: Engine) -> tuple[int, ...]:
    return tuple(count for limit in cut.limits for count in cut._counted(limit, engine))


def check_loss(sql: str, neighbours: str, counts: Counts) -> None:
    """The exact loss of all counts together is at most their price."""
    cut = counted(sql, neighbours)
    each = cut.law.epsilon / len(cut.limits)  # of one step of one count
    for one, other in neighbouring(neighbours):
        pair = [counts(cut, opened(people, neighbours)) for people in (one, other)]
        moved = sum(abs(a - b) for a, b in zip(*pair, strict=True))
        assert moved * each <= cut.epsilon


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("sql", ASKED)
def test_the_counts_cost_what_they_are_paid_for(sql: str, neighbours: str) -> None:
    check_loss(sql, neighbours, truth)


def test_rows_above_a_limit_would_cost_more() -> None:
    """The mutant: it counts how many rows are above the limit."""

    def rows_above(cut: CutCount, engine: Any) -> tuple[int, ...]:
        (limit,) = cut.limits
        owners = [row["who"] for row in engine.rows]
        above = sum(max(0, owners.count(who) - (limit.most or 0)) for who in set(owners))
        return (above,)

    with pytest.raises(AssertionError):
        check_loss("SELECT COUNT(*) FROM t", "add-or-remove", rows_above)


def test_both_sides_under_replace_would_cost_twice() -> None:
    """The mutant: the share at the price of the count."""

    def both(cut: CutCount, engine: Engine) -> tuple[int, ...]:
        (limit,) = cut.limits
        asked = (limit.measured, "who", (), 0, 1)
        (above,) = cut._counted(limit, engine)
        everybody = engine.contributions(ContributionRequest(*asked))  # type: ignore[arg-type]
        return above, everybody.rows - above

    with pytest.raises(AssertionError):
        check_loss("SELECT COUNT(*) FROM t", "replace", both)


def test_without_noise_it_is_who_loses_something() -> None:
    people = [(("a", 9), ("a", 9)), (("a", 0), ("b", 9)), (("b", 0),), (("a", 0),) * 3]
    for neighbours in ("add-or-remove", "replace"):
        engine, both = opened(people, neighbours), neighbours == "add-or-remove"

        def counts(sql: str, engine: Engine = engine, kind: str = neighbours) -> tuple[int, ...]:
            return truth(counted(sql, kind), engine)

        assert counts("SELECT COUNT(*) FROM t") == ((3, 1) if both else (3,))
        assert counts("SELECT COUNT(*) FROM t WHERE x > 5") == ((1, 1) if both else (1,))
        assert counts("SELECT SUM(x) FROM t") == ((2, 2) if both else (2,))
        by_group = "SELECT g, COUNT(DISTINCT who) AS n FROM t GROUP BY g"
        assert counts(by_group) == ((1, 3) if both else (1,))


def test_rows_without_a_value_are_nobodys_where_ranks_count() -> None:
    """Two medians have a limit each; who is below both loses nothing, though having more rows."""
    given = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "who", "neighbours": "replace", "rows_per_unit": 2},
            "columns": {
                "who": {"type": "identifier"},
                **{name: {"type": "number", "bounds": [0, 9]} for name in ("x", "y")},
            },
        }
    )
    held = {"a": [(1, None), (2, None), (None, 3), (None, 4)], "b": [(1, 2)] * 3, "c": []}
    rows = [{"who": who, "x": x, "y": y} for who, own in held.items() for x, y in own]
    engine = OracleEngine(given, rows)
    for sql, above in [
        ("SELECT MEDIAN(x), MEDIAN(y) FROM t", 1),
        ("SELECT MEDIAN(x), COUNT(y) FROM t", 2),
    ]:
        plan = make_plan(parse(sql, given), given, ONE, measure_cut=Fraction(1, 5))
        assert plan.cut is not None
        assert truth(plan.cut, engine) == (above,)


def test_noise_is_added_and_read_again() -> None:
    cut = counted("SELECT COUNT(*) FROM t", "add-or-remove")
    noisy = cut.release(opened([PEOPLE[-1]] * 5, "add-or-remove"))
    assert len(noisy) == 2
    assert noisy != (5, 0), "bits follow from the name of this test, and these do not vanish"
    (limit,) = cut.read(noisy)
    assert limit.above is not None
    assert (limit.above.noisy, limit.above.others) == noisy
    with pytest.raises(Refused):
        cut.release(opened([], "add-or-remove"), Seeded(1))


def test_the_whole_window_is_asked_for() -> None:
    """However many persons there are, all are counted."""

    class Crowded:
        def contributions(self, request: ContributionRequest) -> Profile:
            (window,) = request.windows
            people = 10**15
            assert window.b * people - (window.a * people + window.c1) < window.reach
            assert window.a * people + window.c2 < window.reach
            return Profile(people, ((request.first, 0, people - 3), (request.last, people - 3, 3)))

    cut = counted("SELECT COUNT(*) FROM t", "replace")
    assert truth(cut, Crowded()) == (3,)  # type: ignore[arg-type]


def test_what_cannot_be_bought_is_refused() -> None:
    given = schema("replace")
    nothing = parse("SELECT COUNT(DISTINCT who) FROM t", given)
    with pytest.raises(InvalidArgument, match="no contribution limit can truncate"):
        make_plan(nothing, given, ONE, measure_cut=Fraction(1, 10))
    question = parse("SELECT COUNT(*) FROM t", given)
    for share in (0, 1, "a tenth"):
        with pytest.raises(InvalidArgument):
            make_plan(question, given, ONE, measure_cut=share)  # type: ignore[arg-type]
    with pytest.raises(Refused):
        make_plan(question, given, EpsilonDelta(5), measure_cut=Fraction(1, 10))
    plan = make_plan(question, given, ONE)
    assert (
        cut_count(
            plan.truncating, plan.request, "replace", Fraction(1, 3), EpsilonDelta(10)
        ).price.units
        == 3
    )


# -- Conditions that no value of a person meets, once it is clipped --------------------------------

CAPPED: dict[str, Any] = {
    "table": {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 100},
    "columns": {
        "who": {"type": "identifier"},
        "x": {"type": "number", "bounds": [0, 1000], "bounds_per_unit": [0, 5000]},
    },
    "budget": {"total": 10},
}
PER_PERSON = "(SELECT who, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY who)"
COUNTED = f"SELECT COUNT(*) FROM {PER_PERSON}"  # noqa: S608
BEYOND = [
    "SELECT COUNT(*) FROM {} WHERE n > 100",
    "SELECT COUNT(*) FROM {} WHERE NOT n <= 100",
    "SELECT COUNT(*) FROM {} WHERE n IN (120, 150)",
    "SELECT COUNT(*) FROM {} WHERE n > 100 AND s > 7",
    "SELECT COUNT(*) FROM {} WHERE 2 * n > 200",
    "SELECT COUNT(*) FILTER (WHERE n > 100) FROM {}",
    "SELECT AVG(CASE WHEN n > 100 THEN 1 ELSE 0 END) FROM {}",
    "SELECT CASE WHEN n > 100 THEN 'many' ELSE 'few' END AS k, COUNT(*) FROM {} GROUP BY 1",
]


@pytest.fixture(scope="module")
def capped() -> Any:
    """Twelve of forty people have 150 rows, the others ten."""
    people = [f"p{n}" for n in range(40) for _ in range(150 if n < 12 else 10)]
    frame = pd.DataFrame({"who": people, "x": 1})
    with tn.protect(frame, schema=CAPPED, ledger=Memory()) as data:
        yield data


@pytest.mark.parametrize("sql", BEYOND)
def test_a_condition_beyond_a_limit_is_refused_everywhere_before_payment(
    capped: Any, sql: str
) -> None:
    asked_of = sql.format(PER_PERSON)
    for ask in (capped.explain, capped.ask):
        with pytest.raises(Refused, match="`n` of each who, over all rows, counts from 0 to 100"):
            ask(asked_of, epsilon=1)
    for ask_many in (capped.explain_many, capped.ask_many):
        with pytest.raises(Refused) as refusal:
            ask_many([asked_of], epsilon=1)
        assert refusal.value.code == "condition-beyond-limit"
    assert capped.budget.spent == 0


def test_a_sum_beyond_its_bounds_names_them(capped: Any) -> None:
    with pytest.raises(Refused, match="`s` of each who, over all rows, counts from 0 to 5000"):
        capped.explain(f"{COUNTED} WHERE s > 5000", epsilon=1)


@pytest.mark.parametrize("condition", ["n >= 100", "n > 99", "n BETWEEN 50 AND 400", "n <= 100"])
def test_a_condition_that_somebody_meets_is_planned(capped: Any, condition: str) -> None:
    capped.explain(f"{COUNTED} WHERE {condition}", epsilon=1)


def test_the_question_that_the_refusal_names_is_answered() -> None:
    people = [f"p{n}" for n in range(40) for _ in range(150 if n < 12 else 10)]
    frame = pd.DataFrame({"who": people, "x": 1})
    rich = {**CAPPED, "budget": {"total": 1000}}
    sql = f"{COUNTED} WHERE n > 100"
    with tn.protect(frame, schema=rich, ledger=Memory()) as data:
        with pytest.raises(Refused) as refusal:
            data.ask(sql, epsilon=50)
        named = refusal.value.fix.split("`")[1]
        answer: Any = data.ask(sql.replace("n > 100", named), epsilon=50)
    assert (named, answer.value) == ("n >= 100", 12)
