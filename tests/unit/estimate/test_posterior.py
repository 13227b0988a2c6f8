"""What is known of numbers after noisy answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayes_oracle import binomial, mean, median, posterior
from tenue.errors import InvalidArgument, InvalidPrior, NotPromised, Refused
from tenue.estimate import Posterior, count, counts, out_of_range, total
from tenue.estimate.truncated_support import (
    likelihood,
    noisy_steps,
    possible,
    require_free,
)
from tenue.noise import DiscreteLaplace, HeavyTail, IndependentLaplace, Laplace, Optimal, OptimalBox
from tenue.prior import (
    BetaBinomial,
    Binomial,
    Categorical,
    Histogram,
    Normal,
    Points,
    Uniform,
    normalised,
)
from tenue.promise import Approximate, Individual, KAnonymity, Pure


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace(sensitivity=3, epsilon=1, grid="0.5"),
        Optimal(sensitivity=10, epsilon=2).on_grid(1),
        Optimal(sensitivity=10, epsilon=2, d=3).on_grid("0.5"),
    ],
    ids=repr,
)
def test_laws_on_a_grid(law: Any) -> None:
    found = likelihood(law)
    k = np.arange(60)
    assert found.log(k.astype(float)) - found.log(np.zeros(1)) == pytest.approx(
        np.log(law.mass(k)) - np.log(law.mass(0)), abs=1e-9
    )
    assert np.abs(found.log(k.astype(float)) + found.rate * k).max() <= found.slack + 1e-9
    assert found.unit == law.grid


@pytest.mark.parametrize(
    "law", [Laplace(sensitivity=3, epsilon=1), Optimal(sensitivity=2, epsilon=1)]
)
def test_densities(law: Any) -> None:
    found = likelihood(law)
    x = np.linspace(0.013, 30, 500)
    assert found.log(x) - found.log(x[:1]) == pytest.approx(
        np.log(law.pdf(x)) - np.log(law.pdf(x[:1])), abs=1e-9
    )
    assert not found.exact


def test_where_a_noisy_value_can_be() -> None:
    found = likelihood(DiscreteLaplace(sensitivity=3, epsilon=1, grid="0.5"))
    assert noisy_steps(Fraction(7, 2), found) == 7
    with pytest.raises(Refused):
        noisy_steps(Fraction(1, 3), found)


def test_vectors_are_refused() -> None:
    for law in (OptimalBox(sensitivities=[1], epsilon=1), IndependentLaplace(scales=[1]), None):
        with pytest.raises(Refused):
            likelihood(law)


def test_differential_privacy_passes() -> None:
    require_free(law=DiscreteLaplace(sensitivity=1, epsilon=1), promise=Pure(1))
    require_free(promise=Approximate(1, 1e-6))


def test_secret_scales_do_not() -> None:
    heavy = HeavyTail(gamma=4, smooth_sensitivity=1, epsilon=1)
    for facts in ({"law": heavy}, {"law": heavy.on_grid(1)}, {"promise": Individual(1)}):
        with pytest.raises(NotPromised):
            require_free(**facts)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        require_free(promise=KAnonymity(3))


# -- The window holds everything that weighs anything ----------------------------------------------


@settings(max_examples=150)
@given(
    st.sampled_from(
        [Binomial(3000, 0.3), Binomial(2000, "0.999"), BetaBinomial(3000, 2, 5), Binomial(1, 0.5)]
    ),
    st.integers(-5000, 9000),
    st.sampled_from([0.0, 0.001, 0.1, 3.0]),
)
def test_what_is_left_out_weighs_nothing(
    prior: Binomial | BetaBinomial, noisy: int, rate: float
) -> None:
    lattice = prior.lattice
    first, last = lattice.near(noisy, rate, 60)
    k = np.arange(prior.n + 1)
    logs = lattice.log_weights(0, prior.n) - rate * np.abs(k - noisy)
    weights = np.exp(logs - logs.max())
    assert weights[first : last + 1].sum() / weights.sum() == pytest.approx(1, abs=1e-15)
    assert weights[:first].sum() + weights[last + 1 :].sum() < 1e-20
    # and little more: the ends lie about sixty e-folds below the peak
    assert logs.max() - logs[first] <= 60.001
    assert logs.max() - logs[last] <= 60.001


def test_steps_of_a_staircase_are_allowed_for() -> None:
    law = Optimal(sensitivity=50, epsilon=30).on_grid(1)
    steps, logs, unit = possible(Uniform(0, 10**6), Fraction(500_000), likelihood(law))
    assert unit == 1
    assert steps[0] < 500_000 - 100 < 500_000 + 100 < steps[-1]
    assert logs.tolist() == [0.0] * steps.size


def test_wide_windows_are_put_on_a_coarser_grid() -> None:
    """A sum of incomes: the noise alone spans a hundred million steps."""
    law = DiscreteLaplace(sensitivity=200_000, epsilon="0.1")
    for prior in (Uniform(0, 10**9), Histogram([0, 10**9], [1])):
        steps, _, unit = possible(prior, Fraction(5 * 10**8), likelihood(law))
        assert unit.denominator == 1
        assert steps.size <= 1 << 20
        assert float(unit) < 2_000_000 / 1000
        found = total(5 * 10**8, law, prior)
        assert found.mean == pytest.approx(5 * 10**8, rel=1e-5)
        assert found.variance == pytest.approx(law.variance, rel=1e-4)
    near = total(33_000_000, law, Normal(30_000_000, 2_000_000, 0, 10**9))
    scaled = DiscreteLaplace(sensitivity=200, epsilon="0.1")
    small = total(33_000, scaled, Normal(30_000, 2000, 0, 10**6))
    assert near.mean == pytest.approx(1000 * small.mean, rel=1e-6)
    assert near.interval("0.95")[0] == pytest.approx(1000 * small.interval("0.95")[0], rel=1e-3)


def test_holes_of_a_histogram() -> None:
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    prior = Histogram([0, 10, 1000, 1010], ["1/2", 0, "1/2"])
    for noisy, side in ((-500, 0), (400, 0), (600, 1000), (5000, 1000)):
        found = total(noisy, law, prior)
        assert side <= found.mean <= side + 10
        logs = prior.lattice(Fraction(1)).log_weights(0, 1010) - np.abs(np.arange(1011) - noisy)
        weights = np.exp(logs - logs.max())
        true = float(weights @ np.arange(1011) / weights.sum())
        assert found.mean == pytest.approx(true, rel=1e-9)


def test_too_wide_windows_are_refused() -> None:
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    far = Histogram([0, 10, 2 * 10**8, 3 * 10**8], ["1/2", 0, "1/2"])
    for prior, noisy in ((Uniform(0, 10**100), 500), (far, 10**8)):
        with pytest.raises(InvalidArgument):
            total(noisy, law, prior)
    with pytest.raises(InvalidArgument):
        total(5, DiscreteLaplace(sensitivity=1, epsilon="1e-9"), BetaBinomial(10**9, 1, 1))
    lattice = Normal(0, 10**5, -(10**7), 10**7).lattice(Fraction(1))
    first, last = lattice.near(0, 0, 60)
    assert -first == last == pytest.approx(10**5 * np.sqrt(120), abs=2)


# -- What a posterior answers ----------------------------------------------------------------------

WEIGHTS = st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any)


def made(weights: list[int], unit: Fraction = Fraction(1), start: int = 0) -> Posterior:
    kept = [k for k, w in enumerate(weights) if w]
    logs = np.log([weights[k] for k in kept])
    return Posterior(np.array(kept) + start, logs - 1000, unit)


@given(WEIGHTS, st.sampled_from([Fraction(1), Fraction(1, 4)]), st.integers(-5, 10**6))
def test_against_sums(weights: list[int], unit: Fraction, start: int) -> None:
    found = made(weights, unit, start)
    total = sum(weights)
    values = [float((start + k) * unit) for k in range(len(weights))]
    pairs = list(zip(values, weights, strict=True))
    mean = sum(v * w for v, w in pairs) / total
    assert found.mean == pytest.approx(mean, rel=1e-12, abs=1e-9)
    assert found.variance == pytest.approx(
        sum((v - mean) ** 2 * w for v, w in pairs) / total, abs=1e-6
    )
    for v, w in pairs:
        assert found.mass(Fraction(v)) == pytest.approx(w / total)
    assert found.probability(values[0], values[-1]) == pytest.approx(1)
    assert found.probability(values[-1], values[0] - 1) == 0
    # the median minimises the absolute error
    errors = [sum(abs(v - c) * w for v, w in pairs) / total for c in values]
    assert found.mean_absolute_error == pytest.approx(min(errors), abs=1e-6)
    assert dict(pairs)[float(found.mode)] == max(weights)


@given(WEIGHTS, st.sampled_from(["0.05", "0.5", "0.9", "0.99"]))
def test_the_interval_is_the_shortest(weights: list[int], level: str) -> None:
    found = made(weights)
    low, high = found.interval(level)
    assert found.probability(low, high) >= float(level) - 1e-9
    wanted = Fraction(level) * sum(weights)
    widths = [
        b - a
        for a in range(len(weights))
        for b in range(a, len(weights))
        if sum(weights[a : b + 1]) >= wanted
    ]
    assert high - low == min(widths)


def test_values_are_whole_where_the_grid_is() -> None:
    assert isinstance(made([1, 3]).median, int)
    assert made([1, 3], Fraction(1, 2)).mode == 0.5
    assert "95 %" in repr(made([1, 3]))
    assert made([1, 1]).values.tolist() == [0, 1]
    assert math.isclose(made([1, 3]).masses.sum(), 1)


def test_levels_are_between_zero_and_one() -> None:
    for level in (0, 1, 95, "x"):
        with pytest.raises(InvalidArgument):
            made([1, 3]).interval(level)


def test_it_is_shown_in_a_line_and_in_a_table() -> None:
    found = Posterior(np.arange(5), np.log([1.0, 2.0, 4.0, 2.0, 1.0]), Fraction(1, 2))
    assert repr(found) == "Posterior(mean=1, median=1, 95 %: 0 to 2)"
    shown = found._repr_html_()
    for fact in ("<td>1</td>", "<td>0 and 2</td>", "median", "most likely"):
        assert fact in shown


# -- One noisy number ------------------------------------------------------------------------------

ONE = DiscreteLaplace(sensitivity=1, epsilon="0.3")


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("p", ["0.3", "0.02", "0.999"])
@pytest.mark.parametrize("noisy", [-40, 0, 3, 25, 200])
def test_discrete_laplace(n: int, p: str, noisy: int) -> None:
    true = posterior(binomial(n, p), lambda k: Fraction(-3, 10) * abs(noisy - k) + Fraction(0))
    found = count(noisy, ONE, Binomial(n, p))
    assert [found.mass(k) for k in range(n + 1)] == pytest.approx(true, rel=1e-9, abs=1e-15)
    assert found.mean == pytest.approx(mean(true), rel=1e-11)
    assert found.median == median(true)


def test_the_law_actually_used() -> None:
    """Continuous Laplace at a fractional value, the staircase, and the staircase on its grid."""
    prior = binomial(60, "0.3")
    step = Optimal(sensitivity=5, epsilon=2).on_grid(1)
    smooth = Optimal(sensitivity=5, epsilon=2)
    cases = [
        (Laplace(sensitivity=2, epsilon=1), 21.7, lambda k: -abs(21.7 - k) / 2),
        (step, 22, lambda k: math.log(step.mass(22 - k))),
        (smooth, 22.4, lambda k: math.log(smooth.pdf(22.4 - k))),
        (DiscreteLaplace(sensitivity=1, epsilon=1, grid="0.5"), 22.5, lambda k: -abs(22.5 - k)),
    ]
    for law, noisy, log in cases:
        true = posterior(prior, log)
        found = count(noisy, law, Binomial(60, "0.3"))
        assert [found.mass(k) for k in range(61)] == pytest.approx(true, rel=1e-9, abs=1e-16)


def test_other_priors() -> None:
    uniform = posterior([Fraction(1)] * 21, lambda k: -0.3 * abs(5 - k))
    for prior in (Uniform(0, 20), BetaBinomial(20, 1, 1), Uniform(0, 20).on_grid(1)):
        found = count(5, ONE, prior)
        assert [found.mass(k) for k in range(21)] == pytest.approx(uniform, rel=1e-9)
    uneven = Points(normalised({0: 1, 3: 5, 20: 2}))
    found = count(5, ONE, uneven)
    weights = [1 * math.exp(-1.5), 5 * math.exp(-0.6), 2 * math.exp(-4.5)]
    assert [found.mass(k) for k in (0, 3, 20)] == pytest.approx([w / sum(weights) for w in weights])
    assert found.mass(4) == 0
    u_shaped = BetaBinomial(30, "0.5", "0.5")
    true = posterior([u_shaped.points.mass(k) for k in range(31)], lambda k: -0.3 * abs(5 - k))
    found = count(5, ONE, u_shaped)
    assert [found.mass(k) for k in range(31)] == pytest.approx(true, rel=1e-9)
    steps = count(5, ONE, Histogram([-0.5, 9.5, 20.5], [0.5, 0.5]))
    assert steps.mass(9) / steps.mass(10) == pytest.approx(11 / 10 * math.exp(0.3))


def test_a_window_of_ten_million_is_the_whole() -> None:
    """Against a normal prior with the same two moments, and far out of the prior's reach."""
    n, law = 10**7, DiscreteLaplace(sensitivity=1, epsilon="0.01")
    deviation = math.sqrt(n * 0.3 * 0.7)
    found = count(3_000_000 + 700, law, Binomial(n, 0.3))
    normal = Normal(n * 0.3, deviation, 3_000_000 - 10**5, 3_000_000 + 10**5)
    like = total(3_000_000 + 700, law, normal)
    assert found.mean == pytest.approx(like.mean, abs=0.5)
    assert found.interval(0.95)[0] == pytest.approx(like.interval(0.95)[0], abs=3)
    # far away the likelihood only tilts the prior: e^(εk) makes a binomial with other odds
    far = count(n * 2, law, Binomial(n, 0.3))
    tilted = 0.3 * math.exp(0.01) / (0.7 + 0.3 * math.exp(0.01))
    assert far.mean == pytest.approx(n * tilted, rel=1e-9)
    assert far.variance == pytest.approx(n * tilted * (1 - tilted), rel=1e-6)


