"""What an engine is asked and what it promises; how columns are stored."""

from __future__ import annotations

import inspect
import itertools
from dataclasses import FrozenInstanceError
from datetime import date
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle_engine import OracleEngine
from tenue.engine.computed_column import (
    MOST_STEPS,
    All,
    Among,
    Any_,
    Choice,
    DateField,
    Formula,
    Missing,
    Not,
    Product,
    Quotient,
    Steps,
    Sum,
    Within,
    check_range,
    columns_in,
    columns_of,
    leaf_ends,
    never_missing,
    sized,
)
from tenue.engine.contract import Engine
from tenue.engine.duckdb.dialect import storage
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.request import Bin, Factor, Group, Measure, People, RankRequest, Request, Window
from tenue.engine.storage import Nothing, Opaque, Text, Written, read_as
from tenue.errors import InvalidQuestion, InvalidTable, Refused
from tenue.schema import Schema


def test_every_column_of_a_condition_is_named() -> None:
    condition = All((Within("x", 1, None), Not(Any_((Missing("y"), Among("c", ("a",)))))))
    assert list(columns_in(condition)) == ["x", "y", "c"]


# Ranges of formulas hold every value, and nothing on the way to one is larger than said.

TABLE = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "x": {"type": "number", "bounds": [-2, 3]},
            "y": {"type": "number", "bounds": [1, 2], "grid": 0.5, "missing": 1},
            "b": {"type": "boolean"},
            "d": {"type": "date", "bounds": ["2019-12-30", "2020-01-02"]},
        },
    }
)
X, Y = Steps("x"), Steps("y")


def ends(leaf: Steps | DateField) -> tuple[int, int]:
    return leaf_ends(TABLE.column(leaf.column), leaf)


def tree(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    weights = st.integers(-3, 3)
    terms = st.lists(st.tuples(weights, inner), min_size=1, max_size=3).map(tuple)
    conditions = st.sampled_from([Within("x", 0, 1), Missing("x"), Among("b", (True,))])
    return st.one_of(
        st.builds(Sum, weights, terms),
        st.builds(Product, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Quotient, inner, st.integers(1, 4)),
        st.builds(
            Choice,
            st.lists(st.tuples(conditions, inner), min_size=1, max_size=2).map(tuple),
            st.none() | inner,
        ),
    )


FORMULAS = st.recursive(
    st.sampled_from([X, Y, DateField("d", "isodow"), Sum(2)]), tree, max_leaves=6
)
ROWS: list[dict[str, Any]] = [
    dict(zip("xybd", values, strict=True))
    for values in itertools.product(
        [None, -2, 0, 1, 3],
        [None, 1, Fraction(3, 2), 2],
        [None, True, False],
        [None, date(2019, 12, 30), date(2020, 1, 2)],
    )
]


@given(FORMULAS)
def test_no_row_leaves_the_range(formula: Formula) -> None:
    low, high = sized(formula, ends).ends
    found = [OracleEngine(TABLE, [])._formula(formula, row) for row in ROWS]
    there = [value for value in found if value is not None]
    assert all(low <= value <= high for value in there)
    if never_missing(formula, lambda name: TABLE.column(name).missing is not None):
        assert len(there) == len(found)


def test_ranges_are_as_narrow_as_intervals_can_be() -> None:
    assert sized(Sum(1, ((2, X), (-1, Y))), ends).ends == (1 - 4 - 4, 1 + 6 - 2)
    assert sized(Product((X, X)), ends).ends == (-6, 9)
    assert sized(Quotient(X, 2), ends).ends == (-1, 1)
    assert sized(Choice(((Within("x", 0, None), Y),)), ends).ends == (2, 4)


def test_a_choice_may_be_what_stands_after_else() -> None:
    """A range without the 0 of ELSE 0 would say that one row moves a sum by 2 at most."""
    formula = Choice(((Within("x", 0, None), Sum(0, ((5, Y),))),), Sum(0))
    assert sized(formula, ends).ends == (0, 20)


def test_fields_of_dates_follow_from_their_bounds() -> None:
    assert ends(DateField("d", "year")) == (2019, 2020)
    assert ends(DateField("d", "month")) == (1, 12)
    for leaf in (DateField("d", "hour"), DateField("x", "year"), Steps("b")):
        with pytest.raises(Refused):
            ends(leaf)


def test_only_what_is_filled_in_is_never_missing() -> None:
    def filled(name: str) -> bool:
        return name == "y"

    assert never_missing(Sum(1, ((2, Y),)), filled)
    assert not never_missing(Product((X, Y)), filled)
    assert not never_missing(Choice(((Missing("x"), Y),)), filled)
    assert never_missing(Choice(((Missing("x"), Y),), Sum(0)), filled)


def test_what_may_be_too_large_is_refused_from_the_bounds() -> None:
    assert check_range(Sum(MOST_STEPS - 3, ((1, X),)), ends)[1] == MOST_STEPS
    with pytest.raises(InvalidQuestion):
        check_range(Sum(MOST_STEPS - 2, ((1, X),)), ends)
    with pytest.raises(InvalidQuestion):  # small at the end, and huge on the way
        check_range(Quotient(Sum(0, ((2**130, X),)), 2**130), ends)


def test_every_column_is_named() -> None:
    formula = Sum(0, ((1, Choice(((Missing("b"), X),), Y)), (1, DateField("d", "year"))))
    assert list(columns_of(formula)) == ["b", "x", "y", "d"]


# -- A request is a value: it can be compared, kept and never changed ------------------------------


def request() -> Request:
    return Request(
        (Measure("rows"), Measure("moment", factors=(Factor("x", 1, 2),))),
        All((Within("x", 0, None), Not(Among("c", ("a",))))),
        (Group("c", 2), Bin("x", 5, 0, 3)),
        People("who", 3, None),
    )


def test_equal_requests_are_one_key() -> None:
    assert {request(): 1}[request()] == 1
    ranks = [RankRequest("x", (Window(2, 1, 0, 0, reach),)) for reach in (1, 1, 2)]
    assert len(set(ranks)) == 2


def test_a_request_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        request().people = None  # type: ignore[misc]


# -- A column is readable, or not, by its storage type alone ---------------------------------------

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "id", "neighbours": "replace", "rows_per_unit": 1},
        "columns": {
            "id": {"type": "identifier"},
            "n": {"type": "number", "bounds": [0, 1]},
            "c": {"type": "category", "categories": ["a"]},
            "b": {"type": "boolean"},
            "d": {"type": "date", "bounds": ["2000-01-01", "2000-01-02"]},
            "s": {"type": "datetime", "bounds": ["2000-01-01T00:00:00", "2000-01-01T00:00:01"]},
        },
    }
)
TYPES = {
    "TINYINT": "ncb",
    "UBIGINT": "ncb",
    "HUGEINT": "ncb",
    "UHUGEINT": "ncb",
    "DECIMAL(18, 3)": "nb",
    "FLOAT": "nb",
    "DOUBLE": "nb",
    "BOOLEAN": "ncb",
    "VARCHAR": "ncbds",
    "ENUM('x', 'y')": "ncbds",
    "UUID": "cb",
    "DATE": "ds",
    "TIMESTAMP": "ds",
    "TIMESTAMP_S": "ds",
    "TIMESTAMP_MS": "ds",
    "TIMESTAMP_NS": "ds",
    "TIMESTAMPTZ": "ds",
    "TIME": "",
    "BLOB": "",
    "INTEGER[]": "",
    "STRUCT(a INTEGER)": "",
    "INTERVAL": "",
}


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_of_duckdb_is_read_where_it_fits_and_refused_elsewhere(kind: str) -> None:
    with duckdb.connect() as connection:
        rows = connection.execute(f"DESCRIBE SELECT CAST(NULL AS {kind}) AS x").fetchall()
    stored = storage(rows[0][1])
    read_as(SCHEMA.column("id"), stored)
    for name in "ncbds":
        column = SCHEMA.column(name)
        if name in TYPES[kind]:
            read_as(column, stored)
        else:
            with pytest.raises(
                InvalidTable, match=f"`{name}` is a {column.type} column"
            ) as refused:
                read_as(column, stored)
            assert refused.value.column == name


