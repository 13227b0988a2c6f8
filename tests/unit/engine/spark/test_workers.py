from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow
import pytest

from tenue.engine.spark import workers
from tenue.engine.spark.workers import choice, chooser, equipped, packed
from tenue.noise.keyed import fresh_key
from tenue.noise.source import SYSTEM, Seeded

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
    real, narrow = workers.keyed_words, []

    def short(key: bytes, names: list[bytes], counts: list[int]) -> Any:
        narrow.append(len(counts))
        return real(key, names, counts) & np.uint64(7 << 61)

    monkeypatch.setattr(workers, "keyed_words", short)
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

    workers.by_value(workers.chooser(b"key", 1, None, 0, every=False))
    sent = cloudpickle.dumps(lambda: SYSTEM.words(1))
    assert cloudpickle.loads(sent)().shape == (1,)


@pytest.mark.parametrize("most", [0, 1, 9, 2**31, 2**62, 2**63 - 1])
def test_keys_sorted_as_one_are_in_the_order_of_keys_sorted_apart(most: int) -> None:
    rng = np.random.default_rng(most % 97)
    keys = [rng.integers(-most, most, 300, endpoint=True) for _ in range(3)]
    keys[1] = keys[1] % 3 == 0
    found, right = workers.sorted_by(keys), np.lexsort(keys)
    assert sorted(found.tolist()) == list(range(300))
    assert all((key[found] == key[right]).all() for key in keys)
    assert len(workers.sorted_by([key[:0] for key in keys])) == 0
