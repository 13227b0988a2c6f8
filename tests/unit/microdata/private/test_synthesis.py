"""A way of drawing a private table must say and do all that is asked of it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.microdata.private.domain import Domain
from tenue.microdata.private.synthesis import Synthesis


def test_a_way_that_draws_nothing_is_none() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Synthesis(domain=Domain(()), rows=1, epsilon=Fraction(1))  # type: ignore[abstract]
