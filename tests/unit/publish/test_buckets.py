"""A confidential column in buckets."""

from __future__ import annotations

import itertools
import random
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tenue.errors import Fault
from tenue.evaluate import check
from tenue.publish.buckets import column as module
from tenue.publish.buckets.bucket_counts import (
    farthest_group,
    ratio_of,
    ratio_of_counts,
    right_guess,
)
from tenue.publish.buckets.column import Bucketed, bucketed, buckets_for, value_buckets
from tenue.publish.table.input_table import Original, read_original
from tenue.schema import Schema


def sizes(counts: list[int], buckets: int) -> list[int]:
    found = value_buckets(np.array(counts), buckets)
    return np.bincount(found, weights=counts).astype(int).tolist()


@pytest.mark.parametrize(
    ("t", "many"), [("1", 2), ("1.1", 2), ("1.99", 2), ("2", 3), ("2.5", 3), ("20", 21)]
)
def test_their_number_is_the_whole_part_of_t_and_one(t: str, many: int) -> None:
    assert buckets_for(Fraction(t)) == many


def test_they_have_equal_mass_where_all_values_differ() -> None:
    assert sizes([1] * 12, 3) == [4, 4, 4]
    assert sizes([1] * 10, 3) == [3, 4, 3]
    for units in range(5, 60):
        for many in range(2, 6):
            found = sizes([1] * units, many)
            assert len(found) == min(many, units)
            assert max(found) - min(found) <= 1


