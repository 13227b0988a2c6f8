"""What Spark spells differently, runs on machines and gives up.

A cluster that loses its machines is in `tests/journeys/test_spark_kill.py`; here Spark's own words
about stages are given, so that no clock decides.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow
import pytest

from contracts.engine_suite import SCHEMA
from tenue.engine.open import open_engine
from tenue.engine.spark import udfs
from tenue.engine.spark.dialect import SPARK, storage
from tenue.engine.spark.session import watched
from tenue.engine.spark.udfs import choice, chooser, equipped, packed
from tenue.engine.sql.logical_table import Held, Stored
from tenue.engine.storage import Day, Fixed, Floating, Integer, Moment, Nothing, Opaque, Text, Truth
from tenue.noise.keyed_stream import fresh_key
from tenue.noise.source import SYSTEM, Seeded
from tenue.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


HOSTILE = ["'", "\\'", "`", "a'; DROP TABLE t; --", "\n", "${x}", "é", "\U0001f600", ""]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_written_as_its_bytes(text: str) -> None:
    found = re.fullmatch(r"CAST\(X'([0-9a-f]*)' AS STRING\)", SPARK.literal(text))
    assert found is not None
    assert bytes.fromhex(found[1]).decode() == text


def test_names_are_quoted() -> None:
    assert SPARK.quoted("a`b") == "`a``b`"


def test_doubles_are_typed() -> None:
    assert SPARK.number(1.5) == "1.5D"
    assert SPARK.number(-2.0) == "(-2.0D)"
    assert SPARK.number(5e-324) == "5e-324D"
    assert SPARK.number(math.inf) == "CAST('inf' AS DOUBLE)"


def test_sums_are_cut_into_so_few_bits_that_none_overflows() -> None:
    assert SPARK.total("x", 1000) == "SUM(x)"
    assert SPARK.total("x") == "SUM(CAST(x AS DECIMAL(38, 0)))"
    assert SPARK.total("x", 2**40).count("SUM(") == 2
    assert SPARK.total("x", 2**62).count("SUM(") == 3
    for largest in (2**22, 2**23, 2**40, 2**45, 2**62):
        sql = SPARK.total("x", largest)
        for value in (largest, -largest, largest - 1, 1 - largest, -1, 0):
            assert _evaluated(sql, value) == value
    assert SPARK.total("x", 2**63).startswith("SUM(CAST(")


def _evaluated(sql: str, value: int) -> int:
    """The sum over one row, by the meaning that Spark gives these functions."""
    text = re.sub(r"CAST\(SUM\((.*?)\) AS DECIMAL\(38, 0\)\)(?= \*)", r"(\1)", sql)
    text = re.sub(r"SUM\(x\)", "x", text)
    text = re.sub(r"shiftright\(x, (\d+)\)", r"(x >> \1)", text)
    return int(eval(text, {"x": value}))  # noqa: S307 - numbers and signs that were written above


def test_words_are_found_by_few_comparisons() -> None:
    few = SPARK.category("t", SPARK.words(["b", "a"]))
    assert few.count("WHEN") == 2
    many = SPARK.category("t", SPARK.words([f"word {i}" for i in range(10_000)]))
    assert many.count("from_json") == 2, "Spark parses two texts, and not a test for each word"
    assert many.count("CASE") == 0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tinyint", Integer("TINYINT", -128, 127)),
        ("bigint", Integer("BIGINT", -(2**63), 2**63 - 1)),
        ("decimal(38,10)", Fixed(38, 10)),
        ("float", Floating(single=True)),
        ("double", Floating()),
        ("string", Text()),
        ("string collate UTF8_LCASE", Text("other")),
        ("varchar(9)", Text("other")),
        ("boolean", Truth()),
        ("date", Day()),
        ("timestamp", Moment("TIMESTAMP")),
        ("timestamp_ntz", Moment("TIMESTAMP_NTZ")),
        ("void", Nothing()),
        ("array<int>", Opaque()),
        ("binary", Opaque()),
    ],
)
def test_types_are_known_by_their_names(name: str, kind: object) -> None:
    assert storage(name) == kind


# -- workers ---------------------------------------------------------------------------------------

KEYS = 6000
Kept = tuple[Any, ...]
Way = Callable[[pyarrow.Table, bytes, int, int | None, int], tuple[Any, Any]]


def table(rows: list[tuple[Any, ...]], names: str = "uv") -> pyarrow.Table:
    return pyarrow.table({name: [row[i] for row in rows] for i, name in enumerate(names)})


def kept(rows: list[tuple[Any, ...]], key: bytes, limit: int, way: Way = choice) -> Kept:
    chosen = way(table(rows), key, limit, None, 0)[1].to_pylist()
    return tuple(sorted(row for row, keep in zip(rows, chosen, strict=True) if keep))


def keys(count: int) -> list[bytes]:
    source = Seeded(18)
    return [fresh_key(source) for _ in range(count)]


def in_order_of_rows(
    given: pyarrow.Table, key: bytes, limit: int, groups: int | None, cells: int
) -> tuple[Any, Any]:
    """A wrong way: the first rows of each unit, in the order in which a partition has them."""
    seen: Counter[Any] = Counter()
    chosen = []
    for unit in given.column(0).to_pylist():
        seen[unit] += 1
        chosen.append(seen[unit] <= limit)
    return pyarrow.array([True] * len(chosen)), pyarrow.array(chosen)


def drawn_anew(
    given: pyarrow.Table, key: bytes, limit: int, groups: int | None, cells: int
) -> tuple[Any, Any]:
    """A wrong way: every task draws for itself."""
    return choice(given, fresh_key(), limit, groups, cells)


def one_for_all(
    given: pyarrow.Table, key: bytes, limit: int, groups: int | None, cells: int
) -> tuple[Any, Any]:
    """A wrong way: the key of one question serves all."""
    return choice(given, b"one key for all questions", limit, groups, cells)


ANN = [("ann", v) for v in (1, 2, 3, 4)]
CROWD = [*ANN, ("bob", 1), *(("cy", v) for v in (7, 7, 8))]


def is_uniform(counts: Counter[Kept], outcomes: int, draws: int) -> bool:
    """Whether no outcome is farther from its share than six standard deviations."""
    share = draws / outcomes
    far = 6 * math.sqrt(share * (1 - 1 / outcomes))
    return len(counts) == outcomes and all(abs(n - share) < far for n in counts.values())


def law(way: Way) -> bool:
    """Whether each two rows of a unit are kept as often as any other two."""
    found = Counter(kept(ANN, key, 2, way) for key in keys(KEYS))
    return is_uniform(found, math.comb(4, 2), KEYS)


def repeats(way: Way) -> bool:
    """Whether a task that is done again, with its rows in another order, keeps the same."""
    return all(kept(CROWD, key, 2, way) == kept(CROWD[::-1], key, 2, way) for key in keys(50))


def test_each_set_of_rows_is_as_likely_as_any_other() -> None:
    assert law(choice)
    assert not law(one_for_all)
    assert not law(in_order_of_rows)


def test_what_is_done_again_keeps_the_same_rows_whatever_their_order() -> None:
    assert repeats(choice)
    assert repeats(one_for_all)
    assert not repeats(in_order_of_rows)
    assert not repeats(drawn_anew)


def test_units_are_drawn_for_by_themselves() -> None:
    """No other unit changes what is kept of one, and two units with the same rows differ."""
    for key in keys(50):
        alone = kept(ANN, key, 2)
        assert [row for row in kept(CROWD, key, 2) if row[0] == "ann"] == list(alone)
    both = Counter()
    for key in keys(KEYS):
        rows = kept([(name, v) for name in ("ann", "bob") for v in (1, 2, 3)], key, 1)
        both[tuple(v for _, v in rows)] += 1
    assert is_uniform(both, 9, KEYS)


def test_equal_rows_share_what_each_of_them_would_have() -> None:
    """Of 7, 7, 8 one row is kept: 7 in two of three draws."""
    found = Counter(kept([("cy", 7), ("cy", 7), ("cy", 8)], key, 1)[0][1] for key in keys(KEYS))
    far = 6 * math.sqrt(KEYS * 2 / 9)
    assert abs(found[7] - KEYS * 2 / 3) < far


def test_missing_values_are_rows_like_others() -> None:
    rows = [("ann", None), ("ann", 0), ("ann", -1)]
    found = Counter(
        tuple(choice(table(rows), key, 1, None, 0)[1].to_pylist()) for key in keys(KEYS)
    )
    assert is_uniform(found, 3, KEYS)


def test_cells_are_chosen_before_rows_whatever_is_in_them() -> None:
    """Of the cells 0, 0, 0, 1 each is kept as often as the other; then at most two rows."""
    rows = [("ann", 0, 1), ("ann", 0, 2), ("ann", 0, 3), ("ann", 1, 4)]
    found: Counter[Any] = Counter()
    for key in keys(KEYS):
        placed, chosen = choice(table(rows, "ukv"), key, 2, 1, 1)
        assert not any(
            c and not p for p, c in zip(placed.to_pylist(), chosen.to_pylist(), strict=True)
        )
        found[tuple(placed.to_pylist())] += 1
        assert sum(chosen.to_pylist()) == (2 if placed[0].as_py() else 1)
    assert is_uniform(found, 2, KEYS)


def test_words_that_are_equal_are_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else rows of equal words would be kept in the order of their values."""
    real, narrow = udfs.keyed_words, []

    def short(key: bytes, names: list[bytes], counts: list[int]) -> Any:
        narrow.append(len(counts))
        return real(key, names, counts) & np.uint64(7 << 61)

    monkeypatch.setattr(udfs, "keyed_words", short)
    found = Counter(kept(ANN, key, 2) for key in keys(KEYS))
    assert is_uniform(found, 6, KEYS)
    assert len(narrow) > KEYS, "some were drawn again"


