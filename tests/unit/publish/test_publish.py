"""The journey of a release."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.errors import Conflict, Fault, InvalidArgument, InvalidSchema, InvalidTable, Unreachable
from tenue.ledger import Memory, SQLite
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.publish import COUNTED, PREVIEWED, UNREGISTERED, UNSEALED, certify
from tenue.publish.register import Registration, register
from tenue.publish.release import Release
from unit.publish.census import people, schema

METHOD = chosen_method(schema(), "swap", k=4)


def test_what_no_ledger_knows_says_so() -> None:
    lone, known = certify(METHOD, registered=False), certify(METHOD, registered=True, seal="s")
    assert {UNREGISTERED, UNSEALED} <= set(lone.does_not_promise)
    assert not {UNREGISTERED, UNSEALED} & set(known.does_not_promise)
    assert (lone.parameters["registered"], known.parameters["registered"]) == (
        "no, in no ledger",
        "yes",
    )
    assert COUNTED in known.does_not_promise


def test_a_preview_promises_nothing_of_a_table_that_left() -> None:
    made = certify(METHOD, registered=False, preview=True)
    assert made.does_not_promise[0] == PREVIEWED
    assert made.parameters["registered"] == "no, a preview"


def test_columns_that_nothing_protects_are_named() -> None:
    said = " ".join(certify(METHOD, registered=True).does_not_promise)
    assert "It does not protect `note`" in said
    assert "rows with a missing value in `age`" in said


# -- The whole journey: what leaves, what stays, what is promised, what is refused -----------------

module = importlib.import_module("tenue.publish.publish")
INSIST = "homogeneous-groups"
SWAPS = ("quasi-identifiers", "each-confidential", "other-attributes")
QUASI = ["age", "job", "sex"]


def rows(table: Any, *columns: str) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(table.column(name).to_pylist() for name in columns), strict=True))


# -- microaggregation ---------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["mdav", "v-mdav"])
@pytest.mark.parametrize("k", [2, 5, 30])
def test_each_combination_of_quasi_identifiers_is_shared_by_k(by: str, k: int) -> None:
    release = tn.publish(people(), schema=schema(), method="microaggregate", k=k, by=by)
    groups = rows(release.table, *QUASI)
    assert min(groups.values()) >= k
    assert release.certificate.promise == tn.KAnonymity(k)
    assert tn.evaluate.check(release.table, schema()).k >= k
    assert release.risk.check is not None
    assert release.risk.check.k == min(groups.values())


def test_confidential_columns_stay_and_types_do_too() -> None:
    original = people()
    release = tn.publish(original, schema=schema(), method="microaggregate", k=5)
    assert release.table.column_names == ["age", "job", "sex", "income", "ill", "note"]
    untouched = ["income", "ill", "note"]
    assert rows(release.table, *untouched) == rows(original, *untouched)
    for name in release.table.column_names:
        assert release.table.schema.field(name).type == original.schema.field(name).type
    assert release.table.schema.metadata is None


def test_groups_grow_for_l_and_t() -> None:
    plain = tn.publish(people(), schema=schema(), method="microaggregate", k=3)
    assert tn.evaluate.check(plain.table, schema(), confidential=["ill"]).l == 1
    diverse = tn.publish(people(), schema=schema(), method="microaggregate", k=3, l=3)
    found = tn.evaluate.check(diverse.table, schema())
    assert found.l is not None
    assert found.l >= 3
    close = tn.publish(people(), schema=schema(), method="microaggregate", k=3, t=0.25)
    found = tn.evaluate.check(close.table, schema())
    assert max(column.exact_t for column in found.confidential) <= 0.25
    said = close.certificate.parameters["t"]
    assert said.startswith("earth mover's distance of ")
    assert said.endswith("at most 0.25 in each group")


def test_l_beyond_the_table_is_out_of_reach() -> None:
    with pytest.raises(Unreachable):
        tn.publish(people(), schema=schema(), method="microaggregate", k=3, l=4)


def test_what_breaks_its_promise_never_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("tenue.publish.methods.microaggregate")
    monkeypatch.setattr(module, "centroids", lambda column, labels: column)
    with pytest.raises(Fault):
        tn.publish(people(), schema=schema(), method="microaggregate", k=3)


def test_a_promise_about_persons_is_measured_in_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant groups rows: each group has enough of them, and too few persons."""
    groups = importlib.import_module("tenue.publish.methods.groups")
    real = groups.records_of
    monkeypatch.setattr(
        groups.Grouped,
        "similar_groups",
        lambda method, original: (
            tn.microdata.mdav(
                real([original.cells[name] for name in method.quasi]), method.least
            ).labels
        ),
    )
    with pytest.raises(Fault):
        tn.publish(visits(), schema=schema("name"), method="microaggregate", k=4)


