"""t-closeness: exact on every table, uniform where groups are hidden, never overstated."""

from __future__ import annotations

import functools
import hashlib
import importlib
import itertools
import json
import math
import random
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import Fault, InvalidArgument, InvalidSchema, Refused
from tenue.noise.source import SYSTEM
from tenue.publish.buckets.column import Bucketed
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.methods.contract import Method
from tenue.publish.methods.linked_tables import GROUP
from tenue.publish.methods.t_close import EACH_COLUMN, MARGINAL, TClose
from tenue.publish.table.input_table import Original, read_original
from tenue.schema import Schema
from unit.publish.census import people, schema

module = importlib.import_module("tenue.publish.methods.t_close")
exchange = importlib.import_module("tenue.publish.methods.permuted_columns")


def ratio(table: Any, name: str) -> Fraction:
    """The definition, from the table with the groups."""
    rows = table.select(["group", name]).to_pylist()
    whole = Counter(row[name] for row in rows)
    groups: dict[int, Counter[str]] = defaultdict(Counter)
    for row in rows:
        groups[row["group"]][row[name]] += 1
    found = Fraction(1)
    for inside in groups.values():
        for bucket, many in whole.items():
            quotient = Fraction(inside[bucket] * len(rows), many * sum(inside.values()))
            found = max(found, quotient, 1 / quotient)
    return found


def facts(**columns: dict[str, Any]) -> Schema:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    return Schema.from_dict({"table": table, "columns": columns})


QUASI = {"type": "number", "bounds": [0, 1000], "role": "quasi-identifier"}
SECRET = {"type": "number", "bounds": [0, 1000], "role": "confidential"}


def test_random_tables_are_t_close_and_nothing_else_is_refused() -> None:
    rng = random.Random(1)
    for _ in range(40):
        size = rng.randrange(2, 150)
        wide = rng.choice([2, 4, 1000])
        table = pa.table(
            {
                "q": [rng.randrange(1000) for _ in range(size)],
                "c": [0, 1, *(rng.randrange(wide) for _ in range(size - 2))],
            }
        )
        if len(set(table.column("q").to_pylist())) == 1:
            continue
        t, k = Fraction(rng.randrange(110, 2001), 100), rng.randrange(1, size + 1)
        release = tn.publish(table, schema=facts(q=QUASI, c=SECRET), method="t-close", t=t, k=k)
        values = release.tables["confidential"]
        assert ratio(values, "c") <= t
        assert min(Counter(values.column("group").to_pylist()).values()) >= k
        assert release.certificate.promise == tn.TCloseness(t)
        for text in set(values.column("c").to_pylist()):
            low, high = json.loads(text)
            assert low <= high


def test_two_tables_and_the_permuted_one_beside_them() -> None:
    table = people(200)
    release = tn.publish(table, schema=schema(), method="t-close", t=2, k=10)
    who, values = release.tables["quasi_identifiers"], release.tables["confidential"]
    assert who.column_names == ["age", "job", "sex", "note", "group"]
    assert values.column_names == ["group", "income", "ill"]
    groups = Counter(who.column("group").to_pylist())
    assert groups == Counter(values.column("group").to_pylist())
    assert min(groups.values()) >= 10
    for name in ("income", "ill"):
        assert ratio(values, name) <= 2
        assert ratio(release.table, name) <= 2
    assert EACH_COLUMN in release.certificate.does_not_promise
    # a bucket is the truth, made coarse: the same people, the same buckets in each group
    low, high = sorted(set(values.column("income").to_pylist()))[0].strip("[]").split(", ")
    assert float(low) == 0.0
    inside = sum(float(low) <= one <= float(high) for one in table.column("income").to_pylist())
    written = values.column("income").to_pylist().count(f"[{low}, {high}]")
    assert inside == written


@pytest.mark.parametrize("groups", ["shown", "hidden"])
def test_every_type_of_column_can_be_confidential(groups: str) -> None:
    jobs = {"any": {"desk": ["clerk", "writer"], "field": ["farmer", "miner"]}}
    declared = facts(
        q=QUASI,
        born={"type": "date", "bounds": ["1950-01-01", "2010-12-31"], "role": "confidential"},
        smokes={"type": "boolean", "role": "confidential"},
        job={"type": "category", "taxonomy": jobs, "role": "confidential"},
    )
    rng = random.Random(2)
    table = pa.table(
        {
            "q": [rng.randrange(1000) for _ in range(120)],
            "born": [f"{rng.randrange(1950, 2011)}-06-15" for _ in range(120)],
            "smokes": [rng.random() < 0.3 for _ in range(120)],
            "job": [rng.choice(["clerk", "writer", "farmer", "miner"]) for _ in range(120)],
        }
    )
    release = tn.publish(table, schema=declared, method="t-close", t=1.5, k=12, groups=groups)
    seen = release.table
    assert set(seen.column("smokes").to_pylist()) == {"false", "true"}
    assert set(seen.column("job").to_pylist()) == {"clerk | writer", "farmer | miner"}
    assert min(seen.column("born").to_pylist()).startswith("[1950-01-01, ")
    if groups == "shown":
        assert all(ratio(seen, name) <= Fraction(3, 2) for name in ("born", "smokes", "job"))
    else:
        assert seen.column_names == ["q", "born", "smokes", "job"]


