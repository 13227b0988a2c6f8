"""Swapping: link probabilities by record identity, independence, and what stays."""

from __future__ import annotations

import importlib
import itertools
import random
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.microdata.assessment import Assessment
from tenue.microdata.method.moved import Seen, givers, moved, undone
from tenue.microdata.partition import individual_ranking
from tenue.microdata.table.cells import Cells
from tenue.microdata.table.original import Original
from tenue.noise.source import SYSTEM
from tenue.schema.column import Number

module = importlib.import_module("tenue.microdata.method.moved")


def column(name: str, values: list[int]) -> Cells:
    declared = Number(
        name=name, role="confidential", low=Fraction(0), high=Fraction(1000), grid=Fraction(1)
    )
    return Cells(declared, np.array(values, np.int64), np.ones(len(values), bool), None)


def table(size: int) -> dict[str, Cells]:
    """Every value says whose it is."""
    return {name: column(name, list(range(size))) for name in ("q", "a", "b")}


def played(labels: np.ndarray, shared: bool = False) -> Counter[tuple[Any, ...]]:
    """(a, b) of all rows, over every pair of permutations that could be drawn."""
    size = labels.size
    everything = [
        p for p in itertools.permutations(range(size)) if np.array_equal(labels[list(p)], labels)
    ]
    pairs = [(p, p) for p in everything] if shared else itertools.product(everything, repeat=2)
    found: Counter[tuple[Any, ...]] = Counter()
    for pair in pairs:
        tape = iter(pair)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "permuted", lambda given, source: np.array(next(tape)))  # noqa: B023
            out, _ = moved(table(size), ("a", "b"), lambda name, now: labels, SYSTEM)
        assert out["q"].numbers.tolist() == list(range(size))
        found[tuple(out["a"].numbers.tolist()), tuple(out["b"].numbers.tolist())] += 1
    return found


def joint(found: Counter[tuple[Any, ...]], row: int) -> dict[tuple[int, int], Fraction]:
    """P(row gets a of i and b of j)."""
    total = sum(found.values())
    masses: Counter[tuple[int, int]] = Counter()
    for (a, b), times in found.items():
        masses[a[row], b[row]] += times
    return {pair: Fraction(times, total) for pair, times in masses.items()}


def test_columns_are_linked_to_each_other_by_chance_only() -> None:
    labels = np.array([0, 0, 0, 1, 1])
    found = played(labels)
    for row, size in enumerate([3, 3, 3, 2, 2]):
        members = np.flatnonzero(labels == labels[row]).tolist()
        expected = dict.fromkeys(itertools.product(members, repeat=2), Fraction(1, size * size))
        assert joint(found, row) == expected


def test_a_shared_permutation_would_link_with_certainty() -> None:
    masses = joint(played(np.array([0, 0, 0]), shared=True), 0)
    assert masses == {(i, i): Fraction(1, 3) for i in range(3)}
    together = sum(mass for (i, j), mass in masses.items() if i == j)
    assert together == 1


def test_each_column_has_a_permutation_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counting(labels: np.ndarray, source: Any) -> np.ndarray:
        asked.append(source)
        return np.arange(labels.size)

    monkeypatch.setattr(module, "permuted", counting)
    moved(table(4), ("a", "b"), lambda name, now: np.zeros(4, np.int64), SYSTEM)
    assert asked == [SYSTEM, SYSTEM]


def test_columns_before_are_seen_as_they_are_by_then() -> None:
    """The sequence of the informed intruders: the second column is grouped beside the new first."""
    seen = {}

    def grouping(name: str, now: Mapping[str, Cells]) -> np.ndarray:
        seen[name] = {other: cells.numbers.tolist() for other, cells in now.items()}
        return np.zeros(9, np.int64)

    out, groups = moved(table(9), ("a", "b"), grouping, SYSTEM)
    assert seen["a"]["a"] == list(range(9))
    assert seen["b"]["a"] == out["a"].numbers.tolist()
    assert seen["b"]["b"] == list(range(9))
    assert set(groups) == {"a", "b"}
    assert sorted(out["b"].numbers.tolist()) == list(range(9))


