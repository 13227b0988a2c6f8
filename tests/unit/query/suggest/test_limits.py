"""Limits are suggested through the one path of whatever is paid for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, NotPromised, OverBudget, Refused
from tenue.query.suggest.limits import certify_limits, inquire_limits, plan_limits
from tenue.schema import Schema

WARDS = ["a", "b", "c", "d"]


def table(people: int = 400) -> pd.DataFrame:
    """Everybody has one to ten rows, in one to four wards."""
    rows = [(i, WARDS[j % (1 + i % 4)], 7) for i in range(people) for j in range(1 + i % 10)]
    return pd.DataFrame(rows, columns=["who", "ward", "cost"])


def schema(**stated: Any) -> dict[str, Any]:
    given = {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 1}
    return {
        "table": given | stated,
        "budget": {"total": 50},
        "columns": {
            "who": {"type": "identifier"},
            "ward": {"type": "category", "categories": WARDS},
            "cost": {"type": "number", "bounds": [0, 100]},
        },
    }


def session(**stated: Any) -> Any:
    return tn.protect(table(), schema=schema(**stated), ledger=tn.ledger.Memory())


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_quantiles_are_near_those_of_the_rows(neighbours: str) -> None:
    with session(neighbours=neighbours) as data:
        found = data.suggest_limits(epsilon=20, by=["ward"], column="cost")
    frame = table()
    for share, rows, groups, (low, high) in zip(
        (0.5, 0.8, 0.95), found.rows, found.groups, found.sums, strict=True
    ):
        off = found.rank_error(0.99999999) / 400
        own = frame.groupby("who")
        largest = frame.groupby(["who", "ward"])["cost"].sum().groupby("who").max()
        for value, real in ((rows, own.size()), (groups, own["ward"].nunique()), (high, largest)):
            assert (real <= float(value)).mean() >= share - off
            assert (real < float(value)).mean() <= share + off
        assert low == 0


def test_it_is_debited_once_repeated_free_and_drawn_anew_if_asked() -> None:
    with session() as data:
        first = data.suggest_limits(epsilon=2, by=["ward"])
        assert (first.price, data.budget.spent) == (2, 2)
        again = data.suggest_limits(epsilon=2, by=["ward"])
        assert (again.price, again.replayed, again.chosen) == (0, True, first.chosen)
        assert "no charge" in str(again)
        data.suggest_limits(epsilon=2, by=["ward"], key="k")
        assert data.budget.spent == 2
        data.suggest_limits(epsilon=2, by=["ward"], fresh=True, key="other")
        assert data.budget.spent == 4
        data.suggest_limits(epsilon=2, by=["ward"], fresh=True, key="other")
        assert data.budget.spent == 4
        data.suggest_limits(epsilon=2)
        data.suggest_limits(epsilon=2, most=99)
        assert data.budget.spent == 8, "another grid is another question"
        with pytest.raises(OverBudget):
            data.suggest_limits(epsilon=45)


def test_groups_are_those_of_a_question() -> None:
    given = Schema.from_dict(schema())
    plan = plan_limits(given, epsilon=1, by=["WARD", "BIN(cost, 50)"])
    assert [key.cells for key in plan.keys] == [4, 3]
    assert inquire_limits(plan, given, None).asked == "limits of who: rows, cells by ward, cost"
    for wrong in (["who"], ["cost"], ["ward; DROP TABLE t"], ["ward) FROM u --"], "ward", [1]):
        with pytest.raises(Refused):
            plan_limits(given, epsilon=1, by=wrong)  # type: ignore[arg-type]


def test_records_have_nothing_to_limit() -> None:
    with session(unit="record", rows_per_unit=None) as data:
        with pytest.raises(NotPromised, match="Every record of `t` is a unit"):
            data.suggest_limits(epsilon=1)
        assert data.budget.spent == 0


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"epsilon": 0},
        {"epsilon": "3e-9"},
        {"epsilon": 1, "column": "ward"},
        {"epsilon": 1, "column": "nothing"},
        {"epsilon": 1, "quantiles": []},
        {"epsilon": 1, "quantiles": [0.5, 1]},
        {"epsilon": 1, "quantiles": [i / 11 for i in range(1, 11)]},
        {"epsilon": 1, "most": 1},
        {"epsilon": 1, "most": 2.5},
    ],
)
def test_what_cannot_be_asked_is_refused_and_costs_nothing(given: dict[str, Any]) -> None:
    with session() as data:
        with pytest.raises(Refused):
            data.suggest_limits(by=["ward"], **given)
        assert data.budget.spent == 0


def test_a_protocol_has_no_rule_for_it() -> None:
    fixed = schema() | {"protocol": {"kind": "fixed-noise", "scale": 20}}
    with (
        tn.protect(table(), schema=fixed, ledger=tn.ledger.Memory()) as data,
        pytest.raises(Refused, match="suggest_limits"),
    ):
        data.suggest_limits(epsilon=1)


def test_the_certificate_says_what_is_promised_and_what_not() -> None:
    given = Schema.from_dict(schema())
    plan = plan_limits(given, epsilon="0.9", quantiles=0.5)  # type: ignore[arg-type]
    certificate = certify_limits(plan, given)
    assert certificate.promise == tn.Pure(Fraction(9, 10))
    assert any("all rows of a person count" in text for text in certificate.assumptions)
    assert any("what cutting" in text for text in certificate.does_not_promise)
    with pytest.raises(InvalidArgument):
        plan_limits(given, epsilon=1, quantiles="half")  # type: ignore[arg-type]
