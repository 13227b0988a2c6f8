"""How many of each bucket a group has, and who."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from filling_bound import at_random, least_errors, squared_errors
from tenue.errors import Fault
from tenue.publish.buckets import assign_groups
from tenue.publish.buckets.assign_groups import (
    along,
    exchanged,
    filled,
    group_at,
    likeness,
    positions,
    sums_of,
)
from tenue.publish.buckets.bucket_counts import (
    cells_of,
    counts_for,
    dealt,
    emphasised,
    feasible,
    in_turn,
    most_groups,
    most_preferred,
    ratio_of_counts,
    rooms,
    sizes_of,
)
from tenue.publish.buckets.column import buckets_for, value_buckets
from tenue.publish.table.input_table import read_original
from tenue.schema.column import Category, Number
from tenue.taxonomy import Taxonomy
from unit.publish.census import people, schema


def flow_exists(buckets: list[int], groups: int, t: Fraction) -> bool:
    """Maximum flow with lower bounds, augmented unit by unit; every group a node of its own."""
    units, sizes = sum(buckets), sizes_of(sum(buckets), groups).tolist()
    room, give, take = {}, list(sizes), list(buckets)
    for i, j in itertools.product(range(groups), range(len(buckets))):
        x = Fraction(sizes[i] * buckets[j], units)
        low, high = math.ceil(x / t), math.floor(x * t)
        if low > high:
            return False
        room[i, j] = high - low
        give[i] -= low
        take[j] -= low
    if min(give) < 0 or min(take) < 0:
        return False
    flow = dict.fromkeys(room, 0)

    def augment(i: int, seen: set[int]) -> bool:
        for j in range(len(take)):
            if j in seen or flow[i, j] == room[i, j]:
                continue
            seen.add(j)
            if take[j] > 0:
                take[j] -= 1
                flow[i, j] += 1
                return True
            for other in range(groups):
                if other != i and flow[other, j] > 0 and augment(other, seen):
                    flow[other, j] -= 1
                    flow[i, j] += 1
                    return True
        return False

    return all(augment(i, set()) for i in range(groups) for _ in range(give[i]))


def test_it_is_a_flow_through_every_group() -> None:
    rng = random.Random(3)
    seen = {True: 0, False: 0}
    for _ in range(600):
        buckets = [rng.randrange(1, 9) for _ in range(rng.randrange(2, 5))]
        groups = rng.randrange(1, min(6, sum(buckets)) + 1)
        t = Fraction(rng.randrange(10, 31), 10)
        expected = flow_exists(buckets, groups, t)
        assert feasible(buckets, groups, t) == expected, (buckets, groups, t)
        seen[expected] += 1
    assert min(seen.values()) > 50


def test_the_example_that_cannot_be_satisfied() -> None:
    assert sizes_of(9, 3).tolist() == [3, 3, 3]
    assert not feasible([5, 4], 3, Fraction(3, 2))
    assert most_groups([5, 4], 3, Fraction(3, 2)) < 3


def test_one_group_always_will_do() -> None:
    for buckets in ([1], [1, 1], [999, 1], [7, 5, 3]):
        assert feasible(buckets, 1, Fraction(1))
        assert most_groups(buckets, sum(buckets), Fraction(1)) == 1


def test_no_larger_number_of_groups_is_feasible() -> None:
    rng = random.Random(5)
    for _ in range(100):
        buckets = [rng.randrange(1, 30) for _ in range(rng.randrange(1, 4))]
        k = rng.randrange(1, sum(buckets) + 1)
        t = Fraction(rng.randrange(10, 50), 10)
        found = most_groups(buckets, k, t)
        assert sizes_of(sum(buckets), found).min() >= k
        larger = range(found + 1, sum(buckets) // k + 1)
        assert not any(feasible(buckets, groups, t) for groups in larger)


def test_sizes_differ_by_one_and_add_up() -> None:
    for units, groups in ((10, 3), (9, 3), (7, 7), (1000, 37)):
        found = sizes_of(units, groups)
        assert found.sum() == units
        assert found.max() - found.min() <= 1


@pytest.mark.parametrize("t", [Fraction(1), Fraction(11, 10), Fraction(2), Fraction(20)])
def test_the_ends_of_a_count_are_the_outermost_that_keep_the_ratio(t: Fraction) -> None:
    for room in rooms([17, 5, 40], 4, t):
        for bucket, low, high in zip([17, 5, 40], room.low, room.high, strict=True):
            x = Fraction(room.size * bucket, 62)
            assert low * t >= x
            assert not ((low - 1) * t >= x)
            assert high <= x * t
            assert not (high + 1 <= x * t)


# -- Counts: exact sums, every ratio within t, and one bucket as often as may be -------------------


def as_printed(buckets: list[int], groups: int, t: Fraction) -> np.ndarray:
    """Thesis, end of section 7.2.2: ⌈k·p/t⌉ of every bucket but one, the rest from that one."""
    units = sum(buckets)
    counts = np.zeros((groups, len(buckets)), np.int64)
    for i, size in enumerate(sizes_of(units, groups).tolist()):
        own = i % len(buckets)
        counts[i] = [
            -(-size * bucket * t.denominator // (units * t.numerator)) for bucket in buckets
        ]
        counts[i, own] = size - (counts[i].sum() - counts[i, own])
    return counts


def test_a_thousand_random_cases_keep_sums_ratio_and_k() -> None:
    """Ties, N no multiple of k, t from 1.1 to 20."""
    rng = random.Random(1)
    broken = 0
    for _ in range(1000):
        units = rng.randrange(2, 300)
        k = rng.randrange(1, min(units, 25) + 1)
        t = Fraction(rng.randrange(110, 2001), 100)
        wide = rng.choice([2, 5, 50, 1000])
        values = [rng.randrange(wide) for _ in range(units)]
        many = np.unique(values, return_counts=True)[1]
        of_value = value_buckets(many, buckets_for(t))
        buckets = np.bincount(of_value, weights=many).astype(int).tolist()
        groups = most_groups(buckets, k, t)
        counts = emphasised(buckets, groups, t)
        assert counts.sum(axis=0).tolist() == buckets
        assert counts.sum(axis=1).tolist() == sizes_of(units, groups).tolist()
        assert counts.sum(axis=1).min() >= k
        for row in counts.tolist():
            for count, bucket in zip(row, buckets, strict=True):
                x = Fraction(sum(row) * bucket, units)
                assert count > 0
                assert max(count / x, x / count) <= t
        broken += as_printed(buckets, groups, t).sum(axis=0).tolist() != buckets
    assert broken > 300, "the printed recipe breaks the sums of columns"


def test_the_printed_recipe_breaks_the_sums_of_columns() -> None:
    buckets, t = [10, 10, 10], Fraction(2)
    printed = as_printed(buckets, 7, t)
    assert printed.sum(axis=1).tolist() == sizes_of(30, 7).tolist()
    assert printed.sum(axis=0).tolist() != buckets
    assert emphasised(buckets, 7, t).sum(axis=0).tolist() == buckets


@pytest.mark.parametrize("t", [2, 3, 4])
def test_whole_t_has_the_masses_of_table_7_6(t: int) -> None:
    size = t * (t + 1)
    counts = emphasised([size] * (t + 1), t + 1, Fraction(t))
    own, other = Fraction(t, t + 1), Fraction(1, t * (t + 1))
    expected = [[own if i == j else other for j in range(t + 1)] for i in range(t + 1)]
    assert [[Fraction(int(n), size) for n in row] for row in counts] == expected


def test_which_bucket_is_emphasised_goes_round() -> None:
    assert in_turn(np.array([4, 4, 4]), 6).tolist() == [0, 1, 2, 0, 1, 2]
    assert sorted(in_turn(np.array([3, 0, 1]), 8).tolist()) == [0] * 6 + [2] * 2
    assert in_turn(np.array([0, 0]), 3).tolist() == [0, 1, 0]


def best(
    supply: list[int], demand: list[int], room: np.ndarray, preferred: list[int]
) -> int | None:
    """Over every flow: how much goes where rows prefer it, at most."""
    rows, columns = room.shape
    found = None
    each = [
        [row for row in itertools.product(*(range(top + 1) for top in room[i])) if sum(row) == give]
        for i, give in enumerate(supply)
    ]
    for flow in itertools.product(*each):
        if all(sum(flow[i][j] for i in range(rows)) == demand[j] for j in range(columns)):
            value = sum(flow[i][preferred[i]] for i in range(rows))
            found = value if found is None else max(found, value)
    return found


def test_no_flow_has_more_where_rows_prefer_it() -> None:
    rng = random.Random(2)
    solved = refused = 0
    for _ in range(400):
        rows, columns = rng.randrange(1, 4), rng.randrange(1, 4)
        room = np.array([[rng.randrange(4) for _ in range(columns)] for _ in range(rows)])
        flow = np.array([[rng.randrange(top + 1) for top in row] for row in room.tolist()])
        supply, demand = flow.sum(axis=1), flow.sum(axis=0)
        if rng.random() < 0.2:
            supply, demand = supply + 2, demand + (2 * rows if columns == 1 else 2)
        preferred = np.array([rng.randrange(columns) for _ in range(rows)])
        expected = best(supply.tolist(), demand.tolist(), room, preferred.tolist())
        if expected is None:
            if supply.sum() == demand.sum():
                with pytest.raises(Fault):
                    most_preferred(supply, demand, room, preferred)
                refused += 1
            continue
        found = most_preferred(supply, demand, room, preferred)
        assert (found >= 0).all()
        assert (found <= room).all()
        assert found.sum(axis=1).tolist() == supply.tolist()
        assert found.sum(axis=0).tolist() == demand.tolist()
        assert found[np.arange(rows), preferred].sum() == expected
        solved += 1
    assert solved > 200
    assert refused > 0


def test_totals_are_shared_out_evenly() -> None:
    rng = random.Random(4)
    for _ in range(200):
        groups, many = rng.randrange(1, 9), rng.randrange(1, 6)
        totals = np.array([rng.randrange(20) for _ in range(many)])
        totals[-1] += -totals.sum() % groups
        found = dealt(totals, groups)
        assert found.sum(axis=0).tolist() == totals.tolist()
        assert len(set(found.sum(axis=1).tolist())) == 1
        assert (found.max(axis=0) - found.min(axis=0) <= 1).all()


# Several columns at once: each t-close by itself, whatever they have to do with each other.


def margins(counts: np.ndarray, cells: np.ndarray, buckets: np.ndarray) -> np.ndarray:
    of_cell = buckets[np.unique(cells, return_index=True)[1]]
    found = np.zeros((counts.shape[0], int(buckets.max()) + 1), np.int64)
    np.add.at(found.T, of_cell, counts.T)
    return found


def test_a_cell_is_one_combination_of_buckets() -> None:
    one, other = np.array([0, 0, 1, 1, 0]), np.array([1, 0, 0, 1, 1])
    cells = cells_of([one, other])
    assert sorted(set(cells.tolist())) == [0, 1, 2, 3]
    assert cells[0] == cells[4]
    # neighbours differ in one column only
    order = [(int(one[cells == c][0]), int(other[cells == c][0])) for c in range(4)]
    assert order == [(0, 0), (0, 1), (1, 1), (1, 0)]
    assert cells_of([one]).tolist() == one.tolist()


def test_each_column_is_close_by_itself() -> None:
    rng = random.Random(6)
    many = 0
    for _ in range(150):
        units, columns = rng.randrange(4, 200), rng.randrange(1, 4)
        k, t = rng.randrange(1, 12), Fraction(rng.randrange(110, 800), 100)
        k = min(k, units)
        given = []
        for _ in range(columns):
            values = [rng.randrange(rng.randrange(1, 5) + 1) for _ in range(units)]
            given.append(np.unique(values, return_inverse=True)[1].astype(np.int64))
        cells = cells_of(given)
        counts = counts_for(given, cells, k, t)
        assert counts.sum(axis=0).tolist() == np.bincount(cells).tolist()
        assert counts.sum(axis=1).min() >= k
        for buckets in given:
            far = ratio_of_counts(margins(counts, cells, buckets))
            assert far is not None
            assert far <= t
        many += counts.shape[0] > 1
    assert many > 60


def test_two_columns_do_not_cost_many_groups() -> None:
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=3000)
    given = [np.argsort(np.argsort(hidden + rng.normal(size=3000))) * 3 // 3000 for _ in range(2)]
    counts = counts_for(given, cells_of(given), 10, Fraction(2))
    assert counts.shape[0] > 250  # of 300 at most


def test_one_column_has_its_best_counts() -> None:
    buckets = np.repeat([0, 1, 2], 6)
    assert counts_for([buckets], cells_of([buckets]), 6, Fraction(2)).tolist() == [
        [4, 1, 1],
        [1, 4, 1],
        [1, 1, 4],
    ]


# -- Exchanges: counts stay, errors only shrink, and none is left that would help ------------------


def table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    groups, kinds = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    counts = rng.integers(0, 3, (groups, kinds)) + 1
    buckets = rng.permutation(np.repeat(np.arange(kinds), counts.sum(axis=0)))
    return rng.integers(0, rng.choice([3, 65536]), (buckets.size, 2)), buckets, counts


def test_counts_stay_and_no_exchange_is_left_that_helps() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        where, buckets, counts = table(rng)
        begin = at_random(buckets, counts, rng)
        found = exchanged(where, buckets, begin)
        kinds = counts.shape[1]
        many = np.bincount(found * kinds + buckets, minlength=counts.size)
        assert many.reshape(counts.shape).tolist() == counts.tolist()
        least = squared_errors(where, found)
        assert least <= squared_errors(where, begin) * (1 + 1e-12)
        for i, j in itertools.combinations(range(buckets.size), 2):
            if buckets[i] == buckets[j]:
                other = found.copy()
                other[[i, j]] = found[[j, i]]
                assert least <= squared_errors(where, other) * (1 + 1e-12)


def test_what_was_given_stays_as_it_is() -> None:
    where, groups = np.array([[1], [9], [2], [8]]), np.array([0, 1, 1, 0])
    exchanged(where, np.array([0, 0, 1, 1]), groups)
    assert groups.tolist() == [0, 1, 1, 0]


def test_likeness_and_squared_errors_add_up_to_all_squares() -> None:
    rng = np.random.default_rng(2)
    where, buckets, counts = table(rng)
    groups = at_random(buckets, counts, rng)
    sizes, sums = sums_of(where, groups)
    assert sizes.tolist() == counts.sum(axis=1).tolist()
    assert sums.sum(axis=0).tolist() == where.sum(axis=0).tolist()
    squares = float((where.astype(float) ** 2).sum())
    assert likeness(where, groups) + squared_errors(where, groups) == pytest.approx(squares)


def test_people_at_the_ends_of_wide_groups_do_not_overflow() -> None:
    """Two groups of 1,500 at opposite ends, wrongly mixed: exact although numbers are large."""
    where = np.repeat([[0], [65535]], 1500, axis=0)
    groups = np.arange(3000) % 2
    found = exchanged(where, np.zeros(3000, np.int64), groups)
    assert squared_errors(where, found) == 0


def test_large_tables_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    where, buckets = np.array([[1], [9], [2], [8]]), np.array([0, 0, 1, 1])
    monkeypatch.setattr(assign_groups, "MOST", 3)
    assert exchanged(where, buckets, np.array([0, 1, 1, 0])).tolist() == [0, 1, 1, 0]


# Groups: the counts hold whatever people are like, and people who are close stay together.


def test_fill_every_group_has_its_counts() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        groups, kinds = int(rng.integers(1, 12)), int(rng.integers(1, 5))
        counts = rng.integers(0, 5, (groups, kinds)) + 1
        buckets = rng.permutation(np.repeat(np.arange(kinds), counts.sum(axis=0)))
        where = rng.integers(0, rng.choice([1, 3, 65536]), (buckets.size, 2))
        labels = filled(where, buckets, counts)
        found = np.bincount(labels * kinds + buckets, minlength=groups * kinds)
        assert found.reshape(groups, kinds).tolist() == counts.tolist()


def test_similar_people_share_a_group() -> None:
    rng = np.random.default_rng(2)
    where = rng.integers(0, 65536, (1200, 2))
    buckets = rng.permutation(np.repeat([0, 1, 2], 400))
    counts = emphasised([400, 400, 400], 120, Fraction(2))
    ours = squared_errors(where, filled(where, buckets, counts))
    assert ours * 10 < squared_errors(where, at_random(buckets, counts, rng))


def test_groups_that_emphasise_a_bucket_lie_where_it_is_frequent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A column that goes with the buckets: groups in any order would cost twice the error."""
    rng = np.random.default_rng(3)
    line = np.sort(rng.integers(0, 65536, 900))
    buckets = np.clip(np.arange(900) + rng.integers(-200, 200, 900), 0, 899) // 300
    sizes = np.bincount(buckets).tolist()
    counts = emphasised(sizes, 90, Fraction(2))
    where = line[:, np.newaxis]
    ours = squared_errors(where, assign_groups._divided(where, buckets, counts))

    def anywhere(counts, part, favourite, left, ahead):  # type: ignore[no-untyped-def]
        return np.zeros_like(ahead)

    monkeypatch.setattr(assign_groups, "_wish", anywhere)
    assert ours * 1.5 < squared_errors(where, assign_groups._divided(where, buckets, counts))


