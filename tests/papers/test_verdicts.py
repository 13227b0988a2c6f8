"""The whole book, and formulas of the library broken one at a time, some of every theory.

A verdict is worth something only if it turns red: each mutant below is a wrong version of one
formula, and at least one exhibit must say so.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exhibits import FOUND, HAS_DATA, anew, needs_data
from tenue_papers.catalogue import exhibits
from tenue_papers.cell import Verdict
from tenue_papers.reproduce import reproduce

Patch = pytest.MonkeyPatch
Break = Callable[[Patch], None]


def scaled(kind: Any, name: str, factor: float) -> Break:
    """A number of a law, too large or too small."""

    def broken(patch: Patch) -> None:
        right = kind.__dict__[name]
        get = right.func if hasattr(right, "func") else right.fget
        patch.setattr(kind, name, property(lambda self: factor * get(self)))

    return broken


def variance_of_optimal(patch: Patch) -> None:
    from tenue.noise import Optimal

    scaled(Optimal, "variance", 1 + 1e-8)(patch)


def width_of_optimal(patch: Patch) -> None:
    """An interval that is one in a million too wide."""
    from tenue.noise import Optimal

    right = Optimal._size_with_tail
    patch.setattr(Optimal, "_size_with_tail", lambda self, tail: right(self, tail) * (1 + 1e-6))


def box_region(patch: Patch) -> None:
    from tenue.noise import OptimalBox

    right = OptimalBox.region
    wrong = lambda self, level: tuple(1.001 * half for half in right(self, level))  # noqa: E731
    patch.setattr(OptimalBox, "region", wrong)


def laplace_radius(patch: Patch) -> None:
    """The radius of one coordinate instead of two."""
    from tenue.noise import IndependentLaplace, Laplace

    one = Laplace(sensitivity=1, epsilon=1)
    patch.setattr(IndependentLaplace, "radius", lambda self, level: one.interval(level)[1])


def heavy_tail_scale(patch: Patch) -> None:
    """β = ε instead of ε/γ: the scale loses a factor γ."""
    from tenue.noise import HeavyTail

    right = HeavyTail.__init__

    def wrong(self: Any, **given: Any) -> None:
        right(self, **given)
        self._scale /= self.gamma

    patch.setattr(HeavyTail, "__init__", wrong)


def median_gap(patch: Patch) -> None:
    """Both gaps around a rank, instead of the larger one."""
    module = sys.modules["tenue.sensitivity.local"]
    right = module._order
    patch.setattr(module, "_order", lambda column, ranks: 2 * right(column, ranks))


def refined_core(patch: Patch) -> None:
    """The masses of Algorithm 5.1 as they are printed."""
    from tenue.mechanism.refinement.update_factors import Factors

    printed = property(lambda self: (self.up - 1) / (self.up - self.down))
    patch.setattr(Factors, "core_mass", printed)


def moved_delta(patch: Patch) -> None:
    """δ is moved instead of δ·e^-ε."""
    from tenue.mechanism.refinement import points

    right = points._moved

    def wrong(*facts: Any) -> Any:
        return right(*facts[:-1], facts[-1] * 2)

    patch.setattr(points, "_moved", wrong)


def bayes_rate(patch: Patch) -> None:
    """A likelihood with another ε than the noise."""
    from tenue.estimate.comparison import LaplaceIntegral

    right = LaplaceIntegral._weights

    def wrong(self: Any, y: Any) -> Any:
        self.rate, kept = 0.9 * self.rate, self.rate
        try:
            return right(self, y)
        finally:
            self.rate = kept

    patch.setattr(LaplaceIntegral, "_weights", wrong)


def bucket_ends(patch: Patch) -> None:
    """The printed ceiling."""
    from tenue.publish.buckets import column

    def wrong(counts: Any, buckets: int) -> Any:
        ends = [-(-(2 * i * counts.size + buckets) // (2 * buckets)) for i in range(1, buckets)]
        return np.searchsorted(np.array(ends), np.arange(counts.size), side="right")

    patch.setattr(column, "value_buckets", wrong)


def closeness_ratio(patch: Patch) -> None:
    """Whatever the shares, one and a third."""
    from tenue.evaluate import klt

    patch.setattr(klt, "ratio", lambda counts: Fraction(4, 3))


def chain_bound(patch: Patch) -> None:
    from tenue.sensitivity import chain

    patch.setattr(chain, "hilbert", chain.separate)


def wrong_range(patch: Patch) -> None:
    """Answers below 0 are counted, and those above n forgotten."""
    from tenue_papers import bayes

    def wrong(true: int, n: int, law: Any) -> float:
        return float(law.cdf(-true))

    patch.setattr(bayes, "out_of_range", wrong)


def corner_groups(patch: Patch) -> None:
    """Insensitive groups that are formed like MDAV's: one record changes several."""
    from tenue.microdata import mdav
    from tenue_papers import private_data_figures

    patch.setattr(private_data_figures, "reference_points", lambda rows, k, bounds: mdav(rows, k))


