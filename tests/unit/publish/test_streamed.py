"""A table that is published in passes is the one that is published at once, as far as nothing is
random; and it is refused, registered and measured alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.engine.contract import FAULT
from tenue.engine.duckdb.passes import OnDisk
from tenue.errors import EngineFault
from tenue.publish.methods import (
    anatomy,
    contract,
    generalise,
    microaggregate,
    permuted_columns,
    t_close,
)
from tenue.publish.methods.t_close import PLAIN
from tenue.publish.partition import tied_partition_in_passes
from tenue.publish.table import input_table
from unit.publish.stored import MEMORY, people, rows_of, schema, stored

SWAP: dict[str, Any] = {"method": "swap", "by": "each-confidential", "k": 5}
GENERALISE: dict[str, Any] = {"method": "generalise", "k": 4}
EACH: dict[str, Any] = {"method": "microaggregate", "by": "each-quasi-identifier", "k": 6}

ANATOMY: dict[str, Any] = {"method": "anatomy", "by": "confidential", "k": 7}
ONE_SECRET = schema(ill={**schema()["columns"]["ill"], "role": "other"})


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stored table is too large, and batches hold few rows."""
    monkeypatch.setattr(contract, "VALUE", 1 << 30)
    monkeypatch.setattr(input_table, "_FEWEST", 37)
    monkeypatch.setattr(input_table, "_MOST", 37)


def both(path: Path, declared: Any = None, **asked: Any) -> tuple[Any, Any]:
    """In memory and in passes."""
    given = {"schema": declared or schema(), "ledger": False, **asked}
    return tn.publish(path, **given), tn.publish(path, memory=MEMORY, **given)


def seeds(many: int) -> list[Any]:
    """So many tables, most of them in the slow run."""
    return [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 1)) for seed in range(many)]


@pytest.mark.parametrize("seed", seeds(4))
def test_a_swap_has_the_same_groups_and_moves_values_inside_them(tmp_path: Path, seed: int) -> None:
    path = stored(tmp_path, people(seed=seed))
    held, passed = both(path, **SWAP)
    said = [str(step) for step in held.history]
    steps = [str(step) for step in passed.history]
    for name in ("left out", "partition", "homogeneous", "heap", "publish"):
        assert [one for one in steps if one.startswith(name)] == [
            one for one in said if one.startswith(name)
        ]
    assert passed.certificate.to_dict() == held.certificate.to_dict()
    assert passed.table.schema == held.table.schema
    assert passed.risk.check == held.risk.check
    for name in passed.table.column_names:  # each column keeps its values
        one, other = (sorted(map(repr, r.table[name].to_pylist())) for r in (held, passed))
        assert one == other
    unswapped = ["age", "town", "born", "note"]
    rows = [sorted(map(repr, r.table.select(unswapped).to_pylist())) for r in (held, passed)]
    assert rows[0] == rows[1]
    assert passed._published.shown.sizes == held._published.shown.sizes


@pytest.mark.parametrize("asked", [GENERALISE, EACH], ids=["generalise", "microaggregate"])
@pytest.mark.parametrize("seed", seeds(6))
def test_what_is_not_drawn_is_the_same_row_by_row(
    tmp_path: Path, seed: int, asked: dict[str, Any]
) -> None:
    """With ties, blanks, a date, a flat list and, in every other table, a taxonomy."""
    more = {}
    if seed % 2:
        tree = {"all": {"up": ["north"], "down": ["south", "west"]}}
        more["town"] = {"type": "category", "taxonomy": tree, "role": "quasi-identifier"}
    if seed % 3 == 0:
        more["age"] = {**schema()["columns"]["age"], "missing": 30}
    path = stored(tmp_path, people(250 + 40 * seed, seed=seed))
    held, passed = both(path, schema(**more), **asked)
    assert rows_of(held) == rows_of(passed)
    assert passed.table.schema == held.table.schema
    assert passed.risk.check == held.risk.check
    assert passed.certificate.to_dict() == held.certificate.to_dict()
    assert passed._published.shown.sizes == held._published.shown.sizes
    said, steps = ([str(step) for step in one.history] for one in (held, passed))
    assert [one for one in steps if not one.startswith(("passes", "evaluate"))] == said
    assert passed.risk.own_values == held.risk.own_values
    assert passed.utility.to_dict()["sse_by_column"] == held.utility.to_dict()["sse_by_column"]