def test_sums_live_on_the_laws_grid() -> None:
    law = DiscreteLaplace(sensitivity=10, epsilon=1, grid="0.5")
    found = total("101.5", law, Uniform(0, 1000))
    assert found.mode == 101.5
    assert found.mass("101.5") == pytest.approx(math.tanh(1 / 40), rel=1e-3)
    assert found.mass("101.25") == 0
    with pytest.raises(InvalidPrior, match="grid"):
        total(100, law, Points({0: "0.5", "0.25": "0.5"}))
    with pytest.raises(InvalidArgument, match="grid"):
        total("101.3", law, Uniform(0, 1000))


def test_no_estimate_where_the_scale_is_a_secret() -> None:
    heavy = HeavyTail(gamma=4, smooth_sensitivity=1, epsilon=1)
    for law in (heavy, heavy.on_grid(1)):
        with pytest.raises(NotPromised):
            count(3, law, Binomial(10, 0.5))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: count("x", ONE, Binomial(10, 0.5)),
        lambda: count(float("nan"), ONE, Binomial(10, 0.5)),
        lambda: count(1.5, ONE, Binomial(10, 0.5)),
        lambda: count("1e200", Laplace(sensitivity=1, epsilon=1), Binomial(10, 0.5)),
        lambda: count(1, "laplace", Binomial(10, 0.5)),
        lambda: count(1, OptimalBox(sensitivities=[1, 1], epsilon=1), Binomial(10, 0.5)),
        lambda: count(1, ONE, Categorical({"a": 1})),
        lambda: count(1, ONE, 0.3),
        lambda: count(1, ONE, None),
        lambda: count(1, ONE, Points({"0.5": 1})),
        lambda: count(
            1,
            ONE,
            Points({1: "1/2", 10**30: "1/2"}),
        ),
        lambda: count(1, ONE, Uniform("0.1", "0.2")),
        lambda: count(1, ONE, BetaBinomial(10**9, "0.5", 2)),
        lambda: count(1, ONE),  # type: ignore[call-arg]
    ],
)
def test_single_what_cannot_be_estimated_is_refused(ask: object) -> None:
    with pytest.raises(Refused):
        ask()  # type: ignore[operator]


