"""What classes must have is what `check` measures of the same table."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import Unreachable
from tenue.microdata.recode.need import Need, Secret


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    rng = random.Random(seed)
    size = rng.randint(8, 40)
    labels = np.array([i % 3 for i in range(size)])
    codes = np.array([rng.randint(-1, 3) for _ in range(size)])
    return labels, codes, np.array([rng.randint(0, size // 2) for _ in range(size)])


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("of_persons", [False, True])
def test_as_check_measures(seed: int, of_persons: bool) -> None:
    labels, codes, persons = drawn(seed)
    table = pa.table(
        {
            "group": labels,
            "secret": pa.array([None if c < 0 else int(c) for c in codes], pa.int64()),
            "who": [f"p{one}" for one in persons],
        }
    )
    unit = "who" if of_persons else "record"
    found = tn.evaluate.check(
        table, quasi_identifiers=["group"], confidential=["secret"], unit=unit
    )
    secret = [Secret("secret", np.unique(codes, return_inverse=True)[1] - (codes.min() < 0), True)]
    whose = persons if of_persons else None
    exact = found.confidential[0].exact_t
    assert Need(1, persons=whose).units(labels, 3).min() == found.k
    for l in (found.l, (found.l or 0) + 1):
        assert Need(1, l=l, confidential=secret, persons=whose).diverse(labels, 3).all() == (
            l == found.l
        )
    assert Need(1, t=exact, confidential=secret, persons=whose).close(labels, 3).all()
    if exact:
        nearer = Need(1, t=exact - Fraction(1, 10**20), confidential=secret, persons=whose)
        assert not nearer.close(labels, 3).all()


def test_an_l_that_the_table_lacks_is_refused() -> None:
    secret = [Secret("ill", np.array([0, 1, 1]), False)]
    Need(1, l=2, confidential=secret).check_reachable()
    with pytest.raises(Unreachable, match="`ill`"):
        Need(1, l=3, confidential=secret).check_reachable()
    with pytest.raises(Unreachable, match="may be enough"):
        Need(1, l=3, confidential=secret, persons=np.array([0, 1, 2])).check_reachable()


def test_the_need_of_some_rows() -> None:
    secret = [Secret("ill", np.array([0, 1, 1, 0]), False)]
    need = Need(1, l=2, confidential=secret, persons=np.array([0, 1, 2, 0])).of(np.array([1, 2]))
    assert not need.diverse(np.array([0, 0]), 1)[0]
    assert need.units(np.array([0, 0]), 1).tolist() == [2]
    assert need.looks_inside
    assert not Need(3).looks_inside
