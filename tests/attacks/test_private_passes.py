"""Attacks on private tables that are read in passes and drawn in blocks.

Every way is run on small tables that lie on disk, in batches of one or two rows, and drawn in
blocks of as few; every outcome of its decisions is tried, as `private_laws` says. So it is the law
of whole releases that is compared, for every two neighbours, and not one draw.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from private_laws import (
    ROUNDING,
    Exposed,
    Kept,
    Rows,
    categories,
    in_memory,
    missing_as_they_are,
    numbers,
    worst_loss,
)
from tenue.engine.contract import FAULT, Numbers, Passes
from tenue.engine.duckdb.passes import OnDisk
from tenue.engine.open import keep_rows
from tenue.engine.passes.in_memory import InMemory
from tenue.errors import EngineFault
from tenue.ledger import Memory
from tenue.publish import permute
from tenue.publish.methods import contract
from tenue.publish.synthetic import (
    independent_columns,
    microaggregation,
    privtree,
    synthesis,
    two_stage,
)
from tenue.publish.synthetic.domain import Domain
from tenue.publish.synthetic.microaggregation import Microaggregation
from tenue.publish.synthetic.plan import WAYS
from tenue.publish.table.input_table import open_original

MEMORY = 128 << 20


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """One depth of a tree in each pass, few rows in each block, few ranks."""
    monkeypatch.setattr(privtree, "_AHEAD", 1)
    monkeypatch.setattr(synthesis, "CELLS", 3)
    monkeypatch.setattr(two_stage, "_RANKS", 4)


def on_disk(sizes: Sequence[int], batch: int) -> Kept:
    return lambda rows: keep_rows(
        lambda take: take(np.array(rows, np.int64)), sizes, memory=MEMORY, batch=batch
    )


# -- whole releases --------------------------------------------------------------------------------

RELEASES = [
    ("tree", numbers, (5,), 3, Decimal("6.9")),
    ("tree", numbers, (4, 2), 2, Decimal("6.9")),
    ("columns", numbers, (3, 2), 3, Decimal("9.9")),
    ("columns", categories, (2, 2, 2), 2, Decimal("9.9")),
    ("two-stage", numbers, (2, 2), 2, Decimal("9.8")),
    ("two-stage by tree", numbers, (2, 2), 2, Decimal(9)),
    ("two-stage", categories, (2, 2, 2), 2, Decimal("9.6")),
    ("two-stage by all-pairs", categories, (2, 2, 2), 2, Decimal("9.9")),
    ("copula", numbers, (4, 4), 2, Decimal(9)),
    ("network", categories, (2, 3), 3, Decimal(9)),
    ("network", categories, (2, 2, 2), 2, Decimal(9)),
]


def planned(by: str, shape: Domain, rows: int) -> synthesis.Synthesis:
    name, _, joint = by.partition(" by ")
    return WAYS[name].planned(shape, rows, Fraction(10), **({"joint": joint} if joint else {}))


@pytest.mark.parametrize(("by", "shape", "sizes", "rows", "least"), RELEASES)
@pytest.mark.parametrize("batch", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_whole_release_in_passes_and_blocks_keeps_within_epsilon(
    by: str,
    shape: Callable[..., Domain],
    sizes: tuple[int, ...],
    rows: int,
    least: Decimal,
    batch: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    way = planned(by, shape(*sizes), rows)
    # ranks are drawn for each record, which keeps its own
    by_ranks = getattr(way, "joint", "") == "tree"
    told = worst_loss(way, sizes, monkeypatch, ordered=by_ranks, kept=on_disk(sizes, batch))
    assert least < told <= 10 + ROUNDING


class Anew(InMemory):
    """The mutant: whatever is drawn for a row is drawn in each pass."""

    def map(self, make: Any, sizes: Any) -> Any:
        rows = self

        class Mapped(InMemory):
            def sum(self, measure: Callable[[Numbers], Numbers]) -> Numbers:
                return measure(make(rows.take(np.arange(rows.rows))))

        return nullcontext(Mapped(np.zeros((self.rows, len(sizes)), np.int64)))


def test_ranks_drawn_in_each_pass_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record may then be in several leaves, and moves more counts than the noise is for."""
    way = planned("two-stage by tree", numbers(2, 2), 2)

    def anew(rows: Rows) -> AbstractContextManager[Passes]:
        return nullcontext(Anew(np.array(rows, np.int64)))

    assert worst_loss(way, (2, 2), monkeypatch, ordered=True, kept=anew) > Decimal("10.2")


