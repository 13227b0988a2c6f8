"""How many persons are above a limit: private at its price, and about persons."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest

from oracle_engine import OracleEngine
from tenue.engine.contract import Engine, Profile
from tenue.engine.request import ContributionRequest
from tenue.errors import InvalidArgument, Refused
from tenue.noise import Seeded
from tenue.promise.loss import EpsilonDelta
from tenue.query.plan.cut import CutCount, cut_count
from tenue.query.plan.make import make_plan
from tenue.query.read.parse import parse
from tenue.schema import Schema

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
    with pytest.raises(InvalidArgument, match="nothing of anybody can be cut"):
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
            plan.limits, plan.request, "replace", Fraction(1, 3), EpsilonDelta(10)
        ).price.units
        == 3
    )
