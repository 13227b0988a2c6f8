"""Fingerprints of rows, and releases on disk."""

from __future__ import annotations

import csv
import hashlib
import importlib
import json
import os
import re
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.errors import Conflict, InvalidArgument
from tenue.ledger import Memory
from tenue.ledger.transactions import admin
from tenue.ledger.transactions.admin import overlapped
from tenue.publish.row_fingerprint import MARKED, WHOLE, Marking, marks_of
from tenue.publish.save import Draft, Report, check_target, defused
from tenue.publish.table.cells import Coding
from tenue.publish.table.input_table import open_original, read_original
from tenue.schema import Schema
from unit.publish.census import COLUMNS, people, schema


def left(release: Any) -> None:
    assert release.table is not None


def marks(source: Any, declared: Schema | None = None) -> tuple[str, ...]:
    return marks_of(source, read_original(source, declared or schema()))


def strangers(size: int, seed: int) -> pa.Table:
    return people(size, seed=seed, name=[f"stranger {seed} {i}" for i in range(size)])


def meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return overlapped(" ".join(one), {f"1 {' '.join(other)}": 1}) is not None


def test_order_file_and_names_of_persons_do_not_matter(tmp_path: Path) -> None:
    table = people(300)
    found = marks(table)
    assert marks(table.take(list(range(299, -1, -1)))) == found
    unnamed = marks(table.drop_columns(["name"]), schema(name=None))
    assert unnamed == tuple(mark for mark in found if not mark.startswith("id:"))
    pq.write_table(table, tmp_path / "a.parquet")
    pyarrow.csv.write_csv(table.drop_columns(["undeclared"]), tmp_path / "b.csv")
    for path in (tmp_path / "a.parquet", tmp_path / "b.csv"):
        assert set(found) < set(marks(path))
    finer = schema(age={"grid": 0.5}, note={"categories": ["-2", "plain", "=1+1"]})
    assert marks(table, finer) == found


def test_a_record_more_is_the_same_table_and_other_people_are_not() -> None:
    table = people(300)
    grown = pa.concat_tables([table, people(1, seed=9, name=["new"])])
    assert marks(grown)[0] != marks(table)[0]
    assert meet(marks(grown), marks(table))
    assert meet(marks(table.slice(0, 200)), marks(table))
    for seed in range(2, 12):
        assert not meet(marks(strangers(300, seed)), marks(table))


def test_a_file_is_known_under_any_schema(tmp_path: Path) -> None:
    pq.write_table(people(300), tmp_path / "a.parquet")
    path = tmp_path / "a.parquet"
    assert meet(marks(path), marks(path, schema(job=None, note=None)))


def test_rows_that_many_have_leave_no_mark_of_their_own() -> None:
    small = schema(age=None, income=None, note=None)
    found = marks(people(300), small)
    assert [mark for mark in found if mark.startswith("row:")] == []
    assert not meet(found, marks(strangers(300, 2), small))


def test_the_ledger_reads_the_same_word() -> None:
    assert admin.WHOLE == WHOLE


def test_a_mark_says_little_of_a_row() -> None:
    for kind in ("row:", "id:"):
        some = [mark for mark in marks(people(2000)) if mark.startswith(kind)]
        assert MARKED * 0.8 < len(some) <= MARKED
        assert all(len(mark) == len(kind) + 3 for mark in some)  # twelve bits
        assert some == sorted(some)


def test_a_column_renamed_or_of_another_type_does_not_make_another_table() -> None:
    bare = people(200).drop_columns(["name"])
    found = marks(bare, schema(name=None))
    renamed = schema(name=None, note=None).to_dict()
    renamed["columns"]["memo"] = COLUMNS["note"]
    other = bare.rename_columns([{"note": "memo"}.get(n, n) for n in bare.column_names])
    assert meet(marks(other, Schema.from_dict(renamed)), found)
    ages = schema(name=None).to_dict()
    words = {"type": "category", "categories": [str(i) for i in range(121)]}
    ages["columns"]["age"] = {**words, "role": "quasi-identifier"}
    assert meet(marks(bare, Schema.from_dict(ages)), found)


@pytest.mark.parametrize("column", ["note", "age", "income"])
def test_a_column_less_does_not_make_another_table(column: str) -> None:
    bare = people(200).drop_columns(["name"])
    found, fewer = marks(bare, schema(name=None)), marks(bare, schema(name=None, **{column: None}))
    assert meet(fewer, found)
    assert not meet(marks(people(200, seed=4), schema(name=None, **{column: None})), found)


