"""Private tables in memory and in passes.

and a failure on the way leaves nothing, neither rows nor money.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.engine.contract import FAULT, Numbers, Passes
from tenue.engine.duckdb.passes import OnDisk
from tenue.engine.open import keep_rows
from tenue.engine.passes.in_memory import InMemory
from tenue.errors import EngineFault
from tenue.evaluate.two_tables.distribution import marginals
from tenue.ledger import Memory
from tenue.noise.source import Seeded
from tenue.publish.synthetic import synthesis
from tenue.publish.synthetic.domain import Domain
from tenue.publish.synthetic.plan import WAYS, planned
from tenue.publish.synthetic.synthesis import Synthesis, stream
from tenue.publish.synthetic.two_stage import TwoStage
from tenue.publish.table import input_table
from tenue.publish.table.input_table import Validated, open_original


def test_a_way_that_draws_nothing_is_none() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Synthesis(domain=Domain(()), rows=1, epsilon=Fraction(1))  # type: ignore[abstract]


# A private table that is read in passes is the one that is made at once, value by value or in
# law;.

ROWS = 700


def schema(**more: Any) -> dict[str, Any]:
    return {
        "table": {"name": "people", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 100]},
            "cost": {"type": "number", "bounds": [0, 1000], "grid": 0.5},
            "day": {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]},
            **more,
        },
        "budget": {"total": 5},
    }


MIXED = {"sex": {"type": "category", "categories": ["f", "m"]}, "ill": {"type": "boolean"}}


def people(rows: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(1)
    age = rng.integers(0, 101, rows)
    return pa.table(
        {
            "age": age,
            "cost": np.round(age * 8 + rng.uniform(0, 200, rows)),
            "day": np.datetime64("2020-01-01") + rng.integers(0, 366, rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.uniform(size=rows) < 0.1,
        }
    )


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    pq.write_table(people(), path)
    return path


@pytest.fixture
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_table, "_FEWEST", 37)
    monkeypatch.setattr(input_table, "_MOST", 37)


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a value took so much memory that no table fits."""
    monkeypatch.setattr(importlib.import_module("tenue.publish.methods.private"), "VALUE", 1 << 30)


def way_of(by: str, mixed: bool = False, rows: int = ROWS, epsilon: int = 2) -> Synthesis:
    held = Domain.of(tn.Schema.from_dict(schema(**MIXED if mixed else {})))
    return planned(held, rows, Fraction(epsilon), by).way


def streamed_rows(way: Synthesis, path: Path, source: Any, mixed: bool = False) -> Any:
    described = tn.Schema.from_dict(schema(**MIXED if mixed else {}))
    with open_original(path, described) as table:
        return stream(way, table, described, 1 << 30, source, lambda _: None, lambda _: None)


def at_once(way: Synthesis, source: Any, mixed: bool = False) -> pa.Table:
    columns = people().select([axis.name for axis in way.domain.axes])
    with open_original(columns, tn.Schema.from_dict(schema(**MIXED if mixed else {}))) as table:
        places = way.domain.places(table.read().cells)
    return way.domain.table(way.draw(places, source))


def as_bag(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in table.to_pylist())


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize(
    ("by", "mixed"),
    [
        ("tree", False),
        ("tree", True),
        ("columns", True),
        ("copula", False),
        ("network", True),
        ("microaggregation", False),
        ("microaggregation", True),
        ("two-stage", True),
    ],
)
def test_the_same_bits_give_the_same_rows(by: str, mixed: bool, stored: Path) -> None:
    """Batches of 37 rows, sorted on disk and read again and again, and the whole table at once."""
    way = way_of(by, mixed)
    made = streamed_rows(way, stored, Seeded(7), mixed).table
    assert made.num_rows == ROWS
    assert as_bag(made.read()) == as_bag(at_once(way, Seeded(7), mixed))


def test_ranks_are_drawn_batch_by_batch_and_otherwise_it_is_the_same(stored: Path) -> None:
    """A tree of ranks draws a rank for each record: with one batch the very same."""
    way = way_of("two-stage")
    assert way.joint == "tree"  # type: ignore[attr-defined]
    made = streamed_rows(way, stored, Seeded(7)).table
    assert as_bag(made.read()) == as_bag(at_once(way, Seeded(7)))


