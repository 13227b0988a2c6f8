"""Noise for whole numbers, moments, and order statistics."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable, NotPromised
from tenue.mechanism import smooth_release
from tenue.mechanism.additive_noise import Atoms, Component, Part, Term, half_width, linear_error
from tenue.mechanism.moment_basis import Axis, Bernstein, basis, functional, powers_of
from tenue.mechanism.smooth import LEAST, smooth_mechanism
from tenue.noise import DiscreteLaplace, Optimal, OptimalBox, Seeded
from tenue.sensitivity import smooth

X, Y = Axis("x", -2, 5), Axis("y", 0, 3)
CASES = [((X,), 1), ((X,), 2), ((X, Y), 1), ((X, Y), 2)]


def moments(rows: Any, axes: Any, degree: int) -> dict[Any, int]:
    return {
        powers: sum(
            math.prod((v - a.low) ** p for v, a, p in zip(row, axes, powers, strict=True))
            for row in rows
        )
        for powers in powers_of(len(axes), degree)
    }


def rows_of(axes: Any) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(a.low, a.low + a.width + 1) for a in axes)))


@pytest.mark.parametrize(("axes", "degree"), CASES)
def test_every_row_moves_the_components_by_the_same_sum(axes: Any, degree: int) -> None:
    budget = math.prod(a.width**degree for a in axes)
    for row in rows_of(axes):
        found = [c.of_moments(moments([row], axes, degree)) for c in basis(axes, degree)]
        assert min(found) >= 0
        assert sum(found) == budget


def test_plain_powers_would_waste_the_budget() -> None:
    """Mutant: noise on n, Σm and Σm² themselves needs a sensitivity of 1 + M + M²."""
    plain = [sum(moments([row], (X,), 2).values()) for row in rows_of((X,))]
    assert max(plain) > X.width**2


@pytest.mark.parametrize(("axes", "degree"), CASES)
def test_moments_are_read_off_the_components(axes: Any, degree: int) -> None:
    rows = rows_of(axes)[::2] * 2
    true = moments(rows, axes, degree)
    released = [c.of_moments(true) for c in basis(axes, degree)]
    for powers in powers_of(len(axes), degree):
        weights = functional(axes, degree, powers)
        read = sum((w * c for w, c in zip(weights, released, strict=True)), Fraction(0))
        assert read == true[powers]


def test_a_component_names_its_columns() -> None:
    assert Bernstein((X, Y), 1, (0, 1)).column == "x and y"


# -- Parts: components of cells and their noise ----------------------------------------------------

ATOMS = Atoms(rows=10, present={"x": 8}, total={"x": 100})
ENDS = {"column": "x", "low": -5, "high": 20}


@pytest.mark.parametrize(
    ("component", "value"),
    [
        (Component("rows"), 10),
        (Component("present", "x"), 8),
        (Component("absent", "x"), 2),
        (Component("total", "x"), 100),
        (Component("minus-total", "x"), -100),
        (Component("above", "x", -5, 20), 60),
        (Component("below", "x", -5, 20), 140),
        (Component("minus-below", "x", -5, 20), -140),
    ],
)
def test_components_follow_their_definition(component: Component, value: int) -> None:
    assert component.of(ATOMS) == value


def test_above_and_below_hold_count_and_sum() -> None:
    above, below = (Component(k, "x", -5, 20).of(ATOMS) for k in ("above", "below"))  # type: ignore[arg-type]
    assert (above + below) / 25 == 8
    assert Fraction(-5 * above + 20 * below, 25) == 100


LAWS = [
    (DiscreteLaplace(sensitivity=1, epsilon=1), 1),
    ((DiscreteLaplace(sensitivity=1, epsilon=1), DiscreteLaplace(sensitivity=9, epsilon=1)), 2),
    (OptimalBox(sensitivities=[1, 3], epsilon=1), 2),
]


@pytest.mark.parametrize(("law", "size"), LAWS)
def test_noise_is_added_to_the_truth(law: object, size: int) -> None:
    part = Part("p", (Component("rows"), Component("present", "x"))[:size], law, Fraction(1))  # type: ignore[arg-type]
    released = part.release([ATOMS] * 3000)
    assert len(released) == 3000
    assert {len(row) for row in released} == {size}
    mean = sum(row[0] for row in released) / 3000
    assert abs(mean - 10) < 1  # 20 standard errors or more for every law here
    assert len({row[0] for row in released}) > 3


def test_a_repeatable_source_is_refused() -> None:
    part = Part("p", (Component("rows"),), LAWS[0][0], Fraction(1))  # type: ignore[arg-type]
    with pytest.raises(NotPromised):
        part.release([ATOMS], Seeded(1))


# -- Errors of sums of components ------------------------------------------------------------------

ERROR_ROWS = (Component("rows"),)
LAPLACE = DiscreteLaplace(sensitivity=4, epsilon=1)
STEP = Optimal(sensitivity=30, epsilon=1).on_grid(1)
BOX = OptimalBox(sensitivities=[1, 5], epsilon=1, signs="same")
PARTS = (
    Part("a", ERROR_ROWS, LAPLACE, Fraction(1)),
    Part("b", ERROR_ROWS, STEP, Fraction(1)),
    Part("c", ERROR_ROWS * 2, BOX, Fraction(1)),
)
LEVEL = Fraction(9, 10)


def test_single_terms_have_the_law_of_their_part() -> None:
    for number, law in ((0, LAPLACE), (1, STEP)):
        error = linear_error(PARTS, (Term(number, 0, Fraction(-3)),))
        assert error.variance == pytest.approx(9 * law.variance)
        assert error.mean_absolute_error == pytest.approx(3 * law.mean_absolute_error)
        assert half_width(error, LEVEL) == pytest.approx(3 * law.interval(LEVEL)[1])
    box = linear_error(PARTS, (Term(2, 1, Fraction(1)),))
    assert half_width(box, LEVEL) == BOX.on_grid(1).interval(LEVEL)[1][1]
    assert box.quick_half_width(LEVEL) == pytest.approx(BOX.interval(LEVEL)[1][1])


def test_laplace_terms_add_up_exactly() -> None:
    parts = (PARTS[0], PARTS[0])
    error = linear_error(parts, (Term(0, 0, Fraction(1)), Term(1, 0, Fraction(1))))
    assert error.variance == pytest.approx(2 * LAPLACE.variance)
    assert half_width(error, LEVEL) < 1.8 * LAPLACE.interval(LEVEL)[1]


def test_mixed_terms_are_bounded() -> None:
    error = linear_error(PARTS, (Term(0, 0, Fraction(1)), Term(1, 0, Fraction(1))))
    assert error.variance >= LAPLACE.variance + STEP.variance
    assert error.mean_absolute_error is None
    alone = Fraction(19, 20)
    assert half_width(error, LEVEL) == pytest.approx(
        LAPLACE.interval(alone)[1] + STEP.interval(alone)[1]
    )


def test_terms_that_cancel_leave_no_error() -> None:
    error = linear_error(PARTS, (Term(0, 0, Fraction(0)),))
    assert (error.variance, half_width(error, LEVEL)) == (0, 0)


# -- Releases scaled to the smooth sensitivity -----------------------------------------------------

ROWS = [1, 2, 2, 5, 9]


def made(statistic="median", rows=ROWS, low=0, high=10, epsilon=1, gamma=2, **given):
    return smooth_mechanism(
        statistic, rows, low, high, epsilon, gamma, **{"rows_public": True, **given}
    )


@pytest.mark.parametrize(
    ("statistic", "given", "truth", "parts"),
    [
        ("median", {}, 2, 1),
        ("median", {"rows": [1, 2, 5, 9]}, 7, 2),
        ("max", {}, 9, 1),
        ("min", {"rows": np.array(ROWS)}, 1, 1),
        ("second-max", {}, 5, 1),
        ("quantile", {"q": 0.7}, 5, 1),
        ("kth-largest", {"k": 5}, 1, 1),
        ("max", {"rows": [99, 3]}, 10, 1),
    ],
)
def test_truths(statistic, given, truth, parts):
    mechanism = made(statistic, **given)
    assert (mechanism.truth, mechanism.parts) == (truth, parts)
    assert (mechanism.low, mechanism.high) == (0, 10 * parts)


def test_the_scale_is_four_gamma_sensitivities_over_epsilon():
    mechanism = made(epsilon="1/2", gamma=3)
    wanted = smooth("median", ROWS, bounds=(0, 10), beta="1/6")
    assert float(mechanism.spread) == pytest.approx(wanted, rel=1e-12)
    assert float(mechanism.spread) >= wanted
    assert float(mechanism.law._scale) == pytest.approx(4 * 3 * wanted / 0.5, rel=1e-12)


def test_release_is_the_truth_plus_the_law_settled():
    mechanism = made(rows=[1, 2, 5, 9])
    for seed in range(20):
        noise = mechanism.law.steps(source=Seeded(seed))
        assert mechanism.release(Seeded(seed)) == mechanism.settle(noise)
    assert mechanism.settle(-2) == Fraction(5, 2)
    assert (mechanism.settle(99), mechanism.settle(-99)) == (10, 0)


def test_a_vanishing_sensitivity_is_not_refused():
    """e^-500000 of a constant column: a refusal would tell that the column is constant."""
    rows = np.full(100_001, 7)
    assert made(rows=rows, epsilon=100).spread == LEAST
    assert smooth_release("median", rows, 0, 10, 100, 2, rows_public=True) == 7


def test_a_domain_of_one_point():
    assert smooth_release("median", [3, 3], 3, 3, 1, 2, rows_public=True) == 3


@pytest.mark.parametrize(
    ("refusal", "given"),
    [
        (NotPromised, {"rows_public": False}),
        (InvalidArgument, {"gamma": 7}),
        (InvalidArgument, {"gamma": 1}),
        (InvalidArgument, {"epsilon": 0}),
        (InvalidArgument, {"high": 10.5}),
        (InvalidArgument, {"high": 2**60}),
        (InvalidArgument, {"low": 11}),
        (InvalidArgument, {"statistic": "mean"}),
        (InvalidTable, {"rows": [0.5, 1]}),
        (InvalidTable, {"rows": [1, None]}),
        (InvalidTable, {"rows": []}),
    ],
)
def test_refusals(refusal, given):
    with pytest.raises(refusal):
        made(**given)


def test_a_release_draws_from_the_operating_system():
    with pytest.raises(NotPromised):
        smooth_release("median", ROWS, 0, 10, 1, 2, Seeded(7), rows_public=True)


def test_rows_public_must_be_stated():
    with pytest.raises(InvalidArgument, match="needs `rows_public`"):
        smooth_release("median", ROWS, 0, 10, 1, 2)
