"""Which rows are kept: limits hold for certain, the law is exactly uniform, units do not meet."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from every_order import law
from tenue.engine.people import choice
from tenue.engine.people.choice import dense, few, few_cells
from tenue.noise.source import SYSTEM, Seeded, Source

Chooser = Callable[[npt.NDArray[Any], int, Source], npt.NDArray[np.bool_]]


def whole(numbers: list[int]) -> npt.NDArray[np.uint32]:
    return np.array(numbers, dtype=np.uint32)


class Given:
    """Hands out these words, whatever they are asked for."""

    safe = False

    def __init__(self, *words: list[int]) -> None:
        self.left = list(words)

    def words(self, count: int, bits: int = 64) -> npt.NDArray[Any]:
        words = self.left.pop(0)
        assert len(words) == count
        return np.array(words, dtype=np.uint32 if bits == 32 else np.uint64)


@given(st.lists(st.integers(0, 4), max_size=30), st.integers(1, 6))
def test_as_many_rows_of_each_unit_are_kept_as_may_be(units: list[int], limit: int) -> None:
    kept = few(whole(units), limit, SYSTEM)
    found = Counter(itertools.compress(units, kept))
    assert found == {unit: min(count, limit) for unit, count in Counter(units).items()}


def uniform(units: list[int], limit: int) -> dict[Any, Fraction]:
    """For each unit each of its sets is as likely as any other, whatever the others keep."""
    places = [[i for i, other in enumerate(units) if other == unit] for unit in sorted({*units})]
    sets = [list(itertools.combinations(own, min(limit, len(own)))) for own in places]
    every = list(itertools.product(*sets))
    return {frozenset(itertools.chain(*chosen)): Fraction(1, len(every)) for chosen in every}


def law_of(chooser: Chooser, units: list[int], limit: int) -> dict[Any, Fraction]:
    return law(
        lambda orders: frozenset(np.flatnonzero(chooser(whole(units), limit, orders)).tolist())
    )


def first_rows(units: npt.NDArray[Any], limit: int, source: Source) -> npt.NDArray[np.bool_]:
    return few(units, limit, Given([0] * len(units), list(range(len(units)))))


def one_order_for_all(units: npt.NDArray[Any], limit: int, source: Source) -> npt.NDArray[np.bool_]:
    """The first of each unit shares its tag with the first of any other, and so on."""
    tags = source.words(max(Counter(units.tolist()).values()), 32)
    met: Counter[int] = Counter()
    shared = []
    for unit in units.tolist():
        shared.append(int(tags[met[unit]]))
        met[unit] += 1
    return few(units, limit, Given(shared))


def without_units(units: npt.NDArray[Any], limit: int, source: Source) -> npt.NDArray[np.bool_]:
    return few(np.zeros_like(units), limit, source)


TABLES = [[0, 0], [3, 3, 3], [0, 1, 0, 1], [2, 2, 5, 2, 5], [0, 0, 0, 0], [7, 1, 1, 1, 2]]


@pytest.mark.parametrize("units", TABLES, ids=str)
@pytest.mark.parametrize("limit", [1, 2])
def test_every_choice_is_exactly_as_likely_as_any_other(units: list[int], limit: int) -> None:
    assert law_of(few, units, limit) == uniform(units, limit)


@pytest.mark.parametrize("wrong", [first_rows, one_order_for_all, without_units])
def test_a_wrong_choice_has_another_law(wrong: Chooser) -> None:
    units = [0, 1, 0, 1]
    assert law_of(wrong, units, 1) != uniform(units, 1)


@given(st.lists(st.integers(0, 3), min_size=3, max_size=20), st.randoms(use_true_random=False))
def test_what_a_unit_keeps_depends_on_its_own_words(units: list[int], random: Any) -> None:
    """With the words of its rows, alone or among others, it keeps the same."""
    words = [tag << 20 for tag in random.sample(range(2**12), len(units))]
    together = few(whole(units), 2, Given(words))
    for unit in set(units):
        own = [i for i, other in enumerate(units) if other == unit]
        alone = few(whole([unit] * len(own)), 2, Given([words[i] for i in own]))
        assert together[own].tolist() == alone.tolist()


def test_equal_tags_are_drawn_again_so_that_no_row_is_preferred() -> None:
    same = [9] * 3
    kept = Counter(
        int(np.flatnonzero(few(whole([0] * 3), 1, Given(same, list(again))))[0])
        for again in itertools.permutations([5, 6, 7])
    )
    assert kept == {0: 2, 1: 2, 2: 2}
    # two of the new words are equal: all are drawn once more
    once_more = Given(same, [5, 5, 7], [3, 2, 1])
    assert np.flatnonzero(few(whole([0] * 3), 1, once_more)).tolist() == [2]


def test_ties_left_alone_would_prefer_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_untie", lambda *_: None)
    assert few(whole([0] * 3), 1, Given([9] * 3)).tolist() == [True, False, False]


def test_many_rows_in_several_blocks() -> None:
    units = Seeded(3).words(300_000, 32) % 60_000
    kept = few(units, 3, SYSTEM)
    whole_counts = np.bincount(units, minlength=60_000)
    assert (np.bincount(units[kept], minlength=60_000) == np.minimum(whole_counts, 3)).all()
    one = np.zeros(200_000, dtype=np.uint8)
    for limit in (1, 2**16 - 1, 2**16, 2**16 + 1, 199_999):
        assert few(one, limit, SYSTEM).sum() == limit


def test_units_too_wide_to_be_packed_are_numbered_first() -> None:
    units = np.array([2**63, 5, 2**63, 5, 2**63], dtype=np.uint64)
    kept = few(units, 1, SYSTEM)
    assert Counter(units[kept].tolist()) == {2**63: 1, 5: 1}


# -- cells -----------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2, 2**40])), max_size=25),
    st.integers(1, 3),
)
def test_as_many_cells_of_each_unit_are_kept_as_may_be(
    rows: list[tuple[int, int]], limit: int
) -> None:
    units, cells = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
    kept = few_cells(units, cells, limit, SYSTEM)
    for unit in set(units.tolist()):
        own = {cell for who, cell in rows if who == unit}
        left = {
            cell for (who, cell), there in zip(rows, kept, strict=True) if there and who == unit
        }
        assert len(left) == min(limit, len(own))
        for (who, cell), there in zip(rows, kept, strict=True):
            if who == unit:
                assert there == (cell in left), "a cell is kept whole or not at all"


def test_cells_are_as_likely_however_many_rows_they_have() -> None:
    units, cells = whole([4] * 5), whole([0, 1, 1, 1, 2])
    found = law(lambda orders: frozenset(cells[few_cells(units, cells, 2, orders)].tolist()))
    assert found == {
        frozenset(pair): Fraction(1, 3) for pair in itertools.combinations(range(3), 2)
    }


def test_cells_and_units_too_wide_to_be_packed() -> None:
    units = np.array([2**40, 1, 2**40, 1], dtype=np.int64)
    cells = np.array([2**40, 3, 5, 3], dtype=np.int64)
    kept = few_cells(units, cells, 1, SYSTEM)
    assert kept[[1, 3]].all()
    assert kept[[0, 2]].sum() == 1


# -- numbering -------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([0, 1, 2, 2**32, 2**63 - 1, -1, -(2**63)]), max_size=30))
def test_equal_numbers_and_only_those_get_the_same_place(numbers: list[int]) -> None:
    codes = dense(np.array(numbers, dtype=np.int64)).tolist()
    assert len(set(codes)) == len(set(numbers)) == len(set(zip(codes, numbers, strict=True)))
    assert sorted(set(codes)) == list(range(len(set(numbers))))


def test_numbers_that_share_their_high_bits_are_told_apart() -> None:
    """Values whose stirred words differ in the low bits only, which the sort does not see."""
    back = pow(int(choice._ODD), -1, 2**64)
    values = np.array([(2**60 + i % 3) * back % 2**64 for i in range(60)], dtype=np.uint64)
    stirred = values * choice._ODD
    assert len({int(word) >> 6 for word in stirred.tolist()}) == 1
    codes = dense(values)
    assert sorted(Counter(codes.tolist()).values()) == [20, 20, 20]
    assert all(len(set(codes[i::3].tolist())) == 1 for i in range(3))
