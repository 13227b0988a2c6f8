"""What 0.1.0 was caught at, with people who have several rows, and what cannot be caught now.

Each attack is a function of the answers that it is given. It succeeds on what 0.1.0 did, which is
written here, and fails on what is done now.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.ask.aggregates.moments import Moments
from tenue.ask.plan.planner import epsilon_for, make_plan
from tenue.ask.sql.parse import parse
from tenue.noise import DiscreteLaplace
from tenue.noise.joint import joint
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

LEVEL = Fraction(19, 20)
WARDS = ["a", "b", "c", "d"]
BY_WARD = "SELECT ward, COUNT(DISTINCT patient) AS n FROM visits GROUP BY ward"
Row = tuple[int, str]
Told = dict[str, tuple[int, float]]
"""Of each ward a number and its ±."""


def stated(rows_per_unit: int, **columns: Any) -> dict[str, Any]:
    table = {"name": "visits", "unit": "patient", "neighbours": "add-or-remove"}
    return {
        "table": table | {"rows_per_unit": rows_per_unit},
        "columns": {
            "patient": {"type": "identifier"},
            "ward": {"type": "category", "categories": WARDS},
            **columns,
        },
        "budget": {"total": 10_000},
    }


def visits(people: int, each: int) -> list[Row]:
    """Everybody is in every ward, several times."""
    return [(i, WARDS[j % 4]) for i in range(people) for j in range(each)]


def now(rows: Sequence[Row], rows_per_unit: int, epsilon: float = 1) -> Told:
    frame = pd.DataFrame(rows, columns=["patient", "ward"])
    with tn.protect(frame, schema=stated(rows_per_unit), ledger=tn.ledger.Memory()) as data:
        answer = data.ask(BY_WARD, epsilon=epsilon)
    assert not answer.limits
    pairs = zip(answer.value, answer.interval(0.95), strict=True)
    return {row["ward"]: (row["n"], row["n"] - ends["n"][0]) for row, ends in pairs}


def before(rows: Sequence[Row], rows_per_unit: int, epsilon: float = 1) -> Told:
    """0.1.0: few rows of each patient are kept, then patients are counted; the noise is that of so
    many rows."""
    own: dict[int, list[Row]] = {}
    for row in rows:
        own.setdefault(row[0], []).append(row)
    made = random.Random(3)
    kept = [row for r in own.values() for row in made.sample(r, min(rows_per_unit, len(r)))]
    law = joint(DiscreteLaplace(sensitivity=rows_per_unit, epsilon=epsilon))
    reach = law.half_width(0, LEVEL)
    noise = law.steps(len(WARDS)).tolist()
    return {
        ward: (len({who for who, other in kept if other == ward}) + noise[i][0], reach)
        for i, ward in enumerate(WARDS)
    }


# -- 4,414 ± 9 where there are 8,234 ---------------------------------------------------------------


def is_fooled(told: Told, truth: int) -> bool:
    """Whoever believes the ± believes that far fewer people were there than were."""
    return all(truth > 1.1 * (value + reach) for value, reach in told.values())


def test_a_reader_of_the_number_is_not_fooled() -> None:
    rows = visits(people=2000, each=8)
    assert is_fooled(before(rows, 3), 2000)
    assert not is_fooled(now(rows, 3), 2000)
    assert all(abs(value - 2000) <= 6 * reach for value, reach in now(rows, 3).values())


def test_a_group_and_the_same_filter_agree() -> None:
    """The attack on the table: two questions about the same people contradict each other."""
    rows = visits(people=2000, each=8)
    frame = pd.DataFrame(rows, columns=["patient", "ward"])
    one = "SELECT COUNT(DISTINCT patient) FROM visits WHERE ward = 'a'"
    with tn.protect(frame, schema=stated(3), ledger=tn.ledger.Memory()) as data:
        alone = data.ask(one, epsilon=1)
    half = alone.value - alone.interval(0.95)[0]

    def contradicts(told: Told) -> bool:
        value, reach = told["a"]
        return abs(value - alone.value) > 6 * (reach + half)

    assert contradicts(before(rows, 3))
    assert not contradicts(now(rows, 3))


# -- ± 300 where ± 12 is enough --------------------------------------------------------------------


def test_noise_is_not_paid_for_rows_that_do_not_count() -> None:
    """Four wards and 100 rows per person."""
    rows = visits(people=50, each=8)

    def overpays(told: Told) -> bool:
        return any(reach > 20 for _, reach in told.values())

    assert overpays(before(rows, 100))
    assert {reach for _, reach in before(rows, 100).values()} == {300}
    assert not overpays(now(rows, 100))
    assert {reach for _, reach in now(rows, 100).values()} == {12}


# -- a variance of 101.8 for values between 0 and 10 -----------------------------------------------


def impossible(values: Sequence[float]) -> bool:
    """No values between 0 and 10 have a sample variance above 50: two of them, 0 and 10."""
    return any(value > 50 for value in values)


def variances() -> list[float]:
    frame = pd.DataFrame({"patient": range(4), "ward": ["a"] * 4, "x": [0, 10] * 2})
    schema = stated(1, x={"type": "number", "bounds": [0, 10]})
    with tn.protect(frame, schema=schema, ledger=tn.ledger.Memory()) as data:
        sql = "SELECT VARIANCE(x) FROM visits"
        answers = [data.ask(sql, epsilon=0.5, fresh=True, key=str(i)) for i in range(120)]
    return [answer.raw for answer in answers if answer.raw is not None]


def test_no_spread_is_told_that_no_values_have(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not impossible(variances())

    def anything(self: Moments, axis: int) -> Fraction:
        return self._moment(self.reading.powers(axis, 2)) / self.n - self.mean(axis) ** 2

    monkeypatch.setattr(Moments, "variance", anything)
    monkeypatch.setattr(Moments, "correction", property(lambda self: self.n / (self.n - 1)))
    assert impossible(variances()), "0.1.0 told whatever the noise made of it"


# -- a wide ± that costs many times what it needs --------------------------------------------------

Priced = Callable[[float], EpsilonDelta]
PEOPLE = Schema.from_dict(stated(1))
COUNT = parse("SELECT COUNT(*) FROM visits", PEOPLE)


def reached(price: EpsilonDelta, reach: float) -> bool:
    plan = make_plan(COUNT, PEOPLE, price)
    error = plan.readings[0].before_rows(plan.parts, None)
    assert error is not None
    return error.half_width(LEVEL) <= reach


def from_a_thousandth(reach: float) -> EpsilonDelta:
    """0.1.0: from a thousandth on upwards, then between the last two."""
    high = EpsilonDelta.of("0.001")
    while not reached(high, reach):
        high = high * 2
    low = high // 2
    while high - low > max(EpsilonDelta(1), high // 10**6):
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle, reach) else (middle, high)
    return high


def priced_now(reach: float) -> EpsilonDelta:
    return epsilon_for(("interval", LEVEL, reach), COUNT, PEOPLE, "variance")


@pytest.mark.parametrize(("reach", "times"), [(1e5, 16), (1e6, 160)])
def test_a_wide_interval_costs_what_it_needs(reach: float, times: int) -> None:
    """The attack on the budget: the same ± for a fraction of what is charged."""

    def cheaper(priced: Priced) -> bool:
        return reached(priced(reach).part(0.99), reach)

    assert cheaper(from_a_thousandth)
    assert not cheaper(priced_now)
    assert from_a_thousandth(reach) > times * priced_now(reach)


# -- "95 % between 348 and 408" of 1,000 rows ------------------------------------------------------


def one_column(values: list[int | None], each: int) -> tuple[pd.DataFrame, dict[str, Any]]:
    """So many rows of each person, of which two count."""
    frame = pd.DataFrame({"patient": [i // each for i in range(len(values))]})
    frame["x"] = pd.array(values, dtype="Int64")
    frame["ward"] = "a"
    return frame, stated(2, x={"type": "number", "bounds": [0, 10]})


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM visits", "SELECT SUM(x) FROM visits"])
@pytest.mark.parametrize("epsilon", [1, Fraction(1, 10**6)])
def test_a_posterior_says_what_was_cut(sql: str, epsilon: Any) -> None:
    """1,000 rows of 100 people, two of each counted, and no word of a limit, in the answer or in
    `explain`: only the certificate assumed it."""
    rows, schema = one_column([1] * 1000, 10)
    with tn.protect(rows, schema=schema, ledger=tn.ledger.Memory()) as data:
        prior = tn.prior.Binomial(1000, 0.5)
        plan = data.explain(sql, epsilon=epsilon, prior=prior)
        answer = data.ask(sql, epsilon=epsilon, prior=prior)
    limit = (
        "at most 2 rows of each patient count, chosen at random, and rows without a `patient` "
        "count nowhere; ± does not cover"
    )
    for text in (str(plan), plan._repr_html_(), str(answer), answer._repr_html_()):
        assert limit in " ".join(re.sub("</?code>", "`", text).lower().split())
    assert [one.kind for one in answer.limits] == ["rows", "unit"]
    told = [one.to_dict() for one in answer.limits]
    assert plan.to_dict()["limits"] == answer.to_dict()["limits"] == told


# -- "200 to 200 persons, 100 % of all" where nobody lost a row ------------------------------------


@pytest.mark.parametrize(
    ("sql", "above"),
    [
        ("SELECT MEDIAN(x) FROM visits", 0),
        ("SELECT MODE(ward), MAX(x) FROM visits", 200),
        ("SELECT MEDIAN(x), COUNT(*) FROM visits", 200),
        ("SELECT SUM(x) FROM visits", 200),  # the only row with a value may be left out
    ],
)
def test_nobody_is_above_a_limit_that_cuts_nothing(sql: str, above: int) -> None:
    """MEDIAN leaves out rows without a value before the limit; its count of persons did not, and
    said of it what is true of COUNT."""
    rows, schema = one_column([7, None, None, None, None] * 200, 5)
    with tn.protect(rows, schema=schema, ledger=tn.ledger.Memory()) as data:
        answer = data.ask(sql, epsilon=1000, measure_cut=0.5)
    assert [limit.above.value for limit in answer.limits if limit.above is not None] == [above]


def test_a_limit_of_groups_does_not_choose_among_the_categories_of_a_mode() -> None:
    """900 rows said a, 700 said b; the one group that was kept of each person was a category."""
    words = ["a"] * 9 + ["b"] * 7
    people = [(f"p{i}", word) for i in range(100) for word in words]
    rows = pd.DataFrame(people, columns=["who", "w"])
    schema = tn.Schema.from_dict(
        {
            "table": {
                "name": "t",
                "unit": "who",
                "neighbours": "add-or-remove",
                "rows_per_unit": 16,
                "groups_per_unit": 1,
            },
            "columns": {
                "who": {"type": "identifier"},
                "w": {"type": "category", "categories": ["a", "b", "c"]},
            },
            "budget": {"total": 50_000},
        }
    )
    with tn.protect(rows, schema=schema, ledger=tn.ledger.Memory()) as data:
        answers = {data.ask("SELECT MODE(w) FROM t", epsilon=1000 + i).value for i in range(8)}
    assert answers == {"a"}
