"""Tables as Arrow columns, and columns read as what they are."""

from __future__ import annotations

import datetime as dt
import gzip
import random
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenue as tn
from tenue.errors import InvalidArgument, InvalidTable, Refused
from tenue.evaluate.column_types import counterexamples, typed
from tenue.evaluate.factorize import coded
from tenue.evaluate.one_table.cell_equality import shown
from tenue.evaluate.rows import open_rows
from unit.evaluate.stated import AGE, ILL, schema

COLUMNS: dict[str, Any] = {
    "close": pa.array([3, 1, None, 2, 3], pa.int8()),
    "whole range": pa.array([127, -128, None, 0], pa.int8()),
    "far apart": pa.array([10**18, 5, None, -(10**18), 5], pa.int64()),
    "unsigned": pa.array([2**64 - 1, 2**64 - 3, None, 2**64 - 3], pa.uint64()),
    "unsigned, far": pa.array([2**64 - 1, 0, 2**63, None, 0], pa.uint64()),
    "doubles": pa.array([0.5, -1.5, None, 0.5, float("inf")]),
    "doubles, none missing": pa.array([0.5, -1.5, 0.5, 1e300]),
    "decimals": pa.array([Decimal("1.10"), Decimal("-2.00"), None, Decimal("1.10")]),
    "days": pa.array([dt.date(2020, 1, 2), dt.date(1960, 1, 1), None]),
    "moments": pa.array([dt.datetime(2020, 1, 2, 3), None, dt.datetime(1960, 1, 1)]),
    "nothing": pa.array([None, None], pa.int64()),
    "no type": pa.nulls(3),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_codes_are_ranks(name: str) -> None:
    column = COLUMNS[name]
    values = column.to_pylist()
    known = sorted({value for value in values if value is not None})
    found = coded(column, ordered=True)
    assert found.codes.tolist() == [-1 if v is None else known.index(v) for v in values]
    assert found.count == len(known)


CODE_WORDS = ["b", None, "a", "b", "", "é"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(CODE_WORDS),
        pa.array(CODE_WORDS, pa.large_string()),
        pa.array(CODE_WORDS, pa.string_view()),
        pa.array(CODE_WORDS).dictionary_encode(),
        pa.DictionaryArray.from_arrays(
            pa.array([3, None, 1, 3, 0, 4], pa.int8()), ["", "a", "unused", "b", "é"]
        ),
        pa.array([True, None, False, True]),
    ],
)
def test_codes_of_categories_are_equal_for_equal_ones(column: Any) -> None:
    values = column.to_pylist()
    found = coded(column, ordered=False)
    for one, code in zip(values, found.codes.tolist(), strict=True):
        assert (code == -1) == (one is None)
        for other, second in zip(values, found.codes.tolist(), strict=True):
            assert (one == other) == (code == second)
    assert sorted(set(found.codes.tolist()) - {-1}) == list(range(found.count))


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9), max_size=30))
def test_any_whole_numbers(values: list[int | None]) -> None:
    known = sorted({value for value in values if value is not None})
    found = coded(pa.array(values, pa.int64()), ordered=True)
    assert found.codes.tolist() == [-1 if v is None else known.index(v) for v in values]
    assert found.count == len(known)


# -- Every kind of table is read whole or refused, and a refusal quotes no row ---------------------

QUOTED = "a very private illness"
PLAIN = {"Age": [30, 40, 40], "ill": ["flu", None, QUOTED]}


class Stream:
    """Something with the Arrow PyCapsule interface that can be read once."""

    def __init__(self, table: pa.Table) -> None:
        self._reader: Any = table.to_reader()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader, self._reader = self._reader, None
        return reader.__arrow_c_stream__(requested_schema)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    pq.write_table(pa.table(PLAIN), tmp_path / "t.parquet")
    text = f"Age,ill\n30,flu\n40,\n40,{QUOTED}\n"
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "semicolon.csv").write_text("\ufeff" + text.replace(",", ";"))
    (tmp_path / "t.tsv").write_text(text.replace(",", "\t"))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT * FROM read_parquet(?)", [str(tmp_path / "t.parquet")]
        )
    return {path.name: path for path in tmp_path.iterdir()}


