"""A ± is about what was asked, or says what may have been cut."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.ledger import Memory
from tenue.mechanism.part import Component, Part
from tenue.noise import DiscreteLaplace
from tenue.query.plan.limit import Above

WARDS = ["a", "b", "c", "d"]


def table(visits: int = 8, people: int = 500) -> pd.DataFrame:
    """Everybody is in every ward, several times."""
    rows = [(f"p{i}", WARDS[j % 4], i % 50) for i in range(people) for j in range(visits)]
    return pd.DataFrame(rows, columns=["who", "ward", "age"])


def schema(**stated: Any) -> dict[str, Any]:
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
    with tn.protect(table(), schema=schema(**stated), ledger=Memory()) as data:
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
        ("SELECT COUNT(*) FROM t", {}, ["rows"]),
        ("SELECT MEDIAN(age) FROM t", {}, ["rows"]),
        ("SELECT ward, COUNT(*) AS n FROM t GROUP BY ward", {"groups_per_unit": 2}, ["rows"]),
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
    kinds = ["rows", "groups"] if kinds is None else kinds
    assert [limit.kind for limit in found.limits] == kinds
    told = json.loads(found.to_json())["limits"]
    assert [limit["kind"] for limit in told] == kinds
    frame = found.to_pandas(interval=0.95)
    footer = str(found).split("\n\n", 1)[-1]
    with tn.protect(table(), schema=schema(**stated), ledger=Memory()) as data:
        plan = data.explain(sql, epsilon=epsilon)
    for limit in found.limits:
        assert limit.words in frame["limits"].iloc[0]
        assert limit.words.lower() in " ".join(found._repr_html_().lower().split())
        assert limit.words.lower() in " ".join(str(plan).lower().split())
    if kinds:
        assert footer.startswith(found.limits[0].words[0].upper() + found.limits[0].words[1:20])
        assert "± does not cover what that leaves out" in " ".join(footer.split())
        assert "The true answer is within" not in footer
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
    with tn.protect(table(), schema=schema(groups_per_unit=1), ledger=Memory()) as data:
        found = data.ask(sql, epsilon=40, measure_cut=0.25)
        assert data.budget.spent == 40
        again = data.ask(sql, epsilon=40, measure_cut=0.25)
        assert (again.price, again.limits) == (0, found.limits)
        assert data.ask(sql, epsilon=40).limits[0].above is None, "another answer, not asked for"
    for limit in found.limits:
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
    assert any("not how many rows" in text for text in found.certificate.does_not_promise)


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
