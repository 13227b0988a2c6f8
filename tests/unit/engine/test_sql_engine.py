"""What engines share, which engine reads what, and what a source lacks."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from tenue.ask.doctor import diagnose
from tenue.engine import registry
from tenue.engine.contract import FAULT
from tenue.engine.duckdb.backend import BACKEND as DUCKDB_BACKEND_BACKEND
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.duckdb.sandbox import ArrowBench
from tenue.engine.open import describe_table, open_engine
from tenue.engine.postgres import backend
from tenue.engine.postgres.backend import BACKEND as POSTGRES_BACKEND_BACKEND
from tenue.engine.registry import Backend, Finding, backend_for, register, unregister
from tenue.engine.request import Measure, Request
from tenue.engine.source.location import Cluster, Distributed, Frame, Server, locate
from tenue.engine.spark.backend import BACKEND
from tenue.engine.sql.logical_table import Stored
from tenue.engine.sql_engine import Relational, held_as, how_read, stored_columns
from tenue.engine.storage import Fixed, Floating, Integer, Opaque, Text
from tenue.errors import EngineFault, Fault, InvalidArgument, InvalidTable, Refused, refuse
from tenue.schema import Schema

RELATIONAL_SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "Age": {"type": "number", "bounds": [0, 10], "grid": 0.01},
            "c": {"type": "category", "categories": ["a", "b"]},
            "twice": {"type": "number", "bounds": [0, 20], "expression": "Age * 2"},
        },
    }
)
LONG = Integer("BIGINT", -(2**63), 2**63 - 1)


class Failing:
    """Statements that fail with a value in their words."""

    def __init__(self) -> None:
        self.asking = 0
        self.most = 0

    def run(self, sql: str) -> Sequence[tuple[Any, ...]]:
        self.asking += 1
        self.most = max(self.most, self.asking)
        threading.Event().wait(0.01)
        self.asking -= 1
        raise ValueError("canary")

    def arrow(self, sql: str) -> pa.Table:
        raise ValueError("canary")

    def batches(self, sql: str, size: int) -> list[pa.RecordBatch]:
        raise ValueError("canary")


class RelationalToy(Relational[Failing]):
    def __init__(self, stored: Any = LONG) -> None:
        super().__init__(RELATIONAL_SCHEMA.unit, ArrowBench, DUCKDB)
        self.place: Failing | None = Failing()
        columns = [("AGE", stored), ("c", Text())]
        words = "ENUM('a', 'b')"
        held = {
            column.name.lower(): held_as(column, columns, lambda _: words)
            for column in stored_columns(RELATIONAL_SCHEMA)
        }
        self._table = Stored("t", held, RELATIONAL_SCHEMA.columns, DUCKDB)
        self._check()

    @contextmanager
    def _state(self) -> Iterator[Failing]:
        if self.place is None:
            raise ConnectionError("canary")
        yield self.place

    def _types(self, state: Failing) -> Any:
        return lambda _: None

    def _let_go(self) -> None:
        self.place = None


def test_whatever_fails_is_one_fault_without_a_word_of_the_engine() -> None:
    engine = RelationalToy()
    for ask in (
        lambda: engine.look_up("c", "x", "Age"),
        lambda: engine.column_steps("Age"),
        lambda: engine.hand_over(print, 10),
    ):
        with pytest.raises(EngineFault) as fault:
            ask()
        assert str(fault.value) == FAULT
        assert fault.value.__cause__ is None
        assert fault.value.__context__ is None
    engine.close()
    engine.close()
    with pytest.raises(EngineFault) as fault:
        engine.column_steps("Age")
    assert fault.value.__context__ is None


def test_one_question_at_a_time() -> None:
    """The mutant, without the lock, would have several statements at once in one connection."""
    engine = RelationalToy()
    place = engine.place

    def ask() -> None:
        with pytest.raises(EngineFault):
            engine._run("SELECT 1")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert place is not None
    assert place.most == 1


def test_columns_are_found_by_name_in_any_case_and_refused_by_their_storage() -> None:
    age, category = stored_columns(RELATIONAL_SCHEMA)
    assert held_as(age, [("x", Text()), ("AGE", LONG)], str).name == "AGE"
    assert held_as(category, [("C", Text())], "|".join).words == "a|b"
    with pytest.raises(InvalidTable, match="Age"):
        held_as(age, [("ages", LONG)], str)
    with pytest.raises(InvalidTable, match="Age"):
        held_as(age, [("age", Opaque())], str)
    with pytest.raises(InvalidTable, match="`c`"):
        held_as(category, [("c", Floating())], str)


def test_what_cannot_be_computed_is_refused_when_the_table_is_opened() -> None:
    with pytest.raises(InvalidTable, match="cannot be computed exactly") as refused:
        RelationalToy(Fixed(38, 37))
    assert refused.value.column == "Age"


def test_how_a_table_is_read_says_what_changes_what_is_read() -> None:
    assert how_read(RELATIONAL_SCHEMA) == [
        "Age number",
        "c category",
        "rows None",
        "replace record",
    ]


# -- An engine registers itself, and is located, opened, counted, described and doctored -----------

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {"x": {"type": "number", "bounds": [0, 9]}},
    }
)


@dataclass(frozen=True)
class Shelf:
    """A table that only the toy knows."""

    name: str


class Toy(Backend):
    """Reads toy://<shelf>; all it gives says which call it came from."""

    claims = (Shelf,)

    def locate(self, source: object, name: str, folder: Path | None) -> Any:
        if isinstance(source, str) and source.startswith("toy://"):
            return Shelf(source.removeprefix("toy://"))
        return None

    def open_engine(self, source: Any, schema: Any, memory: int | None) -> Any:
        return SimpleNamespace(opened=(source, schema.name, memory), close=lambda: None)

    def open_table(self, source: Any) -> tuple[tuple[str, ...], Any]:
        return (source.name,), lambda names: list(names)

    @contextmanager
    def open_tally(self, source: Any, memory: int) -> Iterator[Any]:
        yield SimpleNamespace(counted=(source, memory))

    def describe(self, source: Any, *, values: bool) -> list[Any]:
        return [SimpleNamespace(name=source.name, type="number")]

    def examine(self, source: Any) -> Iterator[Finding]:
        yield Finding("source", "fine", f"The shelf {source.name}")


