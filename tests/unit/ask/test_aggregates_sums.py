"""Counts, sums and means."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from tenue.ask.aggregates.mean import Mean, MeanOfAll
from tenue.ask.aggregates.noise import (
    SumNoise,
    atom_sensitivity,
    atoms_of,
    box_noise,
    component_of,
    is_atom,
    least_atom,
    measures_of,
)
from tenue.ask.aggregates.strategy import Range, Setting, Strategy
from tenue.ask.plan.planner import strategies
from tenue.ask.question import Aggregate
from tenue.engine.request import Contribution, Measure
from tenue.mechanism.additive_noise import Component, Part, Term
from tenue.noise import DiscreteLaplace, OptimalBox
from tenue.noise.criterion import VARIANCE
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

SUM, NOISE_COUNT = Aggregate("sum", "x"), Aggregate("count", "x")
SETTING = Setting(
    "add-or-remove",
    grouped=False,
    filtered=False,
    ranges={"x": Range(-4, 10, Fraction(1, 2), never_missing=False, per_unit=(0, 12))},
    rows_per_unit=3,
    persons=True,
)
ROWS, PRESENT, TOTAL = Measure("rows"), Measure("present", "x"), Measure("total", "x")
CUT = Measure("unit-total", "x", low=0, high=12)


def noise(*components: Component) -> SumNoise:
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    return SumNoise("discrete Laplace", components, (law,) * len(components), Fraction(1))


@pytest.mark.parametrize(
    ("component", "measures", "value"),
    [
        (Component("rows"), (ROWS,), 9),
        (Component("present", "x"), (PRESENT,), 7),
        (Component("absent", "x"), (ROWS, PRESENT), 2),
        (Component("total", "x"), (PRESENT, TOTAL), 20),
        (Component("above", "x", -4, 10), (PRESENT, TOTAL), 50),
        (Component("minus-below", "x", -4, 10), (PRESENT, TOTAL), -48),
        (Component("units"), (Measure("units"),), 3),
        (Component("unit-total", "x", 0, 12), (CUT,), 17),
        (Component("minus-unit-total", "x", 0, 12), (CUT,), -17),
    ],
    ids=lambda given: given.kind if isinstance(given, Component) else None,
)
def test_components_are_made_of_their_measures(
    component: Component, measures: tuple[Measure, ...], value: int
) -> None:
    one = noise(component)
    assert one.measures == measures_of([component]) == measures
    everything = {ROWS: 9, PRESENT: 7, TOTAL: 20, Measure("units"): 3, CUT: 17}
    assert component.of(one.atoms(everything)) == value
    assert component.of(atoms_of({m: everything[m] for m in measures})) == value


def test_shared_measures_are_asked_once() -> None:
    both = noise(Component("above", "x", 0, 9), Component("below", "x", 0, 9))
    assert both.measures == (PRESENT, TOTAL)


def test_a_certificate_names_law_components_and_cuts() -> None:
    assert noise(Component("rows")).line == "discrete Laplace on rows: scale 1 steps"
    cut = noise(Component("unit-total", "x", 0, 12), Component("units"))
    assert cut.line == (
        "discrete Laplace on unit-total x, each person's sum clipped to 0 and 12 steps, units: "
        "scale 1, 1 steps"
    )
    assert cut.cut_by_person
    assert not cut.counts_rows
    assert noise(Component("present", "x")).counts_rows
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "who", "neighbours": "replace", "rows_per_unit": 2},
            "columns": {
                "who": {"type": "identifier"},
                "x": {"type": "number", "bounds": [-2, 5], "grid": 0.5},
            },
        }
    )
    words = "the sum of `x` of each who, over all rows, counts from 0 to 6"
    ends = cut.components[0]
    assert cut.cuts(schema) == {words: Contribution("beyond", "x", ends.low, ends.high)}
    assert noise(Component("rows")).cuts(schema) == {}


def test_one_unit_moves_a_sum_by_its_rows_or_by_its_own_sum() -> None:
    by_rows = atom_sensitivity(SUM, SETTING, signs="any", native=False)
    by_person = atom_sensitivity(SUM, SETTING, signs="any", native=False, sum_bounds=(0, 12))
    assert by_rows is not None
    assert by_person is not None
    assert (by_rows.moved, by_person.moved) == (3 * 10, 12)
    assert least_atom(SUM, SETTING, signs="any", native=False) == by_person
    # values of both signs fit a same-sign box only where sums are cut to one sign
    assert atom_sensitivity(SUM, SETTING, signs="same", native=False) is None
    assert least_atom(SUM, SETTING, signs="same", native=False) == by_person
    uncut = {"x": replace(SETTING.ranges["x"], per_unit=None)}
    assert least_atom(SUM, replace(SETTING, ranges=uncut), signs="same", native=False) is None


def test_negative_sums_are_turned_round_for_a_same_sign_box() -> None:
    below = replace(SETTING, ranges={"x": Range(-8, 0, Fraction(1), never_missing=False)})
    atom = atom_sensitivity(SUM, below, signs="same", native=False)
    assert atom is not None
    assert (atom.component.kind, atom.weight) == ("minus-total", -1)
    assert atom.read(1).value([[0, 6]], None) == -6


def test_a_box_has_a_side_for_each_count_and_sum() -> None:
    atoms = [
        atom
        for asked in (NOISE_COUNT, SUM)
        if (atom := atom_sensitivity(asked, SETTING, signs="any", native=False))
    ]
    box = box_noise(atoms, Fraction(1), Fraction(1, 2), VARIANCE, "any")
    assert isinstance(box.law, OptimalBox)
    assert (box.name, box.epsilon, box.law.epsilon) == ("box", 1, Fraction(1, 2))
    assert [int(side) for side in box.law.sensitivities] == [3, 30]
    assert box_noise(atoms[:1], Fraction(1), Fraction(1), VARIANCE, "same").name == "same-sign box"


def test_what_an_aggregate_is_without_noise() -> None:
    assert component_of(Aggregate("count")) == Component("rows")
    assert component_of(NOISE_COUNT) == Component("present", "x")
    assert component_of(Aggregate("avg", "x")) == component_of(SUM) == Component("total", "x")
    assert component_of(Aggregate("units")) == Component("units")
    assert [is_atom(Aggregate(kind, "x")) for kind in ("count", "sum", "avg")] == [1, 1, 0]


# -- Means read off a pair, and off a sum over a public number of rows -----------------------------

LAW = DiscreteLaplace(sensitivity=100, epsilon=1)
COUNT_LAW = DiscreteLaplace(sensitivity=1, epsilon=1)
PAIR = Part(
    "pair",
    (Component("above", "x", 0, 100), Component("below", "x", 0, 100)),
    (LAW, LAW),
    Fraction(1),
)
SINGLE = Part("count", (Component("rows"),), COUNT_LAW, Fraction(1))
PARTS = (PAIR, SINGLE)
LEVEL = Fraction(19, 20)
MEAN = Mean(0, Fraction(0), Fraction(100))
NOISY = [[7_500, 2_500], [100]]


def test_a_mean_is_read_off_the_pair_and_stays_in_range() -> None:
    assert MEAN.value(NOISY, None) == 25
    assert MEAN.value([[-50, 200]], None) == 100
    assert MEAN.value([[-50, 20]], None) == 50  # no rows are visible


def test_an_interval_of_a_mean_holds_its_value_and_shrinks_with_rows() -> None:
    few = MEAN.interval(PARTS, LEVEL, NOISY, None)
    many = MEAN.interval(PARTS, LEVEL, [[750_000, 250_000], [10_000]], None)
    assert few is not None
    assert many is not None
    assert few[0] < 25 < few[1]
    assert (many[1] - many[0]) * 50 < few[1] - few[0]
    # with almost no rows nothing is known: the whole range
    assert MEAN.interval(PARTS, LEVEL, [[30, 30], [0]], None) == (0, 100)


def test_a_mean_over_all_rows_divides_a_sum() -> None:
    mean = MeanOfAll(Term(1, 0, Fraction(1)))
    assert mean.value(NOISY, 50) == 2
    assert mean.interval(PARTS, LEVEL, NOISY, None) is None
    found = mean.interval(PARTS, LEVEL, NOISY, 50)
    assert found is not None
    assert found[1] - found[0] == pytest.approx(2 * COUNT_LAW.interval(LEVEL)[1] / 50)


def test_means_are_moved_with_their_noise() -> None:
    assert MEAN.moved(1, 5).value([[], *NOISY], None) == MEAN.value(NOISY, None)
    total = MeanOfAll(Term(1, 0, Fraction(1)))
    assert total.moved(2, 0).value([[], [], *NOISY], 50) == total.value(NOISY, 50)
    assert total.needs_row_count
    assert not MEAN.needs_row_count


# Which strategies are offered, at which price. Their privacy: properties/test_joint_loss.py.

RANGES = {
    "x": Range(low=0, high=1000, grid=Fraction(1), never_missing=False),
    "y": Range(low=0, high=10, grid=Fraction(1), never_missing=True),
    "z": Range(low=-5, high=7, grid=Fraction(1), never_missing=False),
}
COUNT = Aggregate("count")


def offered(*aggregates: Aggregate, kind: str = "add-or-remove", **more: bool) -> list[Strategy]:
    setting = Setting(
        kind, more.get("grouped", False), more.get("filtered", False), RANGES, frozenset("y")
    )
    return strategies(aggregates, setting, EpsilonDelta(10**9), VARIANCE)


def spread(strategy: Strategy, aggregate: Aggregate) -> float:
    return math.sqrt(strategy.readings[aggregate].error(strategy.parts).variance)


def test_a_count_has_discrete_laplace_of_scale_one_over_epsilon() -> None:
    (only,) = offered(COUNT)
    (part,) = only.parts
    assert isinstance(part.law, DiscreteLaplace)
    assert part.law.scale == 1
    (halved,) = offered(COUNT, kind="replace", grouped=True)
    assert halved.parts[0].law.scale == 2  # type: ignore[union-attr]


def test_a_sum_is_offered_optimal_noise_and_its_yardstick() -> None:
    best, laplace = offered(Aggregate("sum", "x"))
    assert (best.name, laplace.name) == ("optimal", "discrete Laplace")
    assert spread(best, Aggregate("sum", "x")) < spread(laplace, Aggregate("sum", "x"))


def test_a_mean_needs_no_split_of_epsilon() -> None:
    """The pair's variance in the middle of the range is 1/(εn)² ranges², a plain split's is 10."""
    mean = Aggregate("avg", "x")
    (pair,) = offered(mean)
    assert pair.epsilon == 1
    assert spread(pair, mean) == pytest.approx(1000, rel=1e-3)  # times n, in units of the range


def test_a_mean_over_a_public_number_of_rows_is_one_sum() -> None:
    mean = Aggregate("avg", "y")
    best = offered(mean, kind="replace")[0]
    assert len(best.parts[0].components) == 1
    assert len(offered(mean, kind="replace", filtered=True)[0].parts[0].components) == 2
    assert len(offered(mean)[0].parts[0].components) == 2


def test_a_mean_under_replace_may_use_the_same_sign_ball() -> None:
    mean = Aggregate("avg", "x")
    pair, ball = offered(mean, kind="replace")
    assert isinstance(ball.parts[0].law, OptimalBox)
    assert spread(ball, mean) < 0.8 * spread(pair, mean)


def test_counts_and_sums_together_share_one_noise() -> None:
    wanted = (COUNT, Aggregate("count", "x"), Aggregate("sum", "y"))
    found = {s.name: s for s in offered(*wanted)}
    assert "same-sign box" in found
    box, pairs = found["same-sign box"], offered(*wanted)[0]
    assert all(spread(box, a) < spread(pairs, a) for a in wanted[1:2])


def test_sums_of_both_signs_get_a_box_in_any_direction() -> None:
    names = {s.name for s in offered(Aggregate("sum", "x"), Aggregate("sum", "z"))}
    assert "box" in names
    assert "same-sign box" not in names


def test_prices_never_exceed_what_was_offered() -> None:
    three = (COUNT, Aggregate("avg", "x"), Aggregate("avg", "z"))
    for strategy in offered(*three):
        assert strategy.epsilon <= 1
        assert strategy.epsilon > Fraction(999_999_998, 10**9)