def test_a_column_of_nothing_and_written_values_fit_every_column() -> None:
    for name in "ncbds":
        read_as(SCHEMA.column(name), Nothing())
        read_as(SCHEMA.column(name), Written())


def test_text_is_read_like_a_written_field_where_something_else_is_declared() -> None:
    for name in "nds":
        assert read_as(SCHEMA.column(name), Text()) == Written()
        assert read_as(SCHEMA.column(name), Text("ENUM")) == Written()
    for name in ("id", "c", "b"):
        assert read_as(SCHEMA.column(name), Text()) == Text()


def test_a_number_stored_as_a_list_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(InvalidTable) as refused:
        read_as(SCHEMA.column("n"), Opaque())
    assert "the source stores something" in refused.value.what
    assert "whole numbers" in refused.value.allowed
    assert "view" in refused.value.fix


# The contract is few calls, and the engine that comes with Tenue has each of them as stated.

CALLS = [
    *("close", "column_steps", "contributions", "excess", "files", "hand_over"),
    *("look_up", "measure", "ranks", "read_all", "reopens", "title", "validate"),
]


def calls(kind: type) -> list[str]:
    told = {name for base in kind.__mro__ if base is not object for name in vars(base)}
    return sorted(name for name in told if not name.startswith("_"))


def test_an_engine_has_these_calls_and_no_others() -> None:
    facts = {"excess", "files", "reopens", "title"}
    assert calls(Engine) == [name for name in CALLS if name not in facts]
    assert calls(DuckDB) == CALLS


def test_every_call_takes_and_gives_what_the_contract_says() -> None:
    for name in calls(Engine):
        stated, found = (inspect.signature(getattr(one, name)) for one in (Engine, DuckDB))
        assert found == stated, name