def test_a_partition_hands_on_what_is_kept() -> None:
    given = table(CROWD)
    (part,) = given.to_batches()
    few = pyarrow.Table.from_batches(chooser(b"k", 2, None, 0, every=False)(iter([part])))
    assert (few.num_rows, few.column("chosen").to_pylist()) == (5, [True] * 5)
    every = pyarrow.Table.from_batches(chooser(b"k", 2, None, 0, every=True)(iter([part])))
    assert (every.num_rows, sum(every.column("chosen").to_pylist())) == (8, 5)
    assert list(chooser(b"k", 2, None, 0, every=True)(iter([]))) == []


def test_an_error_on_a_machine_quotes_nothing() -> None:
    part = pyarrow.RecordBatch.from_pydict({"u": ["canary-77"], "v": ["no number, canary-78"]})
    with pytest.raises(RuntimeError) as caught:
        list(chooser(b"k", 1, None, 0, every=True)(iter([part, part])))
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_batches_are_packed_as_their_bytes() -> None:
    (part,) = table(CROWD).to_batches()
    (row,) = packed(iter([part]))
    with pyarrow.ipc.open_stream(row.column("part")[0].as_py()) as reader:
        assert reader.read_all() == table(CROWD)
    (words,) = equipped(iter([part]))
    assert words.column("found")[0].as_py().endswith(", Tenue"), "it is on this machine"


