"""Groups of numbers and categories together are those of the definition, worked out by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tenue.errors import InvalidArgument
from tenue.microdata import Records, mdav, records, v_mdav
from tenue.microdata.partition import plain
from tenue.microdata.partition.mixed import Mixed
from tenue.schema import Schema
from tenue.taxonomy import Taxonomy

NESTED = {"any": {"work": {"desk": ["clerk", "writer"], "field": ["farmer"]}, "none": ["idle"]}}
JOBS = Taxonomy.from_nested(NESTED)
SEXES = ("f", "m", "x")
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "people", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"},
            "job": {"type": "category", "taxonomy": NESTED, "role": "quasi-identifier"},
            "sex": {"type": "category", "categories": list(SEXES), "role": "quasi-identifier"},
            "born": {
                "type": "date",
                "bounds": ["2000-01-01", "2000-01-11"],
                "role": "quasi-identifier",
            },
            "ok": {"type": "boolean", "role": "quasi-identifier"},
        },
    }
)


def people(seed: int, size: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    ages = rng.choice([[20, 40, 60], list(range(101))])
    return [
        {
            "age": rng.choice(ages),
            "job": rng.choice(JOBS.categories),
            "sex": rng.choice(SEXES),
            "born": f"2000-01-{rng.randrange(1, 12):02d}",
            "ok": rng.random() < 0.5,
        }
        for _ in range(size)
    ]


def given(rows: list[dict[str, Any]], *columns: str) -> Records:
    import datetime

    table = pa.table(
        {
            "age": [row["age"] for row in rows],
            "job": [row["job"] for row in rows],
            "sex": [row["sex"] for row in rows],
            "born": [datetime.date.fromisoformat(row["born"]) for row in rows],
            "ok": [row["ok"] for row in rows],
        }
    )
    return records(table, SCHEMA, list(columns) or None)


def by_hand(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Equation 6.7, squared."""
    diameter = max(JOBS.distance(a, b) for a in JOBS.categories for b in JOBS.categories)
    days = int(one["born"][-2:]) - int(other["born"][-2:])
    return (
        ((one["age"] - other["age"]) / 100) ** 2
        + (JOBS.distance(one["job"], other["job"]) / diameter) ** 2
        + (one["sex"] != other["sex"])
        + (days / 10) ** 2
        + (one["ok"] != other["ok"])
    )


def test_the_distance_of_two_records_is_that_of_equation_6_7() -> None:
    rows = people(1, 40)
    held = given(rows)
    space = Mixed(held.coordinates, held.semantic)
    for i in range(0, 40, 3):
        got = space.distances(np.arange(40), space.record(i))
        assert got.tolist() == pytest.approx([by_hand(rows[i], row) for row in rows], abs=1e-8)


def test_the_centre_has_means_shares_and_the_least_marginal_concept() -> None:
    rows = people(2, 30)
    held = given(rows)
    space = Mixed(held.coordinates, held.semantic)
    chosen = np.array([0, 3, 4, 7, 11])
    centre = space.centre(space.tally(chosen), 5)
    inside = [rows[i] for i in chosen]
    assert centre[0] == pytest.approx(sum(row["age"] for row in inside) / 500)
    shares = [sum(row["sex"] == sex for row in inside) / 5 * math.sqrt(0.5) for sex in SEXES]
    assert centre[1:4].tolist() == pytest.approx(shares)
    job = JOBS.least_marginal([row["job"] for row in inside])
    assert JOBS.concepts[int(centre[-1])] == job


def naive_mdav(rows: list[dict[str, Any]], k: int, again: bool = True) -> list[int]:
    """MDAV on whole records by the book, with exact means, no arrays and no shared code."""
    live = list(range(len(rows)))
    labels = [-1] * len(rows)
    group = 0
    apart = {(i, j): by_hand(rows[i], rows[j]) for i in live for j in live}

    def from_centre() -> Callable[[int], float]:
        count = len(live)
        age = Fraction(sum(rows[i]["age"] for i in live), count)
        day = Fraction(sum(int(rows[i]["born"][-2:]) for i in live), count)
        yes = Fraction(sum(rows[i]["ok"] for i in live), count)
        share = {s: Fraction(sum(rows[i]["sex"] == s for i in live), count) for s in SEXES}
        job = JOBS.least_marginal([rows[i]["job"] for i in live])
        diameter = max(JOBS.distance(a, b) for a in JOBS.categories for b in JOBS.categories)

        def distance(i: int) -> float:
            row = rows[i]
            corner = sum(((row["sex"] == s) - share[s]) ** 2 for s in SEXES) / 2
            exact = ((row["age"] - age) / 100) ** 2 + ((int(row["born"][-2:]) - day) / 10) ** 2
            exact += (row["ok"] - yes) ** 2 + corner
            return round(float(exact) + (JOBS.distance(row["job"], job) / diameter) ** 2, 9)

        return distance

    def far(distance: Callable[[int], float]) -> int:
        return max(live, key=lambda i: (distance(i), -i))

    def leave(seed: int) -> None:
        nonlocal group
        others = sorted((round(apart[seed, i], 9), i) for i in live if i != seed)
        for i in [seed, *(i for _, i in others[: k - 1])]:
            labels[i] = group
            live.remove(i)
        group += 1

    while len(live) >= 3 * k:
        first = far(from_centre())
        second = far(lambda i, first=first: round(apart[first, i], 9))
        leave(first)
        if labels[second] >= 0:
            second = far(lambda i, first=first: round(apart[first, i], 9))
        leave(second)
    if len(live) >= 2 * k:
        leave(far(from_centre()))
    for i in live:
        labels[i] = group
    return labels


@pytest.mark.parametrize("seed", range(12))
def test_mixed_groups_are_those_of_the_book(seed: int) -> None:
    rows = people(seed, 25 + seed)
    for k in (2, 3, 5):
        assert mdav(given(rows), k).labels.tolist() == naive_mdav(rows, k)


def test_numbers_alone_go_the_fast_way_and_give_the_same_groups() -> None:
    rows = people(5, 60)
    held = given(rows, "age", "born", "ok", "sex")
    assert held.semantic == ()
    plainly = plain.mdav(plain.Euclidean(held.coordinates), 4)
    assert np.array_equal(mdav(held, 4).labels, plainly)


def test_a_taxonomy_puts_related_jobs_together() -> None:
    """Without the taxonomy a writer is as far from a clerk as from somebody idle."""
    rows = [
        {"age": 30, "job": job, "sex": "f", "born": "2000-01-01", "ok": True}
        for job in ["clerk", "idle", "writer", "idle", "clerk", "idle"]
    ]
    groups = {frozenset(group.tolist()) for group in mdav(given(rows), 3).groups()}
    assert groups == {frozenset({0, 2, 4}), frozenset({1, 3, 5})}


@pytest.mark.parametrize("k", [2, 3, 4])
def test_v_mdav_keeps_its_sizes_on_mixed_records(k: int) -> None:
    for seed in range(6):
        sizes = v_mdav(given(people(seed, 40)), k, 1.1).sizes
        assert k <= sizes.min() <= sizes.max() < 2 * k


def test_a_scale_for_records_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        mdav(given(people(1, 9)), 3, scale=[1])
    with pytest.raises(InvalidArgument):
        mdav(given(people(1, 2)), 3)
