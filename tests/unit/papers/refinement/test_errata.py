from __future__ import annotations

import pytest

from exhibits import assert_as_expected, cell
from tenue.papers.refinement import errata as module

EXPECTED = {
    "err.masses": "corrected",
    "err.between": "corrected",
    "err.delta": "corrected",
    "err.parallel": "corrected",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_parts_by_value_cost_twice_under_replace() -> None:
    found = cell("err.parallel", "counts of x < ½ and x ≥ ½", "loss, one record replaced")
    assert found.ours == 2


def test_the_swapped_masses_add_up_to_more_than_one() -> None:
    row = "P(U_u) = (α_u − 1)/(α_u − α_d)"
    found = cell("err.masses", row, "total mass, ε = 1").ours
    assert found == pytest.approx(2.0861612696304874)  # e^ε + e^-ε − 1
