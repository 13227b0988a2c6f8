"""Refusals come before the truth is looked at, and a law says nothing by itself."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tenue.errors import Refused
from tenue.mechanism import refine
from tenue.prior import (
    Binomial,
    Categorical,
    Histogram,
    Independent,
    Normal,
    Ordinal,
    Points,
    Table,
    Uniform,
)
from tenue.taxonomy import Taxonomy

TREE = Taxonomy.flat(["a", "b", "c"])
PRIORS: list[Any] = [
    Points({0: 0.5, 1: 0.5}),
    Categorical({"a": 0.5, "b": 0.25, "c": 0.25}),
    Categorical({"a": 0.5, "elsewhere": 0.5}),
    Ordinal(["a", "b", "c"], [0.5, 0, 0.5]),
    Table({("a", 1): 0.5, ("b", 2): 0.5}),
    Independent([Points({0: 0.5, 1: 0.5}), Categorical({"a": 1})]),
    Uniform(0, 3),
    Normal(1, 1, 0, 3),
    Histogram([0, 1, 3], [0.5, 0.5]),
    Uniform(0, 10_000).on_grid(1),
    Binomial(3, 0.5),
    Binomial(5000, 0.5),
    None,
    {"a": 0.5},
    "prior",
]
TRUTHS: list[Any] = [
    *(0, 1, 2, 3, -1, 10**30, 1.5, "1/3", Decimal("0.5"), Fraction(22, 7)),
    *("a", "b", "c", "d", "", True, False, None, math.nan, math.inf, -math.inf),
    *(("a", 1), ("b", 1), (1, "a"), [], ["a", 1], object(), date(2020, 1, 1), b"a", 3 + 4j, {}),
]
SETTINGS: list[dict[str, Any]] = [
    {"epsilon": 1, "kind": "individual"},
    {"epsilon": 1, "kind": "statistical", "alpha_up": 1.5},
    {"epsilon": 1, "kind": "individual", "delta": 0.1},
    {"epsilon": 1, "kind": "individual", "distance": "equal"},
    {"epsilon": 1, "kind": "statistical", "distance": "absolute"},
    {"epsilon": 1, "kind": "individual", "distance": TREE},
    {"epsilon": 1, "kind": "individual", "distance": "sum"},
    {"epsilon": 0, "kind": "individual"},
    {"epsilon": 1, "kind": "other"},
]


def outcome(prior: Any, truth: object, settings: dict[str, Any]) -> str:
    try:
        law = refine(prior, truth, **settings)
    except Refused as refused:
        return str(refused)
    return repr(law)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_acceptance_does_not_depend_on_the_truth(prior: Any) -> None:
    """Otherwise twenty refusals find the truth by bisection. Not even the words may differ."""
    for settings in SETTINGS:
        seen = {outcome(prior, truth, settings) for truth in TRUTHS}
        assert len(seen) == 1, seen


def test_a_leaky_acceptance_would_be_seen() -> None:
    """A prior refused only when the truth lies outside it."""

    def leaky(truth: object) -> str:
        return "refused" if truth not in (0, 1) else "accepted"

    assert len({leaky(truth) for truth in (0, 1, 2)}) == 2


def test_an_absent_person_gives_the_unmodified_prior() -> None:
    for prior in PRIORS[:6]:
        law = refine(prior, None, 1, kind="individual", delta=0.1)
        assert law.masses == prior.masses  # type: ignore[union-attr]
        assert law.core == ()
    law = refine(Uniform(0, 3), None, 1, kind="individual")
    assert law.cdf(1) == Fraction(1, 3)
    assert law.core == ()


def test_the_kind_must_be_said() -> None:
    with pytest.raises(Refused, match="kind"):
        refine(Points({0: 1}), 0, 1)  # type: ignore[call-arg]
    with pytest.raises(Refused):
        refine(Points({0: 1}), 0, 1, "individual")  # type: ignore[misc]
