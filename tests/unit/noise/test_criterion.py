"""The three things a caller may want small."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidArgument
from tenue.noise.criterion import ABSOLUTE_ERROR, VARIANCE, Criterion, criterion


def test_names_become_criteria() -> None:
    assert criterion("variance") is VARIANCE
    assert criterion("absolute-error") is ABSOLUTE_ERROR
    assert criterion(("interval", 0.95)) == Criterion("interval", Fraction(19, 20))
    assert criterion(["interval", "0.5"]) == Criterion("interval", Fraction(1, 2))
    assert criterion(criterion("variance")) is VARIANCE
    assert str(criterion(("interval", 0.95))) == "interval at 0.95"
    assert str(VARIANCE) == "variance"


@pytest.mark.parametrize(
    "given",
    [
        "Variance",
        "interval",
        "",
        None,
        3,
        True,
        ("interval",),
        ("interval", 1.5),
        ("interval", 95),
        ("interval", float("nan")),
        ("interval", None),
        ("width", 0.5),
        ("interval", 0.5, 0.6),
        {"interval": 0.5},
        np.array([1.0, 2.0]),
    ],
    ids=repr,
)
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        criterion(given)
    assert refusal.value.what
    assert refusal.value.allowed
    assert refusal.value.fix
