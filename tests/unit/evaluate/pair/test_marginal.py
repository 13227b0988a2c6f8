from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from tenue.evaluate.pair import marginal as module
from tenue.evaluate.pair.marginal import BINS, MISSING, MOST_WORDS, OTHERS, marginals


def test_shares_of_numbers_are_counted_in_the_same_bins() -> None:
    (found,) = marginals([[0.0], [0.5], [10.0]], [[5.0], [5.0], [10.0]])
    assert found.before is not None
    assert len(found.edges) == BINS + 1 == len(found.after) + 1
    assert (found.edges[0], found.edges[-1]) == (0, 10)
    assert sum(found.after) == pytest.approx(1)
    assert sum(found.before) == pytest.approx(1)
    assert found.before[0] == pytest.approx(1 / 3)
    assert found.after[0] == 0


def test_few_whole_numbers_have_a_bin_each() -> None:
    (found,) = marginals(None, [[1], [2], [2], [4]])
    assert found.words == ("1", "2", "3", "4")
    assert found.after == (0.25, 0.5, 0, 0.25)
    (halves,) = marginals(None, [[1.0], [1.5], [2.0]])
    assert len(halves.words) == BINS


def test_what_is_said_of_a_release_follows_from_it_alone() -> None:
    """A mutant that took bins or words from the original would tell its range or a rare value."""
    original = pa.table({"x": [0.0, 1.5, 99.0], "w": ["rare", "a", "b"]})
    released = pa.table({"x": [1.5, 2.0, 3.0], "w": ["a", "a", "b"]})
    alone = marginals(None, released)
    assert all(one.before is None for one in alone)
    assert (alone[0].edges[0], alone[0].edges[-1]) == (1.5, 3)
    assert alone[1].words == ("a", "b")
    beside = marginals(original, released)
    assert "rare" in beside[1].words
    assert beside[0].edges[-1] == 99


def test_rare_words_and_blanks_are_put_together() -> None:
    words = ["common"] * 50 + [f"w{i}" for i in range(40)] + [None] * 10
    (found,) = marginals(None, pa.table({"w": words}))
    assert found.words[0] == "common"
    assert len(found.words) == MOST_WORDS + 1
    assert found.words[-2:] == (OTHERS, MISSING)
    assert found.after[0] == 0.5
    assert found.after[-1] == pytest.approx(0.1)
    assert sum(found.after) == pytest.approx(1)


def test_blanks_of_numbers_are_told_apart() -> None:
    (found,) = marginals(pa.table({"x": [1.0, 2.5, 3.0, 4.0]}), pa.table({"x": [1.0, None, 3, 4]}))
    assert found.missing == (0.25, 0.0)
    assert sum(found.after) == pytest.approx(0.75)
    (empty,) = marginals(None, pa.table({"x": pa.array([None, None], pa.float64())}))
    assert empty.missing == (1.0, None)


def test_intervals_instead_of_numbers_are_shown_alone() -> None:
    (found,) = marginals(
        pa.table({"x": [1, 2, 3]}), pa.table({"x": ["[1, 2]", "[1, 2]", "[3, 4]"]})
    )
    assert found.before is None
    assert found.words == ("[1, 2]", "[3, 4]")


def test_days_and_constants_have_bins_too() -> None:
    days = [datetime.date(2020, 1, day) for day in (1, 2, 3)]
    (found,) = marginals(None, pa.table({"day": days}))
    assert found.time
    assert len(found.after) == 3
    (same,) = marginals(None, pa.table({"x": [3.25, 3.25]}))
    assert sum(same.after) == 1


def test_only_declared_columns_are_shown() -> None:
    from unit.microdata.census import people, schema

    table = people()
    names = [one.name for one in marginals(None, table, schema())]
    identifiers = {column.name for column in schema().identifiers}
    assert identifiers
    assert not identifiers & set(names)
    assert set(names) <= set(schema().columns)


def test_bins_are_written_only_when_somebody_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant formats every bin of every column as it counts."""
    written: list[float] = []
    real = module.shortly
    monkeypatch.setattr(module, "shortly", lambda *given: written.append(given[0]) or real(*given))
    (found,) = marginals(None, np.linspace(0, 1, 100)[:, None])
    assert not written
    assert len(found.words) == BINS
    assert len(written) == 2 * BINS