def dependent(seed: int, blur: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two columns; buckets are thirds of the first one, more or less."""
    rng = np.random.default_rng(seed)
    first, second = rng.gamma(2, 8000, 600).clip(0, 65535), rng.integers(0, 65536, 600) // 4
    value = first + rng.normal(0, blur, 600)
    buckets = np.empty(600, np.int64)
    buckets[np.argsort(value)] = np.arange(600) // 200
    counts = emphasised([200, 200, 200], 60, Fraction(2))
    return np.stack([first.astype(np.int64), second], axis=1), buckets, counts


@pytest.mark.parametrize("blur", [0, 4000, 12_000])
def test_hardly_any_filling_is_closer(blur: float) -> None:
    """Where the buckets follow from a column, no filling has a third of the error of a random one:
    the bound says so. Ours stays near the bound, and its first halves alone would not."""
    where, buckets, counts = dependent(7, blur)
    ours = squared_errors(where, filled(where, buckets, counts))
    rng = np.random.default_rng(8)
    random_ones = [squared_errors(where, at_random(buckets, counts, rng)) for _ in range(5)]
    bound = least_errors(where, buckets, counts)
    assert bound <= ours
    assert ours <= max(min(random_ones) / 3, 1.35 * bound)
    if blur == 0:
        assert bound > min(random_ones) / 3
        first = squared_errors(where, assign_groups._divided(where, buckets, counts))
        assert first > 1.05 * ours


def test_groups_filled_again_are_closer_in_large_tables_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without exchanges, as in tables that are too large for them."""
    where, buckets, counts = dependent(7, 0)
    monkeypatch.setattr(assign_groups, "MOST", 0)
    again = squared_errors(where, filled(where, buckets, counts))
    first = squared_errors(where, assign_groups._divided(where, buckets, counts))
    assert again * 1.03 < first


def test_no_filling_of_a_small_table_is_below_the_bound() -> None:
    """Every filling of two groups; half of the bound's pairs counted twice would be above some."""
    rng = np.random.default_rng(9)
    tight = 0
    for _ in range(40):
        counts = np.array([[2, 1], [1, 2]]) if rng.random() < 0.5 else np.array([[1, 2], [1, 1]])
        buckets = np.repeat([0, 1], counts.sum(axis=0))
        where = rng.integers(0, 100, (buckets.size, 2))
        where[buckets == 1] += rng.integers(0, 200)
        every = []
        for ones in itertools.product([0, 1], repeat=buckets.size):
            labels = np.array(ones)
            many = np.bincount(labels * 2 + buckets, minlength=4).reshape(2, 2)
            if (many == counts).all():
                every.append(squared_errors(where, labels))
        bound = least_errors(where, buckets, counts, thin=1)
        assert bound <= min(every) * (1 + 1e-9)
        tight += 2 * bound > min(every)
    assert tight > 10


def test_keys_that_do_not_fit_into_a_word_are_sorted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(4)
    where = np.array([[rng.randrange(65536), rng.randrange(9)] for _ in range(60)])
    buckets = np.repeat([0, 1], 30)
    counts = np.full((10, 2), 3)
    expected = filled(where, buckets, counts).tolist()
    monkeypatch.setattr(assign_groups, "_WORD", 0)
    assert filled(where, buckets, counts).tolist() == expected


def test_columns_lie_on_their_declared_domain() -> None:
    table = people(4, age=[0, 60, 120, 30], job=["clerk", "writer", "farmer", "miner"])
    cells = read_original(table, schema()).cells
    found = positions([cells["age"], cells["job"]])
    assert found[:, 0].tolist() == [0, 32767, 65535, 16383]
    clerk, writer, farmer, miner = found[:, 1].tolist()
    assert clerk == 0
    assert miner == 65535
    assert writer - clerk < farmer - writer  # two desks are closer than a desk and a field


def test_a_person_lies_at_the_mean_of_his_rows() -> None:
    cells = read_original(people(4, age=[0, 60, 120, 120]), schema()).cells
    job = read_original(people(4, job=["clerk", "clerk", "miner", "clerk"]), schema()).cells["job"]
    found = positions([cells["age"], job], np.array([0, 0, 1, 1]))
    assert found.tolist() == [[0, 0], [65535, 43690]]  # 0.25 and 1; 0 and half of the line


def test_wide_bounds_leave_people_apart() -> None:
    """Bounds a million times wider than the values: they would all lie at 0."""
    wide = schema(age={"bounds": [0, 10**9]})
    cells = read_original(people(4, age=[20, 30, 40, 41]), wide).cells
    assert positions([cells["age"]])[:, 0].tolist() == [0, 31207, 62414, 65535]


# -- People in one order, and groups that take from it what was counted ----------------------------


@pytest.mark.parametrize("seed", range(20))
def test_every_group_has_its_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (rng.integers(1, 7), rng.integers(1, 5)))
    cells = np.repeat(np.arange(counts.shape[1]), counts.sum(axis=0))
    found = group_at(counts)(np.arange(cells.size))
    made = np.zeros_like(counts)
    np.add.at(made, (found, cells), 1)
    assert made.tolist() == counts.tolist()
    for cell in range(counts.shape[1]):  # and who come next stay together
        assert (np.diff(found[cells == cell]) >= 0).all()


