"""Bayes is free only where the noise does not depend on the rows."""

from __future__ import annotations

import pytest

from tenue.errors import InvalidArgument, NotPromised
from tenue.estimate import require_free
from tenue.noise import DiscreteLaplace, HeavyTail
from tenue.promise import Approximate, Individual, KAnonymity, Pure


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
