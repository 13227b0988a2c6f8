"""Ways to answer an analyst who believes something."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue import prior
from tenue.errors import InvalidPrior, NotPromised, OverBudget, Refused

ANSWER_TABLE = pd.DataFrame(
    {
        "id": [1, 2, 3, 4, 4],
        "disease": ["flu", "none", None, "flu", "none"],
        "age": [30, 41, 52, 63, 63],
        "sick": [True, False, True, True, True],
    }
)
PRIOR = tn.prior.Categorical({"flu": 0.2, "none": 0.8})
ABOUT_ONE = "SELECT disease FROM patients WHERE id = 1"


def answer_session(neighbours: str = "add-or-remove", table: Any = ANSWER_TABLE) -> Any:
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
    with answer_session() as data:
        assert shares(data, ABOUT_ONE, 3)["flu"] > 0.8
        for nobody in ("id = 99", "id = '1 '", "id = 4", "id = 3"):  # absent, several rows, NULL
            found = shares(data, f"SELECT disease FROM patients WHERE {nobody}", 3)  # noqa: S608
            assert found["flu"] == pytest.approx(0.2, abs=0.12)


def test_names_are_typed_and_have_one_form() -> None:
    with answer_session() as data:
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
    with answer_session() as data:
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
    with answer_session("replace") as data:
        assert data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR).price == 2
        assert data.budget.spent == 2


def test_only_what_may_be_shown_is_shown() -> None:
    with answer_session() as data:
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
    table = ANSWER_TABLE.assign(disease=[truth, *ANSWER_TABLE.disease[1:]])
    wrong: list[Any] = [
        tn.prior.Categorical({"flu": 0.5, "plague": 0.5}),
        tn.prior.Uniform(0, 1),
        0.5,
    ]
    with answer_session(table=table) as data:
        assert data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR).value in ("flu", "none")
        spent = data.budget.spent
        for each_prior in wrong:
            with pytest.raises(InvalidPrior):
                data.ask(ABOUT_ONE, epsilon=1, prior=each_prior)
        assert data.budget.spent == spent


def test_numbers_and_booleans_are_refined_too() -> None:
    with answer_session() as data:
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
    with answer_session() as data:
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
    with answer_session("replace") as data:
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
    with answer_session() as data:
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
    with answer_session() as data:
        with pytest.raises(OverBudget, match="delta"):
            data.ask(ABOUT_ONE, epsilon=1, prior=PRIOR, delta="1e-6")
        with pytest.raises(Refused, match="without a prior"):
            data.ask("SELECT COUNT(*) FROM patients", epsilon=1, delta="1e-6")
        assert data.budget.spent == data.budget.spent_delta == 0


# -- Bayes after an answer: the law that was drawn from, in the answer's own units -----------------

POSTERIOR_TABLE = pd.DataFrame(
    {"x": [0.5, 1.0, 1.5] * 100, "z": [1, 2, 3] * 100, "g": list("ab") * 150}
)


def posterior_session(neighbours: str = "add-or-remove") -> Any:
    return tn.protect(
        POSTERIOR_TABLE,
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
    with posterior_session() as data:
        answer = data.ask("SELECT COUNT(*) FROM t WHERE g = 'a'", epsilon="0.05")
        found = answer.estimate(tn.prior.Binomial(300, 0.5))
        assert found.mean == pytest.approx(150, abs=25)
        low, high = answer.interval(0.95)
        assert found.interval(0.95)[1] - found.interval(0.95)[0] < high - low
        law = answer.plan.parts[0].law
        same = tn.estimate.count(answer.value, law, tn.prior.Binomial(300, 0.5))
        assert same.mean == found.mean


def test_sums_keep_their_grid_and_sign() -> None:
    with posterior_session() as data:
        answer = data.ask("SELECT SUM(x) FROM t", epsilon=1)
        found = answer.estimate(tn.prior.Uniform(0, 600))
        assert found.mean == pytest.approx(float(answer.value), abs=3)
        assert found.mode % 0.5 == 0


def test_one_component_of_a_shared_noise_has_its_own_law() -> None:
    with posterior_session() as data:
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
    with posterior_session() as data, pytest.raises(NotPromised):
        data.ask(sql, epsilon=1).estimate(tn.prior.Binomial(300, 0.5))


def test_individual_answers_are_refused() -> None:
    with posterior_session("replace") as data, pytest.raises(NotPromised):
        data.ask("SELECT MEDIAN(x) FROM t", epsilon=1, individual=True).estimate(
            tn.prior.Uniform(0, 2)
        )


# -- Which way is chosen for a statistic, with what error and why; what cannot be weighed ----------

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
        assert "moves this statistic little" in plan.reason
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
        assert "move this statistic far" in plan.reason
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
        assert "the prior excludes" in plan.reason
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


def test_a_prior_against_the_answer_says_so_wherever_the_posterior_is() -> None:
    asked = "SELECT COUNT(*) FROM t"
    stated = {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {"x": {"type": "number", "bounds": [0, 1]}},
        "budget": {"total": 1000},
    }
    with tn.protect(
        pd.DataFrame({"x": [1] * 500}), schema=stated, ledger=tn.ledger.Memory()
    ) as data:
        wrong = data.ask(asked, epsilon=1, prior=prior.Binomial(2000, "0.1"))
        right = data.ask(asked, epsilon=1, prior=prior.Binomial(2000, "0.25"))
    low, high = wrong.posterior.interval(0.95)
    assert not low <= 500 <= high, "the headline interval excludes the truth"
    assert wrong.conflict.noisy == wrong.noisy.value
    text = str(wrong.conflict)
    assert "the prior expects 200" in text
    for shown in (str(wrong), wrong._repr_html_(), *tn.report.plot(wrong).picture.notes):
        assert "disagree" in shown
    assert wrong.to_dict()["conflict"]["prior"] == 200
    assert right.conflict is None
    assert "disagree" not in str(right)
    assert "conflict" not in right.to_dict()
