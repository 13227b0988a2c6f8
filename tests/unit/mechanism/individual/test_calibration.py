"""The mechanism that a table fixes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.errors import InvalidArgument
from tenue.mechanism.individual.calibration import FINER, Calibrated, calibrate, release
from tenue.mechanism.individual.statistic import Statistic, columns_of
from tenue.noise import Seeded

ONE = Fraction(1)


def median_of(values, bounds=(0, 10), *, epsilon=ONE, grid=ONE, finer=1):
    columns = columns_of("median", values, bounds)
    return calibrate(
        Statistic("median"), columns, epsilon=epsilon, grid=grid, finer=finer, truncated=False
    )


@pytest.mark.parametrize(
    ("grid", "finer", "spread"),
    [("1", 1, 3), ("2", 1, 2), ("1/2", 1, 6), ("2", 4, 6), ("7", 1, 1)],
)
def test_the_local_sensitivity_is_rounded_up_to_whole_steps(grid, finer, spread):
    assert median_of([1, 2, 2, 5, 9], grid=Fraction(grid), finer=finer).spread == spread


def test_no_noise_where_no_record_moves_the_answer():
    mechanism = median_of([4, 4, 4, 4, 4])
    assert mechanism.law is None
    assert mechanism.release(4, Seeded(7)) == 4


def test_without_noise_the_answer_is_still_on_the_grid():
    mechanism = median_of([4, 4, 4, 4, 4], grid=Fraction(3))
    assert (
        mechanism.release(
            Statistic("median").nearest(columns_of("median", [4], (0, 10)), Fraction(3)), Seeded(7)
        )
        == 1
    )
    finer = median_of([4, 4, 4, 4, 4], grid=Fraction(3), finer=6)
    assert finer.release(8, Seeded(7)) == 1


def test_release_is_truth_plus_the_law_settled():
    mechanism = Calibrated(spread=5, epsilon=ONE, finer=3, low=-100, high=100)
    law = mechanism.law
    assert law is not None
    assert law.sensitivity == 5
    for seed in range(20):
        noise = law.steps(source=Seeded(seed))
        assert mechanism.release(7, Seeded(seed)) == mechanism.settle(7 + noise)


def test_settling_rounds_halves_up_and_clamps():
    mechanism = Calibrated(spread=1, epsilon=ONE, finer=4, low=-1, high=2)
    assert [mechanism.settle(s) for s in (-99, -3, -2, 1, 2, 5, 6, 99)] == [
        -1,
        -1,
        0,
        0,
        1,
        1,
        2,
        2,
    ]


def test_truncated_ends_are_the_answers_of_neighbours():
    statistic = Statistic("range-count", between=(0, 5))

    def ends(values):
        columns = columns_of("range-count", values, (0, 10))
        found = calibrate(statistic, columns, epsilon=ONE, grid=ONE, finer=1, truncated=True)
        return found.low, found.high

    assert ends([1, 2, 9, 9]) == (1, 3)
    assert ends([9, 9]) == (0, 1)
    assert ends([1, 2]) == (1, 2)


@pytest.mark.parametrize("finer", [1, FINER])
def test_a_refusal_does_not_depend_on_rows(finer):
    """Rows that need no noise are refused where rows that need the widest would be."""
    texts = set()
    for rows in ([0] * 9, [0] * 5 + [10**18] * 4, list(range(9))):
        with pytest.raises(InvalidArgument) as refusal:
            median_of(rows, (0, 10**18), finer=finer, epsilon=Fraction(1, 10))
        texts.add(str(refusal.value))
    assert len(texts) == 1


def test_whatever_is_not_refused_can_be_drawn():
    """The public limit is no wider than that of the law, at its edge."""
    widest = 2**54 - 2
    for rows in ([0, 0, widest], [0, widest, widest]):
        assert (
            0
            <= release(
                Statistic("median"),
                columns_of("median", rows, (0, widest)),
                epsilon=Fraction(1, 4),
                grid=ONE,
                noise="discrete-laplace",
                truncated=False,
                source=Seeded(7),
            )
            <= widest
        )
    with pytest.raises(InvalidArgument):
        median_of([0, 0, 0], (0, widest), epsilon=Fraction(1, 5))


def test_repr_tells_nothing():
    assert "3" not in repr(median_of([1, 2, 2, 5, 9])).partition(" at ")[0]