def test_values_move_between_persons_not_rows() -> None:
    persons = np.array([0, 1, 0, 2, 1, 3])
    values = np.array([10, 11, 12, 13])
    cells = {"a": column("a", values[persons].tolist())}
    labels = np.array([0, 0, 1, 1])[persons]
    for _ in range(20):
        out, _ = moved(cells, ("a",), lambda name, now: labels, SYSTEM, persons)
        got = out["a"].numbers
        for person in range(4):
            assert len(set(got[persons == person].tolist())) == 1
        assert sorted({*got[labels == 0].tolist()}) == [10, 11]
        assert sorted({*got[labels == 1].tolist()}) == [12, 13]


def test_ties_must_not_be_broken_by_another_column() -> None:
    """Ten equal incomes, five of each sex, k = 5. In random row order a group of five is any five;
    where ties follow the sex, both groups have one sex, and the income's group tells it."""
    income, sex = np.full(10, 7.0), np.array([0, 1] * 5)
    mixed = 0
    for seed in range(40):
        order = np.array(random.Random(seed).sample(range(10), 10))
        labels = individual_ranking(income[order], 5).labels
        mixed += len(set(zip(labels.tolist(), sex[order].tolist(), strict=True))) > 2
    assert mixed > 30
    by_sex = np.argsort(sex, kind="stable")
    labels = individual_ranking(income[by_sex], 5).labels
    assert set(zip(labels.tolist(), sex[by_sex].tolist(), strict=True)) == {(0, 0), (1, 1)}


def seen(rows: int) -> tuple[Original, dict[str, Seen], np.ndarray]:
    """A secret that follows from what is known, in groups of two neighbours."""
    known, secret = column("q", list(range(rows))), column("a", list(range(rows)))
    labels = np.arange(rows) // 2
    shown = secret.take(givers(labels, SYSTEM))
    original = Original({"q": known, "a": secret}, None, rows)
    return original, {"q": Seen(known, known, None), "a": Seen(secret, shown, labels)}, labels


def assessment() -> Assessment:
    quasi = {"type": "number", "bounds": [0, 9], "role": "quasi-identifier"}
    head = {"name": "t", "unit": "record", "neighbours": "replace"}
    described = tn.Schema.from_dict({"table": head, "columns": {"q": quasi}})
    rows = pa.table({"q": [1, 2]})
    use: Any = tn.evaluate.utility(rows, rows, described)
    return Assessment(tn.evaluate.risk(rows, rows, described), use, ())


def test_values_that_follow_from_others_are_put_back() -> None:
    original, columns, _ = seen(40)
    found = undone(assessment(), original, columns, SYSTEM)
    assert found.risk is not None
    assert found.risk.rematched["a"].records == 1
    assert found.risk.rematched["a"].records_blind == 0.5


def test_of_a_large_table_whole_groups_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a group would make the blind share larger: rows drawn one by one are a mutant."""
    monkeypatch.setattr(module, "MOST_LINKED", 100)
    original, columns, labels = seen(900)
    drawn = module._drawn(original, columns, SYSTEM)
    assert 100 <= len(drawn) <= 101
    assert set(np.bincount(labels[drawn])) == {0, 2}
    found = undone(assessment(), original, columns, SYSTEM)
    assert found.risk is not None
    assert found.risk.rematched["a"].records_blind == 0.5


def test_whose_a_row_is_among_look_alikes_is_not_given_away() -> None:
    """A secret that follows from nothing: whoever were shown rows in their own order would learn
    from them how each person relates to his value, and put back more than one in k."""
    rows = 600
    rng = np.random.default_rng(4)
    quasi = {"type": "number", "bounds": [0, 1000], "role": "quasi-identifier"}
    secret = {"type": "number", "bounds": [0, 1000], "role": "confidential"}
    head = {"name": "t", "unit": "record", "neighbours": "replace"}
    described = {"table": head, "columns": {"q": quasi, "a": secret}}
    table = pa.table({"q": rng.integers(0, 999, rows), "a": rng.integers(0, 999, rows)})
    for method in ("microaggregate", "generalise"):
        made: Any = tn.publish(table, schema=described, method=method, k=6, preview=True)
        found = made.risk.rematched["a"]
        assert found.records_blind <= 1 / 6
        assert found.records < 2 / 6