def test_a_pass_over_fewer_rows_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant leaves out what it takes for blank, so that their number shows."""
    way = WAYS["tree"].planned(numbers(5), 3, Fraction(10))

    def without_the_last_place(rows: Rows) -> AbstractContextManager[Passes]:
        table = np.array(rows, np.int64)
        return nullcontext(InMemory(table[table[:, 0] < 4]))

    with pytest.raises(Exposed):
        worst_loss(way, (5,), monkeypatch, kept=without_the_last_place)


# -- missing values --------------------------------------------------------------------------------

HEAD = {"name": "t", "unit": "record", "neighbours": "replace"}
WORDS = {"type": "category", "categories": ["v0", "v1"]}
TINY = {"type": "number", "bounds": [0, 1]}
GAPS: dict[str, dict[str, Any]] = {
    "tree": {"x": {"type": "number", "bounds": [0, 2]}},
    "columns": {"x": TINY, "c": WORDS},
    "two-stage": {"x": TINY, "c": WORDS},
    "copula": {"x": TINY, "y": TINY},
    "network": {"x": TINY, "c": WORDS},
}


def stored(rows: Rows, columns: dict[str, Any], sizes: Sequence[int], folder: Path) -> Path:
    """A file with a missing value where a record has the last place of a column."""
    made = {}
    for (name, kind), values, size in zip(
        columns.items(), zip(*rows, strict=True), sizes, strict=True
    ):
        cells = [None if place == size - 1 else place for place in values]
        words = kind["type"] == "category"
        made[name] = (
            pa.array([None if v is None else f"v{v}" for v in cells], pa.string())
            if words
            else pa.array(cells, pa.int64())
        )
    path = folder / "gaps.parquet"
    pq.write_table(pa.table(made), path)
    return path


def read_in_passes(columns: dict[str, Any], folder: Path) -> Kept:
    """The rows as `publish` keeps them."""
    schema = tn.Schema.from_dict({"table": HEAD, "columns": columns})
    held = Domain.of(schema)

    @contextmanager
    def kept(rows: Any) -> Iterator[Passes]:
        with (
            open_original(stored(rows, columns, held.sizes, folder), schema) as table,
            table.keep(held.places, held.sizes, MEMORY, lambda _: None) as found,
        ):
            yield found.passes

    return kept


def of_gaps(by: str) -> synthesis.Synthesis:
    held = Domain.of(tn.Schema.from_dict({"table": HEAD, "columns": GAPS[by]}))
    assert all(axis.blank for axis in held.axes)
    return WAYS[by].planned(held, 2, Fraction(10))


@pytest.mark.slow
@pytest.mark.parametrize("by", GAPS)
def test_missing_values_of_a_file_cost_epsilon_like_any_other(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = of_gaps(by)
    told = worst_loss(way, way.domain.sizes, monkeypatch, kept=read_in_passes(GAPS[by], tmp_path))
    assert 6 < told <= 10 + ROUNDING


@pytest.mark.parametrize("by", GAPS)
def test_missing_values_cost_epsilon_like_any_other(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = of_gaps(by)
    assert 6 < worst_loss(way, way.domain.sizes, monkeypatch) <= 10 + ROUNDING


def test_a_share_of_missing_values_without_noise_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant reads it as it is, as if it were public."""
    way = of_gaps("columns")
    monkeypatch.setattr(independent_columns, "noisy", missing_as_they_are)
    with pytest.raises(Exposed, match="without noise"):
        worst_loss(way, way.domain.sizes, monkeypatch)


# -- the order of microaggregation -----------------------------------------------------------------


def told_by_sums(way: Microaggregation, one: Any, other: Any) -> Fraction:
    """What the noisy sums of two tables tell, exactly."""
    told = Fraction(0)
    for line, first, second in zip(way._numbers, one.sums, other.sums, strict=True):
        moved = Fraction(int(np.abs(first - second).sum()))
        told += moved * way.epsilon / (line.length * way.length)
    return told