# -- hidden groups ---------------------------------------------------------------------------------

SMALL = {"q": [0, 1, 2, 997, 998, 999], "a": [0, 9, 9, 0, 9, 0], "b": [0, 0, 9, 9, 9, 0]}
Law = dict[Any, Fraction]


@functools.cache
def small() -> tuple[Method, Original]:
    declared = facts(q=QUASI, a=SECRET, b=SECRET)
    way = chosen_method(declared, "t-close", t=2, k=3, groups="hidden")
    return way, read_original(pa.table(SMALL), declared)


def hidden(*tape: Any) -> tuple[tuple[Any, Any], np.ndarray]:
    """Both columns as they leave, if these permutations are drawn; and the groups."""
    way, original = small()
    drawn, labels = iter(tape), []

    def permuted(given: np.ndarray, source: Any) -> np.ndarray:
        labels.append(given)
        return np.array(next(drawn))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "permuted", permuted)
        made = way.publish(original, SYSTEM)
    assert next(drawn, None) is None, "a permutation for each column"
    assert GROUP not in made.cells
    shown = tuple(tuple(made.cells[name].numbers.tolist()) for name in "ab")
    return (shown[0], shown[1]), labels[0]


def law(pairs: Any) -> Law:
    """How likely each pair of columns is, each of these pairs of permutations equally likely."""
    found = Counter(hidden(*pair)[0] for pair in pairs)
    return {seen: Fraction(many, found.total()) for seen, many in found.items()}


def test_hidden_groups_have_the_exact_law_of_independent_uniform_permutations() -> None:
    """Given the groups, every arrangement of a column's buckets in them has mass
    Π n_v!/|G|!, independent of the other column and the same for every original that agrees:
    so a bucket in a row is its own record's with probability 1/|G|."""
    (true, labels) = hidden(range(6), range(6))
    assert np.bincount(labels).tolist() == [3, 3]
    kept = [p for p in itertools.permutations(range(6)) if (labels[list(p)] == labels).all()]
    arranged = [{tuple(column[i] for i in p) for p in kept} for column in true]
    expected: Law = dict.fromkeys(
        itertools.product(*arranged), Fraction(1, len(arranged[0]) * len(arranged[1]))
    )
    for column, ways in zip(true, arranged, strict=True):
        inside = [Counter(np.array(column)[labels == group].tolist()) for group in (0, 1)]
        mass = [
            Fraction(math.prod(map(math.factorial, many.values())), math.factorial(many.total()))
            for many in inside
        ]
        assert Fraction(1, len(ways)) == mass[0] * mass[1]
    assert law(itertools.product(kept, repeat=2)) == expected
    # mutants: nobody keeps his own, or both columns change places alike
    moved = [p for p in kept if all(i != j for i, j in enumerate(p))]
    assert law(itertools.product(moved, repeat=2)) != expected
    assert law((p, p) for p in kept) != expected


# -- refusals and faults ---------------------------------------------------------------------------


def test_only_what_cannot_be_is_refused() -> None:
    options: dict[str, Any] = {"schema": schema(), "method": "t-close"}
    with pytest.raises(InvalidArgument, match=r"`t` is 0\.9.*ratio of shares.*earth mover's"):
        tn.publish(people(), t=0.9, k=5, **options)
    with pytest.raises(InvalidArgument, match=r"earth mover's distance.*t-close"):
        tn.publish(people(), schema=schema(), method="microaggregate", t=2, k=5)
    with pytest.raises(InvalidArgument, match="`k` is 0"):
        tn.publish(people(), t=2, k=0, **options)
    with pytest.raises(tn.errors.Unreachable, match="fewer than k = 61"):
        tn.publish(people(), t=2, k=61, **options)
    with pytest.raises(InvalidArgument, match='"shown", "hidden"'):
        tn.publish(people(), t=2, k=5, groups="secret", **options)
    with pytest.raises(InvalidArgument, match="single columns"):
        tn.publish(people(), t=2, k={"income": 5}, **options)
    for lacking in ({"income": None, "ill": None}, {"age": None, "job": None, "sex": None}):
        with pytest.raises(InvalidSchema):
            tn.publish(people(), schema=schema(**lacking), method="t-close", t=2, k=5)
    for t, k in ((1, 1), (1, 60), (1.0001, 7), (500, 2)):
        assert tn.publish(people(), t=t, k=k, **options).rows == 60


