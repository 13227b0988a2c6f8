"""What every kind of `Passes` keeps: rows are the same in every pass, and none is forgotten."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
import pytest

from tenue.engine.contract import Numbers, Passes

SIZES = (5, 300, 70_000, 2**40)


def table(rows: int = 23) -> Numbers:
    rng = np.random.default_rng(rows)
    return np.stack([rng.integers(0, size, rows) for size in SIZES], axis=1)


class PassesSuite:
    """Inherit it, and say how rows are kept, a few at a time."""

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