def largest_told(way: Microaggregation, sizes: tuple[int, ...], kept: Kept) -> Fraction:
    """The most that the sums of two neighbours tell, whose rows may come in any order."""
    records = list(itertools.product(*map(range, sizes)))
    known: dict[Rows, Any] = {}
    for rows in itertools.product(records, repeat=way.rows):
        with kept(rows) as held:
            known[rows] = way.tallies(held)
    worst = Fraction(0)
    for one, other in itertools.combinations(known, 2):
        if (Counter(one) - Counter(other)).total() <= 1:
            worst = max(worst, told_by_sums(way, known[one], known[other]))
    return worst


@pytest.mark.parametrize(("sizes", "rows", "k"), [((4,), 3, 1), ((2, 2), 3, 1), ((3, 2), 2, 1)])
def test_groups_in_passes_tell_no_more_than_epsilon_in_any_order_of_rows(
    sizes: tuple[int, ...], rows: int, k: int
) -> None:
    way = Microaggregation.planned(numbers(*sizes), rows, Fraction(1), k=k)
    told = largest_told(way, sizes, on_disk(sizes, 1))
    assert Fraction(1, 3) < told <= 1
    assert told == largest_told(way, sizes, in_memory)


class ByBatch(InMemory):
    """The mutant: each batch, of two rows, is sorted by itself."""

    def sort(self, key: Callable[[Numbers], Sequence[Numbers]]) -> Iterator[Any]:
        for begin in range(0, self.rows, 2):
            yield from InMemory(self._rows[begin : begin + 2]).sort(key)


class AsTheyCame(InMemory):
    """The mutant: what has one place on the curve stays in the order of batches."""

    def sort(self, key: Callable[[Numbers], Sequence[Numbers]]) -> Iterator[Any]:
        keys = key(self._rows)
        order = np.argsort(keys[0], kind="stable")
        yield [column[order] for column in keys]


