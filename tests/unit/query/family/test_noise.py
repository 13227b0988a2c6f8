"""Noise on counts and sums: what it measures, what it says, and how far one unit moves them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tenue.engine.request import Contribution, Measure
from tenue.mechanism.part import Component
from tenue.noise import DiscreteLaplace, OptimalBox
from tenue.noise.criterion import VARIANCE
from tenue.query.family.noise import (
    SumNoise,
    atom_sensitivity,
    atoms_of,
    box_noise,
    component_of,
    is_atom,
    least_atom,
    measures_of,
)
from tenue.query.family.strategy import Range, Setting
from tenue.query.question import Aggregate
from tenue.schema import Schema

SUM, COUNT = Aggregate("sum", "x"), Aggregate("count", "x")
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
        "discrete Laplace on unit-total x, the sum of a person cut to 0 and 12 steps, units: "
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
    by_person = atom_sensitivity(SUM, SETTING, signs="any", native=False, cut=(0, 12))
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
        for asked in (COUNT, SUM)
        if (atom := atom_sensitivity(asked, SETTING, signs="any", native=False))
    ]
    box = box_noise(atoms, Fraction(1), Fraction(1, 2), VARIANCE, "any")
    assert isinstance(box.law, OptimalBox)
    assert (box.name, box.epsilon, box.law.epsilon) == ("box", 1, Fraction(1, 2))
    assert [int(side) for side in box.law.sensitivities] == [3, 30]
    assert box_noise(atoms[:1], Fraction(1), Fraction(1), VARIANCE, "same").name == "same-sign box"


def test_what_an_aggregate_is_without_noise() -> None:
    assert component_of(Aggregate("count")) == Component("rows")
    assert component_of(COUNT) == Component("present", "x")
    assert component_of(Aggregate("avg", "x")) == component_of(SUM) == Component("total", "x")
    assert component_of(Aggregate("units")) == Component("units")
    assert [is_atom(Aggregate(kind, "x")) for kind in ("count", "sum", "avg")] == [1, 1, 0]
