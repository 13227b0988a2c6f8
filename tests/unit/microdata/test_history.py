"""The steps of a release: what was read, left out, grouped, changed and insisted on."""

from __future__ import annotations

import tenue as tn
from unit.microdata.census import people, schema


def test_every_step_is_told_with_its_numbers() -> None:
    table = people(age=[None] * 10 + list(range(30, 80)))
    release = tn.publish(table, schema=schema(), method="swap", k=10, override="homogeneous-groups")
    assert [str(step) for step in release.history if step.name != "homogeneous"] == [
        "read: 60 rows, 6 columns that are no identifiers",
        "left out: 10 rows with a missing value in age, job, sex, income, ill",
        "partition: 5 groups, 10 to 10 units in each",
        "publish: swap by quasi-identifiers: income, ill",
        "insisted on: homogeneous-groups",
    ]


def test_groups_are_counted_in_persons() -> None:
    take = [i for i in range(12) for _ in range(3)]
    release = tn.publish(people(12).take(take), schema=schema("name"), method="swap", k=4)
    (step,) = [step for step in release.history if step.name == "partition"]
    assert step.text == "3 groups, 4 to 4 units in each"


def test_one_valued_groups_are_counted_for_each_column() -> None:
    """Sorted by income, 50 times "no" and 10 times "flu": by value, all groups of five are pure."""
    table = people(ill=["no"] * 50 + ["flu"] * 10)
    release = tn.publish(
        table,
        schema=schema(),
        method="swap",
        k=5,
        by="each-confidential",
        override="homogeneous-groups",
    )
    told = {step.text for step in release.history if step.name == "homogeneous"}
    assert told == {"0 of 12 groups have one `income` only", "12 of 12 groups have one `ill` only"}


def test_values_beyond_their_bounds_are_counted() -> None:
    table = people(age=[-5, 121, 130] + [40] * 57, income=[1000.5] + [float(i) for i in range(59)])
    release = tn.publish(table, schema=schema(), method="microaggregate", k=4)
    told = [step.text for step in release.history if step.name == "clamped"]
    assert told == [
        "3 values of `age` beyond the declared bounds became the nearest bound",
        "1 value of `income` beyond the declared bounds became the nearest bound",
    ]
    inside = tn.publish(people(), schema=schema(), method="microaggregate", k=4)
    assert not any(step.name == "clamped" for step in inside.history)
