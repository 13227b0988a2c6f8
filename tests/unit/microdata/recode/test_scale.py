"""Runs of codes: how much of the domain they are, how they are written, and levels that nest."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tenue.evaluate.group.recoded import Domain
from tenue.microdata.recode.scale import MOST_LEVELS
from unit.microdata.recode.columns import NUMBER, SPORT, TOWN, scale, sports

KINDS: list[tuple[dict[str, Any], int]] = [
    (NUMBER, 16),
    ({"type": "date", "bounds": ["2020-01-01", "2020-02-09"]}, 40),
    (TOWN, 4),
    ({"type": "boolean"}, 2),
    (SPORT, 5),
]


def ends(*pairs: tuple[int, int]) -> tuple[Any, Any]:
    low, high = zip(*pairs, strict=True)
    return np.array(low), np.array(high)


def test_texts() -> None:
    assert scale({"type": "number", "bounds": [-5, 5], "grid": 0.5}, [0]).texts(
        *ends((0, 20), (9, 10))
    ) == ["[-5, 5]", "[-0.5, 0]"]
    assert scale(TOWN, [0]).texts(*ends((0, 3), (1, 2), (3, 3))) == ["*", "{Genf, Chur}", "Thun"]
    assert scale({"type": "boolean"}, [0]).texts(*ends((0, 0), (0, 1))) == ["false", "*"]
    assert sports("ski").texts(*ends((0, 1), (1, 3), (4, 4))) == ["sail", "any", "sled"]


@pytest.mark.parametrize(("declared", "size"), KINDS)
def test_the_penalty_of_a_run_is_the_one_of_its_text(declared: dict[str, Any], size: int) -> None:
    """What the search minimises is what `tn.evaluate.ncp` reads from the published table."""
    made = scale(declared, [0])
    domain = Domain(made.cells.column)
    pairs = [(low, high) for low in range(size) for high in range(low, size)]
    penalties = made.penalty(*ends(*pairs)).tolist()
    for text, penalty in zip(made.texts(*ends(*pairs)), penalties, strict=True):
        assert domain.penalty(text) == type(domain.penalty(text))(penalty, made.whole)


@pytest.mark.parametrize(("declared", "size"), KINDS)
def test_levels_nest_from_the_value_to_everything(declared: dict[str, Any], size: int) -> None:
    made = scale(declared, [0])
    codes = np.arange(size)
    levels = made.levels(codes)
    assert (levels[0][0] == codes).all()
    assert (levels[0][1] == codes).all()
    assert (levels[-1][0] == 0).all()
    assert (levels[-1][1] == size - 1).all()
    for (low, high), (lower, higher) in itertools.pairwise(levels):
        assert ((lower <= low) & (high <= higher)).all()
        for code in codes:  # every code of a run has that run
            run = slice(low[code], high[code] + 1)
            assert set(low[run].tolist()) == {low[code]}


def test_levels_follow_from_the_schema_not_from_what_occurs() -> None:
    """Intervals that begin at the least value that occurs would tell it as if it were a bound."""
    made = scale(NUMBER, [0])
    every, some = made.levels(np.arange(16)), made.levels(np.array([3, 9]))
    for (low, high), (few_low, few_high) in zip(every, some, strict=True):
        assert few_low.tolist() == low[[3, 9]].tolist()
        assert few_high.tolist() == high[[3, 9]].tolist()
    shifted = np.array([3, 9]) - 3
    assert (shifted // 4 * 4 + 3).tolist() != some[2][0].tolist()  # the mutant is another one


def test_stated_widths() -> None:
    low, high = scale(NUMBER, [0]).levels(np.arange(16), [5])[1]
    assert sorted(set(zip(low.tolist(), high.tolist(), strict=True))) == [
        (0, 4),
        (5, 9),
        (10, 14),
        (15, 15),
    ]


@pytest.mark.parametrize("high", [1, 2, 73, 10**3, 10**6, 10**12])
def test_few_levels_whatever_the_domain(high: int) -> None:
    made = scale({"type": "number", "bounds": [0, high]}, [0])
    assert 2 <= len(made.levels(np.array([0, high]))) <= MOST_LEVELS + 1


def test_spellings_of_one_category_are_one() -> None:
    made = scale({"type": "category", "categories": ["flu", "cold", "Flu"]}, [0, 1, 2])
    assert made.codes.tolist() == [0, 1, 0]
    assert made.texts(*ends((0, 0), (1, 1), (0, 1))) == ["flu", "cold", "*"]


def test_centres_are_values_that_a_table_can_hold() -> None:
    assert scale(NUMBER, [0]).centres(*ends((2, 7))).numbers.tolist() == [4]
    flat = scale(TOWN, [0]).centres(*ends((0, 3), (1, 1)))
    assert [flat.labels[one] for one in flat.numbers] == ["any", "Genf"]
    tree = sports("ski").centres(*ends((0, 2)))
    assert [tree.labels[one] for one in tree.numbers] == ["water"]
    assert scale({"type": "boolean"}, [0]).centres(*ends((0, 1), (1, 1))).present.tolist() == [
        False,
        True,
    ]


def test_shares_of_a_huge_domain_do_not_overflow() -> None:
    made = scale({"type": "number", "bounds": [0, 2**61]}, [0])
    full, half = made.share(*ends((0, 2**61), (0, 2**60))).tolist()
    assert full == 2**30
    assert half == 2**29
