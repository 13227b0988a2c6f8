"""Microaggregation, swapping and Anatomy."""

from __future__ import annotations

import importlib
import itertools
import random
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import Fault, InvalidArgument, InvalidSchema, NotPromised, Refused
from tenue.microdata import individual_ranking
from tenue.noise import Seeded
from tenue.publish.methods import microaggregate
from tenue.publish.methods.anatomy import NARROW, WHOLE, Anatomy, from_both_ends
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.methods.microaggregate import COMBINED, centroids
from tenue.publish.methods.permuted_columns import GUESS, LAST, PRESENCE, VOIDED
from tenue.publish.methods.swap import CROSSED, EACH_COLUMN, INFORMED, RELATED
from tenue.publish.release import warnings_of
from tenue.publish.table.cells import Cells
from tenue.publish.table.input_table import read_original
from tenue.schema.column import Boolean, Category, Column, Number
from tenue.taxonomy import Taxonomy
from unit.publish.census import people, schema

SPORT = Taxonomy.from_nested(
    {"sport": {"water": [f"w{i}" for i in range(9)], "snow": ["skiing", "sledging"]}}
)


def cells(column: Column, numbers: list[int]) -> Cells:
    return Cells(column, np.array(numbers, np.int64), np.ones(len(numbers), bool), None)


def number(high: int = 1000) -> Number:
    return Number(name="x", role="other", low=Fraction(0), high=Fraction(high), grid=Fraction(1))


def test_the_mean_is_exact_and_halves_go_up() -> None:
    labels = np.array([0, 1, 0, 1, 2, 2, 2])
    got = centroids(cells(number(), [1, 10, 2, 10, 0, 0, 1]), labels)
    assert got.numbers.tolist() == [2, 10, 2, 10, 0, 0, 0]
    assert centroids(cells(number(), [-1, 0]), np.array([0, 0])).numbers.tolist() == [0, 0]


def test_numbers_beyond_doubles_keep_their_last_digit() -> None:
    """A mean of doubles, the obvious way, does not."""
    big = 2**61
    values = [big + 1, big + 3, big + 1, big + 3]
    got = centroids(cells(number(2**62), values), np.zeros(4, np.int64))
    assert got.numbers.tolist() == [big + 2] * 4
    assert int(np.mean(np.array(values, float))) != big + 2


def test_means_are_those_of_fractions() -> None:
    rng = random.Random(4)
    labels = np.array([rng.randrange(9) for _ in range(200)] + list(range(9)))
    values = [rng.randrange(-(10**9), 10**9) for _ in labels]
    got = centroids(cells(number(10**9), values), labels)
    for group in range(9):
        members = [value for value, g in zip(values, labels, strict=True) if g == group]
        middle = Fraction(sum(members), len(members))
        assert set(got.numbers[labels == group].tolist()) == {
            (2 * middle.numerator + middle.denominator) // (2 * middle.denominator)
        }


def test_a_flat_category_becomes_the_most_frequent_first_declared_one() -> None:
    words = ("a", "b", "c", "d", "e", "f")
    column = Category(name="c", role="other", taxonomy=Taxonomy.flat(words), stated=words)
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2])
    got = centroids(cells(column, [2, 1, 2, 3, 1, 0, 1, 2, 3, 4, 5]), labels)
    assert got.numbers.tolist() == [2, 2, 2, 1, 1] + [0] * 6
    # the least marginal concept of six different ones is the root, which no row may hold
    assert Taxonomy.flat(words).least_marginal(words) == "any"


def test_a_category_with_a_taxonomy_becomes_the_least_marginal_concept() -> None:
    rng = random.Random(5)
    column = Category(name="s", role="other", taxonomy=SPORT, stated="sport.json")
    labels = np.array([rng.randrange(30) for _ in range(200)] + list(range(30)))
    numbers = [rng.randrange(9 + 2 * (g % 2)) for g in labels]
    got = centroids(cells(column, numbers), labels)
    seen = set()
    for group in range(30):
        members = [SPORT.categories[n] for n, g in zip(numbers, labels, strict=True) if g == group]
        (name,) = {got.labels[n] for n in got.numbers[labels == group]}
        assert name == SPORT.least_marginal(Counter(members))
        seen.add(name)
    assert seen - set(SPORT.categories), "no group met above its leaves: the test is too weak"


