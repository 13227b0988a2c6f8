"""Tables as given, kept and written."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.engine.contract import FAULT, HandedOver, Part
from tenue.engine.open import open_engine
from tenue.engine.passes.parquet_parts import write_part
from tenue.errors import EngineFault, Fault, InvalidTable
from tenue.promise import Certificate
from tenue.publish.register import digest_of
from tenue.publish.save import Draft
from tenue.publish.table import input_table
from tenue.publish.table.input_table import keep_table, kind_of, native, read_original
from tenue.publish.table.parquet_output import WrittenTable, write_passes, write_table
from unit.publish.census import people, schema


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


PIECES = [pa.table({"x": [1, 2], "word": ["a", None]}), pa.table({"x": [3], "word": ["b"]})]


def test_pieces_are_one_table(scratch: Path) -> None:
    written = write_table(iter(PIECES))
    assert (written.num_rows, written.column_names) == (3, ["x", "word"])
    assert written.read().equals(pa.concat_tables(PIECES))
    assert sum(batch.num_rows for batch in written.to_batches()) == 3
    assert {path.stat().st_mode & 0o077 for path in scratch.iterdir()} == {0}
    del written
    gc.collect()
    assert list(scratch.iterdir()) == []


def test_a_digest_is_that_of_the_rows(scratch: Path) -> None:
    class Said:
        def to_json(self) -> str:
            return "{}"

    said: Certificate = Said()  # type: ignore[assignment]
    written = write_table(iter(PIECES))
    other = write_table(iter([PIECES[0], pa.table({"x": [4], "word": ["b"]})]))
    assert digest_of({"table": written}, said) == digest_of({"table": written.read()}, said)
    assert digest_of({"table": written}, said) != digest_of({"table": other}, said)


def test_what_fails_leaves_nothing_and_quotes_nothing(scratch: Path) -> None:
    def broken(error: Exception) -> Iterator[pa.Table]:
        yield PIECES[0]
        raise error

    with pytest.raises(EngineFault, match=FAULT) as caught:
        write_table(broken(OSError("canary")))
    assert caught.value.__context__ is None
    with pytest.raises(ZeroDivisionError):
        write_table(broken(ZeroDivisionError()))
    assert list(scratch.iterdir()) == []


def in_parts(folder: Path) -> list[Part]:
    made = [write_part(iter([piece]), folder, number) for number, piece in enumerate(PIECES)]
    return [part for part in made if part is not None]


class Spread:
    """Rows that two machines write."""

    def write(self, table: object, folder: Path) -> list[Part]:
        return in_parts(folder)


def test_parts_of_many_machines_are_one_table(scratch: Path, tmp_path: Path) -> None:
    written = write_passes(Spread(), lambda rows: PIECES[0])  # type: ignore[arg-type]
    assert written.num_rows == 3
    assert written.read().equals(pa.concat_tables(PIECES))
    draft = Draft.write(tmp_path / "out", {"table": written}, "{}", "parquet", replace=False)
    manifest = draft.place()
    names = ["table-00000.parquet", "table-00001.parquet"]
    assert list(manifest["files"]) == [*names, "certificate.json"]
    assert (manifest["rows"], manifest["parts"]) == (3, 2)
    for name, part in zip(names, written.parts, strict=True):
        assert manifest["files"][name] == part.digest
        assert (tmp_path / "out" / name).stat().st_mode & 0o777 == 0o644
    Draft.write(tmp_path / "out", {"table": written}, "{}", "csv", replace=True).place()
    assert (tmp_path / "out" / "table.csv").read_text().count("\n") == 4
    # a part that is not what its machine wrote leaves nothing
    (scratch / next(scratch.iterdir()).name / "table" / written.parts[1].name).write_bytes(b"x")
    with pytest.raises(EngineFault):
        Draft.write(tmp_path / "new", {"table": written}, "{}", "parquet", replace=False)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out", "scratch"]


def test_a_digest_of_parts_is_that_of_their_bytes(scratch: Path) -> None:
    class Said:
        def to_json(self) -> str:
            return "{}"

    said: Certificate = Said()  # type: ignore[assignment]
    one = write_passes(Spread(), lambda rows: PIECES[0])  # type: ignore[arg-type]
    found = digest_of({"table": one}, said)
    assert found == digest_of({"table": one}, said)
    changed = [*one.parts[:1], Part(one.parts[1].name, 1, "00" * 32)]
    other = WrittenTable(one._scratch, changed)
    assert digest_of({"table": other}, said) != found


# Rows of a stored table become whole numbers once each, and the holder is told what was odd.

SCHEMA = tn.Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "id": {"type": "identifier"},
            "x": {"type": "number", "bounds": [0, 9]},
            "c": {"type": "category", "categories": ["a", "b"]},
        },
    }
)


def numbers(cells: Any) -> Any:
    return np.stack([np.where(cells[n].present, cells[n].numbers, 10) for n in ("x", "c")], axis=1)


def table(folder: Path, ids: list[Any]) -> Path:
    path = folder / "t.parquet"
    x = [5.0, None, 99.0, 3.0, float("nan"), 1.0]
    pq.write_table(pa.table({"id": ids, "x": x, "c": ["a", "b", "?", "a", None, "b"]}), path)
    return path


def test_every_row_once_and_what_was_odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_table, "_MOST", 4)
    monkeypatch.setattr(input_table, "_FEWEST", 4)
    engine = open_engine(table(tmp_path, [1, 2, 3, 4, 5, 5]), SCHEMA)
    told: list[int] = []
    with keep_table(engine, SCHEMA, numbers, (11, 11), 1 << 28, told.append) as found:
        assert found.passes.take(np.arange(6)).tolist() == [
            [5, 0],
            [10, 1],
            [9, 10],
            [3, 0],
            [10, 10],
            [1, 1],
        ]
        assert found.missing == {"x": 2, "c": 2}
        assert (found.told.beyond["x"], found.told.repeated) == (1, ("id",))
    assert told == [4, 6]
    engine.close()


def test_names_that_are_nobody_are_not_there_twice(tmp_path: Path) -> None:
    for ids in ([None, None, 1, 2, 3, 4], [float("nan"), float("nan"), 1.0, 2.0, 3.0, 4.0]):
        engine = open_engine(table(tmp_path, ids), SCHEMA)
        with keep_table(engine, SCHEMA, numbers, (11, 11), 1 << 28, lambda _: None) as found:
            assert found.told.repeated == ()
        engine.close()


def test_rows_that_are_lost_are_a_fault(tmp_path: Path) -> None:
    class Losing:
        def hand_over(self, take: Any, batch: int, *, names: bool = False) -> HandedOver:
            take(pa.record_batch({"x": [1], "c": [0]}))
            nothing: dict[str, Any] = {}
            return HandedOver(
                2, (), types={}, unreadable=nothing, infinite=nothing, beyond=nothing, first={}
            )

    with (
        pytest.raises(Fault),
        keep_table(Losing(), SCHEMA, numbers, (11, 11), 1 << 28, lambda _: None),  # type: ignore[arg-type]
    ):
        pass


# The table as it was given: refused where it is not as declared, and given back as it came.


def test_columns_come_in_the_order_of_the_schema_without_identifiers() -> None:
    table = people()
    turned = table.select(table.column_names[::-1]).rename_columns(
        [name.upper() for name in table.column_names[::-1]]
    )
    found = read_original(turned, schema())
    assert list(found.cells) == ["age", "job", "sex", "income", "ill", "note"]
    assert found.persons is None
    assert found.cells["income"].to_arrow().equals(table.column("income").combine_chunks())


def test_rows_of_one_person_have_one_number() -> None:
    names = ["b", "a", "b", "c", "a"]
    found = read_original(people(5, name=names), schema("name"))
    assert found.persons is not None
    by_name = dict(zip(names, found.persons.tolist(), strict=True))
    assert found.persons.tolist() == [by_name[name] for name in names]
    assert sorted(by_name.values()) == [0, 1, 2]
    fewer = found.take(np.array([3, 1, 4]))
    assert fewer.persons is not None
    assert sorted(fewer.persons.tolist()) == [0, 0, 1]  # numbered anew, without gaps
    assert fewer.persons[1] == fewer.persons[2]
    assert fewer.size == 3


WRONG: dict[str, dict[str, Any]] = {
    "infinite value": {"income": [float("inf")] + [1.0] * 59},
    "not in the schema": {"ill": ["gout"] + ["no"] * 59},
    "more than once": {"name": ["ann", "ann", *(f"b{i}" for i in range(58))]},
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_not_as_declared_is_refused_without_quoting_it(what: str) -> None:
    with pytest.raises(InvalidTable) as refused:
        read_original(people(**WRONG[what]), schema())
    assert what in refused.value.what
    assert "gout" not in str(refused.value)
    assert "ann" not in str(refused.value)


def test_names_that_are_missing_do_not_stand_twice() -> None:
    names = [None, None, *(f"b{i}" for i in range(58))]
    assert read_original(people(name=names), schema()).size == 60


def test_the_two_zeros_of_a_double_name_one_person() -> None:
    """As bits they differ; whoever compares bits counts two persons."""
    found = read_original(people(4, name=pa.array([0.0, -0.0, 1.0, 0.0])), schema("name"))
    assert found.persons is not None
    assert found.persons[0] == found.persons[1] == found.persons[3] != found.persons[2]
    with pytest.raises(InvalidTable, match="more than once"):
        read_original(people(2, name=pa.array([0.0, -0.0])), schema())


def test_a_number_that_is_none_names_nobody() -> None:
    with pytest.raises(InvalidTable, match="no `name`"):
        read_original(people(2, name=pa.array([1.0, float("nan")])), schema("name"))
    nobody = pa.array([float("nan")] * 3 + [1.0])
    assert read_original(people(4, name=nobody), schema()).size == 4


@pytest.mark.parametrize(
    ("names", "what"),
    [([None] + ["a"] * 4, "no `name`"), (["a"] * 10, "more than 9 rows")],
)
def test_persons_must_be_known_and_within_their_limit(names: list[Any], what: str) -> None:
    with pytest.raises(InvalidTable) as refused:
        read_original(people(len(names), name=pa.array(names, pa.string())), schema("name"))
    assert what in refused.value.what


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(InvalidTable):
        read_original(people(0), schema())


@pytest.mark.parametrize(
    ("column", "wrong", "said"),
    [
        ("ill", {7: "gout"}, "`ill` has in row 8 a value"),
        ("ill", {3: "gout", 40: "gout"}, "`ill` has in 2 rows, row 4 the first, a value"),
        ("income", {59: float("inf")}, "`income` has in row 60 an infinite value"),
    ],
)
def test_a_refusal_says_where_to_look(column: str, wrong: dict[int, Any], said: str) -> None:
    table = people()
    values = table.column(column).to_pylist()
    for row, value in wrong.items():
        values[row] = value
    with pytest.raises(InvalidTable) as refused:
        read_original(people(**{column: values}), schema())
    assert said in refused.value.what
    assert "gout" not in str(refused.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"31,caf\xe9", "Line 3 of a.csv has bytes that are not UTF-8."),
        (b'31,"secret', "Line 3 of a.csv opens a quote that is never closed."),
        (b"31", "Line 3 of a.csv has too many or too few values."),
        (b"31,secret,secret", "Line 3 of a.csv has too many or too few values."),
    ],
)
def test_a_broken_line_is_named_and_not_quoted(tmp_path: Path, line: bytes, said: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"age,ill\n30,no\n" + line + b"\n32,no\n")
    for read in (
        lambda: read_original(
            path, schema(**dict.fromkeys(("name", "job", "sex", "income", "note")))
        ),
        lambda: tn.evaluate.check(path, quasi_identifiers=["age"], confidential=["ill"]),
    ):
        with pytest.raises(InvalidTable) as refused:
            read()
        assert refused.value.what == said
        assert "secret" not in str(refused.value)


OUT = pa.table({"a": pa.array([1, 2], pa.int16()), "c": ["x", "y"]})


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (pd.DataFrame(), "pandas"),
        (pl.DataFrame(), "polars"),
        (OUT, "arrow"),
        ("t.csv", "csv"),
        (Path("t.TSV"), "csv"),
        ("t.csv.gz", "csv"),
        ("t.parquet", "arrow"),
        ("duckdb://t.db#x", "arrow"),
    ],
)
def test_kinds_are_told_apart(source: object, kind: str) -> None:
    assert kind_of(source) == kind


def test_pandas_has_the_types_of_the_source_and_none_of_its_categories() -> None:
    source = pd.DataFrame({"A": pd.array([7, None], "Int64"), "c": ["x", "secret"]})
    source["c"] = source["c"].astype("category")
    got = native(OUT, source, "pandas")
    assert got["a"].dtype == "Int64"
    assert list(got["c"].cat.categories) == ["x", "y"]
    assert "secret" not in repr(got["c"].dtype)


def test_a_type_that_cannot_hold_the_values_is_not_forced() -> None:
    source = pd.DataFrame({"a": [1, 2], "c": [1, 2]})
    got = native(OUT, source, "pandas")
    assert got["a"].dtype == "int64"
    assert got["c"].tolist() == ["x", "y"]


def test_polars_and_arrow() -> None:
    source = pl.DataFrame({"a": [1], "c": pl.Series(["secret"], dtype=pl.Categorical)})
    got = native(OUT, source, "polars")
    assert dict(got.schema) == {"a": pl.Int16, "c": pl.Enum(["x", "y"])}
    assert native(OUT, OUT, "arrow") is OUT
    assert native(OUT, "t.csv", "csv") is OUT


def test_a_number_that_does_not_fit_is_not_bent() -> None:
    """numpy turns 200 into -56 where eight bits are asked for, without a word."""
    source = pd.DataFrame({"a": pd.array([7, 8], "int8")})
    got = native(pa.table({"a": [200, 3]}), source, "pandas")
    assert got["a"].tolist() == [200, 3]
    kept = native(pa.table({"a": [20, 3]}), source, "pandas")
    assert kept["a"].dtype == "int8"