def ranked_groups(patch: Patch) -> None:
    """Groups of ranks with one record too many."""
    from tenue_papers import swapping

    right = swapping.individual_ranking
    patch.setattr(swapping, "individual_ranking", lambda values, k: right(values, k + 1))


MUTANTS: list[tuple[str, Break, str]] = [
    ("T1", variance_of_optimal, "4.1"),
    ("T1", width_of_optimal, "4.2"),
    ("T1", box_region, "4.4"),
    ("T1", laplace_radius, "4.3"),
    ("T2", heavy_tail_scale, "idp.1"),
    ("T2", median_gap, "idp.ex1"),
    ("T3", refined_core, "5.5"),
    ("T3", moved_delta, "err.delta"),
    ("T4", bayes_rate, "bayes.fig1"),
    ("T4", wrong_range, "bayes.range"),
    ("T5", chain_bound, "6.scales"),
    ("T5", corner_groups, "fig6.2"),
    ("T5", ranked_groups, "err.columns"),
    ("T6", bucket_ends, "err.ceiling"),
    ("T6", closeness_ratio, "7.5"),
]
"""The body of theory (T1 noise, T2 individual DP, T3 refinement, T4 Bayes, T5 microaggregation and
swapping, T6 closeness), a wrong formula, and the exhibit that must turn red. None needs data."""


def test_every_body_of_theory_has_two_mutants() -> None:
    counted = Counter(theory for theory, _, _ in MUTANTS)
    assert sorted(counted) == ["T1", "T2", "T3", "T4", "T5", "T6"]
    assert min(counted.values()) >= 2


@pytest.mark.parametrize(
    ("theory", "mutant", "name"), MUTANTS, ids=[m.__name__ for _, m, _ in MUTANTS]
)
def test_a_broken_formula_turns_a_verdict_red(
    theory: str, mutant: Break, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert exhibits()[name].needs == ()
    assert anew(name) is not Verdict.DIFFERENT
    mutant(monkeypatch)
    assert anew(name) is Verdict.DIFFERENT


@needs_data
def test_a_broken_grouping_turns_a_verdict_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """MDAV with groups of one record more."""
    from tenue_papers import swapping

    right = swapping.mdav
    monkeypatch.setattr(swapping, "mdav", lambda values, k: right(values, k + 1))
    assert anew("3.7") is Verdict.DIFFERENT


@pytest.mark.slow
def test_the_whole_book() -> None:
    """Nothing is different; what is not reproducible is known, and nothing else is."""
    book = reproduce(data=FOUND if HAS_DATA else None)
    assert book.broken == ()
    if HAS_DATA:
        assert Verdict.MISSING not in book.verdicts.values()
        open_ = [n for n, v in book.verdicts.items() if v is Verdict.IRREPRODUCIBLE]
        assert open_ == ["3.7", "3.8", "3.9", "3.10", "3.11", "6.3", "6.4"]
    counted = Counter(one.exhibit.kind for one in book.shown)
    assert counted["figure"] == 40
    assert counted["erratum"] >= 24