@pytest.mark.parametrize("seed", seeds(4))
def test_anatomy_has_the_same_groups_of_values(tmp_path: Path, seed: int) -> None:
    """With ties, of which each is in either group alike, and a table of its own for the values."""
    path = stored(tmp_path, people(260 + 31 * seed, seed=seed))
    held, passed = both(path, ONE_SECRET, **ANATOMY)
    values = [sorted(of_groups_of_values(one)) for one in (held, passed)]
    assert values[0] == values[1]
    for name, table in held.tables.items():
        assert passed.tables[name].schema == table.schema
    known = ["age", "town", "born", "ill", "note"]
    rows = [
        sorted(map(repr, one.tables["quasi_identifiers"].select(known).to_pylist()))
        for one in (held, passed)
    ]
    assert rows[0] == rows[1]
    assert passed.table.schema == held.table.schema
    assert passed.risk.check == held.risk.check
    assert passed.certificate.to_dict() == held.certificate.to_dict()
    assert passed._published.shown.sizes == held._published.shown.sizes
    said, steps = ([str(step) for step in one.history] for one in (held, passed))
    assert [one for one in steps if not one.startswith(("passes", "evaluate"))] == said
    blind = [one.risk.rematched["pay"].records_blind for one in (held, passed)]
    assert blind[0] == pytest.approx(blind[1])


def of_groups_of_values(release: Any) -> list[list[float]]:
    found: dict[int, list[float]] = {}
    for row in release.tables["confidential"].to_pylist():
        found.setdefault(row["group"], []).append(row["pay"])
    return [sorted(one) for one in found.values()]


def test_people_of_a_group_have_its_values_and_nobody_their_own(tmp_path: Path) -> None:
    """Mutants: groups of the file's neighbours, values that stay, groups numbered along the order,
    and two tables in one order."""
    size = 210
    table = pa.table({"key": np.arange(size), "pay": np.arange(size)[::-1]})
    number = {"type": "number", "bounds": [0, size]}
    declared = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "key": {**number, "role": "quasi-identifier"},
            "pay": {**number, "role": "confidential"},
        },
    }
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    made: Any = tn.publish(path, schema=declared, ledger=False, memory=MEMORY, **ANATOMY)
    who, values = (made.tables[name].to_pydict() for name in ("quasi_identifiers", "confidential"))
    people_of, values_of = {}, {}
    for group, key in zip(who["group"], who["key"], strict=True):
        people_of.setdefault(group, []).append(size - 1 - key)
    for group, pay in zip(values["group"], values["pay"], strict=True):
        values_of.setdefault(group, []).append(pay)
    assert {g: sorted(one) for g, one in people_of.items()} == {
        g: sorted(one) for g, one in values_of.items()
    }
    joined = made.table.to_pydict()
    own = sum(pay == size - 1 - key for key, pay in zip(joined["key"], joined["pay"], strict=True))
    assert 5 < own < 80  # a seventh, as if by chance
    ordered = [min(values_of[group]) for group in sorted(values_of)]
    assert ordered not in (sorted(ordered), sorted(ordered)[::-1])
    assert who["group"] != values["group"]


T_CLOSE: dict[str, Any] = {"method": "t-close", "k": 5, "t": 2}


@pytest.mark.parametrize("groups", ["shown", "hidden"])
@pytest.mark.parametrize(("seed", "secrets"), [(1, 2), (2, 1), (3, 2)])
def test_t_closeness_has_the_same_buckets_and_counts(
    tmp_path: Path, seed: int, secrets: int, groups: str
) -> None:
    """Filled in another way, which the certificate says; else all is the same."""
    declared = schema() if secrets == 2 else ONE_SECRET
    path = stored(tmp_path, people(280 + 9 * seed, seed=seed))
    held, passed = both(path, declared, groups=groups, **T_CLOSE)
    assert passed._published.shown.sizes == held._published.shown.sizes
    said, steps = ([str(step) for step in one.history] for one in (held, passed))
    assert [one for one in steps if not one.startswith(("passes", "evaluate"))] == said
    names = ["pay", "ill"][:secrets]
    kept = [name for name in passed.table.column_names if name != "group"]
    for name in kept:  # each column keeps its values and buckets
        one, other = (sorted(map(repr, r.table[name].to_pylist())) for r in (held, passed))
        assert one == other
    one, other = (release.certificate.to_dict() for release in (held, passed))
    assert one["parameters"] | {"filling": PLAIN} == other["parameters"]
    assert one | {"parameters": 0} == other | {"parameters": 0}
    assert set(passed.risk.rematched) == set(names)
    if groups == "shown":
        for name, table in held.tables.items():
            assert passed.tables[name].schema == table.schema
        found = tn.evaluate.check(
            passed.tables["confidential"], quasi_identifiers=["group"], confidential=names
        )
        assert found.k >= 5
        assert all(column.t_ratio <= 2 for column in found.confidential)