@pytest.fixture
def toy() -> Iterator[Toy]:
    backend = Toy()
    register(backend)
    yield backend
    unregister(backend)


def test_an_engine_that_registers_itself_is_used_everywhere(toy: Toy) -> None:
    shelf = Shelf("people")
    assert locate("toy://people", "t") == shelf
    engine: Any = open_engine("toy://people", SCHEMA, None, 7)
    assert engine.opened == (shelf, "t", 7)
    names, load = backend_for(shelf).open_table(shelf)
    assert (names, load(["x"])) == (("people",), ["x"])
    with backend_for(shelf).open_tally(shelf, 5) as tally:
        assert tally.counted == (shelf, 5)  # type: ignore[attr-defined]
    assert [column.name for column in describe_table("toy://people")] == ["people"]
    assert [finding.what for finding in diagnose("toy://people")] == [
        "The shelf people",
        "1: people number",
        "No value was looked at: without a schema there is nothing to compare it with",
    ]
    found = diagnose("toy://people", SCHEMA, rows=False)
    assert [finding.verdict for finding in found[:3]] == ["fine", "fine", "not read"]


def test_without_it_the_same_address_is_refused() -> None:
    with pytest.raises(InvalidTable):
        locate("toy://people", "t")
    with pytest.raises(Fault, match="no engine claims Shelf"):
        backend_for(Shelf("people"))


def test_every_source_has_one_engine_and_every_room_one_backend() -> None:
    """The mutant registers two engines for one kind of source: whichever comes first would win."""
    claimed: Sequence[type] = [kind for one in registry.backends() for kind in one.claims]
    assert len(claimed) == len(set(claimed)) == 7
    assert len(registry.backends()) == len(registry.ROOMS)
    assert type(backend_for(Frame(None))).__module__ == "tenue.engine.duckdb.backend"


# -- A source is found from the schema's folder, and opened or refused -----------------------------

STATED = {
    "table": {"name": "t", "unit": "record", "neighbours": "replace", "source": "t.csv"},
    "columns": {"x": {"type": "number", "bounds": [0, 10]}},
}