def sources(files: dict[str, Any]) -> list[Any]:
    table = pa.table(PLAIN)
    return [
        table,
        Stream(table),
        pd.DataFrame(PLAIN),
        pl.DataFrame(PLAIN),
        pl.DataFrame(PLAIN).lazy(),
        files["t.parquet"],
        str(files["t.csv"]),
        files["semicolon.csv"],
        files["t.tsv"],
        files["t.csv.gz"],
        f"duckdb://{files['t.db']}#people",
        duckdb.connect().from_arrow(table),
    ]


def test_every_source_gives_the_same_columns(files: dict[str, Any]) -> None:
    for source in sources(files):
        rows = open_rows(source)
        assert rows.names == ("Age", "ill")
        assert rows.find("AGE") == rows.spelled("age") == "Age"
        read = rows.read(["ill", "Age"])
        assert list(read) == ["ill", "Age"]
        ages = read["Age"].to_pylist()
        assert [int(age) for age in ages] == PLAIN["Age"]
        assert rows.written == isinstance(ages[0], str)
        assert read["ill"].to_pylist() == PLAIN["ill"]


def test_a_matrix_has_numbered_columns() -> None:
    rows = open_rows(np.array([[1, 2], [3, 4]]))
    assert rows.names == ("0", "1")
    assert rows.read([rows.spelled(1)])["1"].to_pylist() == [2, 4]
    for wrong in ([[1, 2], [3]], [1, 2], np.array([["a"]]), []):
        with pytest.raises(InvalidTable):
            open_rows(wrong)


@pytest.mark.parametrize(
    "text",
    [
        f"a,b\n1,2\n{QUOTED}\n",
        f"a,b\n1,2\n1,2,{QUOTED}\n",
        f'a,b\n1,"{QUOTED}\n',
    ],
)
def test_a_line_that_is_no_row_is_never_skipped(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(InvalidTable) as refused:
        open_rows(path).read(["a"])
    assert QUOTED not in str(refused.value)
    assert refused.value.__context__ is None


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.csv"
    path.write_bytes(b"a,b\n1,\xff\xfe\n")
    with pytest.raises(InvalidTable):
        open_rows(path).read(["b"])


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("[]")
    (tmp_path / "bad.parquet").write_text(QUOTED)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "two.csv").write_text("a,A\n1,2\n")
    (tmp_path / "one_a.csv").write_text("a\n1\n")
    (tmp_path / "one_b.csv").write_text("b\n1\n")
    for name in ("t.json", "bad.parquet", "empty.csv", "two.csv", "none.csv", "one_*.csv"):
        with pytest.raises(InvalidTable) as refused:
            open_rows(tmp_path / name)
        assert QUOTED not in str(refused.value)
    for wrong in (
        object(),
        7,
        pd.DataFrame([[1, 2]], columns=["a", "A"]),
    ):
        with pytest.raises(InvalidTable):
            open_rows(wrong).read(["a"])
    with pytest.raises(Refused):
        open_rows(None)
    with pytest.raises(InvalidTable):
        open_rows(pd.DataFrame([[1, 2]]))  # columns that have numbers for names


def test_no_rows_and_unknown_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match="no rows"):
        open_rows(pa.table({"a": pa.array([], pa.int64())})).read(["a"])
    (tmp_path / "t.csv").write_text("a,b\n")
    with pytest.raises(InvalidTable, match="no rows"):
        open_rows(tmp_path / "t.csv").read(["a"])
    with pytest.raises(InvalidArgument, match="Did you mean `income`"):
        open_rows(pa.table({"income": [1]})).spelled("incom")
    for wrong in (None, True, 3.5, 7):
        with pytest.raises(InvalidArgument):
            open_rows(pa.table({"income": [1]})).spelled(wrong)


def test_a_stream_is_read_once_and_used_twice() -> None:
    stated = schema({"age": AGE, "ill": ILL})
    rows = pa.table({"age": [1, 2], "ill": ["flu", "none"]})
    found = tn.evaluate.risk(rows, Stream(rows), stated)
    assert found == tn.evaluate.risk(rows, rows, stated)
    assert tn.evaluate.score(Stream(rows), rows, rows).value == 1


