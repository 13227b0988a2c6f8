"""Rows in memory and rows on disk keep the same contract."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from contracts.passes_suite import SIZES, WordsSuite
from tenue.engine.contract import Numbers, Passes
from tenue.engine.open import keep_rows
from tenue.engine.passes import in_memory
from tenue.engine.passes.in_memory import InMemory


class TestHeld(WordsSuite):
    @contextmanager
    def kept(self, rows: Numbers, batch: int) -> Iterator[Passes]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(in_memory, "BATCH", batch)
            yield InMemory(rows)


class TestOnDisk(WordsSuite):
    @contextmanager
    def kept(self, rows: Numbers, batch: int) -> Iterator[Passes]:
        def fill(take):  # type: ignore[no-untyped-def]
            for begin in range(0, len(rows), 7):
                take(rows[begin : begin + 7])

        with keep_rows(fill, SIZES[: rows.shape[1]], memory=128 << 20, batch=batch) as passes:
            yield passes
