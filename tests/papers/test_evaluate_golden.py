"""Risk and loss as the thesis measures them, on its own tables (chapters 3 and 6).

What is masked here is microaggregated with MDAV, which is deterministic: every cell is met to ten
digits. Cells whose masking is random belong to the tests of publishing; of those only the relation
of the three columns of Tables 6.1 and 6.2 is checked, which the thesis prints as a product and
writes as a ratio.
"""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tenue as tn
from tenue.evaluate import Score
from tenue.microdata import mdav

HERE = Path(__file__).resolve()
SHARED = HERE.parents[2].parent / "shared"
ENTRIES = json.loads((HERE.parent / "evaluate.json").read_text())
CELLS = {(e["table"], e["row"], e["col"]): e["recomputed"] for e in ENTRIES}
CENSUS_FOUR = ["FEDTAX", "POTHVAL", "INTVAL", "FICA"]
needs_data = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="the reference data is not beside this project"
)


@cache
def census() -> pd.DataFrame:
    return pd.read_csv(SHARED / "data" / "census.csv").astype(float)


@cache
def eia() -> pd.DataFrame:
    table = pd.read_csv(SHARED / "data" / "eia.csv")
    return table[list(table.columns[4:])].astype(float)


def microaggregated(table: pd.DataFrame, k: int, scale: list[float] | None = None) -> pd.DataFrame:
    labels = mdav(table.to_numpy(), k, scale=scale).labels
    return table.groupby(labels).transform("mean")


def sizes(table: str) -> list[int]:
    return sorted({int(row.split("k=")[1]) for t, row, _ in CELLS if t == table and "k=" in row})


@needs_data
@pytest.mark.parametrize(("table", "k"), [("3.6", 1), ("3.7", 12)])
def test_correlations_to_the_confidential_attributes(table: str, k: int) -> None:
    masked = census() if k == 1 else microaggregated(census(), k)
    found = tn.evaluate.correlation_difference(census(), masked).pairs
    columns = list(census().columns)
    for (_, row, col), wanted in ((c, v) for c, v in CELLS.items() if c[0] == table):
        one, other = (columns[int(name[1:]) - 1] for name in (row, col))
        if one == other:
            assert wanted == pytest.approx(1)
            continue
        pair = (one, other) if (one, other) in found else (other, one)
        assert found[pair][1] == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@needs_data
@pytest.mark.parametrize(
    ("table", "known", "k"),
    [("3.10", 6, k) for k in sizes("3.10")] + [("3.11", 4, k) for k in sizes("3.11")],
)
def test_mean_and_deviation_of_the_differences(table: str, known: int, k: int) -> None:
    """Differences between quasi-identifiers count as 0, though microaggregation moves them too."""
    original = census() if table == "3.10" else eia()
    found = tn.evaluate.correlation_difference(original, microaggregated(original, k))
    moved = {pair: abs(before - after) for pair, (before, after) in found.pairs.items()}
    assert found.mean == pytest.approx(np.mean(list(moved.values())))
    for pair in combinations(original.columns[:known], 2):
        moved[pair] = 0.0
    values = np.array(list(moved.values()))
    assert values.mean() == pytest.approx(CELLS[table, f"k={k}", "MDAV-ID mean"], rel=1e-9)
    assert values.std() == pytest.approx(CELLS[table, f"k={k}", "MDAV-ID st.dev."], rel=1e-9)


@needs_data
@pytest.mark.parametrize("k", sizes("6.1"))
def test_squared_error_and_record_linkage(k: int) -> None:
    original = census()[CENSUS_FOUR]
    scale = [1.5 * original[name].max() for name in CENSUS_FOUR]
    masked = microaggregated(original, k, scale)
    cell = ("6.1", f"k={k}")
    assert tn.evaluate.sse(original, masked) == pytest.approx(CELLS[(*cell, "SSE_0")], rel=1e-10)
    linked = tn.evaluate.record_linkage(original, masked, scale=scale)
    assert 100 * linked == pytest.approx(CELLS[(*cell, "RL_0")], rel=1e-12)
    raw = tn.evaluate.record_linkage(original, masked)
    assert raw != linked  # the scale is part of the reading


@needs_data
@pytest.mark.parametrize("k", sizes("6.5"))
def test_variations_of_means_and_variances(k: int) -> None:
    original = census()[CENSUS_FOUR]
    scale = [1.5 * original[name].max() for name in CENSUS_FOUR]
    for moved in tn.evaluate.distributions(original, microaggregated(original, k, scale)):
        mean = CELLS["6.5", f"mean {moved.name} k={k}", "MDAV"]
        variance = CELLS["6.5", f"variance {moved.name} k={k}", "MDAV"]
        assert moved.mean == pytest.approx(mean, abs=1e-12)
        assert moved.variance == pytest.approx(variance, rel=1e-9)


def test_scores_are_products() -> None:
    scores = {cell: value for cell, value in CELLS.items() if cell[2].startswith("Score")}
    assert len(scores) == 24
    for (table, row, col), wanted in scores.items():
        factors = [CELLS[table, row, col.replace("Score", name)] for name in ("SSE_f", "RL_f")]
        found = Score(sse_factor=factors[0], rl_factor=factors[1])
        assert found.value == pytest.approx(wanted, rel=1e-9)
        assert factors[0] / factors[1] != pytest.approx(wanted, rel=1e-2)


def test_no_number_is_missing() -> None:
    golden = SHARED / "golden" / "microdata.json"
    if not golden.exists():
        pytest.skip("the golden list is not beside this project")
    alone = re.compile(r"3\.6 |3\.7 |3\.1[01] MDAV-ID|6\.1 |6\.2 (SSE_f|RL_f|Score)|6\.5 MDAV$")
    wanted = {
        (c["table"], c["row"], c["col"]): c["recomputed"]
        for c in json.loads(golden.read_text())["cells"]
        if alone.match(f"{c['table']} {c['col']}")
    }
    assert wanted == CELLS
