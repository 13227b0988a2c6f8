"""A column on disk is grouped and swapped as one in memory is, in batches, and nothing is left."""

from __future__ import annotations

import importlib
import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidTable
from tenue.microdata import individual_ranking, rank_file, swap_file
from tenue.microdata.partition.whole_values import Classes, whole_values
from tenue.noise import Seeded

module = importlib.import_module("tenue.microdata.table.stored")
MEMORY = 128 << 20


def values(case: str, size: int = 2500) -> list[Any]:
    rng = random.Random(case)
    made = {
        "untied": lambda: rng.gauss(0, 1000),
        "heavy ties": lambda: float(rng.randrange(5)),
        "whole numbers": lambda: rng.randrange(-300, 300),
        "both zeros": lambda: rng.choice([0.0, -0.0, 1.0, -1.0]),
        "huge and tiny": lambda: rng.choice([1e300, 1e-300, -1e300, rng.random()]),
        "constant": lambda: 7,
    }[case]
    return [made() for _ in range(size)]


CASES = ("untied", "heavy ties", "whole numbers", "both zeros", "huge and tiny", "constant")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 2048)


def stored(tmp_path: Path, column: list[Any]) -> Path:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"X": column, "other": list(range(len(column)))}), path)
    return path


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("k", [1, 3, 40])
def test_groups_are_those_of_the_column_in_memory(case: str, k: int, tmp_path: Path) -> None:
    column = values(case)
    out = tmp_path / "groups.parquet"
    many = rank_file(stored(tmp_path, column), "x", k, out=out, memory=MEMORY)
    found = pq.read_table(out)
    assert found.column_names == ["group"]
    expected = individual_ranking(np.array(column), k)
    assert found.column("group").to_numpy().tolist() == expected.labels.tolist()
    assert many == len(expected)


@pytest.mark.parametrize("case", CASES)
def test_values_change_places_inside_groups_of_similar_ones(case: str, tmp_path: Path) -> None:
    column = values(case)
    out = tmp_path / "swapped.parquet"
    many = swap_file(stored(tmp_path, column), "x", 5, out=out, memory=MEMORY, source=Seeded(3))
    found = pq.read_table(out)
    assert found.column_names == ["X"]
    assert found.schema.field("X").type == pq.read_schema(tmp_path / "t.parquet").field("X").type
    moved = found.column("X").to_pylist()
    assert Counter(moved) == Counter(column)
    line, codes = np.unique(column, return_inverse=True)
    expected = whole_values(Classes(codes.astype(np.int64), line / max(1.0, abs(line).max())), 5, 2)
    assert many == len(expected)
    shown = expected.labels[[column.index(value) for value in moved]]
    assert shown.tolist() == expected.labels.tolist()  # every value stays in its group


def test_each_value_of_a_group_is_equally_likely(tmp_path: Path) -> None:
    """Twelve values, groups of four: all of them get each of the four, fixed points included."""
    path = stored(tmp_path, [float(i) for i in range(12)])
    seen: Counter[tuple[int, float]] = Counter()
    for seed in range(60):
        out = tmp_path / f"{seed}.parquet"
        swap_file(path, "x", 4, out=out, memory=MEMORY, source=Seeded(seed))
        seen.update(enumerate(pq.read_table(out).column("X").to_pylist()))
    assert set(seen) == {(i, float(j)) for i in range(12) for j in range(12) if i // 4 == j // 4}


def test_equal_values_are_in_one_group(tmp_path: Path) -> None:
    """Everybody may get the value that differs.

    The mutant, which divides equal values among groups, leaves most of them no such chance.
    """
    path = stored(tmp_path, [1.0] * 40 + [2.0])
    met = set()
    for seed in range(40):
        out = tmp_path / f"{seed}.parquet"
        swapped = swap_file(path, "x", 3, out=out, memory=MEMORY, source=Seeded(seed))
        assert swapped == 1
        met.add(pq.read_table(out).column("X").to_pylist().index(2.0))
    assert len(met) > 10
    assert len(individual_ranking([1.0] * 40 + [2.0], 3)) > 1


def test_a_table_of_duckdb_will_do(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS v FROM range(100)")
    out = tmp_path / "g.parquet"
    assert rank_file(f"duckdb://{tmp_path / 'a.duckdb'}#t", "v", 10, out=out) == 10


BAD: dict[str, dict[str, Any]] = {
    "k too large": {"k": 2501},
    "k that is none": {"k": 0},
    "no such column": {"column": "nobody"},
    "little memory": {"memory": 1000},
    "out is there": {"out": "t.parquet"},
    "no such folder": {"out": "nowhere/g.parquet"},
    "a csv": {"table": "t.csv"},
    "text": {"column": "word"},
    "blanks": {"column": "blank"},
    "not finite": {"column": "inf"},
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("run", [rank_file, swap_file])
def test_what_cannot_be_done_is_refused_and_writes_nothing(
    run: Any, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    table = pa.table(
        {
            "x": values("untied"),
            "word": ["a"] * 2500,
            "blank": [None] + [1.0] * 2499,
            "inf": [float("inf")] + [1.0] * 2499,
        }
    )
    pq.write_table(table, "t.parquet")
    Path("t.csv").write_text("x\n1\n2\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    how: dict[str, Any] = {"table": "t.parquet", "column": "x", "k": 5, "out": "g.parquet"}
    with pytest.raises((InvalidArgument, InvalidTable)):
        run(**{**how, **BAD[case]})
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert list(scratch.iterdir()) == []


def test_nothing_of_the_rows_stays_in_the_scratch_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    path = stored(tmp_path, values("untied"))
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    swap_file(path, "x", 5, out=tmp_path / "s.parquet")
    assert list(scratch.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.parquet", "scratch", "t.parquet"]
    assert tn.microdata.swap_file is swap_file


def test_whole_numbers_beyond_2_to_the_53_are_ranked_exactly(tmp_path: Path) -> None:
    """As doubles, neighbours are ties, and ties are taken by row instead of by value."""
    values = [2**53 + step for step in (4, 1, 3, 2, 8, 5, 7, 6)]
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": values}), path)
    rank_file(path, "x", 2, out=tmp_path / "out.parquet")
    stored = pq.read_table(tmp_path / "out.parquet").column("group").to_numpy()
    assert np.array_equal(stored, individual_ranking(values, 2).labels)
    pairs = {tuple(sorted(np.array(values)[stored == g] - 2**53)) for g in range(4)}
    assert pairs == {(1, 2), (3, 4), (5, 6), (7, 8)}
    mutant = individual_ranking(np.array(values, float), 2).labels
    assert not np.array_equal(stored, mutant)
