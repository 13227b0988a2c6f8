"""Risk and utility: of all rows where that is possible, never understated where it is not."""

from __future__ import annotations

import importlib
from dataclasses import replace

import pyarrow as pa
import pytest

import tenue as tn
from tenue.evaluate import check, risk, utility
from tenue.microdata.assessment import assessed, measured_groups
from tenue.noise import Seeded
from unit.microdata.census import people, schema

module = importlib.import_module("tenue.microdata.assessment")
COLUMNS = ["age", "job", "sex", "income", "ill", "note"]


def pair(size: int = 300) -> tuple[pa.Table, pa.Table]:
    """A table and a coarser one: ages in tens."""
    before = people(size).select(COLUMNS)
    ages = [age // 10 * 10 for age in before.column("age").to_pylist()]
    return before, before.set_column(0, "age", [ages])


def test_a_small_table_is_compared_whole() -> None:
    before, after = pair()
    found = assessed(before, after, schema(), Seeded(1))
    assert found == (risk(before, after, schema()), utility(before, after, schema()), ())


def test_in_a_large_table_the_risk_is_not_understated(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = pair()
    whole = risk(before, after, schema())
    monkeypatch.setattr(module, "MOST_LINKED", 60)
    for seed in range(5):
        harm, use, steps = assessed(before, after, schema(), Seeded(seed))
        assert harm.linkage_by_quasi_identifiers is not None
        assert whole.linkage_by_quasi_identifiers is not None
        assert harm.linkage_by_quasi_identifiers > whole.linkage_by_quasi_identifiers
        seen = replace(check(after, schema()), reading=None)
        assert harm.check == seen  # groups of a part would be too small
        assert harm.check != risk(before.slice(0, 60), after.slice(0, 60), schema()).check
        assert use == utility(before, after, schema())
        assert "60 rows" in steps[0].text
        assert (whole.rows_tried, harm.rows_tried) == (300, 60)
        assert "measured on 60 of 300 rows" in str(harm)
        assert "drawn at random" not in str(whole)


def test_the_rows_are_drawn_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unchanged table is linked and found unchanged, whichever rows are drawn."""
    before, _ = pair()
    monkeypatch.setattr(module, "MOST_LINKED", 50)
    harm, _, _ = assessed(before, before, schema(), Seeded(2))
    assert harm.unchanged == 1
    assert harm.record_linkage > 0.99
    assert replace(harm, check=None).check is None


def test_a_release_tells_how_it_was_assessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LINKED", 50)
    release = tn.publish(people(), schema=schema(), method="swap", k=4)
    assert release.history[-1].name == "evaluate"


def test_k_of_a_swapped_table_is_explained_and_that_of_another_needs_no_word() -> None:
    swapped = tn.publish(people(), schema=schema(), method="swap", k=4).risk.check
    assert swapped is not None
    assert swapped.k == 1
    assert "at most 1/4" in swapped.notes[0]
    assert "k, l and t do not measure it" in str(swapped).replace("\n", " ")
    other = tn.publish(people(), schema=schema(), method="microaggregate", k=4).risk.check
    assert other is not None
    assert not any("swapped" in note for note in other.notes)


def test_k_is_that_of_the_table_as_it_is_written() -> None:
    """Middles of different intervals may be equal; k of what was read would then be too large."""
    before, _ = pair(40)
    written = before.set_column(
        0, "age", [["[0, 100]" if i % 2 else "[50, 50]" for i in range(40)]]
    )
    middle = before.set_column(0, "age", [[50] * 40])
    plain = schema(job=None, sex=None)
    found = assessed(before, middle, plain, Seeded(1))
    assert found.risk is not None
    assert found.risk.check is not None
    assert found.risk.check.k == 40
    again = measured_groups(found, written, plain, None).risk
    assert again is not None
    assert again.check is not None
    assert again.check.k == 20
    assert again.record_linkage == found.risk.record_linkage
    none = found._replace(risk=None)
    assert measured_groups(none, written, plain, None) is none
