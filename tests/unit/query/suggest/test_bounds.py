"""Bounds from private quantiles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from tenue.query.suggest.bounds import outwards, question_of
from unit.query.family.test_clip import INCOMES, schema


def test_bounds_are_rounded_outwards_and_stay_inside() -> None:
    rows = pd.DataFrame({"x": INCOMES, "c": "a"})
    with tn.protect(rows, schema=schema(), ledger=tn.ledger.Memory()) as data:
        found = data.suggest_bounds("x", epsilon=30)
        assert found.bounds == (0, 100_000)
        assert list(found.quantiles) == [Fraction(1, 20), Fraction(1, 2), Fraction(19, 20)]
        assert found.quantiles[Fraction(1, 2)] == pytest.approx(np.median(INCOMES), rel=0.01)
        assert "bounds = [0, 100000]" in str(found)
        assert found.answer.price == 30
        assert data.suggest_bounds("X", epsilon=30).answer.price == 0, "asked before"


def test_only_numbers_have_bounds_to_suggest() -> None:
    with pytest.raises(InvalidArgument):
        question_of(schema(), "c")


def test_round_numbers() -> None:
    one = Fraction(1)
    assert [outwards(Fraction(v), one) for v in (1, 3, 70, 100, 101)] == [1, 5, 100, 100, 200]
    assert outwards(Fraction(0), one) == 0
