"""Refinement in questions: who is there is not told, beliefs are checked without rows, prices."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidPrior, NotPromised, OverBudget, Refused

TABLE = pd.DataFrame(
    {
        "id": [1, 2, 3, 4, 4],
        "disease": ["flu", "none", None, "flu", "none"],
        "age": [30, 41, 52, 63, 63],
        "sick": [True, False, True, True, True],
    }
)
PRIOR = tn.prior.Categorical({"flu": 0.2, "none": 0.8})
ABOUT_ONE = "SELECT disease FROM patients WHERE id = 1"


def session(neighbours: str = "add-or-remove", table: Any = TABLE) -> Any:
    return tn.protect(
        table,
        schema={
            "table": {
                "name": "patients",
                "unit": "id",
                "neighbours": neighbours,
                "rows_per_unit": 5,
            },
            "columns": {
                "id": {"type": "identifier"},
                "disease": {"type": "category", "categories": ["flu", "none", "other"]},
                "age": {"type": "number", "bounds": [0, 120], "grid": 1},
                "sick": {"type": "boolean"},
            },
            "budget": {"total": 100_000},
        },
        ledger=tn.ledger.Memory(),
    )


def shares(data: Any, sql: str, epsilon: Any, draws: int = 300) -> dict[Any, float]:
    drawn = Counter(
        data.ask(sql, epsilon=epsilon, prior=PRIOR, fresh=True).value for _ in range(draws)
    )
    return {value: count / draws for value, count in drawn.items()}


def test_the_truth_is_drawn_more_often_and_absent_people_get_the_prior() -> None:
    with session() as data:
        assert shares(data, ABOUT_ONE, 3)["flu"] > 0.8
        for nobody in ("id = 99", "id = '1 '", "id = 4", "id = 3"):  # absent, several rows, NULL
            found = shares(data, f"SELECT disease FROM patients WHERE {nobody}", 3)  # noqa: S608
            assert found["flu"] == pytest.approx(0.2, abs=0.12)


def test_names_are_typed_and_have_one_form() -> None:
    with session() as data:
        first = data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR)
        for same in ("id = '1'", "1 = id", "id = 01"):
            again = data.ask(
                f"SELECT disease FROM patients WHERE {same}",  # noqa: S608
                epsilon=1,
                prior=PRIOR,
            )
            assert again.replayed
            assert again.value == first.value
        other = data.ask("SELECT disease FROM patients WHERE id = '01'", epsilon=1, prior=PRIOR)
        assert not other.replayed


def test_questions_about_different_people_cost_their_maximum() -> None:
    with session() as data:
        for person in (1, 2, 99):
            answer = data.ask(
                f"SELECT disease FROM patients WHERE id = {person}",  # noqa: S608
                epsilon=1,
                prior=PRIOR,
            )
            assert answer.price == 1
        assert data.budget.spent == 1
        data.ask("SELECT age FROM patients WHERE id = 1", epsilon=2, prior=tn.prior.Uniform(0, 120))
        assert data.budget.spent == 3
    with session("replace") as data:
        assert data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR).price == 2
        assert data.budget.spent == 2


def test_only_what_may_be_shown_is_shown() -> None:
    with session() as data:
        answer = data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR)
        plan = data.explain(ABOUT_ONE, epsilon=1, prior=PRIOR)
        assert plan.expected_error == answer.expected_error < plan.without
        assert answer.posterior.mass("flu") > 0
        absent = data.ask("SELECT disease FROM patients WHERE id = 99", epsilon=1, prior=PRIOR)
        assert answer.certificate.to_json() == absent.certificate.to_json()
        for text in (str(answer), answer.to_json(), str(plan)):
            assert "core" not in text
            assert "factor" not in text


@pytest.mark.parametrize("truth", ["flu", "none", "other", None])
def test_a_belief_is_accepted_or_refused_whatever_the_truth(truth: str | None) -> None:
    table = TABLE.assign(disease=[truth, *TABLE.disease[1:]])
    wrong: list[Any] = [
        tn.prior.Categorical({"flu": 0.5, "plague": 0.5}),
        tn.prior.Uniform(0, 1),
        0.5,
    ]
    with session(table=table) as data:
        assert data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR).value in ("flu", "none")
        spent = data.budget.spent
        for prior in wrong:
            with pytest.raises(InvalidPrior):
                data.ask(ABOUT_ONE, epsilon=1, prior=prior)
        assert data.budget.spent == spent


def test_numbers_and_booleans_are_refined_too() -> None:
    with session() as data:
        age = data.ask(
            "SELECT age FROM patients WHERE id = 2", epsilon=8, prior=tn.prior.Uniform(0, 120)
        )
        assert isinstance(age.value, Fraction | int)
        assert abs(age.value - 41) < 40
        believed = tn.prior.Categorical({True: Fraction(1, 2), False: Fraction(1, 2)})
        sick = data.ask("SELECT sick FROM patients WHERE id = 1", epsilon=20, prior=believed)
        assert sick.value is True
        with pytest.raises(InvalidPrior):
            data.ask(
                "SELECT age FROM patients WHERE id = 2", epsilon=1, prior=tn.prior.Uniform(0, 200)
            )


def test_a_prior_for_another_question_is_refused() -> None:
    with session() as data:
        with pytest.raises(InvalidPrior):
            data.ask("SELECT COUNT(*) FROM patients", epsilon=1, prior=PRIOR)
        with pytest.raises(NotPromised):
            data.ask("SELECT MEDIAN(age) FROM patients", epsilon=1, prior=PRIOR)
        with pytest.raises(Refused):
            data.ask(ABOUT_ONE, prior=PRIOR)
        with pytest.raises(Refused):
            data.ask(ABOUT_ONE, epsilon=1)
        for more in ({"individual": True}, {"accuracy": ("interval", 0.95, 10)}):
            with pytest.raises(Refused, match="together"):
                data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR, **more)
        assert data.budget.spent == 0


def test_answers_are_shown_in_a_line_a_screen_and_a_table() -> None:
    with session("replace") as data:
        plan = data.explain(ABOUT_ONE, epsilon=1, prior=PRIOR)
        assert "→  knowledge refinement" in str(plan) == repr(plan)
        assert "to replace a person is to remove one" in " ".join(str(plan).split())
        assert "<td>→</td><td>knowledge refinement</td>" in plan._repr_html_()
        answer = data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR)
        assert "Cost: epsilon 2 (knowledge" in repr(answer)
        assert "posterior" in str(answer)
        assert "ε = 2" in answer._repr_html_()
        again = data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR)
        assert "answered before" in repr(again)
        count = data.ask(
            "SELECT COUNT(*) FROM patients", epsilon=1, prior=tn.prior.Binomial(900, 0.5)
        )
        for text in (str(count), count._repr_html_()):
            assert "95 % between" in text
            assert "the noisy answer" in text


def test_several_columns_are_one_value_each() -> None:
    belief = tn.prior.Table({("flu", True): 0.5, ("none", False): 0.5})
    with session() as data:
        answer = data.ask(
            "SELECT disease, sick FROM patients WHERE id = 1", epsilon=40, prior=belief
        )
        assert answer.value == {"disease": "flu", "sick": True}
        assert answer.posterior.mode == ("flu", True)
        with pytest.raises(InvalidPrior, match="in this order"):
            data.ask("SELECT disease, sick FROM patients WHERE id = 1", epsilon=1, prior=PRIOR)
        with pytest.raises(Refused):
            data.ask("SELECT sick, sick FROM patients WHERE id = 1", epsilon=1, prior=belief)


def test_delta_has_a_budget_of_its_own() -> None:
    with session() as data:
        with pytest.raises(OverBudget, match="delta"):
            data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR, delta="1e-6")
        with pytest.raises(Refused, match="without a prior"):
            data.ask("SELECT COUNT(*) FROM patients", epsilon=1, delta="1e-6")
        assert data.budget.spent == data.budget.spent_delta == 0
