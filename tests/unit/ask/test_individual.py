"""Individual differential privacy in questions: own column, own limits, the value alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, NotPromised, Refused
from tenue.promise import Individual

TABLE = pd.DataFrame({"x": [3, 4, 5, 6, 7] * 20, "y": [1.0, None] * 50})
MEDIAN = "SELECT MEDIAN(x) FROM t"


def schema(**table: Any) -> dict[str, Any]:
    return {
        "table": {"name": "t", "unit": "record", "neighbours": "replace", **table},
        "columns": {
            "x": {"type": "number", "bounds": [0, 10], "grid": 1, "missing": 0},
            "y": {"type": "number", "bounds": [0, 10], "grid": 1},
        },
        "budget": {"total": 5},
        "questions": {
            "middle": {
                "sql": "select median(X) from T",
                "promise": "individual",
                "epsilon": 0.5,
                "times": 2,
            }
        },
    }


def session(**table: Any) -> Any:
    return tn.protect(TABLE, schema=schema(**table), ledger=tn.ledger.Memory())


def test_it_has_a_ledger_column_of_its_own_and_says_nothing_but_the_value() -> None:
    with session() as data:
        answer = data.ask("SELECT AVG(x) FROM t", epsilon=2, individual=True)
        assert 0 <= answer.value <= 10
        assert answer.interval(0.95) is None
        assert answer.expected_error is None
        assert isinstance(answer.certificate.promise, Individual)
        assert any(
            "not differential privacy" in line for line in answer.certificate.does_not_promise
        )
        balance = data.budget
        assert balance.spent == 0
        assert balance.individual == 2
        shown = f"{answer}{answer.to_json()}{answer.plan}"
        assert "scale" not in shown.replace("states no scale", "")


def test_constant_answers_are_exact_and_on_the_grid() -> None:
    with session() as data:
        for sql in ("SELECT MEDIAN(x) FROM t", "SELECT MIN(x) FROM t", "SELECT VAR_POP(x) FROM t"):
            found = data.ask(sql, epsilon=1, individual=True).exact
            assert isinstance(found, Fraction)


def test_approved_questions_keep_their_limits() -> None:
    with session() as data:
        with pytest.raises(NotPromised, match="at least"):
            data.ask(MEDIAN, epsilon="0.4", individual=True)
        for _ in range(2):
            given = data.ask(MEDIAN, epsilon="0.5", individual=True, fresh=True)
        with pytest.raises(Refused):
            data.ask(MEDIAN, epsilon="0.5", individual=True, fresh=True)
        assert data.budget.individual == 1
        again = data.ask(MEDIAN, epsilon="0.5", individual=True)
        assert (again.price, again.replayed) == (0, True), "an answer already given is free"
        assert data.budget.individual == 1
        assert again.certificate.promise == given.certificate.promise


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MEDIAN(x) AS z FROM t",
        "SELECT MEDIAN(x) FROM t HAVING MEDIAN(x) > 0",
        "SELECT MEDIAN(x) FROM t LIMIT 1",
    ],
)
def test_another_name_does_not_lift_the_limits(sql: str) -> None:
    with session() as data:
        with pytest.raises(NotPromised):
            data.ask(sql, epsilon="0.001", individual=True)
        for _ in range(2):
            data.ask(sql, epsilon="0.5", individual=True, fresh=True)
        with pytest.raises(Refused):
            data.ask(sql, epsilon="0.5", individual=True, fresh=True)


def test_analysts_may_ask_approved_questions_only() -> None:
    with tn.protect(TABLE, schema=schema(), ledger=tn.ledger.Memory(), analyst="eve") as data:
        data.ask(MEDIAN, epsilon=1, individual=True)
        for sql in ("SELECT MAX(x) FROM t", "SELECT QUANTILE(x, 0.3) FROM t"):
            with pytest.raises(NotPromised, match="not approved"):
                data.ask(sql, epsilon=1, individual=True)
        assert data.budget.individual == 1


def test_an_epsilon_no_law_takes_is_refused_before_it_is_paid() -> None:
    with session() as data:
        for individual in (True, False):
            with pytest.raises(Refused):
                data.ask("SELECT MAX(x) FROM t", epsilon=10**6, individual=individual)
        assert data.budget.individual == data.budget.spent == 0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM t",
        "SELECT MEDIAN(x), MIN(x) FROM t",
        "SELECT MEDIAN(x) + 1 FROM t",
        "SELECT MEDIAN(x) FROM t WHERE x > 3",
        "SELECT MEDIAN(y) FROM t",
    ],
)
def test_what_it_cannot_answer_is_refused_before_anything_is_paid(sql: str) -> None:
    with session() as data:
        with pytest.raises(NotPromised):
            data.ask(sql, epsilon=1, individual=True)
        assert data.budget.individual == 0


def test_it_needs_a_public_number_of_rows() -> None:
    with session(neighbours="add-or-remove") as data, pytest.raises(NotPromised):
        data.ask(MEDIAN, epsilon=1, individual=True)


def test_a_key_gets_the_same_value_and_one_debit() -> None:
    with session() as data:
        first = data.ask(MEDIAN, epsilon=1, individual=True, key="k")
        again = data.ask(MEDIAN, epsilon=1, individual=True, key="k")
        assert first.exact == again.exact
        assert data.budget.individual == 1


PAIRS = pd.DataFrame(
    {
        "x": [i % 11 for i in range(200)],
        "y": [(i % 11) * 2 + i % 3 for i in range(200)],
        "c": ["b"] * 120 + ["a"] * 79 + [None],
    }
)


def pairs_session(**budget: Any) -> Any:
    given = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "x": {"type": "number", "bounds": [0, 10], "missing": 0},
            "y": {"type": "number", "bounds": [0, 30], "grid": 0.5, "missing": 0},
            "c": {"type": "category", "categories": ["a", "b", "z"], "missing": "z"},
            "n": {"type": "category", "categories": ["a", "b"]},
        },
        "budget": {"total": 5, **budget},
    }
    table = PAIRS.assign(n="a")
    return tn.protect(table, schema=given, ledger=tn.ledger.Memory())


def test_correlation_slope_and_mode_have_the_noise_of_this_table() -> None:
    with pairs_session() as data:
        truth = PAIRS[["x", "y"]].corr().iloc[0, 1]
        found = data.ask("SELECT CORR(x, y) FROM t", epsilon=100, individual=True)
        assert found.value == pytest.approx(truth, abs=0.01)
        assert (found.exact * 1000).denominator == 1
        steep = data.ask("SELECT REGR_SLOPE(y, x) FROM t", epsilon=100, individual=True)
        along = PAIRS["x"].var() * (len(PAIRS) - 1)
        slope = PAIRS["x"].cov(PAIRS["y"]) * (len(PAIRS) - 1) / (along + 1)
        assert steep.value == pytest.approx(slope, abs=0.01)
        assert 10**9 % steep.exact.denominator == 0, "on a decimal grid"
        assert steep.certificate.parameters["ridge"] == "1 is added to the sum of squares"
        flipped = data.ask("SELECT REGR_SLOPE(x, y) FROM t", epsilon=100, individual=True)
        assert flipped.value == pytest.approx(1 / slope, rel=0.1)
        # nobody can change the winner of 120 to 79: exact, and that is said
        assert data.ask("SELECT MODE(c) FROM t", epsilon="0.001", individual=True).value == "b"
        assert data.budget.spent == 0
        for answer in (found, steep, flipped):
            assert answer.interval(0.95) is None
            assert isinstance(answer.certificate.promise, Individual)


@pytest.mark.parametrize(
    "sql",
    ["SELECT MODE(n) FROM t", "SELECT CORR(x, y) FROM t WHERE x > 1", "SELECT COUNT(c) FROM t"],
)
def test_missing_categories_and_filters_are_refused(sql: str) -> None:
    with pairs_session() as data:
        with pytest.raises(NotPromised):
            data.ask(sql, epsilon=1, individual=True)
        assert data.budget.individual == 0


def test_the_schema_may_cap_what_individual_dp_spends_in_all() -> None:
    with pairs_session(individual=1.5) as data:
        data.ask("SELECT MODE(c) FROM t", epsilon=1, individual=True)
        with pytest.raises(Refused, match="remains"):
            data.ask("SELECT MEDIAN(x) FROM t", epsilon=1, individual=True)
        data.ask("SELECT MEDIAN(x) FROM t", epsilon="0.5", individual=True)
        assert "1.5 of 1.5 spent" in str(data.budget)


@pytest.mark.parametrize("name", ["holder", "Holder", " holder "])
def test_nobody_else_may_be_called_the_holder(name: str) -> None:
    """The holder may ask what was not approved."""
    with pytest.raises(InvalidArgument, match="analyst=None"):
        tn.protect(TABLE, schema=schema(), ledger=tn.ledger.Memory(), analyst=name)
