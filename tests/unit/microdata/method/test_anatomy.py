"""Anatomy: both tables are true, and of a group's records each is anybody's."""

from __future__ import annotations

import importlib
import itertools
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tenue as tn
from tenue.errors import Fault, InvalidArgument, InvalidSchema, NotPromised, Refused
from tenue.microdata.method.anatomy import NARROW, WHOLE, Anatomy, from_both_ends
from tenue.microdata.method.moved import VOIDED
from unit.microdata.census import people, schema

module = importlib.import_module("tenue.microdata.method.moved")


def records(table: Any, names: list[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def test_both_tables_are_true_and_linked_by_groups_of_k() -> None:
    table = people(100)
    release = tn.publish(table, schema=schema(), method="anatomy", k=7)
    assert release.certificate.promise == tn.ProbabilisticKAnonymity(7)
    who, values = release.tables["quasi_identifiers"], release.tables["confidential"]
    known = ["age", "job", "sex", "note"]
    assert Counter(records(who, known)) == Counter(records(table, known))
    # whole records: what belongs together stays together
    secret = ["income", "ill"]
    assert Counter(records(values, secret)) == Counter(records(table, secret))
    groups = Counter(who.column("group").to_pylist())
    assert groups == Counter(values.column("group").to_pylist())
    assert min(groups.values()) >= 7
    # and each group has exactly the records of its people
    true = dict(zip(records(table, known), records(table, secret), strict=True))
    of_people, of_values = defaultdict(Counter), defaultdict(Counter)
    for row in who.to_pylist():
        of_people[row["group"]][true[tuple(row[name] for name in known)]] += 1
    for row in values.to_pylist():
        of_values[row["group"]][tuple(row[name] for name in secret)] += 1
    unique = len(true) == table.num_rows
    assert not unique or of_people == of_values


def test_the_one_table_has_a_groups_records_in_random_order() -> None:
    release = tn.publish(people(30), schema=schema(), method="anatomy", k=10)
    seen = release.table
    assert seen.column_names == ["age", "job", "sex", "income", "ill", "note", "group"]
    pairs = Counter(records(seen, ["group", "income", "ill"]))
    assert pairs == Counter(records(release.tables["confidential"], ["group", "income", "ill"]))


def published(assignment: tuple[int, ...], labels: np.ndarray) -> tuple[Any, ...]:
    """What the two tables show of people 0, 1, … who have these records."""
    found = defaultdict(list)
    for person, record in enumerate(assignment):
        found[int(labels[person])].append(record)
    return tuple(labels.tolist()), tuple(tuple(sorted(part)) for _, part in sorted(found.items()))


@pytest.mark.parametrize("values", [(1, 2, 3, 4, 5, 6), (1, 1, 1, 2, 2, 2), (1, 1, 1, 1, 1, 2)])
def test_of_values_that_form_the_groups_each_is_ones_own_with_1_over_k(
    values: tuple[int, ...],
) -> None:
    """Every table with these values equally likely, rows in every order: the exact posterior of
    whose record a unit's is. Groups cut in the file's own order would tell ties apart."""
    k, people_ = 2, 5
    values = values[:people_]
    tables = list(itertools.permutations(range(people_)))  # record r has values[r]

    def posterior(shuffles: list[tuple[int, ...]]) -> Fraction:
        joint: dict[Any, Counter[int]] = defaultdict(Counter)
        for table in tables:
            for order in shuffles:
                codes = np.array([values[table[person]] for person in order])
                groups = np.empty(people_, np.int64)
                groups[list(order)] = from_both_ends(codes, k)
                # groups go by what they hold, for their numbers are drawn at random
                shown = published(table, groups)
                joint[shown][table[0]] += 1
        return max(
            Fraction(most, sum(seen.values())) for seen in joint.values() for most in seen.values()
        )

    every = list(itertools.permutations(range(people_)))[::7]
    assert posterior(every) <= Fraction(1, k)


def test_groups_from_both_ends_are_algorithm_7_1() -> None:
    assert from_both_ends(np.arange(9), 3).tolist() == [0, 0, 0, 2, 2, 2, 1, 1, 1]
    assert from_both_ends(np.arange(11), 3).tolist() == [0, 0, 0] + [2] * 5 + [1, 1, 1]
    assert from_both_ends(np.arange(8), 3).tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert from_both_ends(np.arange(4), 3).tolist() == [0] * 4
    for size, k in itertools.product(range(1, 40), range(1, 6)):
        if size >= k:
            codes = np.random.default_rng(size).permutation(size)
            labels = from_both_ends(codes, k)
            assert k <= np.bincount(labels).min()
            assert np.bincount(labels).max() < 2 * k
            for group in range(labels.max() + 1):  # neighbours in the order
                inside = np.sort(codes[labels == group])
                assert inside[-1] - inside[0] == inside.size - 1


def test_groups_by_value_hold_similar_values() -> None:
    release = tn.publish(
        people(100), schema=schema(ill=None), method="anatomy", k=10, by="confidential"
    )
    spans = defaultdict(list)
    for row in release.tables["confidential"].to_pylist():
        spans[row["group"]].append(row["income"])
    ends = sorted((min(part), max(part)) for part in spans.values())
    assert len(ends) == 10
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(ends))
    assert NARROW in release.certificate.does_not_promise
    assert "Algorithm 7.1" in str(release.certificate.source)


def test_several_confidential_columns_form_groups_together() -> None:
    declared = schema(age={"role": "confidential"}, ill=None)
    release = tn.publish(people(60), schema=declared, method="anatomy", k=5, by="confidential")
    assert WHOLE in release.certificate.does_not_promise
    sizes = Counter(release.tables["quasi_identifiers"].column("group").to_pylist())
    assert min(sizes.values()) >= 5


def test_l_and_t_are_kept_by_the_groups_that_are_shown() -> None:
    release = tn.publish(people(90), schema=schema(), method="anatomy", k=4, l=3)
    found = tn.evaluate.check(
        release.tables["confidential"], quasi_identifiers=["group"], confidential=["ill", "income"]
    )
    assert found.meets(k=4, l=3)
    assert VOIDED in release.certificate.does_not_promise


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(NotPromised, match="`ill` have no order"):
        tn.publish(people(), schema=schema(), method="anatomy", k=3, by="confidential")
    with pytest.raises(InvalidArgument, match="single columns"):
        tn.publish(people(), schema=schema(), method="anatomy", k={"income": 3})
    with pytest.raises(InvalidArgument, match=r'`l` is given with by="confidential"'):
        tn.publish(people(), schema=schema(ill=None), method="anatomy", k=3, l=2, by="confidential")
    with pytest.raises(InvalidArgument):
        tn.publish(people(), schema=schema(), method="anatomy", k=1)
    with pytest.raises(tn.errors.Unreachable):
        tn.publish(people(), schema=schema(), method="anatomy", k=61)
    for lacking in ({"income": None, "ill": None}, {"age": None, "job": None, "sex": None}):
        with pytest.raises(InvalidSchema):
            tn.publish(people(), schema=schema(**lacking), method="anatomy", k=3)
    twice = people(60, name=[f"person {i % 30}" for i in range(60)])
    with pytest.raises(Refused, match="several values"):
        tn.publish(twice, schema=schema("name"), method="anatomy", k=3)


def test_one_value_in_a_group_is_refused_where_it_is_sensitive() -> None:
    declared = schema(ill={"sensitive": True})
    table = people(40, ill=["flu"] * 39 + ["no"])
    with pytest.raises(tn.errors.Unreachable, match="single value"):
        tn.publish(table, schema=declared, method="anatomy", k=4)


def test_what_breaks_its_promise_never_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Anatomy.publish

    def small(self: Anatomy, original: Any, source: Any) -> Any:
        return real(replace(self, k={"": 2}), original, source)

    monkeypatch.setattr(Anatomy, "publish", small)
    with pytest.raises(Fault):
        tn.publish(people(), schema=schema(), method="anatomy", k=5)


def test_records_that_stay_where_they_are_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant that forgets to permute: the one table would say whose each record is."""
    monkeypatch.setattr(module, "permuted", lambda labels, source: np.arange(labels.size))
    table = people(60)
    release = tn.publish(table, schema=schema(), method="anatomy", k=5)
    names = ["age", "job", "sex", "income", "ill"]
    assert Counter(records(release.table, names)) == Counter(records(table, names))
    monkeypatch.undo()
    release = tn.publish(table, schema=schema(), method="anatomy", k=5)
    assert Counter(records(release.table, names)) != Counter(records(table, names))
