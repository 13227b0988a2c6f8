"""Which way is chosen for a statistic, with what error and why; what cannot be weighed."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue import prior
from tenue.errors import InvalidPrior, NotPromised

TABLE = pd.DataFrame({"x": [1, 2, 3] * 100, "s": [True, False, False] * 100})


def session(neighbours: str = "add-or-remove", high: int = 10, **more: Any) -> Any:
    return tn.protect(
        TABLE,
        schema={
            "table": {"name": "t", "unit": "record", "neighbours": neighbours, **more},
            "columns": {
                "x": {"type": "number", "bounds": [0, high], "missing": 0},
                "s": {"type": "boolean"},
            },
            "budget": {"total": 1000},
        },
        ledger=tn.ledger.Memory(),
    )


COUNT = "SELECT COUNT(*) FROM t WHERE s"


def test_a_count_gets_noise_and_bayes_with_the_exact_error_of_each_way() -> None:
    belief = prior.Binomial(300, 0.3)
    with session() as data:
        plan = data.explain(COUNT, epsilon="0.1", prior=belief)
        law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon="0.1")
        found = tn.estimate.compare(law, belief, estimator="median")
        errors = {way.mechanism: way.expected_error for way in plan.candidates}
        assert errors["discrete Laplace"] == pytest.approx(found.naive_error)
        assert errors["discrete Laplace + Bayes"] == pytest.approx(found.bayes_error)
        assert errors["knowledge refinement"] == pytest.approx(
            tn.mechanism.expected_error(belief, "0.1", kind="statistical")
        )
        assert plan.chosen.mechanism == "discrete Laplace + Bayes"
        assert plan.expected_error == min(e for e in errors.values() if e is not None)
        assert "so little" in plan.reason
        answer = data.ask(COUNT, epsilon="0.1", prior=belief)
        assert answer.mechanism == plan.chosen.mechanism
        assert answer.expected_error == plan.expected_error
        assert answer.value == answer.posterior.median
        assert answer.noisy.estimate(belief).median == answer.value


def test_a_sum_that_one_row_can_swamp_is_refined() -> None:
    belief = prior.Uniform(500, 700)
    with session(high=10**6) as data:
        plan = data.explain("SELECT SUM(x) FROM t", epsilon=1, prior=belief)
        assert plan.chosen.mechanism == "knowledge refinement + Bayes"
        assert "so far" in plan.reason
        assert plan.chosen.expected_error < plan.without
        answer = data.ask("SELECT SUM(x) FROM t", epsilon=1, prior=belief)
        assert answer.noisy is None
        assert 500 <= answer.sample <= 700
        assert answer.value == answer.posterior.median
        assert answer.certificate.mechanism == "knowledge refinement"
        assert answer.certificate.promise == tn.Pure(1)


def test_refinement_is_weighed_after_bayes_too() -> None:
    """Mutant: the sample's own error, for which noise that tells nothing would be chosen."""
    with session(high=10**6) as data:
        plan = data.explain("SELECT SUM(x) FROM t", epsilon="0.1", prior=prior.Uniform(500, 700))
        errors = {way.mechanism: way.expected_error for way in plan.candidates}
        assert errors["knowledge refinement"] > min(
            e for name, e in errors.items() if "Bayes" in name and "knowledge" not in name
        )
        assert plan.chosen.mechanism == "knowledge refinement + Bayes"


def test_means() -> None:
    belief = prior.Normal(3, 1, 0, 10)
    with session("replace", rows=300) as data:
        known = data.explain("SELECT AVG(x) FROM t", epsilon=1, prior=belief)
        assert known.chosen.noise is not None
        answer = data.ask("SELECT AVG(x) FROM t", epsilon=1, prior=belief)
        assert answer.posterior is None
        assert answer.value == answer.noisy.value
        unknown = data.explain("SELECT AVG(x) FROM t WHERE s", epsilon=1, prior=belief)
        assert unknown.chosen.noise is not None, "an unknown error does not lose to a poor one"
        assert "depends on the number of rows" in unknown.reason
        assert any(way.noise is None for way in unknown.candidates)
        answer = data.ask("SELECT AVG(x) FROM t WHERE s", epsilon=50, prior=belief)
        assert answer.value == pytest.approx(1, abs=0.2)


