"""How long a chain of records in one order can be: the shipped table, recomputed and attacked."""

from __future__ import annotations

import importlib.util
import itertools
import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tenue.publish.synthetic.axis import taxonomy_line
from tenue.sensitivity import chain
from tenue.taxonomy import Taxonomy
from tenue.taxonomy import total_order as curve
from tenue.taxonomy.total_order import bits_for

ROOT = Path(__file__).parents[3]


@cache
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("chain_table", ROOT / "scripts/chain_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def walk(columns: int, bits: int) -> np.ndarray:
    """All cells in the order of the curve, found without the script."""
    numbers = np.arange(1 << (columns * bits), dtype=np.int64)
    cells = np.stack([(numbers >> j * bits) & ((1 << bits) - 1) for j in range(columns)], axis=1)
    return cells[np.argsort(curve.index(cells, bits))]


@cache
def longest(columns: int, bits: int, links: int) -> tuple[Fraction, ...]:
    """The longest chains of 0, 1, … links between the middles of cells, by going through all."""
    cells = walk(columns, bits)
    apart = np.abs(cells[:, None] - cells[None, :]).sum(axis=2)
    forward = np.where(np.triu(np.ones_like(apart)) > 0, apart, -1)
    ends, found = np.zeros(len(cells), np.int64), [Fraction(0)]
    for _ in range(links):
        ends = np.where(forward >= 0, ends[:, None] + forward, -1).max(axis=0)
        found.append(Fraction(int(ends.max()), (1 << bits) - 1))  # the outermost are 1 apart
    return tuple(found)


# -- the table -------------------------------------------------------------------------------------


def test_targets() -> None:
    """Of the normalised centroid list: what `plan_release` must not exceed."""
    assert chain.hilbert(2, 30_162 // 300) / 300 <= Fraction("0.0955")
    assert chain.hilbert(2, 30_162 // 1000) / 1000 <= Fraction("0.0155")
    assert chain.hilbert(4, 1080 // 100) / 100 <= Fraction("0.281")
    assert chain.hilbert(1, 1000) / 7 == Fraction(1, 7)


@pytest.mark.parametrize("columns", range(2, 7))
def test_lines_are_what_the_script_computes(columns: int) -> None:
    table = chain.tables()[columns]
    made = script()
    assert table.bits == made.bits_of(columns)
    assert table.unit == Fraction(1, made.FINER << table.bits)
    cells = walk(columns, table.bits)
    assert np.array_equal(made.curve(columns, table.bits), cells)
    for slope, start in table.lines[:: len(table.lines) // 3]:
        assert made.gain(cells, slope) == start


@pytest.mark.slow
def test_the_whole_table_is_what_the_script_writes(capsys: pytest.CaptureFixture[str]) -> None:
    script().main()
    shipped = ROOT / "src/tenue/sensitivity/chain_table.json"
    assert json.loads(capsys.readouterr().out) == json.loads(shipped.read_text())


@pytest.mark.parametrize(("columns", "bits"), [(2, 1), (2, 2), (3, 1), (4, 1)])
def test_the_programme_finds_the_best_chain(columns: int, bits: int) -> None:
    """Against a plain search over all pairs of cells."""
    cells = walk(columns, bits)
    for slope in (columns * 4, columns * 4 + 3, columns * 5, columns * 4 << bits):
        best = [0] * len(cells)
        for here, there in itertools.combinations(range(len(cells)), 2):
            length = int(np.abs(cells[there] - cells[here]).sum()) + columns
            best[there] = max(best[there], best[here] + 4 * length - slope)
        assert script().gain(cells, slope, finer=4) == max(best)


@pytest.mark.parametrize("columns", range(2, 17))
def test_bounds_rest_on_cells_of_the_key_and_on_slopes_that_are_allowed(columns: int) -> None:
    table = chain.tables()[columns]
    assert table.bits <= bits_for(columns)
    for slope, _ in table.lines:
        assert slope * table.unit >= Fraction(columns, 1 << table.bits)


@pytest.mark.parametrize(("columns", "bits"), [(2, 5), (3, 3), (4, 2), (5, 2)])
def test_no_chain_is_longer_than_its_bound(columns: int, bits: int) -> None:
    for links, length in enumerate(longest(columns, bits, 60)):
        if links:
            bound = chain.hilbert(columns, links)
            assert length <= bound <= columns * links
            if links < 30:
                assert length > Fraction(7, 10) * bound  # nor is the bound idle


def test_the_first_links_are_exact() -> None:
    for columns in range(2, 17):
        assert chain.hilbert(columns, 1) == columns
        assert chain.hilbert(columns, 2) <= 2 * columns


def test_bounds_grow_with_groups_and_never_beyond_all_records() -> None:
    for columns in range(1, 17):
        found = [chain.hilbert(columns, groups) for groups in (1, 2, 3, 7, 50, 1000, 10**7)]
        assert found == sorted(found)
        assert found[-1] <= chain.separate(columns, 10**7)


def test_more_columns_than_the_table_have_the_plain_bound() -> None:
    assert chain.hilbert(17, 9) == 17 * 9


# -- mutants ---------------------------------------------------------------------------------------


def test_a_slope_that_is_too_small_is_refused_and_would_be_wrong() -> None:
    """Mutant: λ below D·2^−q, where links inside one cell add up without end."""
    cells = walk(2, 1)
    with pytest.raises(ValueError, match="without end"):
        script().gain(cells, 2 * 4 - 1, finer=4)
    for slope in (0, 1):  # the claim V + λ·N, in quarters of a side of 1/2
        start = int(script()._gain(cells, slope, 4))
        wrong = [Fraction(start + slope * n, 8) for n in range(61)]
        assert any(a > b for a, b in zip(longest(2, 5, 60), wrong, strict=True))
    start = script().gain(cells, 8, finer=4)
    right = [Fraction(start + 8 * n, 8) for n in range(61)]
    assert all(a <= b for a, b in zip(longest(2, 5, 60), right, strict=True))


def test_without_the_rounding_term_chains_would_be_too_long() -> None:
    """Mutant: the distance between cells instead of that between their far corners."""
    cells = walk(2, 2)
    apart = np.abs(cells[:, None] - cells[None, :]).sum(axis=2)
    forward = np.where(np.triu(np.ones_like(apart)) > 0, apart, -1)
    ends, wrong = np.zeros(len(cells), np.int64), []
    for _ in range(20):
        ends = np.where(forward >= 0, ends[:, None] + forward, -1).max(axis=0)
        wrong.append(Fraction(int(ends.max()), 4))
    assert any(a > b for a, b in zip(longest(2, 5, 60)[1:], wrong, strict=False))


# -- categories ------------------------------------------------------------------------------------

TREE = Taxonomy.from_nested({"any": {"a": ["p", "q", "r"], "b": {"c": ["s", "t"], "d": ["u"]}}})


@pytest.mark.parametrize("taxonomy", [TREE, Taxonomy.flat(list("pqrstu"))], ids=["tree", "flat"])
def test_categories_are_exact(taxonomy: Taxonomy) -> None:
    metric = taxonomy_line(taxonomy).metric
    size = len(metric)
    for groups in range(1, size + 3):
        best = max(
            sum(int(metric[a, b]) for a, b in itertools.pairwise(one))
            for one in itertools.combinations_with_replacement(range(size), min(groups, size) + 1)
        )
        assert chain.category(metric, groups) == best


def test_one_category_has_no_chain() -> None:
    assert chain.category(np.zeros((1, 1), np.int64), 3) == 0
