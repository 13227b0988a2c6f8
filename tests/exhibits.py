"""What the tests of the papers share: where the data is, and verdicts that must be so.

The data is not in this repository: what needs it is skipped without ../shared/data or TENUE_DATA.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from tenue_papers.catalogue import exhibits
from tenue_papers.cell import Cell, Verdict
from tenue_papers.data import FOLDER, Data
from tenue_papers.exhibit import Exhibit, Shown

_BESIDE = Path(__file__).parents[1].parent / "shared" / "data"
FOUND = _BESIDE if _BESIDE.is_dir() else Path(os.environ.get(FOLDER, "."))
HAS_DATA = (FOUND / "census.csv").is_file()
needs_data = pytest.mark.skipif(
    not HAS_DATA, reason="the reference data (../shared/data) is not on this machine"
)

LONG = 30
"""What takes more seconds is computed in the long run only (`papers/test_verdicts.py`)."""


@cache
def data() -> Data:
    return Data(FOUND) if HAS_DATA else Data(_nowhere())


def _nowhere() -> Path:
    return Path(__file__).parent / "papers"


@cache
def shown(name: str) -> Shown:
    """An exhibit, computed once for all tests that look at it."""
    return exhibits()[name].shown(data())


def cell(name: str, row: str, column: str) -> Cell:
    (found,) = (c for c in shown(name).cells if (c.row, c.column) == (row, column))
    return found


def anew(name: str) -> Verdict:
    """The verdict as it is now, whatever was computed before; for mutants."""
    from tenue_papers import bayes

    for kept in (bayes.exact, bayes.simulated):
        kept.cache_clear()
    try:
        return exhibits()[name].shown(Data(FOUND) if HAS_DATA else Data(_nowhere())).verdict
    finally:
        for kept in (bayes.exact, bayes.simulated):
            kept.cache_clear()


def assert_as_expected(given: tuple[Exhibit, ...], expected: dict[str, str]) -> None:
    """Exactly these exhibits, each with its verdict; those that need data if it is here."""
    assert [one.id for one in given] == list(expected)
    for one in given:
        if one.seconds > LONG:
            continue
        if one.needs and not HAS_DATA:
            assert shown(one.id).verdict is Verdict.MISSING
            continue
        bad = [c for c in shown(one.id).cells if c.verdict is Verdict.DIFFERENT]
        assert not bad, bad[:3]
        assert (one.id, shown(one.id).verdict.value) == (one.id, expected[one.id])
