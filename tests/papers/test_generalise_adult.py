"""Adult with seven quasi-identifiers: no levels lose less, and splitting loses less than levels.

The data is not in this repository: without ../shared these tests are skipped.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tenue.publish.generalise.full_domain import MEASURES, full_domain
from tenue.publish.generalise.privacy_condition import Need

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the reference data (../shared/data) is not on this machine"
)


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return importlib.import_module("generalise")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def adult(benchmark: ModuleType) -> Any:
    return benchmark.adult(DATA)


def test_the_rows_are_those_that_everybody_uses(adult: Any) -> None:
    assert adult.size == 30_162


@pytest.mark.parametrize("k", [5, 10])
@pytest.mark.parametrize("measure", MEASURES)
def test_splitting_loses_at_most_half_of_the_best_levels(
    benchmark: ModuleType, adult: Any, measure: str, k: int
) -> None:
    scales = benchmark.scales_of(adult)
    levels = full_domain(benchmark.lattice_of(scales), Need(k), MEASURES[measure]).loss
    made = benchmark.split(scales, k)
    assert made.rows.min() >= k
    assert 2 * MEASURES[measure](made) <= levels


@pytest.mark.slow
def test_no_levels_of_the_whole_lattice_lose_less(benchmark: ModuleType, adult: Any) -> None:
    scales = benchmark.scales_of(adult)
    least = benchmark.exhaustive(benchmark.lattice_of(scales), (5, 10))
    for (k, name), loss in least.items():
        assert full_domain(benchmark.lattice_of(scales), Need(k), MEASURES[name]).loss == loss
    assert len(least) == 6


def test_average_class_sizes_are_those_that_arx_states(benchmark: ModuleType, adult: Any) -> None:
    for name, (width, columns, stated) in benchmark.ARX.items():
        assert benchmark.average_class_size(adult, width, columns) == stated, name