@pytest.mark.parametrize("true", [0, 3, 10])
def test_on_a_grid_it_is_the_sum_of_masses(true: int) -> None:
    for law in (
        DiscreteLaplace(sensitivity=1, epsilon="0.4"),
        DiscreteLaplace(sensitivity=1, epsilon="0.4", grid="0.5"),
        Optimal(sensitivity=4, epsilon=1).on_grid(1),
    ):
        steps = np.arange(-4000, 4001)
        noisy = true + steps * float(law.grid)
        wrong = float(law.mass(steps)[(noisy < 0) | (noisy > 10)].sum())
        assert out_of_range(true, 10, law) == pytest.approx(wrong, rel=1e-9)


def test_the_ends_are_worst_and_the_middle_best() -> None:
    law = Laplace(sensitivity=1, epsilon="0.1")
    at = [out_of_range(a, 50, law) for a in range(51)]
    assert max(at) == at[0] == at[50] == pytest.approx((1 + math.exp(-5)) / 2)
    assert min(at) == at[25] == pytest.approx(math.exp(-2.5))


def test_wrong_parameters_are_refused() -> None:
    law = Laplace(sensitivity=1, epsilon=1)
    heavy = HeavyTail(gamma=2, smooth_sensitivity=1, epsilon=1)
    for true, n, used in ((5, 4, law), (-1, 4, law), (1.5, 4, law), (1, 4, "x"), (1, 4, heavy)):
        with pytest.raises(Refused):
            out_of_range(true, n, used)