def test_persons_are_known_by_name_whatever_else_is_told_of_them() -> None:
    """The mutant knows rows only: with changed values the same people would leave again."""
    table = people(200)
    changed = people(190, seed=3)
    other = schema(income=None, age={"bounds": [20, 60]})
    assert meet(marks(changed, other), marks(table))
    assert not meet(marks(strangers(190, 3), other), marks(table))
    many = people(200, name=[f" PERSON {i}" for i in range(200)], seed=3)
    assert meet(marks(many), marks(table))


def test_numbers_that_count_rows_name_nobody() -> None:
    counted = people(200, name=[str(i) for i in range(1000, 1200)])
    assert not any(mark.startswith("id:") for mark in marks(counted))
    far = people(200, name=[str(i * 7919 % 10**6) for i in range(200)])
    assert any(mark.startswith("id:") for mark in marks(far))


@pytest.mark.parametrize("more", [0, 1])
def test_another_name_does_not_make_another_table(more: int) -> None:
    """The mutant knows tables by name: a record more under another name gives that record away."""
    ledger = Memory()
    left(tn.publish(people(200), schema=schema(), method="swap", k=4, ledger=ledger))
    renamed = schema().replace(table={"name": "people2"})
    table = pa.concat_tables([people(200), people(1, seed=5, name=["new"]).slice(0, more)])
    with pytest.raises(Conflict) as refused:
        tn.publish(table, schema=renamed, method="swap", k=4, ledger=ledger)
    assert refused.value.code == "second-release"
    assert ledger.datasets() == ["people"]
    others = strangers(200, 7)
    left(tn.publish(others, schema=renamed, method="swap", k=4, ledger=ledger))
    insisted = tn.publish(
        table,
        schema=schema().replace(table={"name": "people3"}),
        method="swap",
        k=4,
        ledger=ledger,
        override="second-release",
    )
    left(insisted)
    assert not re.search("row:[0-9a-f]", insisted.certificate.to_json())
    assert ledger.verify()


def test_a_connection_is_a_source_like_others() -> None:
    rows = people(100)
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        connection.execute("CREATE TABLE people AS SELECT * FROM rows")
        ledger = Memory()
        left(tn.publish(connection, schema=schema(), method="swap", k=4, ledger=ledger))
        renamed = schema().replace(table={"name": "others"})
        with pytest.raises(Conflict):
            tn.publish(rows, schema=renamed, method="swap", k=4, ledger=ledger)


def test_rows_that_stand_twice_are_the_same_rows() -> None:
    bare = people(200).drop_columns(["name"])
    twice = pa.concat_tables([bare, bare])
    assert meet(marks(twice, schema(name=None)), marks(bare, schema(name=None)))


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("counted", [False, True])
def test_rows_in_passes_leave_the_same_marks(tmp_path: Path, doubled: bool, counted: bool) -> None:
    """With rows that have a double, and with names that merely count the rows, too."""
    table = people(300)
    if doubled:
        table = pa.concat_tables([table.slice(0, 100)] * 3)
    names = [str(i) if counted else f"somebody {i}" for i in range(300)]
    table = table.set_column(table.column_names.index("name"), "name", pa.array(names))
    path = tmp_path / "people.parquet"
    pq.write_table(table, path)
    coding, look = Coding.of(schema()), Marking(path, "table", lambda _: None)
    with (
        open_original(path, schema()) as opened,
        opened.keep(coding.numbers, coding.sizes, 1 << 28, lambda _: None, look.name) as kept,
    ):
        look.rows(kept.passes, coding)
    found = look.marks
    assert found == marks(path)
    assert any(mark.startswith("id:") for mark in found) != counted
    assert any(mark.startswith("row:") for mark in found) != doubled


# A release on disk is whole or not there, and what was there before stays unless replaced.

saving = importlib.import_module("tenue.publish.save")


@pytest.fixture(scope="module")
def release() -> Any:
    return tn.publish(people(), schema=schema(), method="swap", k=4)


def test_the_folder_holds_table_certificate_and_manifest(release: Any, tmp_path: Path) -> None:
    manifest = release.save(tmp_path / "deep" / "out")
    folder = tmp_path / "deep" / "out"
    assert sorted(path.name for path in folder.iterdir()) == [
        "certificate.json",
        "manifest.json",
        "report.html",
        "table.parquet",
    ]
    assert json.loads((folder / "manifest.json").read_text()) == manifest
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    text = (folder / "certificate.json").read_text()
    assert tn.Certificate.from_json(text) == release.certificate
    assert pq.read_table(folder / "table.parquet").equals(release.table)
    assert list(tmp_path.iterdir()) == [tmp_path / "deep"]
    assert list((tmp_path / "deep").iterdir()) == [folder]