def test_a_concept_goes_by_the_name_that_rows_have_for_it() -> None:
    tree = Taxonomy([("cat", "animal"), ("dog", "animal")], {"Katze": "cat", "Hund": "dog"})
    column = Category(name="t", role="other", taxonomy=tree, stated="t.json")
    got = centroids(cells(column, [0, 0, 1]), np.zeros(3, np.int64))
    assert [got.labels[n] for n in got.numbers] == ["Katze"] * 3


@pytest.mark.parametrize(("flags", "middle"), [([1, 1, 0], 1), ([1, 0], 0), ([0], 0), ([1], 1)])
def test_a_boolean_becomes_the_more_frequent_value(flags: list[int], middle: int) -> None:
    got = centroids(cells(Boolean(name="b", role="other"), flags), np.zeros(len(flags), np.int64))
    assert got.numbers.tolist() == [middle] * len(flags)


def test_a_microaggregation_has_one_grouping_and_leaves_other_columns_alone() -> None:
    method = chosen_method(schema(), "microaggregate", k=4)
    original = method.prepare(read_original(people(), schema()), Seeded(2))
    done = method.publish(original, Seeded(2))
    (labels,) = done.groups.values()
    for name in ("age", "job", "sex"):
        values = done.cells[name].numbers
        assert all(np.unique(values[labels == g]).size == 1 for g in range(labels.max() + 1))
    for name in ("income", "ill", "note"):
        assert done.cells[name] is original.cells[name]


EACH: dict[str, Any] = {"method": "microaggregate", "by": "each-quasi-identifier"}


def lines(**columns: list[int]) -> tuple[pa.Table, dict[str, Any]]:
    """A table of quasi-identifiers, and a confidential column."""
    size = len(next(iter(columns.values())))
    number = {"type": "number", "bounds": [0, 999]}
    known = {name: {**number, "role": "quasi-identifier"} for name in columns}
    declared = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {**known, "pay": {**number, "role": "confidential"}},
    }
    return pa.table({**columns, "pay": list(range(size))}), declared


def test_each_column_has_the_centres_of_its_own_groups() -> None:
    table, declared = lines(a=[1, 2, 3, 50, 51, 52, 53], b=[9, 1, 9, 1, 9, 1, 9])
    made: Any = tn.publish(table, schema=declared, ledger=False, k=3, **EACH)
    found = {pay: (a, b) for a, b, pay in zip(*made.table.to_pydict().values(), strict=True)}
    assert [found[i] for i in range(7)] == [
        (2, 9), (2, 1), (2, 9), (52, 1), (52, 9), (52, 1), (52, 9)
    ]  # fmt: skip
    assert made.certificate.promise == tn.ColumnKAnonymity(3)
    assert made.risk.check.k == 1  # which is said, and warned of
    assert COMBINED in made.certificate.does_not_promise
    assert any("are unique in all" in text for text in warnings_of(made))


def test_equal_values_are_never_parted() -> None:
    """The mutant cuts ranks, as individual ranking does: 4 and 4 would become 3 and 5."""
    table, declared = lines(a=[1, 4, 4, 4, 4, 9])
    made: Any = tn.publish(table, schema=declared, ledger=False, k=3, **EACH)
    assert len(set(made.table["a"].to_pylist())) == 1
    assert len(set(individual_ranking([1, 4, 4, 4, 4, 9], 3).labels[1:5].tolist())) == 2


def test_one_quasi_identifier_alone_is_k_anonymous() -> None:
    table, declared = lines(a=[1, 2, 3, 50, 51, 52, 53])
    made: Any = tn.publish(table, schema=declared, ledger=False, k=3, **EACH)
    assert made.certificate.promise == tn.KAnonymity(3)
    assert made.risk.check.k == 3
    assert COMBINED not in made.certificate.does_not_promise


def test_a_column_whose_groups_are_too_small_never_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    table, declared = lines(a=[1, 2, 3, 50, 51, 52, 53], b=[9, 1, 9, 1, 9, 1, 9])
    real = microaggregate.whole_values
    monkeypatch.setattr(microaggregate, "whole_values", lambda units, k: real(units, k - 1))
    with pytest.raises(tn.Fault):
        tn.publish(table, schema=declared, ledger=False, k=3, **EACH)