# -- swapping -----------------------------------------------------------------------------------


@pytest.mark.parametrize("by", SWAPS)
def test_a_swap_keeps_every_column_and_moves_confidential_values(by: str) -> None:
    original = people(200)
    release = tn.publish(original, schema=schema(), method="swap", k=7, by=by, override=INSIST)
    assert release.certificate.promise == tn.ProbabilisticKAnonymity(7)
    for name in release.table.column_names:
        assert rows(release.table, name) == rows(original, name)
    others = [*QUASI, "note"]
    assert rows(release.table, *others) == rows(original, *others)
    assert rows(release.table, *others, "income") != rows(original, *others, "income")
    sizes = [step.text for step in release.history if step.name == "partition"]
    least = [int(re.search(r", ([0-9]+) ", text)[1]) for text in sizes]  # type: ignore[index]
    assert min(least) >= 7
    assert len(sizes) == (1 if by == "quasi-identifiers" else 2)


def test_each_column_may_have_its_own_k() -> None:
    k = {"income": 10, "ILL": 4}
    release = tn.publish(
        people(), schema=schema(), method="swap", k=k, by="each-confidential", override=INSIST
    )
    assert release.certificate.promise == tn.ProbabilisticKAnonymity(4)
    assert release.certificate.parameters["k"] == "income: 10, ill: 4"
    texts = [step.text for step in release.history if step.name == "partition"]
    assert [re.search(r"groups of (\w+)", text)[1] for text in texts] == ["income", "ill"]  # type: ignore[index]
    least = [int(re.search(r", ([0-9]+) ", text)[1]) for text in texts]  # type: ignore[index]
    assert least[0] >= 10
    assert least[1] >= 4


def test_values_move_inside_groups_of_similar_values_only() -> None:
    income = [float(i) for i in range(60)]
    order = np.array(income)
    original = people(income=income)
    declared = schema(sex=None, job=None, note=None, ill=None)
    ages = list(range(20, 80))
    original = people(income=income, age=ages)  # age tells whose row it is
    release = tn.publish(original, schema=declared, method="swap", k=5, by="each-confidential")
    got = dict(zip(*(release.table.column(c).to_pylist() for c in ("age", "income")), strict=True))
    moved = np.array([got[age] for age in ages]) - order
    assert 0 < np.abs(moved).max() < 5


def test_the_groups_of_a_swap_grow_too() -> None:
    declared = schema(ill={"sensitive": True})
    release = tn.publish(people(), schema=declared, method="swap", k=3, l=3)
    assert "l" in release.certificate.parameters


# -- persons with several rows ------------------------------------------------------------------


def visits() -> pa.Table:
    """Forty persons with one to four rows each."""
    base = people(40)
    take = [i for i in range(40) for _ in range(1 + i % 4)]
    return base.take(take)


def test_k_counts_persons_and_a_persons_rows_stay_together() -> None:
    table = visits()
    note = [f"{i}" for i in range(table.num_rows)]  # tells whose row it is
    table = table.set_column(table.column_names.index("note"), "note", [note])
    declared = schema("name", note={"categories": note})
    release = tn.publish(table, schema=declared, method="microaggregate", k=6)
    whose = dict(zip(note, table.column("name").to_pylist(), strict=True))
    groups: dict[tuple[Any, ...], set[str]] = {}
    for *quasi, row in zip(
        *(release.table.column(name).to_pylist() for name in [*QUASI, "note"]), strict=True
    ):
        groups.setdefault(tuple(quasi), set()).add(whose[row])
    assert min(map(len, groups.values())) >= 6
    everywhere = Counter(person for members in groups.values() for person in members)
    assert set(everywhere.values()) == {1}


def test_rows_of_one_person_are_not_k_persons() -> None:
    """The mutant counts rows: six rows of one person would be a group."""
    table = pa.concat_tables([people(1)] * 9 + [people(8, seed=2)]).slice(0, 17)
    names = ["ann"] * 9 + [f"b{i}" for i in range(8)]
    table = table.set_column(0, "name", [names])
    with pytest.raises(Unreachable):
        tn.publish(table, schema=schema("name"), method="microaggregate", k=10)
    release = tn.publish(table, schema=schema("name"), method="microaggregate", k=9)
    assert len(rows(release.table, *QUASI)) == 1


