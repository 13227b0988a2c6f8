"""One person has one name, one unit has one price: what an attacker found, tried again.

Each case is a way by which one person could be asked about under several names, or a row could
decide whether there is an answer at all.
"""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import NotPromised, OverBudget

FLU: dict[str, Any] = {"type": "category", "categories": ["flu", "none"]}
WHO: dict[str, Any] = {"type": "identifier"}
X: dict[str, Any] = {"type": "number", "bounds": [0, 10]}
BELIEF = tn.prior.Categorical({"flu": 0.5, "none": 0.5})


def opened(
    table: Any, unit: str, columns: dict[str, Any], ledger: Any = None, **budget: Any
) -> Any:
    stated: dict[str, Any] = {"name": "p", "unit": unit, "neighbours": "add-or-remove"}
    if unit != "record":
        stated["rows_per_unit"] = 2
    return tn.protect(
        table,
        schema={"table": stated, "columns": columns, "budget": {"total": 1, **budget}},
        ledger=ledger or tn.ledger.Memory(),
    )


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64])
def test_no_id_decides_whether_there_is_an_answer(kind: Any) -> None:
    """The ends of the stored type beside each other: a difference would leave the type."""
    ends = np.iinfo(kind)
    for ids in ([ends.min, ends.max], [ends.min, ends.min + 5], [ends.max - 5, ends.max]):
        table = pa.table({"id": pa.array(ids, pa.from_numpy_dtype(kind)), "x": [1] * len(ids)})
        for sql in ("SELECT COUNT(*), SUM(x) FROM p", "SELECT MEDIAN(x) FROM p"):
            with opened(table, "id", {"id": WHO, "x": X}) as data:
                assert data.ask(sql, epsilon=1) is not None


@pytest.mark.parametrize(
    ("stored", "names"),
    [
        (np.float64, [9 * 10**17 + k for k in range(-3, 4)]),
        (np.float64, [2**53, 2**53 + 1]),
        (np.float32, [2**24, 2**24 + 1]),
    ],
)
def test_numbers_that_floating_point_cannot_tell_apart_are_nobody(
    stored: Any, names: list[int]
) -> None:
    table = pd.DataFrame({"id": np.array([float(names[0])], stored), "d": ["flu"]})
    with opened(table, "id", {"id": WHO, "d": FLU}) as data:
        assert all(data._dataset.engine.look_up("id", str(name), "d") == [] for name in names)
        exact = pd.DataFrame({"id": np.array([17.0], stored), "d": ["flu"]})
    with opened(exact, "id", {"id": WHO, "d": FLU}) as data:
        assert data._dataset.engine.look_up("id", "17", "d") == [0]


def test_a_uuid_is_named_by_its_usual_text_only(tmp_path: Path) -> None:
    usual = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    file = tmp_path / "u.parquet"
    duckdb.connect().execute(f"COPY (SELECT UUID '{usual}' AS id, 'flu' AS d) TO '{file}'")
    with opened(str(file), "id", {"id": WHO, "d": FLU}) as data:
        assert data._dataset.engine.look_up("id", usual, "d") == [0]
        for other in (usual.upper(), "{" + usual + "}", usual.replace("-", ""), "xyz", ""):
            assert data._dataset.engine.look_up("id", other, "d") == []


def test_a_category_unit_is_found_as_it_is_counted() -> None:
    """Names that are not declared are all the unit "other", which has three rows here."""
    who = {"type": "category", "categories": ["ann", "other"], "missing": "other"}
    table = pd.DataFrame({"who": ["u", "v", None, "ann"], "d": ["flu", "flu", "none", "none"]})
    with opened(table, "who", {"who": who, "d": FLU}) as data:
        assert [data._dataset.engine.look_up("who", name, "d") for name in "uv"] == [[], []]
        assert len(data._dataset.engine.look_up("who", "other", "d")) == 2, (
            "several: as good as many"
        )
        assert data._dataset.engine.look_up("who", "ann", "d") == [1]