def test_a_person_has_one_value_and_counts_once() -> None:
    names = [f"person {i % 30}" for i in range(60)]
    with pytest.raises(Refused, match="several values"):
        tn.publish(people(60, name=names), schema=schema("name"), method="t-close", t=2, k=5)
    income = [float(i % 30) for i in range(60)]
    table = people(60, name=names, income=income)
    release = tn.publish(table, schema=schema("name", ill=None), method="t-close", t=2, k=6)
    values = release.tables["confidential"]
    assert values.num_rows == 30
    assert ratio(values, "income") <= 2
    assert min(Counter(values.column("group").to_pylist()).values()) >= 6


@pytest.mark.parametrize("groups", ["shown", "hidden"])
def test_what_breaks_its_promise_never_leaves(groups: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(where: Any, cells: Any, counts: Any) -> np.ndarray:
        return np.sort(np.arange(cells.size) % counts.shape[0])

    monkeypatch.setattr(module, "filled", careless)
    ledger = tn.ledger.Memory()
    options: dict[str, Any] = {"t": 1.2, "k": 6, "groups": groups, "ledger": ledger}
    with pytest.raises(Fault):
        tn.publish(people(), schema=schema(), method="t-close", **options)
    assert list(ledger.entries()) == []


def test_what_leaves_is_measured_once_more_as_check_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TClose, "_measure", lambda *_: None)

    def careless(where: Any, cells: Any, counts: Any) -> np.ndarray:
        return np.sort(np.arange(cells.size) % counts.shape[0])

    monkeypatch.setattr(module, "filled", careless)
    with pytest.raises(Fault):
        tn.publish(people(), schema=schema(), method="t-close", t=1.2, k=6)


def test_values_in_two_buckets_never_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant that cuts ranks: which of two equal incomes is where would tell whose it is."""
    monkeypatch.setattr(Bucketed, "torn", True)
    with pytest.raises(Fault):
        tn.publish(people(), schema=schema(), method="t-close", t=2, k=6)


# -- what is said ----------------------------------------------------------------------------------


def test_the_certificate_says_on_buckets_for_whom_and_never_privacy() -> None:
    release = tn.publish(people(90), schema=schema(), method="t-close", t=2, k=30)
    certificate = release.certificate
    text = certificate.to_json()
    assert "On buckets" in certificate.promise.sentence()
    assert MARGINAL in certificate.assumptions
    assert certificate.parameters["ln t"].startswith("0.6931")
    assert "0.67" in text
    assert "0.74" in text
    assert not certificate.promise.is_differential_privacy
    assert "It is not differential privacy." in certificate.does_not_promise
    assert "ratio of shares, on buckets" in certificate.parameters["t"]
    # a fact of k and t alone: another table has the same certificate
    other = tn.publish(people(90, seed=5), schema=schema(), method="t-close", t=2, k=30)
    assert other.certificate.to_json() == text


def test_saved_files_are_measured_by_check(tmp_path: Path) -> None:
    release = tn.publish(people(120), schema=schema(), method="t-close", t=2, k=10)
    release.save(tmp_path / "out", kind="csv")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        *("quasi_identifiers.csv", "confidential.csv", "certificate.json", "manifest.json"),
        "report.html",
    }
    file = tmp_path / "out" / "confidential.csv"
    options: dict[str, Any] = {"quasi_identifiers": ["group"], "confidential": ["income", "ill"]}
    found = tn.evaluate.check(file, **options)
    assert found.certificate_fits
    assert found.meets(k=10)
    assert all((one.exact_t_ratio or 9) <= 2 for one in found.confidential)
    who = tn.evaluate.check(tmp_path / "out" / "quasi_identifiers.csv", schema=schema())
    assert who.certificate_fits
    assert "t-close on buckets" in " ".join(who.notes)


def test_a_file_that_is_not_as_close_does_not_fit_its_certificate(tmp_path: Path) -> None:
    release = tn.publish(people(120), schema=schema(), method="t-close", t=2, k=10)
    release.save(tmp_path / "out", kind="csv")
    file, manifest = tmp_path / "out" / "confidential.csv", tmp_path / "out" / "manifest.json"
    lines = file.read_text().splitlines()
    head, rows = lines[0], sorted(lines[1:], key=lambda line: line.split(",", 1)[1])
    moved = [f"{i // 12 + 1},{row.split(',', 1)[1]}" for i, row in enumerate(rows)]
    file.write_text("\n".join([head, *moved]) + "\n")
    told = json.loads(manifest.read_text())
    told["files"]["confidential.csv"] = hashlib.sha256(file.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(told))
    found = tn.evaluate.check(file, quasi_identifiers=["group"], confidential=["income"])
    assert found.certificate_fits is False
    assert "farther in `income`" in found.warnings[0]


def test_the_holder_is_told_groups_buckets_and_closeness() -> None:
    release = tn.publish(people(200), schema=schema(ill=None), method="t-close", t=2, k=10)
    told = {step.name: step.text for step in release.history}
    assert told["partition"] == "20 groups, 10 units in each"
    assert told["buckets"] == "67, 66, 67 units in the buckets of `income`"
    assert "`income` is " in told["closeness"]
    assert release.risk is not None
    assert set(release.risk.own_values) == {"income"}