def test_the_printed_ceiling_would_make_the_first_bucket_too_large() -> None:
    """Thesis, section 7.2.2: ends at ⌈j·N/b + 1/2⌉; its own Figure 7.4 has four points in each."""
    ends = [-((-(2 * j * 12 + 3)) // 6) for j in (1, 2)]
    assert np.diff([0, *ends, 12]).tolist() == [5, 4, 3]
    assert sizes([1] * 12, 3) == [4, 4, 4]


def test_no_value_lies_in_two_buckets_and_none_is_empty() -> None:
    rng = random.Random(1)
    torn = 0
    for _ in range(500):
        counts = [rng.choice([1, 1, 2, 30]) for _ in range(rng.randrange(1, 20))]
        many = rng.randrange(2, 8)
        found = value_buckets(np.array(counts), many)
        assert found[0] == 0
        assert set(np.diff(found).tolist()) <= {0, 1}  # in order, without a gap
        assert found.max() + 1 <= many
        # a mutant that cuts ranks instead of values parts equal ones
        values = np.repeat(np.arange(len(counts)), counts)
        ranked = np.arange(values.size) * many // values.size
        torn += len(set(zip(values.tolist(), ranked.tolist(), strict=True))) > len(counts)
    assert torn > 400


def test_a_frequent_value_leaves_two_buckets_if_there_are_two_values() -> None:
    assert sizes([99, 1], 3) == [99, 1]
    assert sizes([1, 99, 1], 2) == [100, 1]
    assert sizes([7], 3) == [7]


# -- A column in buckets: written without a gap, and no end is a person's value --------------------

JOBS = {"any": {"desk": ["clerk", "writer"], "field": ["farmer", "miner"]}}


def table(declared: dict[str, Any], values: list[Any]) -> Original:
    columns = {"x": {**declared, "role": "confidential"}}
    facts = {"name": "t", "unit": "record", "neighbours": "replace"}
    return read_original(
        pa.table({"x": values}), Schema.from_dict({"table": facts, "columns": columns})
    )


def labels(declared: dict[str, Any], values: list[Any], t: int = 2) -> tuple[str, ...]:
    return bucketed(table(declared, values), "x", Fraction(t)).labels


NUMBER = {"type": "number", "bounds": [0, 100]}


def test_intervals_fill_the_declared_domain() -> None:
    assert labels(NUMBER, [10, 20, 30, 40, 50, 60]) == ("[0, 25]", "[26, 45]", "[46, 100]")
    fine = {"type": "number", "bounds": [-1, 1], "grid": 0.25}
    assert labels(fine, [-0.5, 0, 0.5]) == ("[-1, -0.25]", "[0, 0.25]", "[0.5, 1]")
    days = {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]}
    given = ["2020-03-01", "2020-03-11", "2020-05-01"]
    found = labels(days, given, t=1)
    assert found[0].startswith("[2020-01-01, 2020-0")
    assert found[-1].endswith(", 2020-12-31]")


def test_values_lie_in_the_interval_that_is_written() -> None:
    values = np.random.default_rng(1).integers(0, 101, 200).tolist()
    original = table(NUMBER, values)
    found = bucketed(original, "x", Fraction(5))
    assert len(found.labels) == 6
    shown = found.cells().to_arrow().to_pylist()
    for value, text in zip(original.cells["x"].numbers.tolist(), shown, strict=True):
        low, high = map(int, re.findall(r"\d+", text))
        assert low <= value <= high
    ends = [tuple(map(int, re.findall(r"\d+", text))) for text in found.labels]
    assert ends[0][0] == 0
    assert ends[-1][1] == 100
    assert all(after[0] == before[1] + 1 for before, after in itertools.pairwise(ends))
    assert not found.torn


def test_inner_ends_are_nobodys_value_where_there_is_room() -> None:
    found = labels(NUMBER, [10, 20, 80, 90], t=1)
    assert found == ("[0, 50]", "[51, 100]")  # and not [10, 20], [80, 90]


def test_categories_are_cut_depth_first_and_blank_ones_join_the_one_before() -> None:
    job = {"type": "category", "taxonomy": JOBS}
    assert labels(job, ["clerk", "writer", "farmer", "miner"], t=1) == (
        "clerk | writer",
        "farmer | miner",
    )
    assert labels(job, ["clerk", "clerk", "miner", "miner"], t=1) == (
        "clerk | writer | farmer",
        "miner",
    )
    flat = {"type": "category", "categories": ["no", "flu", "cold"]}
    assert labels(flat, ["cold", "no", "flu"]) == ("no", "flu", "cold")


def test_yes_and_no() -> None:
    assert labels({"type": "boolean"}, [True, False, True]) == ("false", "true")
    assert labels({"type": "boolean"}, [True, True]) == ("false | true",)


def test_the_middle_value_stands_for_a_bucket_where_the_holder_compares() -> None:
    found = bucketed(table(NUMBER, [10, 90, 20, 80, 30, 70]), "x", Fraction(1))
    assert found.buckets.tolist() == [0, 1, 0, 1, 0, 1]
    assert found.middles(found.buckets).numbers.tolist() == [20, 80, 20, 80, 20, 80]


def test_a_value_in_two_buckets_is_seen() -> None:
    column = table(NUMBER, [1, 1, 2]).cells["x"]
    assert Bucketed(column, np.array([0, 1, 1]), ("a", "b")).torn
    assert not Bucketed(column, np.array([0, 0, 1]), ("a", "b")).torn


def test_two_buckets_that_are_written_alike_never_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_intervals", lambda *_: ("[0, 1]", "[0, 1]"))
    with pytest.raises(Fault):
        labels(NUMBER, [1, 2])


# -- The ratio of shares: an exact fraction, the same from units and from counts -------------------


def by_hand(groups: list[int], buckets: list[int]) -> Fraction | None:
    found = Fraction(1)
    for group in set(groups):
        inside = [b for g, b in zip(groups, buckets, strict=True) if g == group]
        for bucket in set(buckets):
            p = Fraction(inside.count(bucket), len(inside))
            q = Fraction(buckets.count(bucket), len(buckets))
            if p == 0:
                return None
            found = max(found, p / q, q / p)
    return found


def test_it_is_the_definition_and_what_check_measures() -> None:
    rng = random.Random(8)
    finite = 0
    for _ in range(200):
        units = rng.randrange(2, 30)
        groups = np.unique([rng.randrange(3) for _ in range(units)], return_inverse=True)[1]
        buckets = np.unique([rng.randrange(3) for _ in range(units)], return_inverse=True)[1]
        expected = by_hand(groups.tolist(), buckets.tolist())
        assert ratio_of(groups, buckets) == expected
        counts = np.zeros((groups.max() + 1, buckets.max() + 1), np.int64)
        np.add.at(counts, (groups, buckets), 1)
        assert ratio_of_counts(counts) == expected
        rows = np.stack([groups, buckets], axis=1).tolist()
        found = check(rows, quasi_identifiers=["0"], confidential=["1"])
        assert found.confidential[0].exact_t_ratio == expected
        finite += expected is not None
    assert 20 < finite < 190


# -- What an informed intruder guesses: against every way of knowing members -----------------------


def by_enumeration(counts: tuple[int, ...], known: int) -> Fraction:
    members = [bucket for bucket, many in enumerate(counts) for _ in range(many)]
    size = len(members)
    total, ways = Fraction(0), 0
    for unknown in itertools.combinations(range(size), size - known):
        rest = [members[i] for i in unknown]
        total += Fraction(max(rest.count(bucket) for bucket in set(rest)), len(rest))
        ways += 1
    return total / ways


@pytest.mark.parametrize("counts", [(4, 1, 1), (2, 2), (3, 2, 1, 1), (1, 1, 1)])
def test_it_is_the_mean_over_every_set_of_members(counts: tuple[int, ...]) -> None:
    size = sum(counts)
    for known in (0, size - 2, size - 1):
        assert right_guess(counts, known) == by_enumeration(counts, known)
    with pytest.raises(ValueError, match="all but"):
        right_guess((4, 1, 1), 2)


def test_whoever_knows_all_but_one_knows_the_last() -> None:
    counts = farthest_group(30, Fraction(2))
    guesses = [round(float(right_guess(counts, known)), 2) for known in (0, 28, 29)]
    assert guesses == [0.67, 0.74, 1.0]


@pytest.mark.parametrize(("k", "t"), [(1, 20), (3, 1), (10, 1), (5, 1.1), (10, 1.5), (30, 2)])
def test_the_farthest_group_is_within_t(k: int, t: float) -> None:
    ratio = Fraction(str(t))
    counts = farthest_group(k, ratio)
    size, many = sum(counts), len(counts)
    assert size >= k
    for count in counts:
        quotient = Fraction(count * many, size)
        assert max(quotient, 1 / quotient) <= ratio
    # one more of the first bucket is too many of it, or too few of whichever it is taken from
    too_many = Fraction((counts[0] + 1) * many, size) > ratio
    too_few = all(Fraction((count - 1) * many, size) * ratio < 1 for count in counts[1:])
    assert too_many or too_few