def test_persons_count_once_and_have_one_value() -> None:
    table, declared = lines(a=[1, 1, 1, 2, 3, 50, 51, 52, 53])
    declared["table"] |= {"unit": "who", "rows_per_unit": 3}
    declared["columns"]["who"] = {"type": "identifier"}
    people = table.append_column("who", pa.array(list("aaabcdefg")))
    made: Any = tn.publish(people, schema=declared, ledger=False, k=3, **EACH)
    # b and c are needed beside the three rows of a
    assert sorted(set(made.table["a"].to_pylist())) == [2, 52]
    several = people.set_column(0, "a", pa.array([1, 2, 1, 2, 3, 50, 51, 52, 53]))
    with pytest.raises(tn.Refused, match="several values of `a`"):
        tn.publish(several, schema=declared, ledger=False, k=3, **EACH)


def test_a_combination_that_tells_a_sensitive_value_is_refused() -> None:
    table, declared = lines(a=[1, 2, 3, 50, 51, 52, 53], b=[9, 1, 9, 1, 9, 1, 9])
    declared["columns"]["pay"]["sensitive"] = True
    with pytest.raises(tn.Refused, match='by="mdav" with l=2'):
        tn.publish(table, schema=declared, ledger=False, k=3, **EACH)


def test_rows_that_stand_for_several_have_the_same_centres() -> None:
    words = ("a", "b", "c")
    flat = Category(name="c", role="other", taxonomy=Taxonomy.flat(words), stated=words)
    tree = Category(name="s", role="other", taxonomy=SPORT, stated="sport.json")
    labels, times = np.array([0, 0, 1, 1, 1]), np.array([2, 3, 1, 1, 4])
    every = np.repeat(np.arange(5), times)
    for column in (flat, tree, number(), Boolean(name="b", role="other")):
        numbers = [0, 1, 0, 1, 1] if isinstance(column, Boolean) else [0, 1, 2, 0, 1]
        short = centroids(cells(column, numbers), labels, times)
        full = centroids(cells(column, [numbers[i] for i in every]), labels[every])
        assert short.numbers[every].tolist() == full.numbers.tolist()


def test_large_numbers_that_stand_for_many_are_added_exactly() -> None:
    """Products of 64 bits would wrap around, and the centre would be somewhere else."""
    column = number(2**60)
    numbers, times = [2**60 - 1, 2**60 - 3], np.array([2**20, 2**20])
    found = centroids(cells(column, numbers), np.array([0, 0]), times)
    assert found.numbers.tolist() == [2**60 - 2] * 2


# -- The method: what it warns of, and what its certificate says of each way -----------------------

OWN = {
    "quasi-identifiers": EACH_COLUMN,
    "each-confidential": CROSSED,
    "other-attributes": INFORMED,
}


@pytest.mark.parametrize("by", OWN)
def test_every_way_states_its_limits(by: str) -> None:
    ordered = {"taxonomy": {"any": {"well": ["no"], "sick": ["flu", "cold"]}}, "categories": None}
    described = schema().to_dict()
    ill = {key: value for key, value in ordered.items() if value}
    described["columns"]["ill"] = {"type": "category", "role": "confidential", **ill}
    release = tn.publish(people(90), schema=described, method="swap", k=4, by=by, preview=True)
    said = release.certificate.does_not_promise
    assert {RELATED, GUESS, LAST, OWN[by]} <= set(said)
    assert not (set(OWN.values()) - {OWN[by], EACH_COLUMN}) & set(said)
    assert any(limit.startswith(PRESENCE.removesuffix(".")) for limit in said)


def test_quasi_identifiers_stay_and_values_stay_in_the_table() -> None:
    table = people(90)
    made: Any = tn.publish(table, schema=schema(), method="swap", k=4, ledger=False).table
    for name in ("age", "job", "sex", "income", "ill"):
        assert sorted(made[name].to_pylist()) == sorted(table[name].to_pylist())
    known = ["age", "job", "sex"]
    before, after = (
        sorted(zip(*(one[name].to_pylist() for name in known), strict=True))
        for one in (table, made)
    )
    assert before == after


# -- Anatomy: both tables are true, and of a group's records each is anybody's ---------------------

module = importlib.import_module("tenue.publish.methods.permuted_columns")


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