def test_people_keep_their_group_and_buckets_move_inside_it(tmp_path: Path) -> None:
    """Mutants: buckets that stay with their people, or leave their group."""
    size = 300
    table = pa.table({"key": np.arange(size), "pay": np.arange(size) * 7 % size})
    number = {"type": "number", "bounds": [0, size]}
    declared = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "key": {**number, "role": "quasi-identifier"},
            "pay": {**number, "role": "confidential"},
        },
    }
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    given: dict[str, Any] = {"schema": declared, "ledger": False, "memory": MEMORY, **T_CLOSE}
    made: Any = tn.publish(path, **given)
    buckets = sorted(
        set(made.table["pay"].to_pylist()), key=lambda text: int(text[1:].split(",")[0])
    )
    ends = [int(text[1:-1].split(", ")[1]) for text in buckets]

    def true(key: int) -> str:
        return buckets[int(np.searchsorted(ends, key * 7 % size))]

    rows = made.table.to_pylist()
    shown: dict[int, list[str]] = {}
    own: dict[int, list[str]] = {}
    for row in rows:
        shown.setdefault(row["group"], []).append(row["pay"])
        own.setdefault(row["group"], []).append(true(row["key"]))
    assert {g: sorted(one) for g, one in shown.items()} == {
        g: sorted(one) for g, one in own.items()
    }
    stay = sum(row["pay"] == true(row["key"]) for row in rows)
    assert 60 < stay < 240
    keys = [np.ptp([row["key"] for row in rows if row["group"] == g]) for g in shown]
    assert np.mean(keys) < 60  # neighbours share a group


@pytest.mark.parametrize("broken", ["counts", "places"])
def test_groups_that_are_not_close_never_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    path = stored(tmp_path, people())
    if broken == "counts":  # of another t
        real = t_close.counts_of_cells
        monkeypatch.setattr(
            t_close,
            "counts_of_cells",
            lambda columns, totals, k, t: real(columns, totals, k, t * 4),
        )
    else:  # groups that ignore buckets
        monkeypatch.setattr(
            t_close, "group_at", lambda counts: lambda places: places * len(counts) // 240
        )
    with pytest.raises(tn.Fault):
        tn.publish(path, schema=ONE_SECRET, ledger=False, memory=MEMORY, **T_CLOSE | {"k": 12})


