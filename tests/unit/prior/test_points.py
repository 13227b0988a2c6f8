"""Beliefs about categories, points and counts."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidPrior, Refused
from tenue.mechanism import refine
from tenue.noise import Seeded
from tenue.prior import BetaBinomial, Binomial, Categorical, Ordinal, Points, Table, normalised
from tenue.prior.counts import with_points
from tenue.prior.points import numeric_place


def test_impossible_categories_are_left_out() -> None:
    belief = Categorical({"a": 0.7, "b": 0.3, "c": 0})
    assert belief.values == ("a", "b")
    assert belief.mass("c") == belief.mass(None) == belief.mass(1.5) == 0
    assert set(belief.sample(50, Seeded(5))) == {"a", "b"}


def test_booleans_and_whole_numbers_are_categories() -> None:
    assert Categorical({True: 0.1, False: 0.9}).mass(True) == Fraction(1, 10)
    assert Categorical({0: 0.1, 1: 0.9}).sample(source=Seeded(1)) in (0, 1)


def test_numpy_values_are_what_they_hold() -> None:
    """Otherwise the truth of an engine would have no place, and nothing would be refined."""
    for belief, value in (
        (Categorical({True: 0.1, False: 0.9}), np.bool_(True)),
        (Categorical({1: 0.1, 0: 0.9}), np.int64(1)),
        (Categorical({"a": 0.1, "b": 0.9}), np.str_("a")),
        (Points({0.1: 0.1, 0: 0.9}), np.float32(0.1)),
        (Points({1: 0.1, 0: 0.9}), np.bool_(True)),
        (Table({("a", True): 0.1, ("b", True): 0.9}), (np.str_("a"), np.bool_(True))),
    ):
        assert belief.mass(value) == Fraction(1, 10)
        assert refine(belief, value, 1, kind="individual").mass(value) > Fraction(1, 5)


def test_ranks_count_categories_of_mass_zero() -> None:
    belief = Ordinal(["low", "middle", "high"], [0.5, 0, 0.5])
    assert belief.values == ("low", "high")
    assert [belief.rank(label) for label in ("low", "high", "none", 3.5)] == [0, 2, None, None]


@pytest.mark.parametrize(
    ("order", "masses"),
    [
        (["a", "a"], [0.5, 0.5]),
        (["a"], [0.5, 0.5]),
        ([1.5], [1]),
        ("ab", [0.5, 0.5]),
        ([], []),
        (["a"], 1),
        (["a", "b"], [0.5, 0.4]),
    ],
)
def test_what_is_no_order_is_refused(order: object, masses: object) -> None:
    with pytest.raises(InvalidPrior):
        Ordinal(order, masses)  # type: ignore[arg-type]


@pytest.mark.parametrize("masses", [{1.5: 1}, {None: 1}, [("a", 0.5), ("a", 0.5)], {("a",): 1}])
def test_what_is_no_category_is_refused(masses: object) -> None:
    with pytest.raises(InvalidPrior):
        Categorical(masses)  # type: ignore[arg-type]


# -- Beliefs about numbers, given point by point ---------------------------------------------------


def test_masses_moments_and_support() -> None:
    belief = Points({2.5: 0.25, -1: 0.5, 7: 0, "4": 0.25})
    assert belief.values == (-1, Fraction(5, 2), 4)
    assert belief.mass(7) == 0
    assert belief.mass(2.5) == belief.mass("5/2") == Fraction(1, 4)
    assert belief.mass("green") == 0
    assert belief.mean == 1.125
    assert belief.variance == pytest.approx(0.5 + 0.25 * 6.25 + 0.25 * 16 - 1.125**2)
    assert belief.unit == Fraction(1, 2)
    assert belief.steps == (-2, 5, 8)


def test_a_grid_is_checked() -> None:
    belief = Points({2.5: 0.25, -1: 0.75})
    assert belief.on_grid("0.5") is belief
    for grid in (1, 0, -1, "x"):
        with pytest.raises(InvalidPrior):
            belief.on_grid(grid)


def test_zero_alone_has_a_unit() -> None:
    assert Points({0: 1}).unit == 1
    assert Points({0: 1}).variance == 0


@pytest.mark.parametrize(
    "masses",
    [{}, {"red": 1}, {1: 0.5, "1.0": 0.5}, {math.inf: 1}, {None: 1}, {0: 0.5}, [(1, 0.5)], "ab"],
)
def test_what_is_no_belief_is_refused(masses: object) -> None:
    with pytest.raises(InvalidPrior):
        Points(masses)  # type: ignore[arg-type]


def test_a_belief_is_frozen_and_compared_by_content() -> None:
    belief = Points({1: 0.5, 2: 0.5})
    with pytest.raises(InvalidPrior):
        belief.total = 3
    assert belief == Points([(2, "1/2"), (1, "1/2"), (3, 0)])
    assert hash(belief) == hash(Points([(2, "1/2"), (1, "1/2")]))
    assert belief != Points({1: 0.4, 2: 0.6})
    assert belief != Categorical({1: 0.5, 2: 0.5})


def test_samples_are_numbers() -> None:
    belief = Points(normalised({1: 1, 2.5: 1}))
    assert belief.sample(source=Seeded(1)) in (1, 2.5)
    drawn = belief.sample(5, Seeded(2))
    assert isinstance(drawn, np.ndarray)
    assert drawn.tolist() == belief.sample(5, Seeded(2)).tolist()


def test_places_of_odd_values() -> None:
    assert numeric_place(True) == 1
    assert numeric_place("0.5") == Fraction(1, 2)
    for value in (None, "x", math.nan, math.inf, object(), [1], b"1"):
        assert numeric_place(value) is None


# -- Binomial and beta-binomial beliefs: exact masses, and logarithms for large n ------------------


def beta_binomial(n: int, a: Fraction, b: Fraction) -> list[Fraction]:
    """Rising factorials: exact."""

    def rising(x: Fraction, k: int) -> Fraction:
        return math.prod((x + i for i in range(k)), start=Fraction(1))

    total = rising(a + b, n)
    return [math.comb(n, k) * rising(a, k) * rising(b, n - k) / total for k in range(n + 1)]


@pytest.mark.parametrize(("n", "p"), [(1, "0.5"), (20, "0.3"), (60, "0.001"), (60, "0.97")])
def test_binomial_masses_are_the_true_ones_to_thirty_digits(n: int, p: str) -> None:
    share = Fraction(p)
    points = Binomial(n, p).points
    assert points.values == tuple(range(n + 1))
    assert sum(points.masses.values()) == 1
    peak = max(points.masses.values())
    for k in range(n + 1):
        true = math.comb(n, k) * share**k * (1 - share) ** (n - k)
        assert abs(points.mass(k) - true) <= peak / 2**120


@pytest.mark.parametrize(("a", "b"), [("1", "1"), ("0.5", "0.5"), ("2.5", "0.1"), ("30", "7")])
def test_beta_binomial_masses_are_the_true_ones(a: str, b: str) -> None:
    belief = BetaBinomial(25, a, b)
    true = beta_binomial(25, Fraction(a), Fraction(b))
    peak = max(true)
    assert all(abs(belief.points.mass(k) - mass) <= peak / 2**115 for k, mass in enumerate(true))
    assert belief.mean == pytest.approx(belief.points.mean, rel=1e-12)
    assert belief.variance == pytest.approx(belief.points.variance, rel=1e-12)
    logs = belief.lattice.log_weights(0, 25)
    assert logs - logs[0] == pytest.approx([math.log(mass / true[0]) for mass in true], abs=1e-12)


def test_no_count_is_impossible() -> None:
    points = Binomial(4095, "0.0001").points
    assert len(points.values) == 4096
    assert points.mass(4095) > 0


def test_logarithms_of_a_window_agree_with_single_ones() -> None:
    lattice = Binomial(10**7, 0.3).lattice
    window = lattice.log_weights(2_999_000, 3_001_000)
    singles = [Binomial(10**7, 0.3).log_weight(k) for k in (2_999_000, 3_000_000, 3_001_000)]
    assert window[1000] - window[0] == pytest.approx(singles[1] - singles[0], abs=1e-6)
    assert window[2000] - window[0] == pytest.approx(singles[2] - singles[0], abs=1e-6)
    assert int(np.argmax(window)) == 1000


def test_concavity_is_known() -> None:
    assert Binomial(10, 0.5).concave
    assert BetaBinomial(10, 1, 2).concave
    assert not BetaBinomial(10, 0.9, 2).concave


def test_too_many_points_to_refine() -> None:
    assert len(Binomial(4095, 0.5).on_grid(1).values) == 4096
    with pytest.raises(InvalidPrior, match="4096"):
        _ = Binomial(4096, 0.5).points


@pytest.mark.parametrize(
    "make",
    [
        lambda: Binomial(0, 0.5),
        lambda: Binomial(10, 0),
        lambda: Binomial(10, 1),
        lambda: Binomial(10, 30),
        lambda: Binomial(1.5, 0.5),
        lambda: Binomial(10**10, 0.5),
        lambda: Binomial(10),  # type: ignore[call-arg]
        lambda: BetaBinomial(10, 0, 1),
        lambda: BetaBinomial(10, 1, 1e13),
        lambda: BetaBinomial(10, 1, float("nan")),
    ],
)
def test_wrong_parameters_are_refused(make: object) -> None:
    with pytest.raises(Refused):
        make()  # type: ignore[operator]


def test_counts_stand_for_points_and_other_beliefs_for_themselves() -> None:
    belief = Binomial(10, "0.5")
    assert with_points(belief) is belief.points
    assert with_points(belief.points) is belief.points
    assert with_points(None) is None