# -- Counts with a known total, against enumeration of every way to reach it -----------------------

LAW = DiscreteLaplace(sensitivity=1, epsilon="0.7")


def ways(cells: int, total: int) -> Iterator[tuple[int, ...]]:
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in ways(cells - 1, total - first):
            yield (first, *rest)


def enumerated(noisy: list[int], total: int, log_prior: Any) -> list[list[float]]:
    """The marginal masses of each count."""
    weights = {
        way: math.exp(
            log_prior(way) - 0.7 * sum(abs(y - k) for y, k in zip(noisy, way, strict=True))
        )
        for way in ways(len(noisy), total)
        if log_prior(way) > -math.inf
    }
    everything = sum(weights.values())
    return [
        [sum(w for way, w in weights.items() if way[j] == k) / everything for k in range(total + 1)]
        for j in range(len(noisy))
    ]


def multinomial(shares: list[float]) -> Any:
    def log_prior(way: tuple[int, ...]) -> float:
        parts = zip(way, shares, strict=True)
        if any(k and not share for k, share in zip(way, shares, strict=True)):
            return -math.inf
        return sum(k * math.log(s) - math.lgamma(k + 1) if k else 0.0 for k, s in parts)

    return log_prior


@settings(max_examples=60)
@given(
    st.lists(st.integers(-9, 30), min_size=1, max_size=4),
    st.integers(0, 8),
    st.sampled_from(["flat", "shares", "beliefs"]),
)
def test_every_marginal(noisy: list[int], total: int, shape: str) -> None:
    cells = len(noisy)
    weights = list(range(1, cells + 1))
    prior: Any = None
    log_prior: Any = lambda way: 0.0  # noqa: E731
    if shape == "shares":
        prior = normalised(weights)
        log_prior = multinomial([w / sum(weights) for w in weights])
    elif shape == "beliefs":
        prior = [Binomial(total + 1, 0.2 * w) for w in weights]

        def log_prior(way: tuple[int, ...]) -> float:
            return sum(b.log_weight(k) for b, k in zip(prior, way, strict=True))

    found = counts(noisy, LAW, total=total, prior=prior)
    for one, true in zip(found, enumerated(noisy, total, log_prior), strict=True):
        got = [one.mass(k) for k in range(total + 1)]
        assert got == pytest.approx(true, rel=1e-8, abs=1e-12)
    assert sum(one.mean for one in found) == pytest.approx(total, abs=1e-9)


