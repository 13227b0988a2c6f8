"""The exact loss of answers to somebody who believes something, through the session.

Every small table is asked; the law that the session really draws from is caught as it is made. The
exact masses of any two neighbouring tables are then held against what the ledger was debited.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from small_tables import TABLES, Rows, divergence, largest_ratio, masses, neighbouring, session
from tenue.mechanism import refine
from tenue.mechanism.additive_noise import Part
from tenue.mechanism.refinement.update_factors import power_above, power_below
from tenue.prior import Binomial, Categorical, Points, Table, Uniform

EPSILON = Fraction(7, 10)
DELTA = Fraction(1, 10)
EVEN = Points({0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25})
JOINT = Table({(0, 0): 0.4, (1, 3): 0.3, (2, 3): 0.2, (2, 6): 0.1})
STATISTICS = [
    ("SELECT COUNT(*) FROM t WHERE g = 'a'", EVEN),
    ("SELECT COUNT(x) FROM t", Binomial(2, 0.5)),
    ("SELECT SUM(x) FROM t", Points({1: 0.2, 2: 0.5, 5: 0.3})),
    ("SELECT AVG(x) FROM t WHERE g = 'a'", Points({0: 0.3, 1: 0.3, 3: 0.4})),
    ("SELECT COUNT(*), SUM(x) FROM t WHERE g = 'b'", JOINT),
]
PERSONS = [
    ("SELECT g FROM t WHERE id = 1", Categorical({"a": 0.3, "b": 0.3, "c": 0.4})),
    ("SELECT x FROM t WHERE id = 2", EVEN),
    (
        "SELECT g, x FROM t WHERE id = 1",
        Table({("a", 0): 0.25, ("a", 3): 0.25, ("b", 0): 0.25, ("c", 3): 0.25}),
    ),
]
REFINEMENT = {"protocol": {"kind": "refinement"}}
Caught = dict[Rows, tuple[dict[Any, Fraction], Fraction, Fraction]]


def ask_all(
    monkeypatch: pytest.MonkeyPatch,
    sql: str,
    prior: Any,
    neighbours: str,
    *,
    delta: Fraction | None = None,
    drawn_with: Callable[..., Any] = refine,
) -> Caught:
    """For every table the exact law of the answer, and the epsilon and delta debited."""
    laws: list[Any] = []

    def caught(*given: Any, **more: Any) -> Any:
        laws.append(drawn_with(*given, **more))
        return laws[-1]

    monkeypatch.setattr("tenue.ask.belief.refine.refine", caught)
    found = {}
    for rows in TABLES:
        with session(rows, neighbours, **REFINEMENT) as data:
            answer = data.ask(sql, epsilon=EPSILON, prior=prior, delta=delta)
            assert answer.noisy is None
            found[rows] = (masses(laws[-1]), data.budget.spent, data.budget.spent_delta)
            assert answer.price == data.budget.spent
            assert answer.delta == data.budget.spent_delta
    return found


def worst_ratio(found: Caught, neighbours: str) -> Fraction:
    return max(largest_ratio(found[a][0], found[b][0]) for a, b in neighbouring(neighbours))


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize(("sql", "prior"), STATISTICS, ids=lambda v: v if type(v) is str else "")
def test_a_refined_statistic_loses_what_was_paid(
    monkeypatch: pytest.MonkeyPatch, sql: str, prior: Any, neighbours: str
) -> None:
    found = ask_all(monkeypatch, sql, prior, neighbours)
    assert {paid[1:] for paid in found.values()} == {(EPSILON, 0)}
    worst = max(largest_ratio(a[0], b[0]) for a in found.values() for b in found.values())
    assert worst_ratio(found, neighbours) <= worst <= power_above(EPSILON)
    assert math.log(worst) > 0.4 * EPSILON  # and it is of use


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize(("sql", "prior"), PERSONS, ids=lambda v: v if type(v) is str else "")
def test_a_question_about_a_person_loses_what_was_paid(
    monkeypatch: pytest.MonkeyPatch, sql: str, prior: Any, neighbours: str
) -> None:
    found = ask_all(monkeypatch, sql, prior, neighbours)
    (paid,) = {paid[1:] for paid in found.values()}
    assert paid == (EPSILON * (2 if neighbours == "replace" else 1), 0)
    worst = worst_ratio(found, neighbours)
    assert worst <= power_above(paid[0])
    # mutant: charged once under replace, which some pair of values exceeds
    assert (worst > power_above(EPSILON)) == (neighbours == "replace")


def test_a_statistic_refined_as_if_about_one_person_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mutant: the factors of an individual question, which any two truths exceed."""

    def mutant(*given: Any, **more: Any) -> Any:
        return refine(*given, **{**more, "kind": "individual"})

    sql, prior = STATISTICS[0]
    found = ask_all(monkeypatch, sql, prior, "add-or-remove", drawn_with=mutant)
    assert worst_ratio(found, "add-or-remove") > power_above(EPSILON)


