"""A private table is paid for, drawn, certified and saved; and never half of it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import tenue as tn
from tenue.errors import Conflict, Fault, InvalidArgument, NotPromised, OverBudget
from tenue.ledger import Memory
from tenue.privacy.loss import EpsilonDelta
from tenue.publish.methods.private import Private
from tenue.publish.publish import plan_of
from tenue.publish.synthetic.domain import Domain
from tenue.publish.synthetic.plan import plan_release
from tenue.publish.table.input_table import Validated


def schema(**changes: Any) -> dict[str, Any]:
    table = {"name": "people", "unit": "record", "neighbours": "replace"} | changes
    return {
        "table": table,
        "columns": {
            "name": {"type": "identifier"},
            "age": {"type": "number", "bounds": [0, 100], "missing": 40},
            "cost": {"type": "number", "bounds": [0, 1000], "grid": 0.5, "missing": ["NA"]},
            "sex": {"type": "category", "categories": ["f", "m"], "missing": "f"},
            "ill": {"type": "boolean"},
        },
        "budget": {"total": 2},
    }


def people(n: int = 600) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(0, 101, n),
            "cost": pa.array(np.round(rng.uniform(0, 1000, n)), mask=rng.uniform(size=n) < 0.2),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.uniform(size=n) < 0.1,
        }
    )


def publish(books: Any, rows: Any = None, **given: Any) -> Any:
    table = people() if rows is None else rows
    options = {"epsilon": 1, "schema": schema(), **given}
    return tn.publish(table, method="private", ledger=books, **options)


def test_a_table_of_the_same_shape_leaves_without_identifiers() -> None:
    books = Memory()
    release = publish(books)
    assert release.table.column_names == ["age", "cost", "sex", "ill"]
    assert release.table.num_rows == 600
    assert release.table.schema.field("age").type == pa.int64()
    assert release.certificate.promise == tn.Pure(1)
    assert release.certificate.neighbours == "replace"
    assert release.risk is None
    assert release.utility.boxes < 0.3
    assert books.balance("people").spent == 1


def test_blanks_leave_as_blanks_unless_a_value_is_declared() -> None:
    table = publish(Memory(), epsilon=2).table
    assert 0.1 < table.column("cost").null_count / 600 < 0.3
    assert table.column("age").null_count == 0


@pytest.mark.parametrize(
    "by", ["tree", "two-stage", "columns", "network", "microaggregation", "auto"]
)
def test_every_way_publishes(by: str) -> None:
    release = publish(Memory(), by=by)
    assert release.certificate.parameters["by"] in (by, tn.plan_release(schema(), 600, 1).by)
    domain = Domain.of(tn.Schema.from_dict(schema()))
    assert release.table.num_rows == 600
    assert set(release.table.column("sex").to_pylist()) <= {"f", "m"}
    assert tuple(axis.name for axis in domain.axes) == tuple(release.table.column_names)


def test_numbers_alone_may_be_joined_by_a_copula() -> None:
    described = schema()
    described["columns"] = {name: described["columns"][name] for name in ("name", "age", "cost")}
    release = publish(Memory(), schema=described, by="copula")
    assert release.table.num_rows == 600


def test_it_is_paid_before_a_row_is_read() -> None:
    books, wide = Memory(), schema()
    wide["columns"]["name"] = {"type": "identifier"}
    twice = people().set_column(0, "name", pa.array(["one name"] * 600))
    with pytest.raises(tn.Refused):  # found while rows are read
        publish(books, twice)
    assert books.balance("people").spent == 1


def test_the_budget_binds() -> None:
    books = Memory()
    publish(books, epsilon=2)
    with pytest.raises(OverBudget, match="nothing remains for `people`") as refused:
        publish(books, epsilon="0.1")
    assert (refused.value.facts["cost"], refused.value.facts["remaining"]) == (Fraction(1, 10), 0)


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({"total": 0.5}, "0.5 remains.*table's budget.*at most 0.5, or raise `total`"),
        ({"total": 2, "per_analyst": 0.4}, "0.4 remains.*quota.*0.4, or raise `per_analyst`"),
    ],
)
def test_a_release_that_costs_too_much_is_told_what_it_may_cost(
    budget: dict[str, Any], said: str
) -> None:
    with pytest.raises(OverBudget, match=f"This release costs epsilon 1, and {said}"):
        publish(Memory(), schema=schema() | {"budget": budget})


def test_a_second_private_table_is_another_price_and_no_conflict() -> None:
    books = Memory()
    publish(books).table  # noqa: B018 - it leaves
    publish(books).table  # noqa: B018
    assert books.balance("people").spent == 2
    assert not books.balance("people").releases


def test_after_a_swap_a_private_table_may_still_leave_and_not_the_other_way_round() -> None:
    described = schema()
    for name, role in {"age": "quasi-identifier", "cost": "confidential"}.items():
        described["columns"][name]["role"] = role
    for name in ("sex", "ill"):
        described["columns"][name]["role"] = "other"
    books = Memory()
    tn.publish(people(), schema=described, method="swap", k=5, ledger=books).table  # noqa: B018
    publish(books, schema=described).table  # noqa: B018
    with pytest.raises(Conflict):
        tn.publish(people(), schema=described, method="swap", k=5, ledger=books)


def test_what_it_cannot_promise_is_refused_before_anything_is_paid() -> None:
    books = Memory()
    with pytest.raises(NotPromised, match="secret"):
        publish(books, schema=schema(neighbours="add-or-remove"))
    assert list(books.datasets()) == []


@pytest.mark.parametrize(
    "given",
    [
        {"k": 601},
        {"k": 0},
        {"k": {"age": 5}},
        {"k": 5, "by": "tree"},
        {"by": "forest"},
        {"epsilon": 0},
        {"l": 2},
        {"override": "second-release"},
    ],
)
def test_options_that_do_not_suit_cost_nothing(given: dict[str, Any]) -> None:
    books = Memory()
    with pytest.raises(tn.Refused):
        publish(books, **given)
    assert all(books.balance(name).spent == 0 for name in books.datasets())


def test_without_a_ledger_it_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="ledger"):
        publish(False)


def test_a_preview_points_to_the_plan() -> None:
    with pytest.raises(tn.Refused, match="plan_release"):
        publish(Memory(), preview=True)


def test_a_plan_is_the_same_for_all_tables_of_as_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    other = people().set_column(1, "age", pa.array([7] * 600))
    terms: dict[str, Any] = {"schema": schema(), "method": "private", "epsilon": 1}

    def values(self: object, **given: object) -> None:
        raise AssertionError("a plan read values")

    with monkeypatch.context() as patch:
        patch.setattr(Validated, "read", values)
        first, second = (plan_of(rows, **terms) for rows in (people(), other))
        with pytest.raises(AssertionError, match="values"):  # a preview that reads would be seen
            publish(Memory(), preview=False)
    assert first is not None
    assert second is not None
    assert first[0].to_dict() == second[0].to_dict() == plan_release(schema(), 600, 1).to_dict()
    made = publish(Memory()).certificate
    assert first[1].promise == second[1].promise == made.promise
    assert set(made.does_not_promise) < set(first[1].does_not_promise)


def test_what_could_not_be_published_is_not_planned() -> None:
    poor = {name: part for name, part in schema().items() if name != "budget"}
    for described in (poor, schema(neighbours="add-or-remove")):
        with pytest.raises(tn.Refused):
            plan_of(people(), schema=described, method="private", epsilon=1)


def test_other_methods_have_no_plan_since_they_can_be_tried() -> None:
    described = schema()
    for column in described["columns"].values():
        column["role"] = "quasi-identifier"
    del described["columns"]["name"]
    assert plan_of(people(), schema=described, method="microaggregate", k=5) is None


def test_whoever_waits_is_told_each_step() -> None:
    told: list[str] = []
    publish(Memory(), progress=told.append)
    assert told == ["read", "draw", "evaluate", "certificate"]


def test_a_stated_number_of_rows_must_be_right() -> None:
    books = Memory()
    with pytest.raises(tn.Refused, match="599"):
        publish(books, schema=schema(rows=599))
    assert all(books.balance(name).spent == 0 for name in books.datasets())


def test_values_that_cannot_be_read_are_missing_and_do_not_refuse_the_table() -> None:
    rows = people().set_column(1, "age", pa.array(["no number", *["40"] * 599]))
    release = publish(Memory(), rows)
    said = [step.text for step in release.history if step.name == "missing"]
    assert said[0] == "1 missing value of `age` replaced by the value that the schema declares"
    assert said[1].endswith("`cost`: missing is a value like any other, and leaves as a blank")
    assert release.table.column("age").null_count == 0


def test_what_leaves_is_saved_with_its_certificate_and_nothing_of_the_rows(tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    pa.csv.write_csv(people(), source)
    release = tn.publish(source, schema=schema(), method="private", epsilon=1)
    release.save(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "certificate.json",
        "manifest.json",
        "report.html",
        "table.csv",
    ]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "for the holder" not in page
    assert "Cloud of numbers" not in page  # the comparison has a file of its own
    assert "Associations in the release" in page
    assert "Associations in the original" not in page
    told = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert told["promise"]["epsilon"] == "1"
    text = (tmp_path / "out" / "certificate.json").read_text()
    assert "person 1" not in text
    assert (tmp_path / "people.ledger").exists()


def test_the_certificate_is_a_function_of_public_facts() -> None:
    other = people().set_column(1, "age", pa.array([7] * 600))
    books = [Memory(), Memory()]
    first, second = (
        publish(b, r).certificate for b, r in zip(books, (people(), other), strict=True)
    )
    assert first.parameters == second.parameters
    assert first.does_not_promise == second.does_not_promise


def test_a_broken_way_never_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    books = Memory()
    monkeypatch.setattr(Domain, "cells", lambda self, places: {})
    with pytest.raises((Fault, KeyError, IndexError)):
        publish(books)
    assert books.balance("people").spent == 1


def test_the_price_is_in_whole_billionths() -> None:
    made = Private.read(tn.Schema.from_dict(schema()), (), epsilon="0.12345678901")
    assert made.price == EpsilonDelta(123456790)


def test_roles_are_not_needed() -> None:
    described = schema()
    assert all("role" not in column for column in described["columns"].values())
    assert publish(Memory(), schema=described).rows == 600


def test_a_screen_says_what_was_promised_and_what_was_done() -> None:
    release = publish(Memory())
    text = release.report()
    assert "pure differential privacy" in text
    assert "What an intruder could do" not in text
    assert "<table" in release._repr_html_()
    assert "It does not contain records of people" in " ".join(text.split())
    assert max(map(len, text.splitlines())) < 80
    for said in (*release.certificate.does_not_promise, *release.certificate.assumptions):
        assert said[0].isupper(), said
        assert said.endswith("."), said
