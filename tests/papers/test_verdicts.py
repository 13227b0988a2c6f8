"""The whole book, and ten formulas of the library broken one at a time.

A verdict is worth something only if it turns red: each mutant below is a wrong version of one
formula, and at least one exhibit must say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exhibits import FOUND, HAS_DATA, anew, needs_data
from tenue.papers.cell import Verdict
from tenue.papers.reproduce import reproduce

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
    import sys

    module = sys.modules["tenue.sensitivity.local"]
    right = module._order
    patch.setattr(module, "_order", lambda column, ranks: 2 * right(column, ranks))


def refined_core(patch: Patch) -> None:
    """The masses of Algorithm 5.1 as they are printed."""
    from tenue.mechanism.refinement.factor import Factors

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
    from tenue.estimate.laplace_integral import LaplaceIntegral

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
    from tenue.papers.closeness import errata, figures

    def wrong(counts: Any, buckets: int) -> Any:
        ends = [-(-(2 * i * counts.size + buckets) // (2 * buckets)) for i in range(1, buckets)]
        return np.searchsorted(np.array(ends), np.arange(counts.size), side="right")

    for module in (errata, figures):
        patch.setattr(module, "cut", wrong)


def closeness_ratio(patch: Patch) -> None:
    """Whatever the shares, one and a third."""
    from tenue.microdata.bucket import measure

    patch.setattr(measure, "ratio", lambda counts: Fraction(4, 3))


def chain_bound(patch: Patch) -> None:
    from tenue.sensitivity import chain

    patch.setattr(chain, "hilbert", chain.separate)


MUTANTS: list[tuple[Break, str]] = [
    (variance_of_optimal, "4.1"),
    (width_of_optimal, "4.2"),
    (box_region, "4.4"),
    (laplace_radius, "4.3"),
    (heavy_tail_scale, "idp.1"),
    (median_gap, "idp.ex1"),
    (refined_core, "5.5"),
    (moved_delta, "err.delta"),
    (bayes_rate, "bayes.fig1"),
    (bucket_ends, "err.ceiling"),
    (closeness_ratio, "7.5"),
    (chain_bound, "6.scales"),
]


@pytest.mark.parametrize(("mutant", "name"), MUTANTS, ids=[m.__name__ for m, _ in MUTANTS])
def test_a_broken_formula_turns_a_verdict_red(
    mutant: Break, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert anew(name) is not Verdict.DIFFERENT
    mutant(monkeypatch)
    assert anew(name) is Verdict.DIFFERENT


@needs_data
def test_a_broken_grouping_turns_a_verdict_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """MDAV with groups of one record more."""
    from tenue.papers.swapping import method

    right = method.mdav
    monkeypatch.setattr(method, "mdav", lambda values, k: right(values, k + 1))
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
