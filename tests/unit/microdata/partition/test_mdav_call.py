"""`mdav` as people call it: its refusals, its two ways of computing, the thesis' numbers."""

from __future__ import annotations

import csv
import importlib
import random
from pathlib import Path

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable
from tenue.microdata import Partition, mdav
from tenue.microdata.partition import plain, points

module = importlib.import_module("tenue.microdata.partition.mdav")
DATA = Path(__file__).resolve().parents[4].parent / "shared" / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the reference data (../shared/data) is not on this machine"
)
CENSUS_FOUR = ["FEDTAX", "POTHVAL", "INTVAL", "FICA"]
EIA_ELEVEN = [
    "MONTH",
    *("RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES"),
    *("OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES"),
]


def read(name: str, columns: list[str] | None = None) -> np.ndarray:
    with (DATA / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row[c]) for c in columns or rows[0]] for row in rows])


def masked(table: np.ndarray, partition: Partition) -> np.ndarray:
    means = [table[group].mean(axis=0) for group in partition.groups()]
    return np.array(means)[partition.labels]


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
    monkeypatch.setattr(module, "kernels", lambda: None)
    assert mdav(table, 3) == expected
    assert calls == [3]


@needs_data
@pytest.mark.parametrize(
    ("k", "sse", "linked"),
    [
        (2, 3065540327.0, 45.27777777777778),
        (5, 12015241527.2, 18.425925925925927),
        (15, 24099516681.066667, 6.481481481481481),
        (30, 40042953464.8, 3.3333333333333335),
    ],
)
def test_table_6_1_of_the_thesis(k: int, sse: float, linked: float) -> None:
    census = read("census", CENSUS_FOUR)
    scale = 1.5 * census.max(axis=0)
    published = masked(census, mdav(census, k, scale=scale.tolist()))
    assert ((census - published) ** 2).sum() == pytest.approx(sse, rel=1e-12)
    apart = ((published[:, np.newaxis] - census[np.newaxis]) / scale) ** 2
    distances = apart.sum(axis=2)
    closest = distances == distances.min(axis=1, keepdims=True)
    assert 100 * (closest.diagonal() / closest.sum(axis=1)).mean() == pytest.approx(linked)


def correlation_change(table: np.ndarray, k: int, known: int) -> float:
    """Mean over all pairs; the pairs among the first `known` columns count as unchanged."""
    change = np.abs(np.corrcoef(masked(table, mdav(table, k)).T) - np.corrcoef(table.T))
    change[:known, :known] = 0
    return float(change[np.triu_indices(table.shape[1], 1)].mean())


@needs_data
@pytest.mark.parametrize(
    ("k", "census", "eia"),
    [
        (5, 0.05416366643005269, 0.018502666298103057),
        (7, 0.0625361428992479, 0.020563262002659302),
        (11, 0.07754225941283813, 0.039392989350048584),
        (25, 0.11332419848958517, 0.08467275210741841),
        (100, 0.1669811505221493, 0.1501132829089818),
        (200, 0.2764701451433276, 0.1892199390602103),
        (300, 0.3832670054542476, 0.2023067585559672),
    ],
)
def test_tables_3_10_and_3_11_of_the_thesis(k: int, census: float, eia: float) -> None:
    assert correlation_change(read("census"), k, 6) == pytest.approx(census, rel=1e-9)
    assert correlation_change(read("eia", EIA_ELEVEN), k, 4) == pytest.approx(eia, rel=1e-9)


@needs_data
@pytest.mark.parametrize("k", [3, 5, 10, 25])
@pytest.mark.parametrize(("name", "columns"), [("census", None), ("eia", EIA_ELEVEN)])
def test_the_compiled_algorithm_agrees_on_real_tables(
    name: str, columns: list[str] | None, k: int
) -> None:
    fast = pytest.importorskip("tenue.microdata.partition.fast", exc_type=ImportError)
    table = read(name, columns)
    for scale in (None, (1.5 * np.abs(table).max(axis=0)).tolist()):
        given = points.points_of(table, scale)
        assert np.array_equal(fast.mdav(given, k), plain.mdav(plain.Euclidean(given), k))
