"""What every belief is: whole weights over one total, written as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.errors import InvalidArgument, InvalidPrior
from tenue.noise import Seeded
from tenue.prior import (
    BetaBinomial,
    Binomial,
    Categorical,
    Histogram,
    Independent,
    Normal,
    Ordinal,
    Points,
    Table,
    Uniform,
    from_json,
    normalised,
)
from tenue.prior.belief import Belief, Lattice, plain, shown_value, shown_values, written_number
from tenue.prior.normalise import checked_size, listed, paired, picks, uniform_below, whole_weights


class Stated(Belief):
    """A belief that is no more than what it states."""

    def __init__(self, **facts: object) -> None:
        self._set(facts=facts)

    def to_dict(self) -> dict[str, object]:
        facts: dict[str, object] = self.__dict__["facts"]
        return facts


@pytest.mark.parametrize(
    ("number", "text"),
    [(Fraction(7, 10), "7/10"), (Fraction(3), 3), (-4, -4), (Fraction(-1, 3), "-1/3"), (0, 0)],
)
def test_numbers_are_written_exactly(number: Fraction | int, text: int | str) -> None:
    assert written_number(number) == text
    assert Fraction(written_number(number)) == number


def test_json_has_one_form_whatever_the_order_of_the_facts() -> None:
    one, two = Stated(b=[1, 2], a="año"), Stated(a="año", b=[1, 2])
    assert one.to_json() == two.to_json() == '{"a":"año","b":[1,2]}'
    assert json.loads(one.to_json()) == one.to_dict()
    assert one == two
    assert hash(one) == hash(two)
    assert one != Stated(a="ano", b=[1, 2])
    assert one != one.to_json()


def test_equal_content_makes_beliefs_equal_whatever_their_class() -> None:
    assert Points({0: "0.5", 2: "0.5"}) == Points([(2, "1/2"), (0, "1/2")])
    assert len({Uniform(0, 1), Uniform(0, "1.0"), Uniform(0, 2)}) == 2
    assert Binomial(10, "0.5") != Binomial(10, "0.25")


@pytest.mark.parametrize(
    "belief", [Categorical({"a": 1}), Uniform(0, 1), Binomial(3, "0.5"), Stated()]
)
def test_nothing_of_a_belief_can_be_changed(belief: Belief) -> None:
    before = belief.to_json()
    with pytest.raises(InvalidPrior):
        belief.low = 7  # type: ignore[attr-defined]
    assert belief.to_json() == before


# What beliefs with finitely many values share: support, masses, draws, values as they leave.


def test_values_leave_as_ints_doubles_or_texts() -> None:
    assert shown_value(Fraction(6, 2)) == 3
    assert type(shown_value(Fraction(3))) is int
    assert shown_value(Fraction(1, 3)) == 1 / 3
    assert shown_value((Fraction(1), "a", Fraction(1, 2))) == (1, "a", 0.5)
    assert shown_value(True) is True
    whole = shown_values([Fraction(1), Fraction(5, 2)])
    assert isinstance(whole, np.ndarray)
    assert whole.tolist() == [1, 2.5]
    # truth values are no numbers: an array of them would be one of 0 and 1
    assert shown_values([True, False]) == [True, False]
    assert shown_values(["a", Fraction(1)]) == ["a", 1]


def test_numpys_clothes_come_off() -> None:
    for dressed, bare in ((np.int64(3), 3), (np.bool_(True), True), (np.str_("a"), "a")):
        assert plain(dressed) == bare
        assert type(plain(dressed)) is type(bare)
    assert plain("a") == "a"


@given(st.dictionaries(st.integers(-50, 50), st.integers(0, 9), min_size=1, max_size=20))
def test_the_support_is_what_has_mass(weights: dict[int, int]) -> None:
    if not sum(weights.values()):
        weights[0] = 1
    belief = Points(normalised(weights))
    total = sum(weights.values())
    assert set(belief.values) == {value for value, weight in weights.items() if weight}
    assert all(weight > 0 for weight in belief.weights)
    assert sum(belief.weights) == belief.total == belief.cumulative[-1]
    assert sum(belief.masses.values()) == 1
    for value, weight in weights.items():
        assert belief.mass(value) == Fraction(weight, total)
        if weight:
            assert belief.values[belief.places[Fraction(value)]] == value


def test_what_is_no_value_has_no_mass() -> None:
    belief = Table({("a", 1): "0.5", ("b", 2): "0.5"})
    for strange in (("a", 2), ("a",), "a", None, 7, ("a", "1", 1), (1, "a")):
        assert belief.mass(strange) == 0
    assert belief.mass(["a", np.int64(1)]) == Fraction(1, 2)


def test_draws_follow_the_masses_and_one_is_no_list() -> None:
    belief = Categorical({"a": "0.7", "b": "0.3", "never": 0})
    assert belief.sample(source=Seeded(1)) in ("a", "b")
    drawn = Counter(belief.sample(4000, source=Seeded(7)))
    assert set(drawn) == {"a", "b"}
    assert drawn["a"] / 4000 == pytest.approx(0.7, abs=0.04)


# -- Consecutive logarithms from the rises between neighbours --------------------------------------


def test_rises_add_up_from_any_start() -> None:
    lattice = Lattice.by_rise(0, 9, lambda k: -float(k * k), lambda k: -(2 * k + 1))
    assert lattice.log_weights(0, 3).tolist() == [0, -1, -4, -9]
    assert lattice.log_weights(2, 4).tolist() == [0, -5, -12]
    assert lattice.log_weights(5, 5).tolist() == [0]
    assert lattice.near(0.0, 0.0, 4.5) == (0, 2)
    assert Lattice.by_rise(0, 9, lambda k: float(k * k), lambda k: 2 * k + 1, concave=False).near(
        0.0, 0.0, 4.5
    ) == (0, 9)


# -- Draws by whole weights, seen through every word that can come ---------------------------------


class Script:
    """Gives the 64-bit words it was told to, in order."""

    safe = False

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def words(self, count: int, bits: int = 64) -> Any:
        assert bits == 64
        taken, self._words = self._words[:count], self._words[count:]
        assert len(taken) == count
        return np.array(taken, dtype=np.uint64)


def test_every_weight_gets_exactly_its_words() -> None:
    weights = [3, 0, 1, 4]
    seen = Counter(picks([3, 3, 4, 8], 1, Script(word))[0] for word in range(8))
    assert [seen[place] for place in range(4)] == weights


def test_words_beyond_the_last_whole_multiple_are_drawn_again() -> None:
    top = 2**64 - 1  # 2^64 = 1 mod 3, so the last word would favour 0
    assert uniform_below(3, 1, Script(top, 5)) == [2]
    assert uniform_below(3, 1, Script(top - 1)) == [2]


def test_large_bounds_use_as_many_words_as_they_need() -> None:
    bound = 3**100
    drawn = uniform_below(bound, 2000, Seeded(7))
    assert max(drawn) < bound
    assert max(drawn) > bound * 0.99
    assert min(drawn) < bound * 0.01


def test_many_draws_come_from_the_same_law_as_few() -> None:
    cumulative = [1, 6, 6, 10]
    many = np.bincount(picks(cumulative, 40_000, Seeded(7)), minlength=4) / 40_000
    few = [picks(cumulative, 500, Seeded(seed)) for seed in range(80)]
    counts = np.bincount(np.concatenate(few), minlength=4) / 40_000
    assert many == pytest.approx([0.1, 0.5, 0, 0.4], abs=0.01)
    assert counts == pytest.approx([0.1, 0.5, 0, 0.4], abs=0.01)


def test_rounding_to_a_grid_is_exact() -> None:
    """Every piece, every unit cell: the masses are those of the cells around grid points."""
    belief = Histogram([0, 1, 4], ["1/4", "3/4"])
    unit = 6  # edges are whole; borders of the grid 2/3 are thirds; units are sixths
    grid = Fraction(2, 3)
    rounded = Histogram.of_weights(belief.edges, belief.weights, grid)
    masses: Counter[Fraction] = Counter()
    for word, (start, end) in enumerate([(0, 1), (1, 4), (1, 4), (1, 4)]):
        size = (end - start) * unit
        for place in range(size):
            masses[rounded.draws(1, Script(word, place))[0]] += Fraction(1, 4 * size)
    on_grid = belief.on_grid(grid)
    assert isinstance(on_grid, Points)
    assert masses == on_grid.masses


def test_draws_stay_on_the_grid_and_between_the_ends() -> None:
    for belief in (Uniform("0.3", "7.7"), Uniform(0, 10**6).on_grid(1), Histogram([0, 9], [1])):
        drawn = np.asarray(belief.sample(200, Seeded(3)), dtype=float)
        assert float(drawn.min()) >= float(belief.low if belief.grid is None else 0)
        assert float(drawn.max()) <= float(belief.high if belief.grid is None else 10**6)


def test_how_many_draws() -> None:
    assert checked_size(None) == 1
    for size in (-1, 1.5, "x", 10**8):
        with pytest.raises(InvalidArgument):
            checked_size(size)


# -- Masses that add up to exactly 1 ---------------------------------------------------------------


def test_a_float_means_its_decimal() -> None:
    assert 0.1 + 0.2 + 0.7 != 1 or 0.7 + 0.2 + 0.1 != 1  # as doubles, in some order, they do not
    assert whole_weights([0.1, 0.2, 0.7]) == ((1, 2, 7), 10)
    assert whole_weights([Decimal("0.25"), "1/4", 0.5]) == ((1, 1, 2), 4)


@pytest.mark.parametrize(
    "masses",
    [
        [0.5, 0.4],
        [0.5, 0.6],
        [1 / 3, 1 / 3, 1 / 3],
        [1.5, -0.5],
        [1, 5e-324],
        [1, "1e-320"],
        [float("nan"), 1],
        [float("inf")],
        [None, 1],
        [True],
        ["a", 1],
    ],
)
def test_what_is_no_distribution_is_refused(masses: list[object]) -> None:
    with pytest.raises(InvalidPrior) as refused:
        whole_weights(masses)
    assert refused.value.fix


def test_the_least_ordinary_mass_is_allowed() -> None:
    least = Fraction(1, 2**1022)
    assert whole_weights([least, 1 - least])[0][0] == 1
    with pytest.raises(InvalidPrior, match="2\\^-1022"):
        whole_weights([least / 2, 1 - least / 2])


def test_denominators_cannot_fill_the_memory() -> None:
    primes = [p for p in range(10**6, 10**6 + 4000) if all(p % d for d in range(2, 1001))]
    with pytest.raises(InvalidPrior, match="common denominator"):
        whole_weights([Fraction(1, p) for p in primes])


def test_places_cannot_either() -> None:
    primes = [p for p in range(10**6, 10**6 + 4000) if all(p % d for d in range(2, 1001))]
    masses = normalised([1] * len(primes))
    values = [Fraction(1, p) for p in primes]
    makers: list[Callable[[], object]] = [
        lambda: Points(list(zip(values, masses, strict=True))),
        lambda: Table(list(zip(((v, "x") for v in values), masses, strict=True))),
        lambda: Histogram([0, *sorted(values)], masses),
        lambda: Points({10**101: 1}),
        lambda: Table({("a", 10**101): 1}),
    ]
    for make in makers:
        with pytest.raises(InvalidPrior, match=r"common denominator|1e100"):
            make()


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=30).filter(any))
def test_normalised_weights_are_always_accepted(weights: list[int]) -> None:
    shares = normalised(weights)
    whole, total = whole_weights(shares)
    assert sum(whole) == total
    assert [Fraction(w, total) * sum(weights) for w in whole] == weights


@pytest.mark.parametrize("weights", [[], [0, 0], [1, -1, 3], "ab", 5, {"a": "x"}])
def test_weights_that_mean_nothing_are_refused(weights: object) -> None:
    with pytest.raises(InvalidPrior):
        normalised(weights)  # type: ignore[arg-type]


@pytest.mark.parametrize("given_", [{}, [], [1, 2], [("a", 1, 2)], 7, "text"])
def test_pairs_must_be_pairs(given_: object) -> None:
    with pytest.raises(InvalidPrior):
        paired(given_)


def test_no_more_points_than_allowed() -> None:
    assert len(listed(range(4096), "order")) == 4096
    for many in (range(4097), iter(lambda: 1, 2)):  # the second never ends
        with pytest.raises(InvalidPrior, match="4096"):
            listed(many, "order")
    with pytest.raises(InvalidPrior):
        paired(dict.fromkeys(range(4097), 0))


# -- Beliefs as JSON -------------------------------------------------------------------------------

BELIEFS: list[Any] = [
    Uniform(0, "0.1"),
    Normal(1, "0.5", -3, "3.25"),
    Histogram([0, "0.5", 2], ["1/3", "2/3"]),
    Histogram([0, 10**6], [1]).on_grid(1),
    Uniform(0, 10**6).on_grid("0.5"),
    Points({1: "1/3", "2.5": "2/3"}),
    Binomial(1080, 0.3),
    BetaBinomial(10, "0.5", 2),
    Categorical({"flu": 0.7, "none": 0.3}),
    Categorical({True: 0.7, False: 0.3}),
    Categorical({"1/2": 0.5, "é": 0.5}),
    Ordinal(["a", "b"], [1, 0]),
    Independent([Categorical({"x": 1}), Points({0: 1})]),
    Table({("a", 0.5): 0.5, ("b", 2): 0.5}),
    Table({("1/2", True): 0.5, ("b", False): 0.5}),
]


@pytest.mark.parametrize("belief", BELIEFS, ids=repr)
def test_there_and_back(belief: Any) -> None:
    text = belief.to_json()
    again = from_json(text)
    assert type(again) is type(belief)
    assert again == belief
    assert again.to_json() == text
    if hasattr(belief, "values"):
        assert again.masses == belief.masses


def test_equal_beliefs_have_one_text() -> None:
    one = Categorical({"a": 0.5, "b": 0.5, "c": 0})
    assert one.to_json() == Categorical([("b", "1/2"), ("a", 0.50)]).to_json()


def test_decimals_are_exact_in_json() -> None:
    text = '{"prior": "points", "masses": [[0.1, 0.1], [0.2, 0.2], [0.3, 0.7]]}'
    assert from_json(text) == Points({"0.1": "0.1", "0.2": "0.2", "0.3": "0.7"})


def test_densities_may_come_with_a_grid() -> None:
    text = '{"prior": "uniform", "low": 0, "high": 120, "grid": 1}'
    assert from_json(text) == Uniform(0, 120).on_grid(1)
    text = '{"prior": "normal", "mean": 2, "sd": 1, "low": 0, "high": 5, "grid": 0.5}'
    both = f'{{"prior": "independent", "components": [{text}, {text}]}}'
    assert len(from_json(both).values) == 121


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        "null",
        '{"prior": "gauss", "mean": 0}',
        '{"prior": ["uniform"]}',
        '{"low": 0, "high": 1}',
        '{"prior": "uniform", "low": 0}',
        '{"prior": "uniform", "low": 0, "high": 1, "mean": 2}',
        '{"prior": "uniform", "low": 0, "high": NaN}',
        '{"prior": "uniform", "low": 0, "low": 0, "high": 1}',
        '{"prior": "categorical", "masses": {"a": 0.5, "a": 0.5}}',
        '{"prior": "categorical", "masses": {"a": 0.5}}',
        '{"prior": "categorical", "masses": 3}',
        '{"prior": "points", "masses": {"a": 1}}',
        '{"prior": "table", "masses": [["a", 1]]}',
        '{"prior": "table", "numeric": [true], "masses": [[["a", "b"], 1]]}',
        '{"prior": "table", "numeric": [true], "masses": [[["a"], 1]]}',
        '{"prior": "independent", "components": {}}',
        '{"prior": "independent", "components": [{"prior": "uniform", "low": 0, "high": 1}]}',
        '{"prior": "histogram", "edges": [0, 1], "masses": [1], "grid": 0}',
        "[" * 100_000,
    ],
)
def test_what_is_no_belief_is_refused(text: str) -> None:
    with pytest.raises(InvalidPrior):
        from_json(text)


def test_only_texts_are_read() -> None:
    for each_given in (None, 7, {"prior": "uniform"}, "x" * 4_000_001):
        with pytest.raises(InvalidPrior):
            from_json(each_given)  # type: ignore[arg-type]


def test_the_text_is_plain_json() -> None:
    facts = json.loads(Binomial(1080, 0.3).to_json())
    assert facts == {"prior": "binomial", "n": 1080, "p": "3/10"}