@pytest.mark.any_draw("modules are loaded whatever is drawn")
def test_the_room_is_light_until_it_is_used() -> None:
    heavy = "scipy pandas polars pyarrow numba duckdb narwhals sqlglot typer"
    code = (
        "import sys, tenue; tenue.evaluate;"
        f"print([m for m in {heavy.split()!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# A column is read as what it is; blanks, NaN and declared missing values are told apart.

DAYS = {"type": "date", "bounds": ["2000-01-01", "2000-12-31"]}
TIMES = {"type": "datetime", "bounds": ["2000-01-01T00:00:00", "2000-01-02T00:00:00"]}


def declared(**column: Any) -> Any:
    return schema({"x": column, "other": AGE}).columns["x"]


def read(values: Any, column: Any = None, **how: bool) -> Any:
    return typed("x", pa.chunked_array([values]), column, **how)


def test_nan_is_missing_and_negative_zero_is_zero() -> None:
    found = read(pa.array([0.0, -0.0, float("nan"), None, 1.0])).coded()
    assert found.codes.tolist() == [0, 0, -1, -1, 1]
    words = read(pa.array([0.0, -0.0]), declared(type="category", categories=["0", "1"]))
    assert words.coded().count == 1
    narrow = read(pa.array(np.array([0.5, np.nan], np.float32)))
    assert narrow.coded().codes.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("words", "kind", "codes"),
    [
        (["10", " 9", "10", None], "number", [1, 0, 1, -1]),
        (["1.5", "1.50", "-2e3", None], "number", [1, 1, 0, -1]),
        (["2020-01-02", "2019-12-31", None], "time", [1, 0, -1]),
        (["2020-01-02T10:00:00", "2020-01-02 09:00:00"], "time", [1, 0]),
        (["10", "9", "ten"], "category", [0, 1, 2]),
        ([None, None], "category", [-1, -1]),
    ],
)
def test_written_text_is_read_as_what_all_of_it_is(
    words: list[Any], kind: str, codes: list[int]
) -> None:
    found = read(pa.array(words, pa.string()), written=True)
    assert found.kind == kind
    assert found.coded().codes.tolist() == codes


def test_text_stays_text_unless_guessed_or_declared() -> None:
    words = pa.array(["07", "7"])
    assert read(words, written=True).coded().count == 1
    assert read(words, written=True, guess=False).coded().count == 2
    assert read(words).coded().count == 2  # a data frame's text is text
    assert read(words, declared(**AGE), written=True, guess=False).coded().count == 1
    category = declared(type="category", categories=["07", "7"])
    assert read(words, category, written=True).coded().count == 2


def test_a_declared_category_has_no_order() -> None:
    column = declared(type="category", categories=["1", "2"])
    assert read(pa.array([2, 1, 2]), column).kind == "category"
    assert read(pa.array([2, 1, 2]), column).words() == ["2", "1", "2"]
    assert read(pa.array([2, 1, 2])).kind == "number"
    assert read(pa.array(["b", "a"]).dictionary_encode()).words() == ["b", "a"]


def test_a_declared_missing_value_stands_for_blanks() -> None:
    number = declared(type="number", bounds=[0, 9], missing=5)
    assert read(pa.array([5, None, 7]), number).coded().codes.tolist() == [0, 0, 1]
    assert read(pa.array([5.0, float("nan")]), number).coded().codes.tolist() == [0, 0]
    assert read(pa.nulls(2), number).coded().codes.tolist() == [0, 0]
    tenth = declared(type="number", bounds=[0, 9], grid=0.5, missing=0.5)
    assert read(pa.array([1, None]), tenth).numbers().tolist() == [1.0, 0.5]
    category = declared(**{**ILL, "missing": "none"})
    assert read(pa.array(["flu", None]), category).words() == ["flu", "none"]
    encoded = pa.array(["flu", None]).dictionary_encode()
    assert read(encoded, category).words() == ["flu", "none"]
    day = declared(**DAYS, missing="2000-02-01")
    found = read(pa.array([dt.date(2000, 2, 1), None]), day)
    assert found.coded().count == 1
    with pytest.raises(InvalidTable, match="not stored as the type that the schema declares"):
        read(pa.array([True, None]), day)


