"""What every kind of `Passes` keeps: rows are the same in every pass, and none is forgotten."""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import AbstractContextManager
from itertools import permutations
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.contract import FAULT, Numbers, Passes
from tenue.errors import EngineFault
from tenue.noise.source import Seeded

SIZES = (5, 3000, 70_000, 2**40)


def table(rows: int = 23) -> Numbers:
    rng = np.random.default_rng(rows)
    return np.stack([rng.integers(0, size, rows) for size in SIZES], axis=1)


class PassesSuite:
    """Inherit it, and say how rows are kept, a few at a time.

    seeds: how many permutations are drawn.
    """

    seeds = 30

    def kept(self, rows: Numbers, batch: int) -> AbstractContextManager[Passes]:
        raise NotImplementedError

    @pytest.mark.parametrize("batch", [1, 4, 23, 100])
    def test_every_row_counts_once(self, batch: int) -> None:
        rows = table()
        with self.kept(rows, batch) as passes:
            assert passes.rows == 23
            for _ in range(2):  # and again
                counts = passes.sum(lambda part: np.bincount(part[:, 0], minlength=5))
                assert counts.tolist() == np.bincount(rows[:, 0], minlength=5).tolist()
            assert passes.sum(lambda part: part.sum(axis=0)).tolist() == rows.sum(axis=0).tolist()

    def test_some_columns_in_any_order(self) -> None:
        rows = table()
        with self.kept(rows, 4) as passes:
            both = passes.only(3, 1)
            assert both.sum(lambda part: part.sum(axis=0)).tolist() == [
                rows[:, 3].sum(),
                rows[:, 1].sum(),
            ]
            assert both.only(1).take(np.arange(23))[:, 0].tolist() == rows[:, 1].tolist()

    def test_a_row_is_drawn_for_once(self) -> None:
        """A second pass over rows that were drawn anew would count others."""
        rng = np.random.default_rng(1)

        def drawn(part: Numbers) -> Numbers:
            return part[:, :1] * 100 + rng.integers(0, 100, (len(part), 1))

        with self.kept(table(), 4) as passes, passes.map(drawn, [500]) as other:
            first, second = (other.take(np.arange(23)) for _ in range(2))
            assert first.tolist() == second.tolist()
            assert (first[:, 0] // 100).tolist() == table()[:, 0].tolist()
            total = other.sum(lambda part: part.sum(axis=0))
            assert total.tolist() == first.sum(axis=0).tolist()
            assert len(np.unique(first[:, 0] % 100)) > 5

    def test_rows_stay_beside_those_they_were_made_of(self) -> None:
        """The mutant numbers rows as files are read again: then risk is that of strangers."""
        rows = table(61)
        odd = rows[:, 1] % 2 == 1
        with (
            self.kept(rows, 7) as passes,
            passes.map(lambda part: part[:, [3, 0]] + 1, (2**40 + 1, 6)) as other,
            other.map(lambda part: part[:, :1] * 2, [2**42]) as third,
            passes.map(lambda part: part[part[:, 1] % 2 == 1], SIZES) as some,
            some.map(lambda part: part[:, 2:], SIZES[2:]) as few,
        ):
            numbers = np.array([0, 5, 20, 21, 40, 60])
            made = passes.take(numbers)
            assert made.tolist() == rows[numbers].tolist()
            assert other.take(numbers).tolist() == (made[:, [3, 0]] + 1).tolist()
            assert third.take(numbers)[:, 0].tolist() == (2 * (made[:, 3] + 1)).tolist()
            assert np.concatenate(list(some.batches())).tolist() == rows[odd].tolist()
            assert some.rows == int(odd.sum())
            at = np.array([0, 3, some.rows - 1])
            assert few.take(at).tolist() == rows[odd][at][:, 2:].tolist()

    @pytest.mark.parametrize("batch", [1, 4, 100])
    def test_keys_come_in_order_whatever_the_order_of_rows(self, batch: int) -> None:
        rows = table()
        rows[:, 0] //= 3  # many ties, which the other columns decide
        found = []
        for given in (rows, rows[::-1], rows[np.argsort(rows[:, 1])]):
            with self.kept(given, batch) as passes:
                parts = list(passes.sort(lambda part: [part[:, 0], -part[:, 2], part[:, 3]]))
                found.append(
                    [np.concatenate(column).tolist() for column in zip(*parts, strict=True)]
                )
        order = np.lexsort([rows[:, 3], -rows[:, 2], rows[:, 0]])
        assert found[0] == [
            rows[order, 0].tolist(),
            (-rows[order, 2]).tolist(),
            rows[order, 3].tolist(),
        ]
        assert found[0] == found[1] == found[2]

    def test_rows_by_number(self) -> None:
        rows = table()
        with self.kept(rows, 4) as passes:
            for numbers in ([0, 3, 4, 22], [], [7, 7]):
                at = np.array(numbers, np.int64)
                assert passes.take(at).tolist() == rows[at].tolist()

    @pytest.mark.parametrize("batch", [1, 4, 100])
    def test_keys_are_counted_in_order(self, batch: int) -> None:
        rows = table()
        rows[:, 1] %= 3
        with self.kept(rows, batch) as passes:
            parts = list(passes.tally(lambda part: [part[:, 0], -part[:, 1]]))
        found = [np.concatenate(column).tolist() for column in zip(*parts, strict=True)]
        keys, counts = np.unique(np.stack([rows[:, 0], -rows[:, 1]]), axis=1, return_counts=True)
        assert found == [*keys.tolist(), counts.tolist()]

    def test_all_rows_in_their_order(self) -> None:
        rows = table()
        with self.kept(rows, 4) as passes:
            assert np.concatenate(list(passes.batches())).tolist() == rows.tolist()
        with self.kept(rows[:0], 4) as passes:
            assert [len(part) for part in passes.batches()] == [0]

    def test_a_permutation_keeps_groups_and_moves_columns_together(self) -> None:
        rows = table()
        moved = []
        with self.kept(rows, 4) as passes:
            for seed in range(self.seeds):
                with passes.permute([1, 3], lambda part: part[:, 0], Seeded(seed)) as other:
                    made = other.take(np.arange(23))
                assert made[:, [0, 2]].tolist() == rows[:, [0, 2]].tolist()
                moved.append(made[:, 1].tolist())
                for group in range(5):
                    mine = rows[:, 0] == group
                    pairs = [sorted(map(tuple, one[mine][:, [1, 3]])) for one in (rows, made)]
                    assert pairs[0] == pairs[1]
            assert passes.take(np.arange(23)).tolist() == rows.tolist()  # these stay as they were
        assert len({tuple(one) for one in moved}) == self.seeds

    def test_every_order_of_a_group_is_as_likely(self) -> None:
        """Fixed points included: one who moves everybody links with 1/(k - 1)."""
        groups = 1200
        rows = np.stack([np.tile([0, 1, 2], groups), np.repeat(np.arange(groups), 3)], axis=1)
        with (
            self.kept(rows, 500) as passes,
            passes.permute([0], lambda part: part[:, 1], Seeded(3)) as other,
        ):
            made = other.take(np.arange(3 * groups))
        assert made[:, 1].tolist() == rows[:, 1].tolist()
        drawn = Counter(map(tuple, made[:, 0].reshape(-1, 3).tolist()))
        assert set(drawn) == set(permutations(range(3)))
        # bits follow from the seed, so that this never fails by chance
        assert max(abs(many - groups / 6) for many in drawn.values()) < 60

    def test_rows_are_numbered_in_the_order_of_their_keys(self) -> None:
        rows = table()
        with self.kept(rows, 4) as passes:
            seen = []
            for seed in range(4):
                with passes.number(lambda part: [part[:, 0], -part[:, 1] % 2], Seeded(seed)) as new:
                    made = new.take(np.arange(23))
                    again = new.only(4).tally(lambda part: [part[:, 0]])
                    assert sum(counts.size for _, counts in again) == 23
                assert made[:, :4].tolist() == rows.tolist()
                order = np.argsort(made[:, 4])
                assert made[order, 4].tolist() == list(range(23))
                keys = [(int(a), int(-b % 2)) for a, b in made[order, :2]]
                assert keys == sorted(keys)
                seen.append(tuple(made[:, 4].tolist()))
            assert len(set(seen)) == 4  # a mutant numbers equal keys as rows come

    def test_rows_of_one_key_have_every_order_alike(self) -> None:
        groups = 1200
        rows = np.stack([np.tile([0, 1, 2], groups), np.repeat(np.arange(groups), 3)], axis=1)
        with (
            self.kept(rows, 500) as passes,
            passes.number(lambda part: [part[:, 1]], Seeded(5)) as other,
        ):
            made = other.take(np.arange(3 * groups))
        drawn = Counter(map(tuple, (made[:, 2] % 3).reshape(-1, 3).tolist()))
        assert (made[:, 2] // 3).tolist() == rows[:, 1].tolist()
        assert set(drawn) == set(permutations(range(3)))
        # bits follow from the seed, so that this never fails by chance
        assert max(abs(many - groups / 6) for many in drawn.values()) < 60

    def test_rows_are_written_where_they_lie(self, tmp_path: Path) -> None:
        """Every row once, in files that are complete, whose bytes are named."""
        rows, folder = table(), tmp_path / "out"
        folder.mkdir()
        with self.kept(rows, 4) as passes:
            parts = passes.write(lambda part: pa.table({"a": part[:, 3], "b": part[:, 0]}), folder)
        assert sorted(part.name for part in parts) == sorted(f.name for f in folder.iterdir())
        found = []
        for part in parts:
            data = (folder / part.name).read_bytes()
            assert hashlib.sha256(data).hexdigest() == part.digest
            assert pq.read_metadata(folder / part.name).num_rows == part.rows
            found += pq.ParquetFile(folder / part.name).read().to_pylist()
        expected = [{"a": int(row[3]), "b": int(row[0])} for row in rows]
        assert sorted(map(repr, found)) == sorted(map(repr, expected))

    def test_what_cannot_be_written_is_one_fault(self, tmp_path: Path) -> None:
        def broken(part: Numbers) -> pa.Table:
            raise pa.ArrowInvalid("canary")

        with self.kept(table(), 4) as passes, pytest.raises(EngineFault) as caught:
            passes.write(broken, tmp_path)
        assert str(caught.value) == FAULT
        assert caught.value.__context__ is None
        assert [one for one in tmp_path.iterdir() if one.name.startswith(("part", ".tmp"))] == []

    def test_rows_are_shuffled_as_wholes(self) -> None:
        rows = table()
        with self.kept(rows, 4) as passes:
            found = []
            for seed in range(2):
                with passes.shuffle(Seeded(seed)) as other:
                    found.append(np.concatenate(list(other.batches())).tolist())
        assert found[0] != found[1] != rows.tolist()
        for made in found:
            assert sorted(made) == sorted(rows.tolist())


class WordsSuite(PassesSuite):
    """For those who sort by words that they draw."""

    def test_equal_words_are_drawn_anew(self) -> None:
        """Otherwise the values themselves would decide the order."""
        rows = np.arange(4)[:, np.newaxis]
        with self.kept(rows, 2) as passes:
            source = Repeating()
            with passes.shuffle(source) as other:
                assert sorted(np.concatenate(list(other.batches()))[:, 0]) == [0, 1, 2, 3]
            assert source.calls > 2
            source = Repeating()
            with passes.number(lambda part: [part[:, 0] * 0], source) as other:
                assert sorted(other.take(np.arange(4))[:, 1]) == [0, 1, 2, 3]
            assert source.calls > 2
            source = Repeating()
            with passes.permute([0], lambda part: part[:, 0] * 0, source) as other:
                assert sorted(other.take(np.arange(4))[:, 0]) == [0, 1, 2, 3]
            assert source.calls > 2


class Repeating:
    """Words that are all the same at first."""

    safe = False

    def __init__(self) -> None:
        self.calls = 0
        self._rest = Seeded(1)

    def words(self, count: int, bits: Literal[8, 16, 32, 64] = 64) -> np.ndarray:
        self.calls += 1
        return np.zeros(count, np.uint64) if self.calls <= 2 else self._rest.words(count, bits)