def test_far_from_the_total_nothing_underflows() -> None:
    found = counts([90_000, 90_000, 90_000], LAW, total=3000, prior=["1/2", "1/4", "1/4"])
    assert sum(one.mean for one in found) == pytest.approx(3000)
    assert found[0].mean == pytest.approx(1500, abs=1)


def test_the_total_helps() -> None:
    """Knowing the total makes each count better known."""
    law = DiscreteLaplace(sensitivity=1, epsilon="0.05")
    both = counts([480, 560], law, total=1000)
    alone = counts([480], law, total=1000)
    assert alone[0].mean == 1000  # a single count is the total
    assert both[0].variance < law.variance / 1.5


def test_impossible_cells_stay_empty() -> None:
    found = counts([5, 5, 5], LAW, total=6, prior=["1/2", "1/2", 0])
    assert found[2].mass(0) == 1


def test_a_law_for_each_count() -> None:
    laws = [LAW, Optimal(sensitivity=4, epsilon=1).on_grid(1), Laplace(sensitivity=1, epsilon=1)]
    found = counts(
        [3, 4, 4.5], laws, total=10, prior=[Points(dict.fromkeys(range(11), "1/11"))] * 3
    )
    assert sum(one.mean for one in found) == pytest.approx(10)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: counts([], LAW, total=3),
        lambda: counts("12", LAW, total=3),
        lambda: counts([1, 2], LAW, total=-1),
        lambda: counts([1, 2], LAW, total=10**7),
        lambda: counts([1, 2], [LAW], total=3),
        lambda: counts([1, 2], LAW, total=3, prior=[0.5, 0.4]),
        lambda: counts([1, 2], LAW, total=3, prior=[1]),
        lambda: counts([1, 2], LAW, total=9, prior=[Binomial(2, 0.5)] * 2),
        lambda: counts([1, 2], LAW, total=3, prior=[Points({9: 1})] * 2),
        lambda: counts([1.5, 2], LAW, total=3),
        lambda: counts([1, 2], DiscreteLaplace(sensitivity=3, epsilon=1, grid=3), total=3),
        lambda: counts([1, 2], LAW),  # type: ignore[call-arg]
    ],
)
def test_what_cannot_be_estimated_is_refused(ask: object) -> None:
    with pytest.raises(Refused):
        ask()  # type: ignore[operator]