def test_persons_who_agree_can_be_swapped_and_others_cannot() -> None:
    release = tn.publish(visits(), schema=schema("name"), method="swap", k=5)
    assert release.table.num_rows == visits().num_rows
    limits = " ".join(release.certificate.does_not_promise)
    assert "It does not hide how many rows a person has" in limits
    table = visits()
    income = [float(i % 900) for i in range(table.num_rows)]
    changed = table.set_column(table.column_names.index("income"), "income", [income])
    with pytest.raises(tn.errors.NotPromised):
        tn.publish(changed, schema=schema("name"), method="swap", k=5)


def several(values: list[list[str]]) -> pa.Table:
    """A person for each list, a row for each of its illnesses; ages of ten persons are close."""
    take = [i for i, held in enumerate(values) for _ in held]
    table = people(len(values), age=[20 + i for i in range(len(values))]).take(take)
    ill = [value for held in values for value in held]
    return table.set_column(table.column_names.index("ill"), "ill", [ill])


FLU_AND_MORE = [["flu", "no", "cold"][: 1 + i % 3] for i in range(12)]


def test_a_value_that_everybody_has_is_told_whatever_else_rows_say() -> None:
    """Counting rows, every group has three values; and yet all of them have the flu."""
    declared = schema("name", ill={"sensitive": True}, job=None, sex=None, note=None)
    table = several(FLU_AND_MORE)
    by_rows = tn.evaluate.check(table, declared, unit="record")
    assert by_rows.rows == 24
    with pytest.raises(Unreachable) as refused:
        tn.publish(table, schema=declared, method="microaggregate", k=6)
    assert refused.value.code == "homogeneous-groups"
    with pytest.raises(Unreachable, match="suffice to cover all persons"):
        tn.publish(table, schema=declared, method="microaggregate", k=6, l=2)
    insisted = tn.publish(
        table, schema=declared, method="microaggregate", k=6, override="homogeneous-groups"
    )
    assert "2 of 2 groups have a single value of `ill`" in {step.text for step in insisted.history}
    assert insisted.risk.check is not None
    ill = {column.name: column for column in insisted.risk.check.confidential}["ill"]
    assert (insisted.risk.check.k, ill.l, ill.homogeneous_groups) == (6, 1, 2)


def test_groups_grow_until_persons_differ() -> None:
    declared = schema("name", ill={"sensitive": True}, job=None, sex=None, note=None)
    table = several([*FLU_AND_MORE[:9], ["no"], ["no"], ["no"]])
    release = tn.publish(table, schema=declared, method="microaggregate", k=3, l=2)
    assert release.risk.check is not None
    ill = {column.name: column for column in release.risk.check.confidential}["ill"]
    assert ill.l >= 2
    assert release.certificate.parameters["l"].startswith("at least 2 values of ill")
    assert any("has in some row" in limit for limit in release.certificate.does_not_promise)


# -- homogeneous groups -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", [{"method": "microaggregate"}, *({"method": "swap", "by": by} for by in SWAPS)]
)
def test_groups_that_tell_a_sensitive_value_are_refused(how: dict[str, Any]) -> None:
    declared = schema(ill={"sensitive": True})
    table = people(ill=["no"] * 50 + ["flu"] * 10)
    with pytest.raises((Unreachable, tn.errors.NotPromised)) as refused:
        tn.publish(table, schema=declared, k=3, **how)
    assert refused.value.code == "homogeneous-groups"
    if how.get("by") in SWAPS[1:]:  # there no group grows, so l is no way out by itself
        assert 'by="quasi-identifiers"' in refused.value.fix
    release = tn.publish(table, schema=declared, k=3, override="homogeneous-groups", **how)
    assert release.certificate.parameters["override"] == "homogeneous-groups"
    assert any(step.name == "overridden" for step in release.history)
    if how.get("by") != "each-confidential":
        tn.publish(table, schema=schema(), k=3, **how)  # not declared sensitive


def test_a_wide_t_does_not_excuse_groups_of_one_value() -> None:
    declared = schema(ill={"sensitive": True})
    table = people(ill=["no"] * 50 + ["flu"] * 10)
    with pytest.raises(Unreachable) as refused:
        tn.publish(table, schema=declared, k=3, method="microaggregate", t=1)
    assert refused.value.code == "homogeneous-groups"


# -- what leaves --------------------------------------------------------------------------------