def test_ranks_of_a_record_stay_the_same_in_every_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that draws ranks anew in each pass counts records twice, or not at all."""
    monkeypatch.setattr(
        importlib.import_module("tenue.publish.synthetic.privtree"), "_AHEAD", 1
    )  # one depth for each pass
    way = TwoStage.planned(way_of("two-stage").domain, ROWS, Fraction(50), joint="tree")
    places = InMemory(np.stack([np.arange(ROWS) % size for size in way.domain.sizes], axis=1))
    totals: list[int] = []
    monkeypatch.setattr(
        importlib.import_module("tenue.publish.synthetic.privtree"),
        "noisy",
        lambda counts, *given: totals.append(int(counts.sum())) or counts,
    )
    way.release(places, Seeded(1))

    class Anew(InMemory):
        def map(self, make: Any, sizes: Any) -> Any:
            rows = self

            class Mapped(InMemory):
                def sum(self, measure: Any) -> Any:
                    return rows.sum(lambda part: measure(make(part)))

            return nullcontext(Mapped(np.zeros((ROWS, 3), np.int64)))

    way.release(Anew(places.take(np.arange(ROWS))), Seeded(1))
    assert totals[0] == ROWS
    assert totals[1] != ROWS


def kept_on_disk(rows: Numbers, sizes: Any, batch: int) -> Any:
    return keep_rows(lambda take: take(rows), sizes, memory=128 << 20, batch=batch)


@pytest.mark.parametrize("by", [name for name in WAYS if name not in ("copula", "two-stage")])
def test_a_batch_that_is_forgotten_is_seen(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant reads all but the last batch; the right one gives what an array gives."""
    way = way_of(by, mixed=True)
    rng = np.random.default_rng(4)
    rows = np.stack([rng.integers(0, max(size // 3, 1), ROWS) for size in way.domain.sizes], axis=1)

    def drawn(records: Passes) -> Any:
        source = Seeded(3)
        return next(way.blocks(way.release(records, source), source)).tolist()

    with kept_on_disk(rows, way.domain.sizes, 64) as records:
        assert drawn(records) == drawn(InMemory(rows))
        whole = OnDisk.batches
        monkeypatch.setattr(OnDisk, "batches", lambda disk: iter(list(whole(disk))[:-1]))
        if by == "microaggregation":  # a sort knows how many rows it was to give
            with pytest.raises(EngineFault, match=FAULT):
                drawn(records)
        else:
            assert drawn(records) != drawn(InMemory(rows))


def test_groups_do_not_depend_on_batches_or_on_the_order_of_rows() -> None:
    """Ties are cut by value: the mutant, which sorts each batch by itself, gives other sums."""
    way = way_of("microaggregation")
    rng = np.random.default_rng(2)
    rows = np.stack([rng.integers(0, size, ROWS) // 9 * 9 for size in way.domain.sizes], axis=1)
    exact = way.tallies(InMemory(rows))  # type: ignore[attr-defined]
    for batch, order in ((13, np.arange(ROWS)), (700, rng.permutation(ROWS))):
        with kept_on_disk(rows[order], way.domain.sizes, batch) as records:
            found = way.tallies(records)  # type: ignore[attr-defined]
            for one, other in zip(exact.sums, found.sums, strict=True):
                assert one.tolist() == other.tolist()

    class ByBatch(InMemory):
        def sort(self, key: Callable[[Numbers], Any]) -> Iterator[Any]:
            for begin in range(0, ROWS, 100):
                yield from InMemory(self.take(np.arange(begin, begin + 100))).sort(key)

    wrong = way.tallies(ByBatch(rows))  # type: ignore[attr-defined]
    assert wrong.sums[0].tolist() != exact.sums[0].tolist()


@pytest.mark.usefixtures("few_at_a_time")
def test_a_missing_value_has_a_place_of_its_own_in_every_pass(tmp_path: Path) -> None:
    path = tmp_path / "gaps.parquet"
    age = pa.array(np.arange(ROWS) % 101, mask=np.arange(ROWS) % 2 == 0)
    pq.write_table(people().set_column(0, "age", age), path)
    described = tn.Schema.from_dict(schema())
    held = Domain.of(described)
    with (
        open_original(path, described) as table,
        table.keep(held.places, held.sizes, 1 << 28, lambda _: None) as found,
    ):
        assert found.missing["age"] == ROWS // 2
        passes = found.passes
        first, second = (
            passes.sum(lambda part: np.bincount(part[:, 0], minlength=102)) for _ in range(2)
        )
        assert first.tolist() == second.tolist()
        assert first.sum() == ROWS
        places = passes.take(np.arange(ROWS))[:, 0]
        assert places[1::2].tolist() == (np.arange(ROWS) % 101)[1::2].tolist()
        assert set(places[::2].tolist()) == {101}


def test_blocks_make_one_table_of_the_right_size(monkeypatch: pytest.MonkeyPatch) -> None:
    for by in WAYS:
        monkeypatch.setattr(synthesis, "CELLS", 1 << 21)
        way = way_of(by)
        rows = np.stack([np.arange(ROWS) * 7 % size for size in way.domain.sizes], axis=1)
        drawing = way.release(InMemory(rows), Seeded(2))
        monkeypatch.setattr(synthesis, "CELLS", 3 * 100)
        if by != "network":  # whose first block is drawn with the tables
            blocks = list(way.blocks(drawing, Seeded(3)))
            assert [len(block) for block in blocks] == [100] * 7
        made = way.draw(rows, Seeded(4))
        assert made.shape == rows.shape
        far = np.abs(np.sort(made[:, 0]) - np.sort(rows[:, 0])).mean()
        assert far < 20, by


def test_no_block_is_drawn_from_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a way has released, the records may be gone."""
    monkeypatch.setattr(synthesis, "CELLS", 3 * 100)
    for by in WAYS:
        way = way_of(by)
        rows = np.stack([np.arange(ROWS) * 7 % size for size in way.domain.sizes], axis=1)
        found = []
        for after in (0, 1):
            held = rows.copy()
            source = Seeded(5)
            drawing = way.release(InMemory(held), source)
            held[:] = after
            found.append(np.concatenate(list(way.blocks(drawing, source))).tolist())
        assert found[0] == found[1], by


# -- the journey -----------------------------------------------------------------------------------


def publish(path: Path, books: Any, **given: Any) -> Any:
    options = {"schema": schema(**MIXED), "epsilon": 1} | given
    return tn.publish(path, method="private", ledger=books, **options)


@pytest.mark.usefixtures("too_large", "few_at_a_time")
def test_a_stored_table_that_is_too_large_is_published_in_passes(
    stored: Path, tmp_path: Path
) -> None:
    books, told = Memory(), list[str]()
    release = publish(stored, books, progress=told.append)
    assert books.balance("people").spent == 1
    assert (release.rows, release.columns) == (ROWS, ("age", "cost", "day", "sex", "ill"))
    assert release.utility.boxes < 0.3
    assert release.certificate.promise == tn.Pure(1)
    steps = list(dict.fromkeys(step.partition(" (")[0] for step in told))
    assert steps == ["read", "draw", "evaluate", "certificate"]
    assert "read (100 %)" in told
    assert any("drawn at random" in step.text for step in release.history)
    manifest = release.save(tmp_path / "out")
    assert manifest["rows"] == ROWS
    saved = pq.read_table(tmp_path / "out" / "table.parquet")
    assert saved.equals(release.table)
    assert saved.schema == publish(people(), Memory()).table.schema
    release.save(tmp_path / "csv", kind="csv")
    assert pa.csv.read_csv(tmp_path / "csv" / "table.csv").num_rows == ROWS
    assert len(release.digest) == 64
    assert "What was done" in release.report()


@pytest.mark.usefixtures("too_large", "few_at_a_time")
def test_a_report_draws_the_columns_of_the_release(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = publish(stored, Memory())
    shown = release._published.shown
    assert shown.released == marginals(None, release.table, release._published.method.schema)
    assert shown.compared == ()
    page = release.page(public=True)
    assert page.count("<figure") >= 5
    assert "a random part" not in page  # all rows were counted
    assert len(release.picture().panels) == 5

    monkeypatch.setattr(synthesis, "COMPARED", 100)
    some = publish(stored, Memory())
    assert "Counted in 100 rows, drawn at random." in some.page()


@pytest.mark.usefixtures("too_large")
def test_a_data_frame_is_in_memory_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Validated, "keep", None)
    assert publish(people(), Memory()).rows == ROWS


def test_what_is_done_follows_from_rows_columns_and_memory_alone(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def watched(*given: Any, **named: Any) -> Any:
        seen.append(True)
        return stream(*given, **named)

    monkeypatch.setattr(importlib.import_module("tenue.publish.methods.private"), "stream", watched)
    least = 128 << 20
    for value, memory in ((least // (ROWS * 5), least), (least // (ROWS * 5) + 1, least)):
        monkeypatch.setattr(
            importlib.import_module("tenue.publish.methods.private"), "VALUE", value
        )
        publish(stored, Memory(), memory=memory)
    assert seen == [True]  # of the second alone
    publish(stored, Memory(), memory=2 * least)
    assert seen == [True]


@pytest.mark.parametrize("memory", [0, -1, 1 << 20, "much", 1.5, None])
def test_memory_is_a_number_of_bytes(memory: Any, stored: Path) -> None:
    books = Memory()
    with pytest.raises(tn.Refused):
        publish(stored, books, memory=memory)
    assert list(books.datasets()) == []


@pytest.mark.usefixtures("too_large", "few_at_a_time")
@pytest.mark.parametrize("broken", ["read", "sort", "draw", "write"])
def test_a_fault_on_the_way_keeps_the_spend_and_leaves_nothing(
    broken: str, stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))

    def fails(*given: Any, **named: Any) -> Any:
        raise OSError("canary")

    if broken == "read":  # in the middle of the table
        whole = Domain.places
        calls: list[int] = []

        def places(self: Domain, *given: Any) -> Any:
            calls.append(1)
            return fails() if len(calls) > 3 else whole(self, *given)

        monkeypatch.setattr(Domain, "places", places)
    elif broken == "sort":
        monkeypatch.setattr("tenue.engine.duckdb.passes._reader", _raising(EngineFault(FAULT)))
    elif broken == "draw":
        monkeypatch.setattr(synthesis, "shuffled", _raising(EngineFault(FAULT)))
    else:
        monkeypatch.setattr(pq.ParquetWriter, "write_table", fails)
    books = Memory()
    with pytest.raises(EngineFault, match=FAULT) as caught:
        publish(stored, books, by="microaggregation")
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert books.balance("people").spent == 1
    assert list(scratch.iterdir()) == []


def _raising(error: Exception) -> Any:
    def fails(*given: Any, **named: Any) -> Any:
        raise error

    return fails


@pytest.mark.usefixtures("too_large")
def test_a_name_that_is_there_twice_is_refused_after_it_was_paid(tmp_path: Path) -> None:
    described = schema(name={"type": "identifier"})
    table = people().append_column("name", pa.array(["one", "one", *map(str, range(ROWS - 2))]))
    path = tmp_path / "named.parquet"
    pq.write_table(table, path)
    books = Memory()
    with pytest.raises(tn.Refused, match="name"):
        publish(path, books, schema=described)
    assert books.balance("people").spent == 1
    pq.write_table(people().append_column("name", pa.array([str(i) for i in range(ROWS)])), path)
    assert publish(path, books, schema=described).columns == ("age", "cost", "day")


@pytest.mark.usefixtures("too_large", "few_at_a_time")
def test_rows_of_a_csv_file_and_of_a_database(tmp_path: Path) -> None:
    import duckdb

    pa.csv.write_csv(people(), tmp_path / "people.csv")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        rows = people()
        connection.register("given", rows)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    for source in (tmp_path / "people.csv", f"duckdb://{tmp_path / 'people.duckdb'}#people"):
        release = publish(source, Memory())  # type: ignore[arg-type]
        assert release.rows == ROWS
        assert release.utility.boxes < 0.3
