"""Bayes after an answer: the law that was drawn from, in the answer's own units."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import NotPromised

TABLE = pd.DataFrame({"x": [0.5, 1.0, 1.5] * 100, "z": [1, 2, 3] * 100, "g": list("ab") * 150})


def session(neighbours: str = "add-or-remove") -> Any:
    return tn.protect(
        TABLE,
        schema={
            "table": {"name": "t", "unit": "record", "neighbours": neighbours},
            "columns": {
                "x": {"type": "number", "bounds": [0, 2], "grid": 0.5, "missing": 0},
                "z": {"type": "number", "bounds": [-3, 0], "grid": 1},
                "g": {"type": "category", "categories": ["a", "b"]},
            },
            "budget": {"total": 1000},
        },
        ledger=tn.ledger.Memory(),
    )


def test_a_count_is_pulled_towards_the_belief() -> None:
    with session() as data:
        answer = data.ask("SELECT COUNT(*) FROM t WHERE g = 'a'", epsilon="0.05")
        found = answer.estimate(tn.prior.Binomial(300, 0.5))
        assert found.mean == pytest.approx(150, abs=25)
        low, high = answer.interval(0.95)
        assert found.interval(0.95)[1] - found.interval(0.95)[0] < high - low
        law = answer.plan.parts[0].law
        same = tn.estimate.count(answer.value, law, tn.prior.Binomial(300, 0.5))
        assert same.mean == found.mean


def test_sums_keep_their_grid_and_sign() -> None:
    with session() as data:
        answer = data.ask("SELECT SUM(x) FROM t", epsilon=1)
        found = answer.estimate(tn.prior.Uniform(0, 600))
        assert found.mean == pytest.approx(float(answer.value), abs=3)
        assert found.mode % 0.5 == 0


def test_one_component_of_a_shared_noise_has_its_own_law() -> None:
    with session() as data:
        answers = data.ask_many(
            ["SELECT COUNT(*) FROM t", "SELECT SUM(x) FROM t", "SELECT SUM(z) FROM t"], epsilon=3
        )
        assert answers[0].plan.chosen.mechanism == "same-sign box"
        for answer, near in zip(answers, (300, 300, 0), strict=True):
            found = answer.estimate(tn.prior.Uniform(-1000, 1000))
            assert found.mean == pytest.approx(float(answer.value), abs=8)
            assert abs(found.mean - near) < 60


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(x) FROM t",
        "SELECT MEDIAN(x) FROM t",
        "SELECT g, COUNT(*) FROM t GROUP BY g",
        "SELECT COUNT(*), SUM(x) FROM t",
        "SELECT COUNT(*) + 1 FROM t",
    ],
)
def test_what_is_not_one_noisy_number_is_refused(sql: str) -> None:
    with session() as data, pytest.raises(NotPromised):
        data.ask(sql, epsilon=1).estimate(tn.prior.Binomial(300, 0.5))


def test_individual_answers_are_refused() -> None:
    with session("replace") as data, pytest.raises(NotPromised):
        data.ask("SELECT MEDIAN(x) FROM t", epsilon=1, individual=True).estimate(
            tn.prior.Uniform(0, 2)
        )
