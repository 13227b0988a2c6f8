"""Beliefs about several values at once."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.errors import InvalidPrior
from tenue.mechanism import refine
from tenue.noise import Seeded
from tenue.prior import Binomial, Categorical, Independent, Points, Table, Uniform

COIN = Categorical({"head": 0.25, "tail": 0.75})


def test_independent_masses_multiply() -> None:
    belief = Independent([COIN, Points({0: 0.5, 1: 0.5}), Binomial(2, 0.5)])
    assert len(belief.values) == 12
    assert belief.mass(("head", 1, 1)) == Fraction(1, 4) * Fraction(1, 2) * Fraction(1, 2)
    assert belief.mass(["head", True, 1]) == belief.mass(("head", 1, 1))
    assert sum(belief.masses.values()) == 1
    assert belief.mass(("head", 1)) == belief.mass("head") == belief.mass(("x", 1, 1)) == 0


def test_impossible_combinations_never_appear() -> None:
    """Employed and on unemployment benefits: thesis 5.6."""
    belief = Table(
        {("employed", False): 0.8, ("unemployed", True): 0.15, ("unemployed", False): 0.05}
    )
    impossible = ("employed", True)
    assert belief.mass(impossible) == 0
    for truth in (*belief.values, impossible, None):
        law = refine(belief, truth, "0.1", kind="individual", delta="0.3")
        assert law.mass(impossible) == 0
        assert impossible not in law.sample(200, Seeded(4))
    # a product of the two margins would let it appear
    margins = Independent(
        [Categorical({"employed": 0.8, "unemployed": 0.2}), Categorical({True: 0.15, False: 0.85})]
    )
    assert margins.mass(impossible) > 0


@pytest.mark.parametrize(
    "components",
    [[], [Uniform(0, 1)], [COIN, 5], COIN, [Independent([COIN])], [Binomial(4095, 0.5), COIN]],
)
def test_what_cannot_be_combined_is_refused(components: object) -> None:
    with pytest.raises(InvalidPrior):
        Independent(components)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "masses",
    [
        {},
        {"ab": 1},
        {("a",): 0.5, ("a", "b"): 0.5},
        {("a", 1): 0.5, ("b", "x"): 0.5},
        [(("a", 1), 0.5), (("a", 1.0), 0.5)],
        {("a", None): 1},
        {(): 1},
    ],
)
def test_what_is_no_table_is_refused(masses: object) -> None:
    with pytest.raises(InvalidPrior):
        Table(masses)  # type: ignore[arg-type]