@pytest.mark.parametrize(
    ("mutant", "sizes", "rows"), [(ByBatch, (2, 2), 3), (AsTheyCame, (3, 3), 3)]
)
def test_rows_in_the_order_of_batches_are_seen(
    mutant: type[InMemory], sizes: tuple[int, ...], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mutant is AsTheyCame:  # a curve of one cell, so that all are ties
        monkeypatch.setattr(microaggregation, "index", lambda at, bits: np.zeros(len(at), int))
    way = Microaggregation.planned(numbers(*sizes), rows, Fraction(1), k=1)

    def wrong(table: Rows) -> AbstractContextManager[Passes]:
        return nullcontext(mutant(np.array(table, np.int64)))

    assert largest_told(way, sizes, in_memory) <= 1
    assert largest_told(way, sizes, wrong) > Fraction(7, 5)


def test_rows_lost_in_a_sort_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums of fewer rows would be those of no table of this size."""
    way = Microaggregation.planned(numbers(9), 9, Fraction(1), k=3)
    table = tuple((place,) for place in range(9))
    with on_disk((9,), 4)(table) as held:
        assert way.tallies(held).sums[0].tolist() == [3, 12, 21]
        whole = OnDisk.batches
        monkeypatch.setattr(OnDisk, "batches", lambda disk: iter(list(whole(disk))[:-1]))
        with pytest.raises(EngineFault, match=FAULT):
            way.tallies(held)


# -- what lies beside the table --------------------------------------------------------------------

ROWS = 40
PEOPLE: dict[str, Any] = {
    "table": HEAD,
    "columns": {
        "x": {"type": "number", "bounds": [0, 1000]},
        "y": {"type": "number", "bounds": [0, 1000]},
        "c": {"type": "category", "categories": ["a", "b"]},
    },
    "budget": {"total": 100},
}
PLAIN: dict[str, list[Any]] = {
    "x": list(range(ROWS)),
    "y": list(range(ROWS, 2 * ROWS)),
    "c": ["a"] * ROWS,
}
CHANGED = {
    "missing": {"x": [None, *PLAIN["x"][1:]]},
    "beyond": {"x": [10**6, *PLAIN["x"][1:]]},
    "infinite": {"x": [float("inf"), *PLAIN["x"][1:]]},
    "between": {"x": [0.5, *PLAIN["x"][1:]]},
    "no category": {"c": ["?", *PLAIN["c"][1:]]},
    "only one left": {"x": [None] * (ROWS - 1) + [3]},
}


@dataclass(frozen=True)
class Always:
    """What a way released, the same whatever the rows."""

    def block(self, rows: range, source: object) -> Numbers:
        made = [[7 * row % 1001, 13 * row % 1001, row % 2] for row in rows]
        return np.array(made, np.int64).reshape(-1, 3)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """All noise is as it happens to be, and the order of rows too."""
    for way in WAYS.values():
        monkeypatch.setattr(way, "release", lambda *given: Always())
    for module in (permute, contract, synthesis):
        monkeypatch.setattr(module, "shuffled", lambda size, source: np.arange(size))


@pytest.fixture(params=["at once", "in passes"])
def in_passes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    found = bool(request.param == "in passes")
    if found:
        monkeypatch.setattr(
            importlib.import_module("tenue.publish.methods.private"), "VALUE", 1 << 30
        )
    monkeypatch.setattr(synthesis, "CELLS", 3 * 7)
    return found


def all_that_leaves(rows: Any, folder: Path, books: Memory) -> dict[str, Any]:
    """Every byte of a public folder, what was told on the way, and how it is laid out."""
    folder.mkdir()
    pq.write_table(rows, folder / "people.parquet")
    told: list[str] = []
    made = tn.publish(
        folder / "people.parquet",
        schema=PEOPLE,
        method="private",
        epsilon=1,
        ledger=books,
        progress=told.append,
    )
    made.save(folder / "out", public=True)
    files: dict[str, Any] = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    return files | {"told": told, "page": made.page(), "spent": books.balance("t").spent}


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED.keys())
def test_files_sizes_and_words_follow_from_the_release_alone(
    changed: dict[str, Any], in_passes: bool, tmp_path: Path
) -> None:
    """With the same noise, nothing that leaves may tell which of two tables was read."""
    found = []
    for name, table in (("one", PLAIN), ("other", PLAIN | changed)):
        columns = dict(table) | {"x": pa.array(table["x"], pa.float64())}
        books = Memory()
        left = all_that_leaves(pa.table(columns), tmp_path / name, books)
        key = json.loads(left["certificate.json"])["schema_hash"].encode()
        found.append({n: _without(v, key) for n, v in left.items() if n != "manifest.json"})
        assert set(left) >= {"table.parquet", "certificate.json", "report.html", "manifest.json"}
        assert (left["told"][0], "draw (100 %)" in left["told"]) == ("read", in_passes)
    assert found[0] == found[1]


def _without(value: Any, key: bytes) -> Any:
    """Without the seal of a ledger, whose key is drawn."""
    return value.replace(key, b"") if isinstance(value, bytes) else value


# -- a process that is killed ----------------------------------------------------------------------

KILLED = """
import os, signal, sys
import tenue as tn
from tenue.publish.methods import private

private.VALUE = 1 << 30

def told(step):
    if step.startswith(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)

tn.publish(
    sys.argv[1], schema=sys.argv[2], method="private", by="microaggregation", epsilon=1,
    ledger=sys.argv[3], progress=told,
)
"""
DESCRIBED = """
[table]
name = "t"
unit = "record"
neighbours = "replace"
[columns.x]
type = "number"
bounds = [0, 1000]
[columns.y]
type = "number"
bounds = [0, 1000]
[budget]
total = 2
"""


@pytest.mark.slow
@pytest.mark.any_draw("what is spent and what lies on disk follow from no draw")
@pytest.mark.parametrize(("step", "held"), [("read (", {"0.bin", "1.bin"}), ("evaluate", set())])
def test_a_killed_release_stays_paid_and_its_rows_are_swept(
    step: str, held: set[str], tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "t.toml").write_text(DESCRIBED)
    pq.write_table(pa.table({"x": PLAIN["x"], "y": PLAIN["y"]}), tmp_path / "t.parquet")
    books = tmp_path / "t.ledger"

    def run(until: str) -> int:
        words = [str(tmp_path / "t.parquet"), str(tmp_path / "t.toml"), str(books), until]
        return subprocess.run(
            [sys.executable, "-c", KILLED, *words],
            env={**os.environ, "TMPDIR": str(scratch)},
            stderr=subprocess.DEVNULL,
        ).returncode

    assert run(step) == -signal.SIGKILL
    left = list(scratch.iterdir())
    assert {path.stat().st_mode & 0o777 for path in left} == {0o700}
    assert {path.name for path in scratch.rglob("*.bin")} == held
    with tn.ledger.SQLite(books) as ledger:
        assert ledger.balance("t").spent == 1
    assert run("never") == 0
    assert list(scratch.iterdir()) == []
    with tn.ledger.SQLite(books) as ledger:
        assert ledger.balance("t").spent == 2