def test_identifiers_and_undeclared_columns_do_not_leave() -> None:
    declared = schema(sex={"role": "identifier"})
    release = tn.publish(people(), schema=declared, method="swap", k=4)
    assert release.table.column_names == ["age", "job", "income", "ill", "note"]
    text = repr(release) + str(release) + release.certificate.to_json()
    assert "person 1" not in text


def test_the_column_that_names_a_person_does_not_leave_whatever_its_role() -> None:
    names = [f"person {i}" for i in range(60)]
    declared = schema(
        "name", name={"type": "category", "categories": names, "role": "confidential"}
    )
    for how in ("swap", "microaggregate"):
        release = tn.publish(people(), schema=declared, method=how, k=4)
        assert release.table.column_names == ["age", "job", "sex", "income", "ill", "note"]


def test_homogeneous_groups_are_always_reported() -> None:
    table = people(ill=["no"] * 50 + ["flu"] * 10)
    for how in ({"method": "microaggregate"}, *({"method": "swap", "by": by} for by in SWAPS)):
        release = tn.publish(table, schema=schema(), k=3, override=INSIST, **how)
        told = {step.text for step in release.history if step.name == "homogeneous"}
        assert any("`ill`" in text and not text.startswith("0 of") for text in told)
        assert len(told) == 2


