"""Many questions at one price: how much is saved, what is charged, what is shared."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import OverBudget, Refused
from tenue.noise import DiscreteLaplace, Laplace
from tenue.noise.box.law import OptimalBox
from tenue.query.session import Session

TABLE = pd.DataFrame(
    {"age": [20, 30, 40, 50, 60] * 40, "gain": [-3, 0, 4, 1, 2] * 40, "sex": ["f", "m"] * 100}
)


def schema(neighbours: str, total: int = 100) -> dict[str, Any]:
    return {
        "table": {"name": "t", "unit": "record", "neighbours": neighbours},
        "columns": {
            "age": {"type": "number", "bounds": [0, 100], "grid": 1},
            "gain": {"type": "number", "bounds": [-5, 5], "grid": 1},
            "sex": {"type": "category", "categories": ["f", "m"]},
        },
        "budget": {"total": total},
    }


@pytest.fixture(params=["add-or-remove", "replace"])
def data(request: pytest.FixtureRequest) -> Iterator[Session]:
    with tn.protect(TABLE, schema=schema(request.param), ledger=tn.ledger.Memory()) as session:
        yield session


def counts(number: int) -> list[str]:
    return [f"SELECT COUNT(*) FROM t WHERE age > {5 * i}" for i in range(number)]  # noqa: S608


BY_SEX = ["SELECT COUNT(*) FROM t WHERE sex = 'f'", "SELECT COUNT(*) FROM t WHERE sex = 'm'"]


def variance(answer: tn.query.Answer) -> float:
    (reading,) = answer.plan.readings
    return float(reading.error(answer.plan.parts).variance)  # type: ignore[union-attr]


@pytest.mark.parametrize(("number", "bar"), [(10, 0.14), (2, 0.45)])
def test_overlapping_counts_share_one_noise(number: int, bar: float) -> None:
    with tn.protect(TABLE, schema=schema("add-or-remove"), ledger=tn.ledger.Memory()) as data:
        answers = data.ask_many(counts(number), epsilon=1)
        apart = Laplace(sensitivity=1, epsilon=Fraction(1, number)).variance
        mean = sum(variance(a) for a in answers) / number
        assert mean <= bar * apart
        discrete = DiscreteLaplace(sensitivity=1, epsilon=Fraction(1, number)).variance
        assert max(variance(a) for a in answers) <= discrete, "no answer is worse than alone"
        assert answers.saved == pytest.approx(1 - mean / discrete, abs=0.02)
        assert data.budget.spent == answers.price == 1
        assert "for 10 answers together" in str(answers[0]) or number == 2


def test_a_batch_is_never_worse_than_its_questions(data: Session) -> None:
    batches = [
        counts(3),
        ["SELECT SUM(age) FROM t", "SELECT COUNT(*) FROM t WHERE sex = 'f'"],
        ["SELECT SUM(gain) FROM t", "SELECT SUM(age) FROM t WHERE gain > 0"],
        ["SELECT AVG(age) FROM t", "SELECT COUNT(*) FROM t"],
        BY_SEX,
        ["SELECT MEDIAN(age) FROM t", "SELECT sex, COUNT(*) FROM t GROUP BY sex"],
    ]
    for batch in batches:
        answers = data.ask_many(batch, epsilon=1)
        assert 0 <= answers.saved < 1
        for question, answer in zip(batch, answers, strict=True):
            alone = data.ask(question, epsilon=Fraction(1, len(batch)))
            if len(answer.plan.readings) == 1 and hasattr(answer.plan.readings[0], "error"):
                assert variance(answer) <= variance(alone) * 1.0001


def test_questions_about_different_rows_cost_what_groups_cost() -> None:
    with tn.protect(TABLE, schema=schema("add-or-remove"), ledger=tn.ledger.Memory()) as data:
        answers = data.ask_many(BY_SEX, epsilon=1)
        grouped = data.ask("SELECT sex, COUNT(*) FROM t GROUP BY sex", epsilon=1)
        assert answers.price == grouped.price == 1
        assert [a.plan.parts[0].law.variance for a in answers] == [  # type: ignore[union-attr]
            grouped.plan.parts[0].law.variance  # type: ignore[union-attr]
        ] * 2


def test_people_do_not_answer_side_by_side() -> None:
    """One person's rows may satisfy both conditions."""
    given = schema("add-or-remove")
    given["table"] |= {"unit": "id", "rows_per_unit": 3}
    given["columns"]["id"] = {"type": "identifier"}
    table = TABLE.assign(id=range(len(TABLE)))
    with tn.protect(table, schema=given, ledger=tn.ledger.Memory()) as data:
        answers = data.ask_many(BY_SEX, epsilon=1)
        assert data.explain_many(BY_SEX, epsilon=1).chosen.name == "atoms"
        (law,) = answers._workload.blocks[0].laws  # type: ignore[union-attr]
        assert law.sensitivity == 3


def test_columns_of_both_signs_do_not_share_a_one_sided_noise() -> None:
    with tn.protect(TABLE, schema=schema("add-or-remove"), ledger=tn.ledger.Memory()) as data:
        answers = data.ask_many(["SELECT SUM(gain) FROM t", "SELECT COUNT(*) FROM t"], epsilon=1)
        law = answers[0].plan.parts[0].law
        assert not isinstance(law, OptimalBox) or law.signs == "any"


def test_a_batch_is_charged_once_and_kept(data: Session) -> None:
    first = data.ask_many(counts(4), epsilon=0.5, key="k")
    again = data.ask_many(counts(4), epsilon=0.5)
    keyed = data.ask_many(counts(4), epsilon=0.5, key="k")
    assert [a.value for a in first] == [a.value for a in again] == [a.value for a in keyed]
    assert again.price == keyed.price == 0
    assert data.budget.spent == Fraction(1, 2)
    fresh = data.ask_many(counts(4), epsilon=0.5, fresh=True)
    assert fresh.price == Fraction(1, 2)
    assert data.budget.spent == 1


def test_refusals_cost_nothing(data: Session) -> None:
    wrong: list[Any] = ["SELECT COUNT(*) FROM t", [], [3], ["SELECT nothing FROM t"]]
    for questions in [*wrong, counts(1) * 10_001]:
        with pytest.raises(Refused):
            data.ask_many(questions, epsilon=1)
    with pytest.raises(OverBudget):
        data.ask_many(counts(2), epsilon=1000)
    assert data.budget.spent == 0


def test_values_are_near_the_truth(data: Session) -> None:
    answers = data.ask_many(
        [
            "SELECT COUNT(*) FROM t WHERE age > 30",
            "SELECT SUM(age) FROM t",
            "SELECT MAX(age) FROM t",
        ],
        epsilon=50,
    )
    assert answers[0].value == pytest.approx(120, abs=5)
    assert answers[1].value == pytest.approx(8000, abs=300)
    assert 40 <= answers[2].value <= 60


def test_what_is_not_linear_keeps_its_own_share(data: Session) -> None:
    """A median keeps its own share; the counts are better off together all the same."""
    answers = data.ask_many([*counts(4), "SELECT MEDIAN(age) FROM t"], epsilon=1)
    assert answers.saved > 0.2
    (draw,) = answers[4].plan.strategy.draws
    assert draw.epsilon <= Fraction(1, 5)
    assert draw.epsilon + answers[0].plan.strategy.epsilon <= 1
    assert answers[0].value == pytest.approx(200, abs=80)
    assert data.budget.spent == 1
