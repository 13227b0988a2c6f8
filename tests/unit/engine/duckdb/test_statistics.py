"""A Parquet file whose statistics are not true of its values is refused, by file and column."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parquet_lies import spliced
from tenue.engine.duckdb import statistics
from tenue.engine.duckdb.statistics import _row_group as row_group
from tenue.engine.open import open_engine
from tenue.errors import InvalidTable
from tenue.schema import Schema

NUMBER = {"type": "number", "bounds": [0, 10]}
DAY = {"type": "date", "bounds": ["1970-01-01", "1970-01-11"]}
MOMENT = {"type": "datetime", "bounds": ["1970-01-01T00:00:00", "1970-01-11T00:00:00"]}
KINDS = [
    *((kind, NUMBER) for kind in (pa.int32(), pa.int64(), pa.uint32(), pa.uint64())),
    *((pa.decimal128(width, 2), NUMBER) for width in (9, 18, 30)),
    (pa.date32(), DAY),
    *((pa.timestamp(unit), MOMENT) for unit in ("ms", "us", "ns")),
    (pa.timestamp("us", "UTC"), MOMENT),
]
CODED = {"type": "category", "categories": ["1", "2"]}
TRUTH = {"type": "boolean"}


def validated(source: Any, **columns: dict[str, Any]) -> Any:
    head = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    engine = open_engine(source, Schema.from_dict({"table": head, "columns": columns}))
    try:
        return engine.validate()
    finally:
        engine.close()


def made(kind: Any, steps: list[int | None]) -> pa.Table:
    """A column of this type, whose values are small whole numbers, days or ticks."""
    if pa.types.is_date32(kind):
        array = pa.array(steps, pa.int32()).cast(kind)
    else:
        array = pa.array(steps, pa.int64())
        array = array.cast(pa.decimal128(28, 0)) if pa.types.is_decimal(kind) else array
        array = array.cast(kind)
    return pa.table({"x": array})


@pytest.mark.parametrize(("kind", "column"), KINDS, ids=lambda one: str(one)[:20])
@pytest.mark.parametrize("value", [1000, 0])
def test_a_value_that_its_statistics_rule_out_is_refused(
    tmp_path: Path, kind: Any, column: dict[str, Any], value: int
) -> None:
    true = made(kind, [1, 7, 10, 3, 5])
    honest, path = tmp_path / "honest.parquet", tmp_path / "t.parquet"
    pq.write_table(true, honest)
    assert validated(honest, x=column).rows == 5
    spliced(path, data=made(kind, [1, value, 10, 3, 5]), footer=true)
    with pytest.raises(InvalidTable, match=r"The column `x` of t.parquet holds values"):
        validated(path, x=column)


@pytest.mark.parametrize(
    ("kind", "column", "steps"),
    [
        (pa.int64(), CODED, [1, 2, 9]),
        (pa.int32(), TRUTH, [1, 1, 0]),
        (pa.bool_(), TRUTH, [1, 1, 0]),
        (pa.bool_(), NUMBER, [1, 1, 0]),
    ],
)
def test_categories_and_truth_values_are_compared_too(
    tmp_path: Path, kind: Any, column: dict[str, Any], steps: list[int]
) -> None:
    """Also beside a column of which DuckDB can write no statistics."""
    far = made(pa.timestamp("ms"), [1, 2, 2**62]).column("x")
    for beside in (False, True):
        path, honest = tmp_path / "t.parquet", tmp_path / "honest.parquet"
        true, false = made(kind, [1, 1, 1]), made(kind, steps)
        if beside:
            true, false = (table.append_column("at", far) for table in (true, false))
        pq.write_table(false, honest)
        assert validated(honest, x=column).rows == 3
        spliced(path, data=false, footer=true)
        with pytest.raises(InvalidTable, match=r"`x` of t.parquet holds values"):
            validated(path, x=column)


def test_identifiers_are_not_compared_for_no_question_believes_them(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    spliced(path, data=made(pa.int64(), [1, 2, 99]), footer=made(pa.int64(), [1, 2, 3]))
    assert validated(path, x={"type": "identifier"}).rows == 3


def test_a_gap_that_its_statistics_rule_out_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    full, gap = (made(pa.int64(), [1, two, 3, 4]) for two in (2, None))
    spliced(path, data=gap, footer=full)
    assert pq.read_table(path).column("x").to_pylist() == [1, None, 3, 4]
    with pytest.raises(InvalidTable, match="rule out"):
        validated(path, x=NUMBER)
    pq.write_table(gap, path)
    assert validated(path, x=NUMBER).rows == 4


@pytest.mark.parametrize("together", [False, True])
def test_what_is_wider_than_the_values_or_not_stated_rules_nothing_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    if together:
        monkeypatch.setattr(statistics, "_row_group", lambda *_: None)
    path = tmp_path / "t.parquet"
    spliced(path, data=made(pa.int64(), [2, 3, 4]), footer=made(pa.int64(), [1, 3, 10]))
    assert validated(path, x=NUMBER).rows == 3
    pq.write_table(made(pa.int64(), [1, 7, 99]), path, write_statistics=False)
    assert validated(path, x=NUMBER).rows == 3
    # a row group of blanks states no ends; others do
    pq.write_table(made(pa.int64(), [None, None, 50, 60, 1, 2]), path, row_group_size=2)
    assert validated(path, x=NUMBER).rows == 6


@pytest.mark.parametrize("size", [2, 3])
def test_each_row_group_is_compared_with_its_own_statistics(tmp_path: Path, size: int) -> None:
    """9 is nothing new in the file; where it stands, nothing above 2 was said to be."""
    path = tmp_path / "t.parquet"
    footer = made(pa.int64(), [1, 2, 2, 9, 8, 7, 1])
    data = made(pa.int64(), [1, 9, 2, 9, 8, 7, 1])
    spliced(path, data=data, footer=footer, row_group_size=size)
    with pytest.raises(InvalidTable, match="rule out"):
        validated(path, x=NUMBER)


def test_together_they_are_compared_where_row_groups_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "_row_group", lambda *_: None)
    path, footer = tmp_path / "t.parquet", made(pa.int64(), [1, 2, 8, 9])
    spliced(path, data=made(pa.int64(), [1, 9, 8, 9]), footer=footer, row_group_size=2)
    assert validated(path, x=NUMBER).rows == 4  # the clamp holds: all values are as the file says
    spliced(path, data=made(pa.int64(), [1, 2, 8, 99]), footer=footer, row_group_size=2)
    with pytest.raises(InvalidTable, match="rule out"):
        validated(path, x=NUMBER)


def test_a_column_called_like_the_number_of_a_row_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    both = [
        made(pa.int64(), steps).append_column("file_row_number", pa.array([3, 2, 1]))
        for steps in ([1, 2, 3], [1, 2, 99])
    ]
    pq.write_table(both[0], path)
    assert validated(path, x=NUMBER, file_row_number=NUMBER).rows == 3
    spliced(path, data=both[1], footer=both[0])
    with pytest.raises(InvalidTable, match="rule out"):
        validated(path, x=NUMBER)


def test_any_of_several_files_and_no_undeclared_column(tmp_path: Path) -> None:
    true, false = made(pa.int64(), [1, 2, 3]), made(pa.int64(), [1, 2, 99])
    for name in ("a", "b"):
        pq.write_table(true.append_column("y", true.column("x")), tmp_path / f"{name}.parquet")
    assert validated(str(tmp_path / "*.parquet"), x=NUMBER).rows == 6
    other = true.append_column("y", false.column("x"))
    honest = true.append_column("y", true.column("x"))
    spliced(tmp_path / "b.parquet", data=other, footer=honest)
    assert validated(str(tmp_path / "*.parquet"), x=NUMBER).rows == 6
    with pytest.raises(InvalidTable, match=r"`y` of b.parquet"):
        validated(str(tmp_path / "*.parquet"), x=NUMBER, y=NUMBER)


@pytest.mark.parametrize("sizes", [[4], [3, 3, 2], [5, 2, 3, 1], [2, 7, 2, 2, 9, 4, 1]])
def test_the_row_group_of_each_row_is_known(sizes: list[int]) -> None:
    """However uneven they are: compared with counting."""
    groups = [(7 + place, size) for place, size in enumerate(sizes)]
    sql = row_group(Path("t.parquet"), lambda _: groups)
    rows = f"SELECT {sql} FROM (SELECT range AS file_row_number FROM range({sum(sizes)})) "  # noqa: S608
    found = [
        number
        for (number,) in duckdb.connect().execute(rows + "ORDER BY file_row_number").fetchall()
    ]
    assert found == list(itertools.chain(*([number] * size for number, size in groups)))


@pytest.mark.parametrize(("kind", "column"), KINDS, ids=lambda one: str(one)[:20])
def test_what_cannot_be_read_of_one_column_hides_nothing_of_another(
    tmp_path: Path, kind: Any, column: dict[str, Any]
) -> None:
    """DuckDB cannot write down the statistics of `at`, which nobody declared, nor any others."""
    path = tmp_path / "t.parquet"
    far = made(pa.timestamp("ms"), [1, 2, 2**62]).column("x")
    true, large, gap = (
        made(kind, steps).append_column("at", far)
        for steps in ([1, 2, 3], [1, 2, 99], [1, 2, None])
    )
    pq.write_table(true, path)
    assert validated(path, x=column).rows == 3
    for false in (large, gap):
        spliced(path, data=false, footer=true)
        with pytest.raises(InvalidTable, match=r"`x` of t.parquet holds values"):
            validated(path, x=column)
    pq.write_table(large, path, write_statistics=False)
    assert validated(path, x=column).rows == 3


def test_row_groups_are_put_together_where_blocks_would_be_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    uneven = [(0, 2), (1, 7), (2, 3)]
    assert row_group(Path("t.parquet"), lambda _: uneven) is not None
    monkeypatch.setattr(statistics, "MOST_BLOCKS", 5)
    assert row_group(Path("t.parquet"), lambda _: uneven) is None
    assert row_group(Path("t.parquet"), lambda _: []) is None