OF_ROWS = ("record linkage", "links", "(sse", "within 1 ", "units in each", "for the holder")


def test_nothing_of_the_original_is_in_the_files(release: Any, tmp_path: Path) -> None:
    """Only the report may have it, and only the one for the holder, which the manifest names."""
    for public in (True, False):
        folder = tmp_path / f"out {public}"
        manifest = release.save(folder, kind="csv", public=public)
        files = {path.name: path.read_text() for path in folder.iterdir()}
        text = "".join(files.values()).lower()
        assert "person 1" not in text
        assert "undeclared" not in text
        leaving = [files[name] for name in files if public or name != "report.html"]
        for word in OF_ROWS:
            assert word not in "".join(leaving).lower().replace("for_the_holder", "")
            assert public or word in ("(sse", "links") or word in text
        assert ("report.html" in manifest["files"]) is public
        assert manifest.get("for_the_holder") == (None if public else ["report.html"])


def test_a_report_that_cannot_be_made_leaves_nothing(release: Any, tmp_path: Path) -> None:
    def broken() -> Report:
        raise RuntimeError("no page")

    with pytest.raises(RuntimeError, match="no page"):
        Draft.write(
            tmp_path / "out", {"table": people()}, "{}", "csv", replace=False, report=broken
        )
    assert list(tmp_path.iterdir()) == []


