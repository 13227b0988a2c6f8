"""Beliefs about several values, and how far apart two of them are."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidPrior
from tenue.mechanism import refine
from tenue.noise import Seeded
from tenue.prior import (
    Binomial,
    Categorical,
    Independent,
    Ordinal,
    Points,
    Table,
    Uniform,
    normalised,
)
from tenue.prior.distance import SAFE, Combined, Equal, Line, Semantic, metric
from tenue.taxonomy import Taxonomy

COIN = Categorical({"head": 0.25, "tail": 0.75})


def test_independent_masses_multiply() -> None:
    belief = Independent([COIN, Points({0: 0.5, 1: 0.5}), Binomial(2, 0.5)])
    assert len(belief.values) == 12
    assert belief.mass(("head", 1, 1)) == Fraction(1, 4) * Fraction(1, 2) * Fraction(1, 2)
    assert belief.mass(["head", True, 1]) == belief.mass(("head", 1, 1))
    assert sum(belief.masses.values()) == 1
    assert belief.mass(("head", 1)) == belief.mass("head") == belief.mass(("x", 1, 1)) == 0


def test_impossible_combinations_never_appear() -> None:
    """Employed and on unemployment benefits: thesis 5.6."""
    belief = Table(
        {("employed", False): 0.8, ("unemployed", True): 0.15, ("unemployed", False): 0.05}
    )
    impossible = ("employed", True)
    assert belief.mass(impossible) == 0
    for truth in (*belief.values, impossible, None):
        law = refine(belief, truth, "0.1", kind="individual", delta="0.3")
        assert law.mass(impossible) == 0
        assert impossible not in law.sample(200, Seeded(4))
    # a product of the two margins would let it appear
    margins = Independent(
        [Categorical({"employed": 0.8, "unemployed": 0.2}), Categorical({True: 0.15, False: 0.85})]
    )
    assert margins.mass(impossible) > 0


@pytest.mark.parametrize(
    "components",
    [[], [Uniform(0, 1)], [COIN, 5], COIN, [Independent([COIN])], [Binomial(4095, 0.5), COIN]],
)
def test_what_cannot_be_combined_is_refused(components: object) -> None:
    with pytest.raises(InvalidPrior):
        Independent(components)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "masses",
    [
        {},
        {"ab": 1},
        {("a",): 0.5, ("a", "b"): 0.5},
        {("a", 1): 0.5, ("b", "x"): 0.5},
        [(("a", 1), 0.5), (("a", 1.0), 0.5)],
        {("a", None): 1},
        {(): 1},
    ],
)
def test_what_is_no_table_is_refused(masses: object) -> None:
    with pytest.raises(InvalidPrior):
        Table(masses)  # type: ignore[arg-type]


# Distances of one component: whole keys in exact order, and the same distances as doubles.

VALUE_TREE = Taxonomy.from_nested({"any": {"lung": ["flu", "cold"], "skin": ["rash"]}})
VALUE_NUMBERS = Points(normalised({0: 1, "0.5": 1, 10: 1}))
VALUE_RANKS = Ordinal(["a", "b", "c", "d"], ["1/3", 0, "1/3", "1/3"])
VALUE_WORDS = Categorical(normalised({"flu": 1, "cold": 1, "rash": 1}))


def keys(metric: Any, truth: object) -> list[int]:
    found = metric.keys(truth)
    assert found is not None
    return [int(key) for key in found]


def test_numbers_lie_on_a_line_in_steps_of_their_unit() -> None:
    line = Line(VALUE_NUMBERS)
    assert line.steps.tolist() == [0, 1, 20]
    assert line.row(1).tolist() == [0.5, 0, 9.5]
    assert line.position("0.25") == pytest.approx(0.5)
    assert keys(line, "0.25")[0] == keys(line, "0.25")[1]  # exactly half way
    assert keys(line, "0.26")[1] < keys(line, "0.26")[0]
    assert line.keys("no number") is None


def test_values_of_no_mass_still_hold_their_rank() -> None:
    line = Line(VALUE_RANKS)
    assert line.steps.tolist() == [0, 2, 3]  # b is impossible and still lies between a and c
    assert keys(line, "b") == [1, 1, 2]
    assert line.row(0).tolist() == [0, 2, 3]
    assert line.keys("e") is None


def test_keys_beyond_64_bits_stay_exact() -> None:
    line = Line(Points(normalised({0: 1, 1: 1, SAFE * 4: 1})))
    assert line.steps.dtype == object
    assert keys(line, SAFE * 4 - 1) == [SAFE * 4 - 1, SAFE * 4 - 2, 1]
    near = Line(VALUE_NUMBERS)
    assert keys(near, f"1/{3**40}")[:2] == sorted(keys(near, f"1/{3**40}")[:2])
    assert min(keys(near, 10**30)) == keys(near, 10**30)[2] > SAFE


def test_equal_tells_the_same_from_all_others() -> None:
    equal = Equal(VALUE_WORDS)
    assert keys(equal, "cold") == [0 if v == "cold" else 1 for v in VALUE_WORDS.values]
    assert equal.row(2).tolist() == [1, 1, 0]
    assert equal.keys("cough") is None


def test_concepts_are_as_far_apart_as_the_taxonomy_says() -> None:
    semantic = Semantic(VALUE_WORDS, VALUE_TREE)
    place = {word: VALUE_WORDS.values.index(word) for word in VALUE_WORDS.values}
    found = keys(semantic, "flu")
    assert 0 == found[place["flu"]] < found[place["cold"]] < found[place["rash"]]
    row = semantic.row(place["flu"])
    wanted = [float(VALUE_TREE.rational_distance("flu", word)) for word in VALUE_WORDS.values]
    assert row == pytest.approx(np.array(wanted), abs=1e-9)
    above = keys(semantic, "lung")
    assert above[place["flu"]] == above[place["cold"]] < above[place["rash"]]
    assert semantic.keys("cough") is None
    assert semantic.keys(3) is None


def test_a_belief_outside_the_taxonomy_is_refused() -> None:
    with pytest.raises(InvalidPrior):
        Semantic(Categorical({"flu": "0.5", "cough": "0.5"}), VALUE_TREE)


# Distances of combinations: every component counts alike, exactly, in keys and in rows.

LADDER = Ordinal(["low", "mid", "top", "never"], ["0.5", "0.25", "0.25", 0])
DISTANCE_JOINT_NUMBERS = Points({0: "0.25", 1: "0.25", 4: "0.5"})
JOB = Categorical({"a": "0.5", "b": "0.5"})
DISTANCE_JOINT_RANKS = {"low": 0, "mid": 1, "top": 2, "never": 3}


def parts(one: Any, two: Any) -> list[Fraction]:
    """The distance of each component, from the definition."""
    return [
        Fraction(one[0] != two[0]),
        abs(Fraction(one[1]) - Fraction(two[1])) / 4,
        Fraction(abs(DISTANCE_JOINT_RANKS[one[2]] - DISTANCE_JOINT_RANKS[two[2]]), 2),
    ]


HOW = {
    "sum": lambda ds: sum(ds),
    "max": lambda ds: max(ds),
    "differing": lambda ds: sum(d != 0 for d in ds),
}


@pytest.mark.parametrize("how", list(HOW))
def test_components_are_measured_in_their_own_largest_distance(how: str) -> None:
    belief = Independent([JOB, DISTANCE_JOINT_NUMBERS, LADDER])
    metric = Combined(belief, how)
    for truth in product("ab", (0, 1, 4), ("low", "mid", "top")):
        keys = metric.keys(truth)
        assert keys is not None
        wanted = [HOW[how](parts(truth, value)) for value in belief.values]
        # keys are whole and in proportion: ties are ties, and what is nearer is smaller
        order = sorted(set(wanted))
        assert [order.index(w) for w in wanted] == np.unique(keys, return_inverse=True)[1].tolist()
        row = metric.row(belief.places[belief.canonical(truth)])
        assert row == pytest.approx([float(w) for w in wanted])


def test_a_truth_outside_the_support_is_still_near_something() -> None:
    belief = Independent([JOB, DISTANCE_JOINT_NUMBERS, LADDER])
    keys = Combined(belief, "sum").keys(("a", 3, "never"))
    assert keys is not None
    nearest = belief.values[int(np.argmin(keys))]
    assert nearest == ("a", 4, "top")
    # a category that nobody believes in differs from all of them alike
    strange = Combined(belief, "sum").keys(("z", 1, "mid"))
    assert strange is not None
    assert belief.values[int(np.argmin(strange))][1:] == (1, "mid")


@pytest.mark.parametrize("truth", [None, "a", ("a", 1), ("a", "x", "mid"), ("a", 1, "none")])
def test_what_has_no_place_has_no_keys(truth: object) -> None:
    assert Combined(Independent([JOB, DISTANCE_JOINT_NUMBERS, LADDER]), "sum").keys(truth) is None


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from(["a", "b", "c"])),
        min_size=2,
        max_size=8,
        unique=True,
    ),
    st.sampled_from(list(HOW)),
)
def test_tables_have_the_same_distances_in_keys_and_rows(
    values: list[tuple[int, str]], how: str
) -> None:
    belief = Table({value: Fraction(1, len(values)) for value in values})
    metric = Combined(belief, how)
    widest = max(v for v, _ in values) - min(v for v, _ in values) or 1
    for place, value in enumerate(belief.values):
        row, keys = metric.row(place), metric.keys(value)
        assert keys is not None
        wanted = [
            HOW[how]([abs(value[0] - other[0]) / Fraction(widest), Fraction(value[1] != other[1])])
            for other in belief.values
        ]
        assert row == pytest.approx([float(w) for w in wanted])
        assert keys[place] == 0
        assert all(
            (wanted[i] < wanted[j]) == (keys[i] < keys[j])
            for i in range(len(wanted))
            for j in range(len(wanted))
        )


def test_vast_numbers_do_not_overflow() -> None:
    big = 10**30
    belief = Table({(0, 0): "0.5", (big, big + 1): "0.5"})
    keys = Combined(belief, "sum").keys((big - 1, 0))
    assert keys is not None
    assert all(int(key) >= 0 for key in keys)
    assert int(keys[0]) != int(keys[1])


def test_texts_and_truth_values_may_share_a_component() -> None:
    belief = Table({("a", True): "0.5", (False, True): "0.5"})
    keys = Combined(belief, "differing").keys(("a", True))
    assert keys is not None
    assert sorted(keys.tolist()) == [0, 1]


# -- Distances: a closed list, checked without a truth ---------------------------------------------

TREE = Taxonomy.from_nested({"any": {"lung": ["flu", "cold"], "skin": ["rash"]}})
NUMBERS = Points(normalised({0: 1, "0.1": 1, 10: 1}))
WORDS = Categorical(normalised({"flu": 1, "cold": 1, "rash": 1}))
RANKS = Ordinal(["a", "b", "c", "d"], ["1/3", 0, "1/3", "1/3"])
PAIRS = Table(normalised({(0, "x"): 1, (0, "y"): 1, (10, "x"): 1}))
BOTH = Independent([NUMBERS, RANKS])


def ordered(belief: Any, distance: Any, truth: object) -> list[int]:
    keys = metric(belief, distance).keys(truth)
    assert keys is not None
    return [int(key) for key in keys]


def test_numbers_are_compared_exactly() -> None:
    # 0.05 is half way between 0 and 0.1; as doubles it would not be
    keys = ordered(NUMBERS, None, "0.05")
    assert keys[0] == keys[1] < keys[2]
    far = ordered(Points(normalised({10**60: 1, 0: 1, 1: 1})), None, "1e-30")
    assert far[0] < far[1] < far[2]


def test_ranks_and_trees() -> None:
    assert ordered(RANKS, None, "b") == [1, 1, 2]
    near = ordered(WORDS, TREE, "flu")
    assert 0 == near[0] < near[1] < near[2]
    assert ordered(WORDS, TREE, "lung")[0] == ordered(WORDS, TREE, "lung")[1]
    assert ordered(WORDS, None, "flu") == [0, 1, 1]


def test_components_count_alike() -> None:
    assert ordered(PAIRS, "sum", (0, "x"))[1] == ordered(PAIRS, "sum", (0, "x"))[2]
    assert ordered(PAIRS, "differing", (10, "y")) == [2, 1, 1]
    for how in ("sum", "max"):
        rows = metric(BOTH, how)
        keys = rows.keys(BOTH.values[4])
        assert keys is not None
        exact = [Fraction(int(key), int(max(keys))) for key in keys]
        floats = rows.row(4) / rows.row(4).max()
        assert floats == pytest.approx(np.array([float(e) for e in exact]), abs=1e-12)


@pytest.mark.parametrize("belief", [NUMBERS, WORDS, RANKS, PAIRS, BOTH])
def test_rows_and_keys_agree(belief: Any) -> None:
    found = metric(belief, None)
    for place, value in enumerate(belief.values):
        keys = found.keys(value)
        assert keys is not None
        row = found.row(place)
        assert keys[place] == row[place] == 0
        ranks = [
            np.unique(np.round(np.asarray(x, dtype=float), 9), return_inverse=True)[1]
            for x in (keys / max(keys), row / row.max())
        ]
        assert ranks[0].tolist() == ranks[1].tolist()


@pytest.mark.parametrize(
    "truth", [None, "nowhere", float("nan"), object(), (1,), (None, None), b"x"]
)
def test_a_truth_without_place_is_no_error(truth: object) -> None:
    for belief, distance in (
        (NUMBERS, None),
        (WORDS, None),
        (WORDS, TREE),
        (RANKS, None),
        (BOTH, None),
    ):
        assert metric(belief, distance).keys(truth) is None


@pytest.mark.parametrize(
    ("belief", "distance"),
    [
        (NUMBERS, "rank"),
        (NUMBERS, "euclid"),
        (NUMBERS, TREE),
        (WORDS, "absolute"),
        (WORDS, Taxonomy.flat(["flu", "cold"])),
        (RANKS, TREE),
        (PAIRS, "absolute"),
        (WORDS, 7),
        (WORDS, np.array([1, 2])),
    ],
)
def test_other_distances_are_refused(belief: Any, distance: Any) -> None:
    with pytest.raises(InvalidPrior):
        metric(belief, distance)