def test_several_values_are_possible_together() -> None:
    belief = prior.Table({(100, 100): 0.4, (100, 300): 0.3, (200, 600): 0.3})
    sql = "SELECT COUNT(*) AS n, SUM(x) AS s FROM t WHERE s"
    with session() as data:
        plan = data.explain(sql, epsilon=1, prior=belief)
        assert plan.chosen.mechanism == "knowledge refinement"
        assert "impossible" in plan.reason
        for _ in range(20):
            answer = data.ask(sql, epsilon=1, prior=belief, fresh=True)
            assert belief.mass(tuple(answer.value.values())) > 0
            assert list(answer.value) == ["n", "s"]
        sure = data.ask(sql, epsilon=60, prior=belief)
        assert sure.value == {"n": 100, "s": 100}


def test_a_noisy_answer_serves_every_prior() -> None:
    with session() as data:
        first = data.ask(COUNT, epsilon="0.1", prior=prior.Binomial(300, 0.3))
        other = data.ask(COUNT, epsilon="0.1", prior=prior.Binomial(300, 0.4))
        assert first.price == first.noisy.price == data.budget.spent
        assert other.replayed
        assert (other.price, other.noisy.value) == (0, first.noisy.value)
        assert other.value > first.value


def test_a_key_is_answered_once() -> None:
    belief = prior.Uniform(500, 700)
    with session(high=10**6) as data:
        sql = "SELECT SUM(x) FROM t"
        one = data.ask(sql, epsilon=1, prior=belief, key="k")
        two = data.ask(sql, epsilon=1, prior=belief, key="k")
        assert (two.sample, two.price, two.replayed) == (one.sample, 0, True)
        three = data.ask(sql, epsilon=1, prior=belief, fresh=True)
        assert three.price == 1
        assert data.budget.spent == 2
        again = data.ask(sql, epsilon=1, prior=belief)
        assert again.sample == one.sample  # the first answer stays the one that is repeated


def test_a_truth_outside_the_support_goes_to_the_nearest_point() -> None:
    with session(high=10**6) as data:
        far = prior.Points({0: 0.4, 10: 0.4, 40: 0.2})
        answers = [
            data.ask("SELECT SUM(x) FROM t", epsilon=20, prior=far, fresh=True).sample
            for _ in range(5)
        ]
        assert answers == [40] * 5


def test_too_many_points_leave_noise() -> None:
    with session() as data:
        plan = data.explain(COUNT, epsilon=1, prior=prior.Binomial(10_000, 0.01))
        assert {way.mechanism for way in plan.candidates} == {
            "discrete Laplace",
            "discrete Laplace + Bayes",
        }
        assert "4,096" in plan.reason


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MEDIAN(x) FROM t",
        "SELECT VARIANCE(x) FROM t",
        "SELECT s, COUNT(*) FROM t GROUP BY s",
        "SELECT COUNT(*) + 1 FROM t",
        "SELECT COUNT(*) AS n FROM t HAVING n > 3",
    ],
)
def test_what_is_no_plain_statistic_is_refused(sql: str) -> None:
    with session() as data:
        with pytest.raises(NotPromised, match="COUNT, SUM or AVG"):
            data.ask(sql, epsilon=1, prior=prior.Uniform(0, 1))
        assert data.budget.spent == 0


def test_a_density_takes_no_delta() -> None:
    with session(high=10**6) as data:
        with pytest.raises(InvalidPrior):
            data.ask("SELECT AVG(x) FROM t", epsilon=1, prior=prior.Uniform(0, 9), delta="1e-6")
        assert data.budget.spent == 0


def test_limits_of_a_person_hold_for_refined_statistics() -> None:
    """Mutant: the rows as they are, of which one person has fifty."""
    rows = pd.DataFrame({"id": [1] * 50 + [2, 3, 3], "x": [3] * 50 + [1, 2, 2]})
    stated = {
        "table": {"name": "t", "unit": "id", "neighbours": "replace", "rows_per_unit": 2},
        "columns": {
            "id": {"type": "identifier"},
            "x": {"type": "number", "bounds": [0, 10**6]},
        },
        "budget": {"total": 1000},
        "protocol": {"kind": "refinement"},
    }
    with tn.protect(rows, schema=stated, ledger=tn.ledger.Memory()) as data:
        even = prior.Uniform(0, 200)
        for sql, truth in (
            ("SELECT COUNT(*) FROM t", 5),
            ("SELECT COUNT(DISTINCT id) FROM t", 3),
            ("SELECT SUM(x) FROM t", 11),
        ):
            assert data.ask(sql, epsilon=90, prior=even).sample == truth