def test_small_groups_of_records_never_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stored(tmp_path, people())
    monkeypatch.setattr(anatomy, "label_from_ends", lambda places, _, k: places // (k - 1))
    monkeypatch.setattr(anatomy, "groups_from_ends", lambda n, k: n // (k - 1) + 1)
    with pytest.raises(tn.Fault):
        tn.publish(path, schema=ONE_SECRET, ledger=False, memory=MEMORY, **ANATOMY)


def test_an_intruder_is_tried_on_whole_groups_of_a_large_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mutants: rows drawn one by one, whose groups are torn, and strangers side by side."""
    size = 4000
    key = np.random.default_rng(4).permutation(size)
    table = pa.table({"key": key, "pay": key, "tax": size - 1 - key})
    number = {"type": "number", "bounds": [0, size]}
    declared = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "key": {**number, "role": "quasi-identifier"},
            "pay": {**number, "role": "confidential"},
            "tax": {**number, "role": "confidential"},
        },
    }
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    whole: Any = tn.publish(path, schema=declared, ledger=False, memory=MEMORY, **SWAP)
    monkeypatch.setattr(permuted_columns, "MOST_LINKED", 600)
    some: Any = tn.publish(path, schema=declared, ledger=False, memory=MEMORY, **SWAP)
    told = [step.text for step in some.history if step.name == "rematched"]
    assert len(told) == 2
    assert "600 rows of 120 of 800 groups drawn at random" in told[0]
    for name in ("pay", "tax"):
        for one in (whole, some):  # the key tells everything
            assert one.risk.rematched[name].records == 1
            assert one.risk.rematched[name].records_blind == pytest.approx(0.2)
    assert some.risk.in_all_groups == pytest.approx(whole.risk.in_all_groups)
    monkeypatch.setattr(permuted_columns, "MOST_LINKED", 4)
    none: Any = tn.publish(path, schema=declared, ledger=False, memory=MEMORY, **SWAP)
    assert not none.risk.rematched
    assert [step.name for step in none.history].count("not measured") == 2


@pytest.mark.parametrize("asked", [GENERALISE, EACH], ids=["generalise", "microaggregate"])
def test_groups_that_tell_a_sensitive_value_are_refused_in_passes_too(
    tmp_path: Path, asked: dict[str, Any]
) -> None:
    ill = {"type": "category", "categories": ["yes", "no"], "role": "confidential"}
    declared = schema(ill={**ill, "sensitive": True})
    table = people(blanks=0)
    table = table.set_column(5, "ill", pa.array(["yes"] * 270 + ["no"] * 30))
    path = stored(tmp_path, table)
    for more in ({}, {"memory": MEMORY}):
        with pytest.raises(tn.Refused, match="`ill`"):
            tn.publish(path, schema=declared, ledger=False, **asked, **more)
    held, passed = both(path, declared, **asked, override="homogeneous-groups")
    assert rows_of(held) == rows_of(passed)


def test_a_group_that_is_too_small_never_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant splits down to fewer than k; what is measured on all rows stops it."""
    path = stored(tmp_path, people())
    real = generalise.split_in_passes
    monkeypatch.setattr(
        generalise, "split_in_passes", lambda *given: real(*given[:-1], given[-1] - 1)
    )
    with pytest.raises(tn.Fault):
        tn.publish(path, schema=schema(), ledger=False, memory=MEMORY, **GENERALISE)


def test_a_column_with_a_small_group_never_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant forms groups of k - 1 in each column; counting all rows stops it."""
    path = stored(tmp_path, people())
    real = microaggregate.column_cuts
    monkeypatch.setattr(
        microaggregate, "column_cuts", lambda *given: real(*given[:2], given[2] - 1, given[3])
    )
    with pytest.raises(tn.Fault):
        tn.publish(path, schema=schema(), ledger=False, memory=MEMORY, **EACH)


def test_booleans_are_grouped_alike(tmp_path: Path) -> None:
    table = people(blanks=0).set_column(2, "town", pa.array([True] * 4 + [False] * 296))
    declared = schema(town={"type": "boolean", "role": "quasi-identifier"})
    held, passed = both(stored(tmp_path, table), declared, **EACH)
    assert rows_of(held) == rows_of(passed)
    assert set(passed.table["town"].to_pylist()) == {False}  # four are too few


def test_values_leave_their_rows_and_never_their_group(tmp_path: Path) -> None:
    """Mutants: a swap that moves nothing, one that moves columns together, one whose rows stay in
    the order of the file."""
    rows = 400
    values = np.arange(rows)
    table = pa.table({"key": values, "a": values, "b": values})
    number = {"type": "number", "bounds": [0, rows]}
    declared = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "key": {**number, "role": "quasi-identifier"},
            "a": {**number, "role": "confidential"},
            "b": {**number, "role": "confidential"},
        },
    }
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    left = tn.publish(path, schema=declared, ledger=False, memory=MEMORY, **SWAP).table.to_pydict()
    key, a, b = (np.array(left[name]) for name in ("key", "a", "b"))
    assert (key // 5 == a // 5).all()  # whole groups of five neighbours
    assert (key // 5 == b // 5).all()
    assert 20 < (a == key).sum() < 160  # a fifth stays, as if by chance
    assert 20 < (a == b).sum() < 160
    assert np.abs(np.diff(key)).mean() > 50


def test_a_table_that_fits_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "VALUE", 1)
    path = stored(tmp_path, people())
    _, passed = both(path, **SWAP)
    assert not any(step.name == "passes" for step in passed.history)
    frame = tn.publish(people(), schema=schema(), ledger=False, memory=MEMORY, **SWAP)
    assert not any(step.name == "passes" for step in frame.history)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (people(3, blanks=0), "fewer than"),
        (people(blanks=1), "no value in any"),
        (people().set_column(4, "pay", pa.array([1.0] * 300)), "same value"),
        (people().set_column(4, "pay", pa.array([float("inf")] * 300)), "infinite"),
        (people().set_column(5, "ill", pa.array(["unheard"] * 300)), "`ill`"),
        (people().set_column(0, "name", pa.array(["one"] * 300)), "more than once"),
    ],
)
def test_what_is_refused_in_memory_is_refused_in_passes(
    tmp_path: Path, table: pa.Table, said: str
) -> None:
    path = stored(tmp_path, table)
    refused = []
    for more in ({}, {"memory": MEMORY}):
        with pytest.raises(tn.Refused) as caught:
            tn.publish(path, schema=schema(), ledger=False, **SWAP, **more)
        refused.append(str(caught.value))
        assert said in refused[-1]
    assert refused[0] == refused[1]


def test_rows_that_a_value_is_missing_in_everywhere_are_none(tmp_path: Path) -> None:
    half = pa.array([1.0, None] * 150), pa.array([None, "flu"] * 150)
    table = people().set_column(4, "pay", half[0]).set_column(5, "ill", half[1])
    path = stored(tmp_path, table)
    for more in ({}, {"memory": MEMORY}):
        with pytest.raises(tn.Refused) as caught:
            tn.publish(path, schema=schema(), ledger=False, **SWAP, **more)
        assert "Every row has a missing value" in str(caught.value)


def test_a_second_release_is_found_whichever_way_either_was_made(tmp_path: Path) -> None:
    """The mutant leaves no marks of rows that were read in passes."""
    path = stored(tmp_path, people())
    (tmp_path / "more").mkdir()
    other = stored(tmp_path / "more", people().slice(3))  # another file, some rows less
    for first, second in (({"memory": MEMORY}, {}), ({}, {"memory": MEMORY})):
        books = tn.ledger.Memory()
        declared = schema()
        assert tn.publish(path, schema=declared, ledger=books, **SWAP, **first).table is not None
        declared["table"]["name"] = "renamed"
        with pytest.raises(tn.Refused) as caught:
            tn.publish(other, schema=declared, ledger=books, **SWAP, **second)
        assert "released" in str(caught.value)


def test_what_cannot_be_made_in_passes_is_refused_before_it_is_read() -> None:
    whole = [
        {"method": "microaggregate", "k": 5},
        {"method": "swap", "k": 5},
        {"method": "swap", "k": 5, "by": "other-attributes"},
        {"method": "anatomy", "k": 5},
        {"method": "anatomy", "k": 5, "by": "confidential", "override": "homogeneous-groups"},
        {"method": "generalise", "k": 5, "by": "full-domain"},
        {**GENERALISE, "l": 2},
        {**GENERALISE, "t": 0.5},
        {**GENERALISE, "suppress": 0.1},
    ]
    for asked in whole:
        with pytest.raises(tn.Refused) as caught:
            tn.publish("nowhere.parquet", schema=schema(), memory=MEMORY, ledger=False, **asked)
        assert "compares rows of the whole table" in str(caught.value)
    declared = schema()
    declared["table"] |= {"unit": "name", "rows_per_unit": 3}
    with pytest.raises(tn.Refused) as caught:
        tn.publish("nowhere.parquet", schema=declared, memory=MEMORY, ledger=False, **SWAP)
    assert "all rows with the same `name`" in str(caught.value)


def test_a_failure_on_the_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    path = stored(tmp_path, people())
    books = tn.ledger.Memory()

    def broken(*_: Any, **__: Any) -> Any:
        raise EngineFault(FAULT)

    monkeypatch.setattr(OnDisk, "shuffle", broken)
    with pytest.raises(EngineFault, match=FAULT):
        tn.publish(path, schema=schema(), ledger=books, memory=MEMORY, **SWAP).save(tmp_path / "o")
    assert list(folder.iterdir()) == []
    assert not (tmp_path / "o").exists()
    assert not [entry for entry in books.entries() if "release" in str(entry)]


def test_a_group_is_never_cut_between_equal_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant cuts ranks: some of a heap of equal values would change places with others."""
    rows = 60
    table = pa.table({"q": np.arange(rows), "s": np.repeat([0, 1, 2, 3, 4, 5], 10)})
    declared = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "q": {"type": "number", "bounds": [0, 99], "role": "quasi-identifier"},
            "s": {"type": "number", "bounds": [0, 9], "role": "confidential"},
        },
    }
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    asked = {**SWAP, "k": 15}

    def straddling() -> bool:
        made = tn.publish(path, schema=declared, ledger=False, memory=MEMORY, **asked).table
        pairs = zip(made["q"].to_pylist(), made["s"].to_pylist(), strict=True)
        return any(q // 20 != s // 2 for q, s in pairs)

    assert not straddling()
    real = tied_partition_in_passes.cut_in_passes

    def cut_ranks(*given: Any) -> Any:
        from dataclasses import replace

        return replace(real(*given), label=lambda numbers: numbers // 4)

    monkeypatch.setattr(tied_partition_in_passes, "cut_in_passes", cut_ranks)
    assert straddling()


def test_the_saved_release_is_complete_and_fits_its_certificate(tmp_path: Path) -> None:
    path = stored(tmp_path, people())
    made = tn.publish(path, schema=schema(), ledger=tn.ledger.Memory(), memory=MEMORY, **SWAP)
    made.save(tmp_path / "out")
    assert pq.read_metadata(tmp_path / "out" / "table.parquet").num_rows == made.rows
    found = tn.evaluate.check(
        tmp_path / "out" / "table.parquet", schema=tn.Schema.from_dict(schema())
    )
    assert found.certificate_fits
    assert rows_of(made)
