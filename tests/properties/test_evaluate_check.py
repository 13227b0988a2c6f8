"""`check` of any small table is what the definitions say; plausible mistakes are noticed."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.evaluate import Check, check
from unit.evaluate import oracle

Plain = dict[str, list[Any]]

AGES = st.none() | st.integers(0, 3) | st.sampled_from([-(2**60), 2**60])
WORDS = st.none() | st.sampled_from(["", "a", "b", "é", " a", "A "])
SUMS = st.none() | st.sampled_from([0.0, -0.0, 0.5, 1e300, -math.inf])
CODES = st.none() | st.integers(0, 4)
PERSONS = st.none() | st.sampled_from(["p", "q", "r"])


@st.composite
def tables(draw: Callable[[Any], Any]) -> Plain:
    rows = draw(st.integers(1, 20))
    kinds = {"age": AGES, "town": WORDS, "rate": SUMS, "pay": CODES, "ill": WORDS, "who": PERSONS}
    return {
        name: draw(st.lists(kind, min_size=rows, max_size=rows)) for name, kind in kinds.items()
    }


def arrow(table: Plain) -> pa.Table:
    kinds = {
        "age": pa.int64(),
        "town": pa.string(),
        "rate": pa.float64(),
        "pay": pa.int16(),
        "ill": pa.string(),
        "who": pa.string(),
    }
    return pa.table({name: pa.array(table[name], kind) for name, kind in kinds.items()})


def measured(source: Any, unit: str | None = None) -> Check:
    return check(
        source,
        quasi_identifiers=["age", "town"],
        confidential=["pay", "ill", "rate"],
        unit=unit,
    )


def assert_as_defined(found: Check, table: Plain, unit: str | None = None) -> None:
    known = list(zip(table["age"], table["town"], strict=True))
    members = oracle.groups(known)
    units = [oracle.units(g, table[unit]) if unit else len(g) for g in members]
    rows = len(known)
    assert (found.rows, found.groups, found.k) == (rows, len(members), min(units))
    assert found.smallest_groups == units.count(min(units))
    alone = sum(len(g) for g, count in zip(members, units, strict=True) if count == 1)
    assert found.unique_share == pytest.approx(alone / rows)
    homogeneous: set[int] = set()
    for column in found.confidential:
        values = [v.strip().lower() if isinstance(v, str) else v for v in table[column.name]]
        counted = [oracle.once_each(g, table[unit], values) if unit else g for g in members]
        parts = [[values[i] for i in g] for g in counted]
        if unit:
            distinct = [oracle.hitting(g, table[unit], values) for g in members]
            assert min(distinct) >= column.l >= min(2, *distinct)
            assert column.l_entropy <= column.l
        else:
            distinct = [oracle.distinct(part) for part in parts]
            assert column.l == min(distinct)
        filled = [part for part in parts if any(v is not None for v in part)]
        least = min(map(oracle.effective, filled), default=1.0)
        least = 1 if len(filled) < len(parts) else min(least, column.l)
        assert column.l_entropy == pytest.approx(least)
        t, ratio = oracle.closeness(parts, ordered=column.name != "ill")
        assert column.exact_t == t
        assert column.t == float(t)
        assert column.exact_t_ratio == ratio
        assert column.t_ratio == (math.inf if ratio is None else float(ratio))
        same = {i for i, count in enumerate(distinct) if count == 1}
        assert column.homogeneous_groups == len(same)
        homogeneous |= same
    assert found.homogeneous_groups == len(homogeneous)
    assert found.homogeneous_share == pytest.approx(
        sum(len(members[i]) for i in homogeneous) / rows
    )


@settings(max_examples=200)
@given(tables(), st.booleans())
def test_check_is_its_definition(table: Plain, by_person: bool) -> None:
    unit = "who" if by_person else None
    assert_as_defined(measured(arrow(table), unit), table, unit)


@settings(max_examples=30)
@given(tables())
def test_every_kind_of_frame_is_the_same_table(table: Plain) -> None:
    whole = arrow(table)
    found = measured(whole)
    assert measured(pl.from_arrow(whole)) == found
    halves = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    assert measured(halves) == found
    encoded = whole.set_column(1, "town", whole.column("town").dictionary_encode())
    assert measured(encoded) == found
    assert measured(whole.to_pandas(types_mapper=pd.ArrowDtype)) == found
    kinds = dict.fromkeys(("age", "rate", "pay"), "float64")
    assert measured(whole.to_pandas().astype(kinds)) == found


@settings(max_examples=50)
@given(tables())
def test_the_order_of_rows_and_columns_is_of_no_importance(table: Plain) -> None:
    turned = {name: values[::-1] for name, values in reversed(table.items())}
    one, other = measured(arrow(table)), measured(arrow(turned).select(list(turned)))
    sizes = {"size_of_farthest"}
    for first, second in zip(one.confidential, other.confidential, strict=True):
        for name in first.__dataclass_fields__.keys() - sizes:
            assert getattr(first, name) == pytest.approx(getattr(second, name)), name
    assert (one.k, one.groups, one.unique_share) == (other.k, other.groups, other.unique_share)


@settings(max_examples=25)
@given(table=tables())
def test_a_written_table_is_read_back(table: Plain, tmp_path_factory: Any) -> None:
    """Empty text is a blank once written, and no blank is a row that was skipped."""
    plain = {**table, "town": [v or None for v in table["town"]]}
    plain = {**plain, "ill": [v or None for v in plain["ill"]]}
    folder: Path = tmp_path_factory.mktemp("written")
    whole = arrow(plain)
    whole.to_pandas(types_mapper=pd.ArrowDtype).to_csv(folder / "t.csv", index=False)
    found = check(
        folder / "t.csv", quasi_identifiers=["age", "town"], confidential=["pay", "ill", "rate"]
    )
    assert (found.k, found.groups, found.rows) == (
        measured(whole).k,
        measured(whole).groups,
        whole.num_rows,
    )
    for one, other in zip(found.confidential, measured(whole).confidential, strict=True):
        assert (one.l, one.homogeneous_groups) == (other.l, other.homogeneous_groups)


MUTANTS: dict[str, Callable[[Plain], Any]] = {
    "k counts groups' rows, not persons": lambda t: min(
        len(g) for g in oracle.groups(list(zip(t["age"], t["town"], strict=True)))
    ),
    "rows with a blank are dropped": lambda t: min(
        oracle.units(g, t["who"])
        for g in oracle.groups(list(zip(t["age"], t["town"], strict=True)))
        if None not in (t["age"][g[0]], t["town"][g[0]])
    ),
    "k is the mean": lambda t: Fraction(
        len(t["age"]), len(oracle.groups(list(zip(t["age"], t["town"], strict=True))))
    ),
    "each column is grouped by itself": lambda t: min(
        len(g) for name in ("age", "town") for g in oracle.groups([[v] for v in t[name]])
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_k_is_noticed(name: str) -> None:
    table: Plain = {
        "age": [1, 1, 1, 2, 2, 2, None, 2, 1],
        "town": ["a", "a", "a", "a", "a", "a", "a", "b", "b"],
        "who": ["p", "q", "p", "p", "q", "r", "p", "p", "q"],
        "rate": [None] * 9,
        "pay": [1] * 9,
        "ill": ["a"] * 9,
    }
    both = {**table, **{n: table[n] * 2 for n in ("age", "town", "rate", "pay", "ill")}}
    both["who"] = table["who"] + ["p", "q", "p", "p", "q", "r", "p", "q", "p"]
    found = measured(arrow(both), "who")
    assert found.k == 1
    assert MUTANTS[name](both) != 1
