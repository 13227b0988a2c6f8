"""`mdav` as people call it: its refusals, its two ways of computing."""

from __future__ import annotations

import csv
import importlib
import random
from pathlib import Path

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable
from tenue.microdata import mdav
from tenue.microdata.kernels import kernels
from tenue.microdata.partition import plain, points

module = importlib.import_module("tenue.microdata.partition.mdav")
DATA = Path(__file__).resolve().parents[4].parent / "shared" / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the reference data (../shared/data) is not on this machine"
)
EIA_ELEVEN = [
    "MONTH",
    *("RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES"),
    *("OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES"),
]


def read(name: str, columns: list[str] | None = None) -> np.ndarray:
    with (DATA / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row[c]) for c in columns or rows[0]] for row in rows])


def test_scale_divides_before_distances_are_taken() -> None:
    rng = random.Random(1)
    table = np.array([[rng.gauss(0, 1), rng.gauss(0, 1000)] for _ in range(90)])
    assert mdav(table, 4, scale=[1, 1000]) == mdav(table / [1.0, 1000.0], 4)
    assert mdav(table, 4, scale=[1, 1000]) != mdav(table, 4)


def test_tables_of_any_kind_are_read() -> None:
    rows = [[3, 1], [0, 2], [5, 5], [1, 1], [4, 0], [2, 2]]
    expected = mdav(rows, 2)
    pandas = pytest.importorskip("pandas")
    assert mdav(np.array(rows, np.uint8), 2) == expected
    assert mdav(pandas.DataFrame(rows), 2) == expected
    assert mdav(np.array(rows, np.float32)[::-1][::-1], 2) == expected


def test_the_given_table_is_left_alone() -> None:
    table = np.arange(40.0).reshape(10, 4)
    mdav(table, 2, scale=[1, 2, 3, 4])
    assert np.array_equal(table, np.arange(40.0).reshape(10, 4))


@pytest.mark.parametrize("k", [0, -3, 1.5, 7, "k", None])
def test_an_impossible_k_is_refused(k: object) -> None:
    with pytest.raises(InvalidArgument):
        mdav(np.arange(12.0).reshape(6, 2), k)


@pytest.mark.parametrize("table", [[1, 2, 3], [], [[]], [["a"]], [[float("nan")]], [[1], [1, 2]]])
def test_a_table_that_is_none_is_refused(table: object) -> None:
    with pytest.raises(InvalidTable):
        mdav(table, 1)


def test_a_wrong_call_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        mdav([[1]], 1, scales=[1])
    with pytest.raises(InvalidArgument):
        mdav([[1]])
    with pytest.raises(InvalidArgument):
        mdav([[1, 2]], 1, scale=[1])


def test_the_compiled_algorithm_is_used_for_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    class Kernels:
        @staticmethod
        def mdav(given: points.Points, k: int) -> np.ndarray:
            calls.append(k)
            return plain.mdav(plain.Euclidean(given), k)

    monkeypatch.setattr(module, "kernels", lambda: Kernels)
    table = np.arange(200.0).reshape(100, 2) % 7
    expected = mdav(table, 3)
    assert calls == []
    monkeypatch.setattr(module, "COMPILED_FROM", 100 * 100 * 2 / 3)
    assert mdav(table, 3) == expected
    assert calls == [3]


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("k", [3, 5, 10, 25])
@pytest.mark.parametrize(("name", "columns"), [("census", None), ("eia", EIA_ELEVEN)])
def test_the_compiled_algorithm_agrees_on_real_tables(
    name: str, columns: list[str] | None, k: int
) -> None:
    fast = kernels()
    table = read(name, columns)
    for scale in (None, (1.5 * np.abs(table).max(axis=0)).tolist()):
        given = points.points_of(table, scale)
        assert np.array_equal(fast.mdav(given, k), plain.mdav(plain.Euclidean(given), k))
