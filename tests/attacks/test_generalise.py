"""Generalisation is optimised by a public method: whoever reruns it learns more than is written.

Two intruders rerun it on everything that fits a release, and keep what gives it. One knows nobody's
quasi-identifiers and asks which tables are left (downcoding). The other knows all of them and asks
who has which confidential value (minimality, where l was asked for). Both succeed in part, and the
certificate says how far: the figures are exact, over all tables of 12 rows with six values.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tenue.noise import Seeded
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.methods.generalise import SURVIVORS, Generalise
from tenue.publish.publish import certify
from tenue.publish.table.cells import Cells
from tenue.publish.table.input_table import Original
from tenue.schema import Schema
from tenue.text import percent

N, VALUES, K = 12, 6, 3
AGES = (
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    [0, 1, 1, 1, 2, 3, 3, 4, 4, 4, 5, 5],
    [0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 5, 5],
)
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 7], "role": "quasi-identifier"},
            "ill": {"type": "boolean", "role": "confidential"},
        },
    }
)

Release = tuple[str, ...]


def method(by: str, **asked: int) -> Generalise:
    found = chosen_method(SCHEMA, "generalise", k=K, by=by, **asked)
    assert isinstance(found, Generalise)
    return found


def released(way: Generalise, ages: Sequence[int], ill: Sequence[int] | None = None) -> Release:
    """The text of each row's age, in the order of rows."""
    there = np.ones(len(ages), np.bool_)
    ills = [i % 2 for i in range(len(ages))] if ill is None else ill
    cells = {
        "age": Cells(SCHEMA.columns["age"], np.array(ages, np.int64), there, None),
        "ill": Cells(SCHEMA.columns["ill"], np.array(ills, np.int64), there, None),
    }
    made = way.publish(Original(cells, None, len(ages)), Seeded(1)).cells["age"]
    return tuple(made.labels[number] for number in made.numbers.tolist())


def fitting(counts: Counter[str]) -> int:
    """How many tables have ages inside these intervals, so many in each."""
    widths = {text: np.diff([int(end) for end in text[1:-1].split(", ")]) for text in counts}
    return math.prod(math.comb(int(widths[text][0]) + many, many) for text, many in counts.items())


def surviving(way: Generalise, values: int) -> float:
    """Of the tables that fit a release, the share that gives it, on average over all tables."""
    tables = itertools.combinations_with_replacement(range(values), N)
    found = Counter(frozenset(Counter(released(way, ages)).items()) for ages in tables)
    every = sum(found.values())
    assert every == math.comb(values + N - 1, N)
    left = {release: many / fitting(Counter(dict(release))) for release, many in found.items()}
    assert all(0 < share <= 1 for share in left.values())
    return sum(left[release] * many for release, many in found.items()) / every


@pytest.mark.parametrize("by", ["multidimensional", "full-domain"])
def test_whoever_reruns_the_method_rules_out_most_tables_that_fit(by: str) -> None:
    way = method(by)
    assert percent(surviving(way, VALUES)) == SURVIVORS[by].tables
    assert any(SURVIVORS[by].tables in limit for limit in way.limits)


def test_splits_leave_fewer_tables_where_there_are_more_values() -> None:
    few, more = (surviving(method("multidimensional"), values) for values in (4, 5))
    assert percent(few) == "49 %"
    assert float(SURVIVORS["multidimensional"].tables.split()[0]) / 100 < more < few


def every_assignment(ages: Sequence[int]) -> Iterator[tuple[dict[int, int], int]]:
    """How many of each age are ill, and in how many ways: people of one age are alike."""
    many = Counter(ages)
    for ill in itertools.product(*(range(size + 1) for size in many.values())):
        ways = math.prod(math.comb(size, one) for size, one in zip(many.values(), ill, strict=True))
        if 0 < sum(ill) < len(ages):
            yield dict(zip(many, ill, strict=True)), ways


def with_ill(ages: Sequence[int], ill: Mapping[int, int]) -> list[int]:
    """The first of each age are ill."""
    return [int(ages[:i].count(age) < ill[age]) for i, age in enumerate(ages)]


@pytest.mark.parametrize("by", ["multidimensional", "full-domain"])
def test_whoever_knows_the_quasi_identifiers_learns_from_what_l_forbade(by: str) -> None:
    way = method(by, l=2)
    means, likelier = [], 0.0
    for ages in AGES:
        left: dict[Any, list[tuple[dict[int, int], int]]] = defaultdict(list)
        for ill, ways in every_assignment(ages):
            texts = released(way, ages, with_ill(ages, ill))
            inside: Counter[str] = Counter()
            for age in ill:
                inside[texts[ages.index(age)]] += ill[age]
            left[texts, frozenset(inside.items())].append((ill, ways))
        total = weighed = 0.0
        for (texts, known), assignments in left.items():
            sizes, inside = Counter(texts), Counter(dict(known))
            fits = math.prod(math.comb(sizes[text], inside[text]) for text in sizes)
            survive = sum(ways for _, ways in assignments)
            weighed += survive * survive / fits
            total += survive
            for place, age in enumerate(ages):
                believed = sum(ill[age] * ways for ill, ways in assignments)
                share = believed / survive / ages.count(age)
                likelier = max(likelier, share - inside[texts[place]] / sizes[texts[place]])
        assert total == 2**N - 2
        means.append(weighed / total)
    assert percent(min(means)) == SURVIVORS[by].assignments
    assert likelier > 0.3  # somebody is believed to be ill by more than the group says
    assert any(SURVIVORS[by].assignments in limit for limit in way.limits)


def test_without_l_and_t_confidential_values_tell_nothing() -> None:
    """What the second intruder lives on: a split that looks at confidential values."""
    way = method("multidimensional")
    texts = {released(way, AGES[0], with_ill(AGES[0], ill)) for ill, _ in every_assignment(AGES[0])}
    assert len(texts) == 1


def test_the_certificate_says_so() -> None:
    limits = " ".join(certify(method("multidimensional", l=2), registered=True).does_not_promise)
    assert "minimality" in limits
    assert "downcoding" in limits