def test_a_mean_of_no_rows_taken_as_zero_is_within_the_price(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The empty table keeps the prior; its neighbours are no farther from it than from another."""
    sql, prior = STATISTICS[3]
    found = ask_all(monkeypatch, sql, prior, "add-or-remove")
    assert found[()][0] == dict(prior.masses)
    half = power_above(EPSILON / 2)
    assert all(largest_ratio(found[()][0], one[0]) <= half for one in found.values())


def test_a_mean_refined_over_a_density(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT AVG(x) FROM t"
    laws: list[Any] = []

    def caught(*given: Any, **more: Any) -> Any:
        laws.append(refine(*given, **more))
        return laws[-1]

    monkeypatch.setattr("tenue.ask.belief.refine.refine", caught)
    found = []
    for rows in TABLES[::4]:
        with session(rows, "add-or-remove", **REFINEMENT) as data:
            data.ask(sql, epsilon=EPSILON, prior=Uniform(0, 3))
            found.append(laws[-1])
    centres = {law._truth if law._ball else None for law in found}
    assert len(centres) > 2
    for law in found:
        for truth in centres:
            assert law.ratio_against(truth) <= power_above(EPSILON)


# -- delta -----------------------------------------------------------------------------------------

DELTA_CASES = [
    (*STATISTICS[3], "add-or-remove", Fraction(1), Fraction(1)),
    (*STATISTICS[2], "add-or-remove", Fraction(1), Fraction(1)),
    (*STATISTICS[4], "replace", Fraction(1), Fraction(1)),
    (*PERSONS[0], "add-or-remove", Fraction(1), Fraction(1)),
    (*PERSONS[0], "replace", Fraction(2), 1 + power_above(EPSILON)),
    (*PERSONS[2], "replace", Fraction(2), 1 + power_above(EPSILON)),
]


@pytest.mark.parametrize(("sql", "prior", "neighbours", "times", "growth"), DELTA_CASES)
def test_delta_covers_the_rest(
    monkeypatch: pytest.MonkeyPatch,
    sql: str,
    prior: Any,
    neighbours: str,
    times: Fraction,
    growth: Fraction,
) -> None:
    found = ask_all(monkeypatch, sql, prior, neighbours, delta=DELTA)
    ((epsilon, delta),) = {paid[1:] for paid in found.values()}
    assert epsilon == times * EPSILON
    assert DELTA * growth <= delta <= DELTA * growth + Fraction(1, 10**17)
    worst = max(divergence(found[a][0], found[b][0], epsilon) for a, b in neighbouring(neighbours))
    assert 0 < worst <= delta
    # soundness section 4 has a smaller delta for a replaced person; the ledger's covers it
    if times == 2:
        assert worst <= DELTA * (power_above(EPSILON) + 1 / power_below(EPSILON)) <= delta


def test_a_delta_moved_in_full_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: mass delta is moved where only delta·e^-ε may be."""

    def mutant(*given: Any, **more: Any) -> Any:
        return refine(*given, **{**more, "delta": more["delta"] * power_above(EPSILON)})

    sql, prior = PERSONS[0]
    found = ask_all(monkeypatch, sql, prior, "add-or-remove", delta=DELTA, drawn_with=mutant)
    pairs = neighbouring("add-or-remove")
    assert max(divergence(found[a][0], found[b][0], EPSILON) for a, b in pairs) > DELTA


# -- noise, where it is chosen ---------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize(
    ("sql", "prior"),
    [
        ("SELECT COUNT(*) FROM t WHERE g = 'a'", Binomial(100, 0.5)),
        ("SELECT SUM(x) FROM t", Uniform(0, 200)),
    ],
)
def test_noise_under_a_prior_loses_what_was_paid(
    monkeypatch: pytest.MonkeyPatch, sql: str, prior: Any, neighbours: str
) -> None:
    caught: list[tuple[Part, int]] = []
    release = Part.release

    def watched(part: Part, cells: Any, source: Any) -> Any:
        (component,), (atoms,) = part.components, cells
        caught.append((part, component.of(atoms)))
        return release(part, cells, source)

    monkeypatch.setattr(Part, "release", watched)
    truth = {}
    for rows in TABLES:
        with session(rows, neighbours) as data:
            answer = data.ask(sql, epsilon=EPSILON, prior=prior)
            assert answer.noisy is not None
            assert data.budget.spent == EPSILON
            truth[rows] = caught[-1]
    losses = [
        truth[a][0].law.loss(truth[b][1] - truth[a][1])  # type: ignore[union-attr]
        for a, b in neighbouring(neighbours)
        if truth[a][1] != truth[b][1]
    ]
    assert max(losses) == pytest.approx(float(EPSILON))