@pytest.mark.needs("spark")
def test_what_is_sent_by_value_leaves_sources_of_bits_alone() -> None:
    """A source may hold a lock, as those of tests do: machines with Tenue get it by its name."""
    from pyspark import cloudpickle

    udfs.by_value(udfs.chooser(b"key", 1, None, 0, every=False))
    sent = cloudpickle.dumps(lambda: SYSTEM.words(1))
    assert cloudpickle.loads(sent)().shape == (1,)


@pytest.mark.parametrize("most", [0, 1, 9, 2**31, 2**62, 2**63 - 1])
def test_keys_sorted_as_one_are_in_the_order_of_keys_sorted_apart(most: int) -> None:
    rng = np.random.default_rng(most % 97)
    keys = [rng.integers(-most, most, 300, endpoint=True) for _ in range(3)]
    keys[1] = keys[1] % 3 == 0
    found, right = udfs.sorted_by(keys), np.lexsort(keys)
    assert sorted(found.tolist()) == list(range(300))
    assert all((key[found] == key[right]).all() for key in keys)
    assert len(udfs.sorted_by([key[:0] for key in keys])) == 0


# -- What nobody works on is given up, and what somebody works on is not ---------------------------


class Telling:
    """A session that tells how many tasks run of the one stage that it has, if it has one."""

    def __init__(self, running: int | None) -> None:
        self.running, self.asked, self.looked = running, 0, threading.Event()
        self.tags: list[str] = []
        self.cancelled = threading.Event()
        self.sparkContext = self

    def statusTracker(self) -> Telling:  # noqa: N802 - Spark's names
        return self

    def getActiveStageIds(self) -> list[int]:  # noqa: N802
        self.asked += 1
        if self.asked > 20:
            self.looked.set()
        return [] if self.running is None else [7]

    def getStageInfo(self, stage: int) -> Any:  # noqa: N802
        return SimpleNamespace(numActiveTasks=self.running)

    def addJobTag(self, tag: str) -> None:  # noqa: N802
        self.tags.append(tag)

    def removeJobTag(self, tag: str) -> None:  # noqa: N802
        self.tags.remove(tag)

    def cancelJobsWithTag(self, tag: str) -> None:  # noqa: N802
        assert self.tags == [tag]
        self.cancelled.set()


