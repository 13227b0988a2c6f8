"""What methods that form groups share."""

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
from tenue.errors import InvalidArgument, InvalidSchema, NotPromised
from tenue.noise import Seeded
from tenue.noise.source import SYSTEM
from tenue.publish.assessment import Assessment
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.methods.groups import Grouped
from tenue.publish.methods.linked_tables import numbered, standing_alone
from tenue.publish.methods.permuted_columns import Seen, givers, moved, undone
from tenue.publish.partition import individual_ranking
from tenue.publish.table.cells import Cells
from tenue.publish.table.input_table import Original, read_original
from tenue.schema import Schema
from tenue.schema.column import Number
from unit.publish.census import people, schema


def test_groups_are_numbered_from_1_in_an_order_that_says_nothing() -> None:
    labels = np.array([0, 1, 2, 0, 1, 2])
    seen = set()
    for _ in range(60):
        numbers = numbered(labels, SYSTEM).numbers
        assert numbers[:3].tolist() == numbers[3:].tolist()
        assert sorted(numbers[:3].tolist()) == [1, 2, 3]
        seen.add(tuple(numbers[:3].tolist()))
    assert len(seen) == 6


def test_one_table_has_a_row_for_each_row_the_other_one_for_each_person() -> None:
    table = people(60, name=[f"person {i % 30}" for i in range(60)])
    by_person = {f"person {i}": float(i) for i in range(30)}
    names = table.column("name").to_pylist()
    table = table.set_column(
        table.column_names.index("income"), "income", pa.array([by_person[name] for name in names])
    )
    release = tn.publish(table, schema=schema("name", ill=None), method="anatomy", k=3)
    who, values = release.tables["quasi_identifiers"], release.tables["confidential"]
    assert who.column_names == ["age", "job", "sex", "note", "group"]
    assert values.column_names == ["group", "income"]
    assert who.num_rows == 60
    assert sorted(values.column("income").to_pylist()) == sorted(by_person.values())
    # a person counts once in the group that all of his rows are in
    rows, units = (Counter(part.column("group").to_pylist()) for part in (who, values))
    assert {group: many // 2 for group, many in rows.items()} == units
    assert min(units.values()) >= 3


@pytest.mark.parametrize("method", ["anatomy", "t-close"])
def test_a_column_of_that_name_is_refused_before_a_row_is_read(method: str) -> None:
    declared = schema().to_dict()
    declared["columns"]["Group"] = {"type": "boolean", "role": "other"}
    options = {"k": 3, "t": 2} if method == "t-close" else {"k": 3}
    with pytest.raises(InvalidSchema, match="`Group` has the name of the column that links"):
        tn.publish(people(), schema=declared, method=method, **options)


def test_hidden_groups_leave_the_name_free() -> None:
    declared = schema().to_dict()
    declared["columns"]["group"] = {"type": "boolean", "role": "other"}
    table = people().append_column("group", pa.array([True, False] * 30))
    release = tn.publish(table, schema=declared, method="t-close", k=3, t=2, groups="hidden")
    assert set(release.table.column("group").to_pylist()) == {True, False}


def test_rows_that_stand_alone_are_said() -> None:
    assert standing_alone(["age", "sex"], 0.25) == (
        "25 % of the rows are unique in age, sex; the method does not change this."
    )


# -- Swapping: link probabilities by record identity, independence, and what stays -----------------

module = importlib.import_module("tenue.publish.methods.permuted_columns")


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


# -- What was asked for, read against the schema ---------------------------------------------------

NOTHING: dict[str, Any] = {
    "by": None,
    "l": None,
    "t": None,
    "gamma": None,
    "override": (),
}


def chosen(method: str = "swap", k: object = 5, **changes: Any) -> Grouped:
    declared = changes.pop("schema", schema())
    found = chosen_method(declared, method, k=k, **{**NOTHING, **changes})
    assert isinstance(found, Grouped)
    return found


@pytest.mark.parametrize(
    ("method", "by", "compared"),
    [
        ("microaggregate", "mdav", ("age", "job", "sex")),
        ("microaggregate", "v-mdav", ("age", "job", "sex")),
        ("swap", "quasi-identifiers", ("age", "job", "sex", "income", "ill")),
        ("swap", "each-confidential", ("income", "ill")),
        ("swap", "other-attributes", ("age", "job", "sex", "income", "ill")),
    ],
)
def test_what_each_method_reads(method: str, by: str, compared: tuple[str, ...]) -> None:
    found = chosen(method, by=by, override="homogeneous-groups")
    assert found.compared == compared
    assert found.least == 5


def test_the_first_way_is_taken_if_none_is_named() -> None:
    assert chosen("microaggregate").by == "mdav"
    assert chosen("swap").by == "quasi-identifiers"


def test_numbers_are_exact() -> None:
    found = chosen("microaggregate", "5", by="v-mdav", gamma=0.1, t=0.3, l=2.0)
    assert (found.least, found.gamma, found.t, found.l) == (5, Fraction(1, 10), Fraction(3, 10), 2)


def test_swaps_without_quasi_identifiers_go_by_values_only() -> None:
    alone = schema(age=None, job=None, sex=None)
    assert (
        chosen(by="each-confidential", schema=schema(age=None, job=None, sex=None, ill=None)).quasi
        == ()
    )
    assert chosen(by="other-attributes", schema=alone).compared == ("income", "ill")
    lonely = schema(age=None, job=None, sex=None, ill=None)
    with pytest.raises(InvalidSchema):
        chosen(by="other-attributes", schema=lonely)


def test_l_and_t_need_a_confidential_column() -> None:
    with pytest.raises(InvalidSchema):
        chosen("microaggregate", l=2, schema=schema(income=None, ill=None))


@pytest.mark.parametrize("gamma", [0, -1, "0"])
def test_a_gain_of_nothing_is_none(gamma: object) -> None:
    """0 was taken for "not given", and the default used while the certificate said 0."""
    with pytest.raises(InvalidArgument):
        chosen("microaggregate", by="v-mdav", gamma=gamma)


@pytest.mark.parametrize(
    "flat", [{"type": "boolean"}, {"type": "category", "categories": ["no", "flu"]}]
)
def test_values_without_order_have_no_similar_ones(flat: dict[str, Any]) -> None:
    """Sorted yes and no make groups of one value: everybody would keep the true one."""
    given = schema(ill=None).to_dict()
    given["columns"]["ill"] = {**flat, "role": "confidential"}
    declared = Schema.from_dict(given)
    with pytest.raises(NotPromised) as refused:
        chosen(by="each-confidential", schema=declared)
    assert refused.value.code == "homogeneous-groups"
    assert "`ill`" in refused.value.what
    assert 'by="quasi-identifiers"' in refused.value.fix
    assert 'override="homogeneous-groups"' in refused.value.fix
    chosen(by="each-confidential", schema=declared, override="homogeneous-groups")
    for by in ("quasi-identifiers", "other-attributes"):
        chosen(by=by, schema=declared)


@pytest.mark.parametrize(
    "ordered",
    [
        {"type": "number", "bounds": [0, 1]},
        {"type": "date", "bounds": ["2020-01-01", "2021-01-01"]},
        {"type": "category", "taxonomy": {"any": {"cold": ["flu", "cough"], "no": ["none"]}}},
    ],
)
def test_values_with_an_order_do(ordered: dict[str, Any]) -> None:
    given = schema(ill=None).to_dict()
    given["columns"]["ill"] = {**ordered, "role": "confidential"}
    assert chosen(by="each-confidential", schema=Schema.from_dict(given)).k["ill"] == 5


def test_a_column_has_one_k() -> None:
    """The last of two spellings won, and the certificate spoke of one."""
    with pytest.raises(InvalidArgument):
        chosen(k={"income": 3, "ill": 9, "ILL": 50}, by="other-attributes")


@pytest.mark.parametrize("k", [2, 3, 7, 20, 60])
@pytest.mark.parametrize("by", ["quasi-identifiers", "each-confidential", "other-attributes"])
def test_every_group_has_k_units_and_keeps_its_values(k: int, by: str) -> None:
    method = chosen(k=k, by=by, override="homogeneous-groups")
    original = method.prepare(read_original(people(), schema()), Seeded(k))
    assert original.size == 60  # nothing was left out
    done = method.publish(original, Seeded(k))
    for labels in done.groups.values():
        sizes = np.bincount(labels)
        assert k <= sizes.min()
        # where values stay whole, only a heap of equal ones makes a group larger
        assert sizes.max() < 2 * k or by == "each-confidential"
    for name, labels in done.groups.items():
        for group in range(labels.max() + 1):
            before = original.cells[name].numbers[labels == group]
            after = done.cells[name].numbers[labels == group]
            assert sorted(before.tolist()) == sorted(after.tolist())