def test_times_count_days_or_seconds() -> None:
    days = read(pa.array([dt.date(1970, 1, 3), None]))
    assert days.days
    assert days.numbers(days=True)[0] == 2
    assert days.numbers()[0] == 2 * 86400
    for unit in ("s", "ms", "us", "ns"):
        moment = read(pa.array([dt.datetime(1970, 1, 1, 0, 1), None], pa.timestamp(unit)))
        assert moment.numbers()[0] == 60
        assert np.isnan(moment.numbers()[1])


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(InvalidTable, match="neither numbers"):
        read(pa.array([[1], [2]]))
    for wrong in (float("inf"), -1e200):
        with pytest.raises(InvalidTable, match="infinite"):
            read(pa.array([1.0, wrong])).numbers()
    assert read(pa.array([1.0, float("inf")])).coded().count == 2


def test_marks_are_missing() -> None:
    number = declared(type="number", bounds=[0, 999], missing=["?", 999])
    assert read(pa.array(["?", " 5", "999"]), number).array.to_pylist() == [None, 5, None]
    assert read(pa.array([999, 5]), number).array.to_pylist() == [None, 5]
    assert read(pa.array([999.0, 5]), number).array.to_pylist() == [None, 5]
    word = declared(type="category", categories=["a"], missing=["?"])
    for words in (pa.array(["a", " ? "]), pa.array(["a", "?"]).dictionary_encode()):
        assert read(words, word).array.to_pylist() == ["a", None]


def test_quasi_identifiers_are_compared_as_written_whatever_marks_say() -> None:
    quasi = declared(type="number", bounds=[0, 9], missing=["?"])
    column = pa.chunked_array([pa.array(["?", None, "?"])])
    assert shown("x", column, quasi).codes.codes.tolist() in ([0, -1, 0], [0, 1, 0])


BIG = 2**53


def test_long_numbers_are_read_digit_by_digit() -> None:
    for words in (
        [str(10**20), str(10**20 + 1), "3"],
        [f"{BIG}.25", f"{BIG}.5", "3"],
        [f"0.{BIG}", f"0.{BIG + 1}", "3"],
    ):
        assert read(words, written=True).coded().codes.tolist()[:2] in ([1, 2], [0, 1])
    beyond = ["1" * 39, "2", "3"]
    assert pa.types.is_floating(read(beyond, written=True).array.type)


def test_large_numbers_are_counted_from_the_least() -> None:
    values = read(pa.array([BIG + 1, None, BIG + 2, BIG + 4]))
    assert values.least_of_large == int(float(BIG + 1)) == BIG
    counted = values.numbers(origin=BIG)
    assert counted[[0, 2, 3]].tolist() == [1, 2, 4]
    assert np.isnan(counted[1])
    assert values.numbers()[0] == values.numbers()[2] - 2  # the mutant: 1 became 0
    assert read(pa.array([BIG, -BIG])).least_of_large == 0
    assert read(pa.array([BIG, -BIG - 2])).least_of_large == -BIG - 2
    assert read(pa.array([1e300])).least_of_large == 0
    assert read(pa.array([None], pa.int64())).least_of_large == 0


WORDS = [
    "7",
    " 7",
    "7.5",
    "1e3",
    "2020-01-02",
    "2020-01-02 03:04",
    "x",
    "",
    "9" * 17,
    "0.1" + "2" * 20,
]
WORDS += ["9" * 30 + ".5", "-0", "nan", None]


@pytest.mark.parametrize("number", range(200))
def test_a_few_texts_tell_how_all_of_them_are_read(number: int) -> None:
    """The mutant looks at the sample alone: it reads numbers where a text is none."""
    draw = random.Random(number)
    pool = draw.sample(WORDS, draw.randint(1, 4))
    many = [draw.choice(pool) for _ in range(draw.choice([1, 3, 50]))]
    some = draw.sample(many, min(3, len(many)))
    few = counterexamples([pa.array(many[:20], pa.string()), pa.array(many[20:], pa.string())])
    assert len(few) <= 9
    for column in (None, declared(type="number", bounds=[0, 9]), declared(**DAYS)):
        whole = read(pa.array(many + some, pa.string()), column, written=True)
        found = read(pa.array(few.to_pylist() + some, pa.string()), column, written=True)
        assert found.array.type == whole.array.type
        assert found.kind == whole.kind
        last = found.array.slice(len(few)).to_pylist()
        assert repr(last) == repr(whole.array.slice(len(many)).to_pylist())