def test_two_identifiers_would_name_one_record_twice() -> None:
    table = pd.DataFrame({"id": [1], "ssn": ["a"], "d": ["flu"]})
    both = {"id": WHO, "ssn": WHO, "d": FLU}
    with opened(table, "record", both, total=2) as data:
        for cost, named in enumerate(("id = 1", "ssn = 'a'"), start=1):
            data.ask(f"SELECT d FROM p WHERE {named}", epsilon=1, prior=BELIEF)
            assert data.budget.spent == cost, "they may be one record, so they add up"
    with opened(table, "record", {"id": WHO, "d": FLU}) as data:
        data.ask("SELECT d FROM p WHERE id = 1", epsilon=1, prior=BELIEF)
        with pytest.raises(OverBudget):
            data.ask("SELECT d FROM p WHERE id = 1", epsilon=1, prior=BELIEF, fresh=True)


def test_another_name_of_the_id_column_is_no_new_budget() -> None:
    ledger = tn.ledger.Memory()
    for number, column in enumerate(("id", "pid")):
        table = pd.DataFrame({column: [1], "d": ["flu"]})
        if number:
            with pytest.raises(NotPromised, match="protecting each id"):
                opened(table, column, {column: WHO, "d": FLU}, ledger)
            continue
        data = opened(table, column, {column: WHO, "d": FLU}, ledger)
        data.ask(f"SELECT d FROM p WHERE {column} = 1", epsilon=1, prior=BELIEF)


def test_what_records_cost_is_not_what_persons_cost() -> None:
    ledger = tn.ledger.Memory()
    table = pd.DataFrame({"id": [1] * 5, "x": [1] * 5})
    opened(table, "record", {"x": X}, ledger).ask("SELECT COUNT(*) FROM p", epsilon=1)
    with pytest.raises(NotPromised, match="protecting each record"):
        opened(table, "id", {"id": WHO, "x": X}, ledger)
    # before anything was spent the holder may change his mind, and name records at any time
    other = tn.ledger.Memory()
    opened(table, "record", {"x": X}, other)
    opened(table, "id", {"id": WHO, "x": X}, other)
    named = tn.ledger.Memory()
    opened(table, "record", {"x": X}, named).ask("SELECT COUNT(*) FROM p", epsilon=0.5)
    assert opened(table, "record", {"id": WHO, "x": X}, named).budget.spent == Fraction(1, 2)


def test_the_case_of_a_name_is_folded_where_the_data_set_is_opened() -> None:
    """Not before: another process may open it in between."""
    ledger = tn.ledger.Memory()
    ledger.open_dataset("census", 1, neighbours="replace")
    ledger.open_dataset("Census", 2, neighbours="replace")
    assert ledger.datasets() == ["census"]
    assert ledger.balance("census").total == 2


def test_criteria_that_look_alike_are_not_taken_for_each_other() -> None:
    wide = {"type": "number", "bounds": [0, 1000]}
    with opened(pd.DataFrame({"x": range(100)}), "record", {"x": wide}, total=9) as data:
        drawn = [
            data.ask("SELECT SUM(x) FROM p", epsilon=1, minimise=("interval", level))
            for level in (0.9999996, 0.99999999999)
        ]
    assert not any(answer.replayed for answer in drawn)


def test_with_delta_the_posterior_is_that_of_the_law_drawn_from() -> None:
    kinds = {"type": "category", "categories": ["a", "b", "c"]}
    belief = tn.prior.Categorical({"a": 0.2, "b": 0.3, "c": 0.5})
    table = pd.DataFrame({"id": [1], "d": ["a"]})
    with opened(table, "id", {"id": WHO, "d": kinds}, delta=0.9) as data:
        answer = data.ask("SELECT d FROM p WHERE id = 1", epsilon=0.5, delta=0.4, prior=belief)
    likely = {
        truth: float(
            belief.mass(truth)
            * tn.mechanism.refine(belief, truth, "0.5", kind="individual", delta="0.4").mass(
                answer.sample
            )
        )
        for truth in "abc"
    }
    for truth, mass in likely.items():
        assert answer.posterior.mass(truth) == pytest.approx(mass / sum(likely.values()))
    without = tn.estimate.refined(answer.sample, belief, "0.5", kind="individual")
    assert max(abs(without.mass(t) - answer.posterior.mass(t)) for t in "abc") > 0.05