@pytest.mark.parametrize("running", [1, None])
def test_work_that_goes_on_is_not_given_up(running: int | None) -> None:
    """Nor a plan that Spark still thinks about."""
    spark: Any = Telling(running)
    with watched(spark, 0.001):
        assert spark.looked.wait(60)
    assert not spark.cancelled.is_set()
    assert spark.tags == []


def test_what_waits_for_a_machine_is_given_up() -> None:
    spark: Any = Telling(0)
    with watched(spark, 0.01):
        assert spark.cancelled.wait(60)
    assert spark.tags == []


class Remote:
    """A session of Spark Connect, in whose place the test sends word."""

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.handlers: list[Any] = []
        self.interrupted = threading.Event()

    @property
    def sparkContext(self) -> object:  # noqa: N802
        raise RuntimeError

    def addTag(self, tag: str) -> None:  # noqa: N802
        self.tags.append(tag)

    def removeTag(self, tag: str) -> None:  # noqa: N802
        self.tags.remove(tag)

    def interruptTag(self, tag: str) -> None:  # noqa: N802
        assert self.tags == [tag]
        self.interrupted.set()

    def registerProgressHandler(self, handler: Any) -> None:  # noqa: N802
        self.handlers.append(handler)

    def removeProgressHandler(self, handler: Any) -> None:  # noqa: N802
        self.handlers.remove(handler)

    def send(self, done: int, tasks: int, running: int, *, ended: bool = False) -> None:
        (handler,) = self.handlers
        stage = SimpleNamespace(num_tasks=tasks, num_completed_tasks=done)
        handler(stages=[stage], inflight_tasks=running, operation_id="one", done=ended)


def test_what_waits_behind_spark_connect_is_given_up() -> None:
    spark: Any = Remote()
    with watched(spark, 0.0):
        spark.send(3, 30, 0)
        time.sleep(0.001)
        assert not spark.interrupted.is_set(), "one word is no time"
        spark.send(3, 30, 0)
        assert spark.interrupted.wait(60)
    assert spark.tags == spark.handlers == []


@pytest.mark.parametrize(
    "between",
    [{"done": 3, "tasks": 30, "running": 1}, {"done": 30, "tasks": 30, "running": 0}],
    ids=["a-machine-works", "the-next-stage-is-planned"],
)
def test_what_goes_on_behind_spark_connect_is_not_given_up(between: dict[str, int]) -> None:
    spark: Any = Remote()
    with watched(spark, 0.0):
        for _ in range(20):
            spark.send(3, 30, 0)
            time.sleep(0.001)
            spark.send(**between)
    assert not spark.interrupted.is_set()
    assert spark.tags == spark.handlers == []


# -- rows ------------------------------------------------------------------------------------------


@pytest.mark.needs("spark")
def test_the_logical_select_names_the_columns_as_declared() -> None:
    from tenue.engine.spark.engine import write_logical

    column = SCHEMA.columns["sex"]
    held = {"sex": Held(column, "S`X", Text(), SPARK.words(["F", "M", "o'x"]))}
    sql = write_logical(Stored("`t`", held, SCHEMA.columns, SPARK), ())
    assert sql.startswith("SELECT CAST(")
    assert "AS `sex`" in sql
    assert "`S``X`" in sql


@pytest.mark.needs("spark")
@pytest.mark.slow
def test_types_are_those_of_the_source(spark: SparkSession) -> None:
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {
                "a": {"type": "number", "bounds": [0, 9], "grid": 0.01},
                "b": {"type": "number", "bounds": [0, 9]},
                "d": {"type": "date", "bounds": ["2000-01-01", "2001-01-01"]},
            },
        }
    )
    rows = [(Decimal("1.25"), "7", date(1999, 1, 1)), (None, "x", date(2000, 6, 1))]
    engine = open_engine(spark.createDataFrame(rows, "a decimal(9,2), b string, d date"), schema)
    read = engine.read_all()
    assert read.types == {"a": pyarrow.decimal128(9, 2), "b": None, "d": pyarrow.date32()}
    assert read.logical.to_pydict() == {"a": [125, None], "b": [7, None], "d": [0, 152]}
    assert (read.unreadable["b"], read.first, read.beyond["d"]) == (1, {"b": 2}, 1)
    engine.close()