# -- A prior that disagrees with the answer --------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "middle", "spread"),
    [
        (Binomial(2000, "0.1"), 200, 13.416),
        (Normal(300, 20, 0, 10_000), 300, 20),
        (Points({490: "0.5", 510: "0.5"}), 500, 10),
    ],
)
@pytest.mark.parametrize("noisy", range(100, 701, 25))
def test_a_conflict_is_named_from_three_deviations_on(
    prior: Any, middle: float, spread: float, noisy: int
) -> None:
    law = DiscreteLaplace(sensitivity=1, epsilon="0.5")
    found = (count if isinstance(prior, Binomial) else total)(noisy, law, prior)
    deviations = abs(noisy - middle) / math.hypot(spread, math.sqrt(law.variance))
    assert (found.conflict is not None) is (deviations >= 3)
    if found.conflict is not None:
        assert found.conflict.deviations == pytest.approx(deviations, rel=0.02)
        assert (found.conflict.noisy, round(found.conflict.prior)) == (noisy, middle)
        for text in (repr(found), found._repr_html_()):
            assert "disagree" in text
            assert str(noisy) in text
    else:
        assert "disagree" not in repr(found) + found._repr_html_()


def test_six_deviations_would_have_hidden_the_truth() -> None:
    """The case of the issue: the headline interval excludes the truth, and says so now."""
    law = DiscreteLaplace(sensitivity=1, epsilon="0.1")
    found = count(500, law, Binomial(1000, "0.4"))
    low, high = found.interval("0.95")
    assert not low <= 500 <= high
    assert found.conflict is not None
    assert found.conflict.to_dict()["noisy"] == 500


@pytest.mark.parametrize("epsilon", ["0.01", "1", "40"])
def test_the_noise_of_a_conflict_is_that_of_the_law(epsilon: str) -> None:
    for law in (
        DiscreteLaplace(sensitivity=1, epsilon=epsilon),
        Laplace(sensitivity=1, epsilon=epsilon),
    ):
        found = count(10**5, law, Binomial(10**6, "0.01")).conflict
        assert found is not None
        assert found.noise == pytest.approx(math.sqrt(law.variance), rel=0.02)