def test_a_relative_path_starts_at_the_folder(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n4\n")
    schema = Schema.from_dict(STATED, folder=tmp_path)
    for source, folder in ((schema.location, None), ("t.csv", tmp_path)):
        engine = open_engine(source, schema, folder)
        assert isinstance(engine, DuckDB)
        assert engine.measure(Request((Measure("total", "x"),))) == {(): (4,)}
        engine.close()


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    schema = Schema.from_dict(STATED, folder=tmp_path)
    with pytest.raises(InvalidArgument, match="`t` has no source"):
        open_engine(None, schema)
    with pytest.raises(InvalidTable, match="no folder of such files"):
        open_engine("spark://local", schema)
    with pytest.raises(InvalidTable, match="does not exist"):
        open_engine(schema.location, schema)


# -- finding ---------------------------------------------------------------------------------------


def test_a_refusal_is_something_that_is_missing() -> None:
    refusal = refuse("engine.source-lacks-column", column="age")
    found = Finding.refused("columns", refusal)
    assert found.verdict == "missing"
    assert found.to_dict() == {
        "subject": "columns",
        "verdict": "missing",
        "what": refusal.what,
        "fix": refusal.fix,
    }


# -- doctor ----------------------------------------------------------------------------------------


def test_nothing_is_looked_at_behind_what_is_missing(tmp_path: Path) -> None:
    (found,) = diagnose(tmp_path / "nothing.csv")
    assert (found.subject, found.verdict) == ("source", "missing")


def test_a_missing_driver_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(backend, "version", none)
    first, second = diagnose("postgresql://127.0.0.1:1/x#t")
    assert first.verdict == "fine"
    assert (second.subject, second.verdict) == ("driver", "missing")
    assert "tenue[postgres]" in second.fix


def test_rows_are_read_with_a_schema_unless_that_is_said_to_be_open(tmp_path: Path) -> None:
    """A file that is broken far behind its header was as well as any, until it was opened."""
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 400_000 + "1,2,3,4\n")
    stated = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {"a": {"type": "number", "bounds": [0, 9]}},
    }
    stated["budget"] = {"total": 1}
    schema = Schema.from_dict(stated)
    read = {one.subject: one for one in diagnose(tmp_path / "t.csv", schema)}
    assert read["values"].verdict == "missing"
    assert "400002" in read["values"].what
    unread = diagnose(tmp_path / "t.csv", schema, rows=False)
    assert [one.verdict for one in unread] == ["fine", "fine", "not read", "fine"]
    assert list(tmp_path.iterdir()) == [tmp_path / "t.csv"]


# -- backend ---------------------------------------------------------------------------------------


def test_files_are_named_and_data_frames_lack_nothing(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n")
    (found,) = DUCKDB_BACKEND_BACKEND.examine(locate(tmp_path / "t.csv", "t"))  # type: ignore[arg-type]
    assert (found.verdict, found.what) == ("fine", "t.csv is there")
    assert list(DUCKDB_BACKEND_BACKEND.examine(Frame(None))) == []


@pytest.mark.any_draw("Python is started, and only what it imports is looked at")
def test_knowing_the_engines_imports_no_driver() -> None:
    code = (
        "import sys; from tenue.engine.registry import backends; backends(); "
        "print([n for n in ('duckdb', 'psycopg', 'pyspark', 'pyarrow') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# -- backend ---------------------------------------------------------------------------------------


def test_postgres_backend_without_its_driver_nothing_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(registry, "import_module", none)
    server = Server("postgresql://127.0.0.1:1/x", ("t",))
    for use in (
        lambda: POSTGRES_BACKEND_BACKEND.open_table(server),
        lambda: POSTGRES_BACKEND_BACKEND.open_tally(server, 1),
        lambda: POSTGRES_BACKEND_BACKEND.describe(server, values=False),
    ):
        with pytest.raises(Refused, match="psycopg"):
            use()


# -- backend ---------------------------------------------------------------------------------------


def test_without_its_driver_nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(registry, "import_module", none)
    cluster = Cluster("spark://host:7077", ("t",))
    for use in (
        lambda: BACKEND.open_table(cluster),
        lambda: BACKEND.open_tally(cluster, 1),
        lambda: BACKEND.describe(cluster, values=False),
    ):
        with pytest.raises(Refused, match="pyspark"):
            use()


def test_a_data_frame_of_spark_is_there() -> None:
    assert list(BACKEND.examine(Distributed(None))) == []