def test_rows_leave_in_random_order() -> None:
    table = people(600, age=[18 + i // 8 for i in range(600)])
    release = tn.publish(table, schema=schema(), method="swap", k=4)
    assert release.table.column("age").to_pylist() != table.column("age").to_pylist()
    again = tn.publish(table, schema=schema(), method="swap", k=4)
    assert release.table.column("age").to_pylist() != again.table.column("age").to_pylist()


def test_the_order_in_which_rows_leave_is_not_the_one_that_broke_ties(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    contract = importlib.import_module("tenue.publish.methods.contract")
    monkeypatch.setattr(contract, "shuffled", lambda size, source: np.arange(size))
    table = people(600, age=[18 + i // 8 for i in range(600)])
    out = tn.publish(table, schema=schema(), method="microaggregate", k=4).table
    assert out.column("income").to_pylist() != table.column("income").to_pylist()


def test_equal_values_are_one_group_and_the_holder_is_told() -> None:
    """199 equal incomes and another: whoever has the other one is among all of them."""
    table = people(200, income=[5.0] * 199 + [6.0])
    declared = schema(ill=None)
    release = tn.publish(table, schema=declared, method="swap", k=100, by="each-confidential")
    steps = {step.name: step.text for step in release.history}
    assert steps["partition"] == "1 group of income, 200 units in each"
    assert steps["heap"].startswith("199 of 200 units have the same `income`")


def test_what_comes_in_as_a_frame_goes_out_as_one() -> None:
    frame = people().to_pandas()
    frame["ill"] = frame["ill"].astype("category")
    frame["age"] = frame["age"].astype("Int16")
    out = tn.publish(frame, schema=schema(), method="swap", k=4).table
    assert isinstance(out, pd.DataFrame)
    assert out["age"].dtype == frame["age"].dtype
    assert isinstance(out["ill"].dtype, pd.CategoricalDtype)
    assert set(out["ill"].dtype.categories) == {"no", "flu", "cold"}
    assert out["income"].dtype == np.float64
    assert out.index.tolist() == list(range(60))
    given = pl.from_arrow(people()).with_columns(pl.col("ill").cast(pl.Categorical))
    polars = tn.publish(given, schema=schema(), method="swap", k=4).table
    assert isinstance(polars, pl.DataFrame)
    assert polars.schema["income"] == pl.Float64
    assert polars.schema["ill"] == pl.Enum(["cold", "flu", "no"])
    assert isinstance(tn.publish(people(), schema=schema(), method="swap", k=4).table, pa.Table)


def test_a_file_or_a_relation_goes_out_as_arrow(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(people(), path)
    assert isinstance(tn.publish(path, schema=schema(), method="swap", k=4).table, pa.Table)
    with duckdb.connect() as connection:
        relation = connection.read_parquet(str(path))
        assert isinstance(tn.publish(relation, schema=schema(), method="swap", k=4).table, pa.Table)


def test_missing_values_follow_the_declared_policy() -> None:
    age = [None] * 10 + list(range(30, 80))
    table = people(age=age)
    left_out = tn.publish(table, schema=schema(), method="microaggregate", k=5)
    assert left_out.table.num_rows == 50
    assert any(step.name == "left out" for step in left_out.history)
    declared = schema(age={"missing": 40})
    filled = tn.publish(table, schema=declared, method="microaggregate", k=5)
    assert filled.table.num_rows == 60
    income = [None] * 10 + [float(i) for i in range(50)]
    blank = tn.publish(people(income=income), schema=schema(), method="microaggregate", k=5)
    assert blank.table.column("income").null_count == 10
    swapped = tn.publish(people(income=income), schema=schema(), method="swap", k=5)
    assert swapped.table.num_rows == 50


def test_a_release_cannot_be_changed() -> None:
    release = tn.publish(people(), schema=schema(), method="swap", k=4)
    with pytest.raises(FrozenInstanceError):
        release.table = None  # type: ignore[misc]
    assert isinstance(release.history, tuple)
    assert release.digest == release.digest
    assert len(release.digest) == 64


def test_the_certificate_says_nothing_of_rows() -> None:
    """Two different tables, one certificate."""
    for how in ({"method": "swap", "k": 4}, {"method": "microaggregate", "k": 4, "l": 2}):
        texts = {
            tn.publish(people(size, seed), schema=schema(), **how).certificate.to_json()
            for size, seed in ((40, 1), (90, 2))
        }
        assert len(texts) == 1


# -- the ledger ---------------------------------------------------------------------------------


def test_a_second_release_is_refused_before_a_row_is_read() -> None:
    ledger = Memory()
    first = tn.publish(people(), schema=schema(), method="swap", k=4, ledger=ledger)
    assert first.certificate.parameters["registered"] == "yes"
    assert list(ledger.entries()) == []  # trying is not publishing
    assert left(first).left
    (entry,) = [e for e in ledger.entries() if e.kind == "rows-released"]
    assert entry.fact.release_digest == first.digest  # type: ignore[union-attr]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "open_original", lambda *given: pytest.fail("rows were read"))
        with pytest.raises(Conflict) as refused:
            tn.publish(people(61), schema=schema(), method="swap", k=4, ledger=ledger)
    assert refused.value.code == "second-release"
    again = tn.publish(
        people(61), schema=schema(), method="swap", k=4, ledger=ledger, override="second-release"
    )
    assert left(again).certificate.parameters["override"] == "second-release"
    assert ledger.balance("people").releases == 2
    assert ledger.verify()


def test_a_release_registered_meanwhile_is_refused_when_the_table_would_leave(
    tmp_path: Path,
) -> None:
    """Both were made before either left: the mutant that checks in `publish` alone lets both go."""
    ledger = Memory()
    one, two = (
        tn.publish(people(), schema=schema(), method="swap", k=4, ledger=ledger) for _ in range(2)
    )
    assert one.table.num_rows == 60
    for leaving in (
        lambda: two.table,
        lambda: two.tables,
        lambda: two.digest,
        lambda: two.save(tmp_path / "out"),
    ):
        with pytest.raises(Conflict) as refused:
            leaving()
        assert refused.value.code == "second-release"
    assert not two.left
    assert list(tmp_path.iterdir()) == []
    assert ledger.balance("people").releases == 1


def test_a_ledger_on_disk_keeps_its_budget(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    with tn.ledger.SQLite(path) as ledger:
        ledger.open_dataset("people", 3, neighbours="replace")
    left(tn.publish(people(), schema=schema(), method="swap", k=4, ledger=path))
    with tn.ledger.SQLite(path) as ledger:
        assert ledger.balance("people").total == 3
        assert ledger.balance("people").releases == 1
    with pytest.raises(Conflict):
        tn.publish(people(), schema=schema(), method="swap", k=4, ledger=str(path))


def test_a_refused_release_is_not_registered() -> None:
    ledger = Memory()
    with pytest.raises(Unreachable):
        tn.publish(people(), schema=schema(), method="swap", k=61, ledger=ledger)
    assert ledger.datasets() == []


# -- bad input: a clear refusal, nothing written, old output untouched -------------------------

BAD: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "fewer rows than k": ({"source": people(4)}, Unreachable),
    "no rows": ({"source": people(0)}, InvalidTable),
    "one row": ({"source": people(1)}, Unreachable),
    "a constant quasi-identifier": ({"source": people(age=[30] * 60)}, InvalidTable),
    "a constant confidential column": ({"source": people(ill=["no"] * 60)}, InvalidTable),
    "a column of nothing": (
        {"source": people(age=pa.array([None] * 60, pa.int64()))},
        InvalidTable,
    ),
    "nothing confidential in any row": (
        {"source": people(ill=pa.array([None] * 60, pa.string())), "method": "microaggregate"},
        InvalidTable,
    ),
    "a column of nothing, untyped": ({"source": people(ill=[None] * 60)}, InvalidTable),
    "a category outside the schema": ({"source": people(ill=["pox"] + ["no"] * 59)}, InvalidTable),
    "a person who stands twice": ({"source": people(name=["ann"] * 2 + ["b"] * 58)}, InvalidTable),
    "an infinite value": ({"source": people(income=[float("inf")] * 60)}, InvalidTable),
    "one value below everything": (
        {"source": people(income=[float("-inf")] + [1.0] * 59)},
        InvalidTable,
    ),
    "no column of that name": ({"source": people().drop_columns(["age"])}, InvalidTable),
    "not a table": ({"source": {"age": 3}}, InvalidTable),
    "a file that is not there": ({"source": "nobody.parquet"}, InvalidTable),
    "no source": ({"source": None}, InvalidArgument),
    "no such method": ({"method": "swapp"}, InvalidArgument),
    "no such way": ({"by": "mdav"}, InvalidArgument),
    "k of one": ({"k": 1}, InvalidArgument),
    "k of two and a half": ({"k": 2.5}, InvalidArgument),
    "k for a column that does not exist": (
        {"k": {"income": 3, "ill": 3, "x": 3}, "by": "each-confidential"},
        InvalidArgument,
    ),
    "k for some columns": ({"k": {"income": 3}, "by": "each-confidential"}, InvalidArgument),
    "k by column where groups are shared": ({"k": {"income": 3, "ill": 3}}, InvalidArgument),
    "gamma without v-mdav": ({"gamma": 1}, InvalidArgument),
    "gamma below zero": (
        {"gamma": -1, "method": "microaggregate", "by": "v-mdav"},
        InvalidArgument,
    ),
    "l for groups of similar values": ({"l": 2, "by": "each-confidential"}, InvalidArgument),
    "l of one": ({"l": 1}, InvalidArgument),
    "t beyond one": ({"t": 1.5}, InvalidArgument),
    "no such override": ({"override": "everything"}, InvalidArgument),
    "an override of no kind": ({"override": 3}, InvalidArgument),
    "a ledger that is none": ({"ledger": 3}, InvalidArgument),
    "a schema that is none": ({"schema": 3}, InvalidArgument),
    "nothing confidential": (
        {"schema": schema(income=None, ill=None)},
        InvalidSchema,
    ),
    "no quasi-identifiers": ({"schema": schema(age=None, job=None, sex=None)}, InvalidSchema),
    "an unknown keyword": ({"kk": 3}, InvalidArgument),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case: str) -> None:
    changes, refusal = BAD[case]
    how: dict[str, Any] = {"source": people(), "schema": schema(), "method": "swap", "k": 5}
    with pytest.raises(refusal) as refused:
        tn.publish(**{**how, **changes})
    assert isinstance(refused.value, tn.Refused)
    for part in (refused.value.what, refused.value.allowed, refused.value.fix):
        assert part
        assert "pox" not in part
        assert "person 1" not in part


def test_a_derived_column_with_a_role_is_refused() -> None:
    declared = schema(income={"expression": "age * 2", "grid": 1})
    with pytest.raises(InvalidSchema):
        tn.publish(people(), schema=declared, method="swap", k=5)


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_a_file_that_is_not_a_table_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10)
    with pytest.raises(InvalidTable):
        tn.publish(path, schema=schema(), method="swap", k=5)


# -- the register -------------------------------------------------------------------------------


def left(release: Release) -> Release:
    """The release, after its table was handed out."""
    assert release.table is not None
    return release


def filed(folder: Path) -> Path:
    path = folder / "people.toml"
    schema().save(path)
    return path


def test_a_schema_in_a_file_has_its_register_beside_it(tmp_path: Path) -> None:
    """Registered only if asked to, a table left twice by default."""
    path = filed(tmp_path)
    first = left(tn.publish(people(), schema=path, method="swap", k=4))
    assert first.certificate.parameters["registered"] == "yes"
    with pytest.raises(Conflict):
        tn.publish(people(), schema=str(path), method="swap", k=4)
    with tn.ledger.SQLite(tmp_path / "people.ledger") as ledger:
        assert ledger.balance("people").releases == 1
        with pytest.raises(tn.errors.NotPromised):  # the table is in somebody's hands
            ledger.withdraw_release("people", first.digest, reason="regret")
    for given in (path, schema()):
        loose = tn.publish(people(), schema=given, method="swap", k=4, ledger=False)
        assert loose.certificate.parameters["registered"].startswith("no")
        assert loose.certificate.schema_hash == ""
        for words in ("no ledger registers", "does not identify the schema"):
            assert any(words in limit for limit in loose.certificate.does_not_promise)
        assert "a second release would not be noticed" in " ".join(str(loose).split())
    assert not any("no ledger" in limit for limit in first.certificate.does_not_promise)


def test_a_refusal_makes_no_ledger(tmp_path: Path) -> None:
    path = filed(tmp_path)
    with pytest.raises(Unreachable):
        tn.publish(people(), schema=path, method="swap", k=61)
    assert [file.name for file in tmp_path.iterdir()] == ["people.toml"]


def test_questions_and_releases_share_one_ledger(tmp_path: Path) -> None:
    path = filed(tmp_path)
    rich = schema().replace(budget={"total": 3})
    rich.save(path)
    left(tn.publish(people(), schema=path, method="swap", k=4))
    with tn.protect(people(), schema=path) as data:
        data.ask("SELECT COUNT(*) FROM people", epsilon=1)
        assert (data.budget.releases, data.budget.spent) == (1, 1)


def test_looking_at_a_release_does_not_register_it(tmp_path: Path) -> None:
    """The mutant that registers where a screen is made turns every notebook into a publication."""
    ledger = Memory()
    release = tn.publish(people(), schema=schema(), method="swap", k=4, ledger=ledger)
    for text in (repr(release), str(release), release._repr_html_(), release.report()):
        assert "60 rows" in text
    assert "its ledger registers it when it leaves" in " ".join(str(release).split())
    assert (release.rows, len(release.columns)) == (60, 6)
    assert release.risk, release.utility
    assert release.history, release.certificate.schema_hash
    assert not release.left
    assert list(ledger.entries()) == []
    release.save(tmp_path / "out")
    assert release.left
    assert "nowhere yet" not in str(release)
    assert release.digest, release.table
    release.save(tmp_path / "again")
    kinds = [entry.kind for entry in ledger.entries()]
    assert kinds.count("rows-released") == 1  # once, however often it is handed out
    assert kinds.count("release-saved") == 2  # and every folder is known


def test_many_threads_register_a_release_once() -> None:
    ledger = Memory()
    release = tn.publish(people(), schema=schema(), method="swap", k=4, ledger=ledger)
    with ThreadPoolExecutor(8) as pool:
        tables = list(pool.map(lambda _: release.table, range(32)))
    assert all(table is tables[0] for table in tables)
    assert ledger.balance("people").releases == 1
    assert ledger.verify()


def test_a_preview_registers_nothing_and_has_no_table(tmp_path: Path) -> None:
    path = filed(tmp_path)
    ledger = Memory()
    for books in (None, ledger, False):
        found = tn.publish(people(), schema=path, method="swap", k=4, ledger=books, preview=True)
        assert str(found).startswith("Preview of people, swap by quasi-identifiers: 60 rows")
        assert found.certificate.parameters["registered"] == "no, a preview"
        assert "this was a preview, which has no table" in found.certificate.does_not_promise[0]
        assert found.certificate.schema_hash == ""
        assert found.risk.record_linkage >= 0
        for leaving in (
            lambda found=found: found.table,
            lambda found=found: found.tables,
            lambda found=found: found.digest,
            lambda found=found: found.save(tmp_path / "out"),
        ):
            with pytest.raises(tn.errors.NotPromised, match="preview"):
                leaving()
        assert not found.left
    assert list(ledger.entries()) == []
    assert [file.name for file in tmp_path.iterdir()] == ["people.toml"]
    left(tn.publish(people(), schema=schema(), method="swap", k=4, ledger=ledger))
    tn.publish(people(), schema=schema(), method="swap", k=5, ledger=ledger, preview=True)
    with pytest.raises(tn.errors.InvalidArgument):
        tn.publish(people(), schema=schema(), method="swap", k=4, preview="yes")


def kept_rows(found: object, seen: set[int]) -> list[str]:
    """The kinds of tables and columns that an object keeps, under whatever name."""
    if id(found) in seen:
        return []
    seen.add(id(found))
    kind = type(found)
    if kind.__module__.split(".")[0] in ("pyarrow", "pandas", "numpy"):
        return [kind.__name__] if len(getattr(found, "shape", ())) else []
    inside: list[object] = []
    if isinstance(found, dict):
        inside = list(found.values())
    elif isinstance(found, list | tuple | set | frozenset):
        inside = list(found)
    elif kind.__module__.startswith("tenue"):
        inside = [*getattr(found, "__dict__", {}).values()]
        inside += [getattr(found, name, None) for name in getattr(kind, "__slots__", ())]
    return [name for one in inside for name in kept_rows(one, seen)]


@pytest.mark.parametrize("kind", ["swap", "microaggregate"])
def test_a_preview_keeps_no_rows(kind: str) -> None:
    """The mutant is a release: it has the table, behind a lock."""
    frame = people().to_pandas()
    found = tn.publish(frame, schema=schema(), method=kind, k=4, preview=True)
    assert kept_rows(found, set()) == []
    made = tn.publish(frame, schema=schema(), method=kind, k=4, ledger=False)
    assert "DataFrame" in kept_rows(made, set())


@pytest.mark.parametrize("gone", ["deleted", "another"])
def test_a_release_leaves_by_the_ledger_that_sealed_it_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    """The mutant takes what it finds: a ledger made anew registers the release as the first one,
    and does not know its certificate."""
    path = tmp_path / "a.ledger"

    def made() -> Release:
        path.unlink(missing_ok=True)
        release = tn.publish(people(), schema=schema(), method="swap", k=4, ledger=path)
        path.unlink()
        if gone == "another":
            SQLite(path).close()
        return release

    release = made()
    for leaving in (lambda: release.table, lambda: release.save(tmp_path / "out")):
        with pytest.raises(tn.errors.Conflict, match="was removed or replaced") as refused:
            leaving()
        assert refused.value.code == "lost-ledger"
    assert not release.left
    assert path.exists() == (gone == "another")
    assert not (tmp_path / "out").exists()

    def write(self: Registration, digest: str, *, draft: bool = False) -> None:
        register(self.books.made(), self.method, digest, self.marks, draft=draft)

    monkeypatch.setattr(Registration, "write", write)
    release = made()
    assert release.table.num_rows == 60
    with SQLite(path) as ledger:
        assert ledger.balance("people").releases == 1
        assert not ledger.verify_certificate(release.certificate)


def test_bounds_that_were_read_from_rows_are_refused_before_a_row_is_read() -> None:
    """They would leave with every value that was put on them, and with the schema's seal."""
    marked = schema().replace(table={"bounds_from_data": True})
    for preview in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "open_original", lambda *given: pytest.fail("rows were read"))
            with pytest.raises(tn.errors.NotPromised, match="were read from its rows"):
                tn.publish(people(), schema=marked, method="swap", k=4, preview=preview)


def test_a_certificate_names_its_schema_to_the_ledgers_holder_alone(tmp_path: Path) -> None:
    ledger = Memory()
    release = left(tn.publish(people(), schema=schema(), method="swap", k=4, ledger=ledger))
    release.save(tmp_path / "out")
    assert schema().digest not in (tmp_path / "out" / "certificate.json").read_text()
    found = ledger.verify_certificate(tmp_path / "out" / "certificate.json")
    assert (found.ok, found.dataset, found.entry) == (True, "people", 1)
    assert not Memory().verify_certificate(release.certificate)


def test_whoever_waits_is_told_in_which_step_something_is_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mutants swallow the line of whoever gave no `progress`, or name the step before."""
    kernels = importlib.import_module("tenue.publish.numba_kernels")
    swap = importlib.import_module("tenue.publish.methods.swap").Swap
    for name in ("publish", "assess"):
        real = getattr(swap, name)

        def compiling(*given: Any, real: Any = real) -> Any:
            kernels._tell()
            return real(*given)

        monkeypatch.setattr(swap, name, compiling)
    asked: dict[str, Any] = {"schema": schema(), "method": "swap", "k": 4, "ledger": False}
    told: list[str] = []
    tn.publish(people(), progress=told.append, **asked)
    word = kernels.COMPILING
    steps = ["read", swap.step, f"{swap.step} ({word})", "evaluate", f"evaluate ({word})"]
    assert told == [*steps, "certificate"]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    tn.publish(people(), **asked)
    assert capsys.readouterr().err.count(word) == 2


def test_a_folder_that_cannot_be_written_is_refused_before_a_row_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant finds out when the files are to be written, after all the work and the price."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("something else")
    monkeypatch.setattr(module, "open_original", lambda *_: pytest.fail("the table was opened"))
    books = tn.ledger.Memory()
    with pytest.raises(InvalidArgument):
        module.publish_into(
            module.Target(tmp_path / "out"),
            people(),
            schema=schema(),
            method="swap",
            k=4,
            ledger=books,
        )
    assert list(books.entries()) == []