def number(name: str, high: int) -> Number:
    return Number(name=name, role="other", low=Fraction(0), high=Fraction(high), grid=Fraction(1))


def test_neighbours_on_the_curve_are_close_in_every_column() -> None:
    """The mutant goes along the first column alone, and jumps in the second."""
    axis = np.arange(1, 17)
    rows = np.array([(9, x, y) for x in axis for y in axis])
    where = along([number("x", 15), number("y", 15)], [1, 2], [17, 17])(rows)
    steps = np.abs(np.diff(rows[np.argsort(where, kind="stable"), 1:], axis=0)).sum(axis=1)
    assert steps.mean() < 1.2
    first = along([number("x", 15)], [1], [17])(rows)
    jumps = np.abs(np.diff(rows[np.argsort(first, kind="stable"), 1:], axis=0)).sum(axis=1)
    assert jumps.max() > 10


def test_categories_lie_depth_first_and_many_columns_are_few() -> None:
    tree = Taxonomy.from_nested({"all": {"b": ["b1", "b2"], "a": ["a1", "a2"]}})
    town = Category(name="t", role="other", taxonomy=tree, stated="tree.json")
    names = [town.categories[i] for i in np.argsort(along([town], [0], [5])(np.c_[1:5]))]
    assert {names[0][0], names[1][0]} != {names[1][0], names[2][0]}
    wide = along([number(f"x{i}", 9) for i in range(20)], range(20), [11] * 20)
    assert wide(np.ones((3, 20), np.int64)).tolist() == [0, 0, 0]