def test_a_release_with_a_report_is_known_as_a_release(release: Any, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    release.save(tmp_path / "out", replace=True, public=True)
    assert "for the holder" not in (tmp_path / "out" / "report.html").read_text()


def test_csv_is_safe_and_the_manifest_says_so(release: Any, tmp_path: Path) -> None:
    manifest = release.save(tmp_path / "out", kind="csv")
    with (tmp_path / "out" / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    notes = [row["note"] for row in rows]
    risky = sum(note in ("=1+1", "-2") for note in release.table.column("note").to_pylist())
    assert manifest["formulas"]["cells"] == {"note": risky}
    assert set(notes) == {"'=1+1", "'-2", "plain"}
    assert [float(row["income"]) for row in rows] == release.table.column("income").to_pylist()


def test_a_csv_source_is_saved_as_csv(tmp_path: Path) -> None:
    pa.csv.write_csv(people(), tmp_path / "people.csv")
    release = tn.publish(tmp_path / "people.csv", schema=schema(), method="microaggregate", k=4)
    assert "table.csv" in release.save(tmp_path / "out")["files"]
    found = tn.evaluate.check(tmp_path / "out" / "table.csv", schema())
    assert found.k >= 4


def test_a_folder_that_holds_something_is_left_alone(release: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(tn.errors.InvalidArgument):
        release.save(out)
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]
    with pytest.raises(tn.errors.InvalidArgument, match="do not belong to a release"):
        release.save(out, replace=True)
    assert (out / "thesis.txt").read_text() == "years of work"
    assert list(tmp_path.iterdir()) == [out]


def test_a_release_is_replaced_where_that_is_said(release: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    release.save(out, kind="csv")
    with pytest.raises(tn.errors.InvalidArgument):
        release.save(out)
    release.save(out, replace=True)
    assert (out / "table.parquet").exists()
    assert not (out / "table.csv").exists()
    assert list(tmp_path.iterdir()) == [out]


def test_what_appears_while_saving_is_not_deleted(
    release: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saving = importlib.import_module("tenue.publish.save")
    fill, out = saving._fill, tmp_path / "out"

    def meanwhile(*given: Any) -> Any:
        out.mkdir()
        (out / "foreign.txt").write_text("not yours")
        return fill(*given)

    monkeypatch.setattr(saving, "_fill", meanwhile)
    with pytest.raises(tn.errors.InvalidArgument):
        release.save(out)
    assert (out / "foreign.txt").read_text() == "not yours"
    assert list(tmp_path.iterdir()) == [out]


def test_an_empty_folder_is_used(release: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    release.save(tmp_path / "out")
    assert (tmp_path / "out" / "table.parquet").exists()


@pytest.mark.parametrize("broken", ["_fill", "_take_place", "_digest", "_force"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), MemoryError()])
def test_whatever_fails_the_old_release_is_whole_and_nothing_is_left(
    release: Any, tmp_path: Path, broken: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    release.save(out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def fails(*given: object, **named: object) -> None:
        raise error

    monkeypatch.setattr(saving, broken, fails)
    with pytest.raises((tn.Refused, KeyboardInterrupt, MemoryError)):
        release.save(out, kind="csv", replace=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert list(tmp_path.iterdir()) == [out]


def test_a_new_release_that_cannot_take_its_place_gives_the_old_one_back(
    release: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    release.save(out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    real = Path.rename
    calls = []

    def second_fails(self: Path, target: Path) -> Path:
        calls.append(self)
        if len(calls) == 2:
            raise OSError("no")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", second_fails)
    with pytest.raises(tn.errors.InvalidArgument):
        release.save(out, replace=True)
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("folder", "options"),
    [("out", {"kind": "xlsx"}), ("file/below", {}), ("file", {}), ("file", {"replace": True})],
)
def test_what_cannot_be_written_is_refused(
    release: Any, tmp_path: Path, folder: str, options: dict[str, Any]
) -> None:
    (tmp_path / "file").write_text("a file")
    with pytest.raises(tn.errors.InvalidArgument):
        release.save(tmp_path / folder, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "a file"


def test_a_folder_that_is_no_path_is_refused(release: Any) -> None:
    with pytest.raises(tn.errors.InvalidArgument):
        release.save(3)


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_others_may_read_what_may_leave(release: Any, tmp_path: Path) -> None:
    release.save(tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o755


def test_a_link_is_no_folder_and_the_folder_here_has_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant renames the link, fails, and leaves an empty hidden folder behind."""
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "x").touch()
    (tmp_path / "link").symlink_to(tmp_path / "held")
    with pytest.raises(InvalidArgument) as refused:
        check_target(tmp_path / "link", None, replace=True)
    assert "link is a symbolic link" in refused.value.what
    monkeypatch.chdir(tmp_path / "held")
    with pytest.raises(InvalidArgument) as refused:
        check_target(Path(), None, replace=False)
    assert refused.value.what == "held is not empty."


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1", "\n=1", "＝1", '=HYPERLINK("http://a")'),
        *(" =1+1", "   -2", "\N{NO-BREAK SPACE}=1", "\N{ZERO WIDTH SPACE}=1", "\ufeff@a", "\x00=1"),
        *(
            "\N{IDEOGRAPHIC SPACE}＝1",
            " \t+1",
            "\x0b=1",
            "\N{FULLWIDTH PLUS SIGN}1",
            "﹦1",
            "\u202e=1",
        ),
    ],
)
def test_text_that_would_run_gets_an_apostrophe(text: str) -> None:
    table, changed = defused(pa.table({"a": [text, "fine", None, "a=1"]}))
    assert table.column("a").to_pylist() == ["'" + text, "fine", None, "a=1"]
    assert changed == {"a": 1}


def test_numbers_below_zero_keep_their_sign() -> None:
    table, changed = defused(pa.table({"a": [-1, 2], "b": [-0.5, None], "c": [True, False]}))
    assert table.to_pydict() == {"a": [-1, 2], "b": [-0.5, None], "c": [True, False]}
    assert changed == {}


def test_dictionaries_large_text_and_headers_are_looked_at() -> None:
    words = pa.array(["=a", "b", "=a"])
    given = pa.table({"d": words.dictionary_encode(), "l": words.cast(pa.large_string())})
    table, changed = defused(given.rename_columns(["=d", "l"]))
    assert table.column_names == ["'=d", "l"]
    assert table.column("'=d").to_pylist() == ["'=a", "b", "'=a"]
    assert table.column("l").to_pylist() == ["'=a", "b", "'=a"]
    assert changed == {"=d": 2, "l": 2}


def test_an_empty_table_stays_empty() -> None:
    assert defused(pa.table({"a": pa.array([], pa.string())}))[1] == {}


@pytest.mark.parametrize("text", [" plain", "a =1", "", " ", "1-2", "(=1)", "\N{NO-BREAK SPACE}x"])
def test_text_that_runs_nowhere_is_left_alone(text: str) -> None:
    assert defused(pa.table({"a": [text]}))[1] == {}


def test_a_name_with_a_space_before_its_sign_is_a_formula_too() -> None:
    assert defused(pa.table({" =a": ["b"]}))[0].column_names == ["' =a"]
