from __future__ import annotations

import numpy as np
import pytest

from exhibits import assert_as_expected, cell, needs_data
from tenue.papers.private_data import adult as module
from tenue.papers.private_data.calibration import COLUMNS

EXPECTED = {
    "6.3": "not reproducible",
    "6.4": "not reproducible",
}


@pytest.mark.slow
def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


@needs_data
def test_squared_errors_of_mdav_are_ten_times_the_print() -> None:
    for k in (5, 15, 30):
        found = cell("6.3", f"k = {k}, SSE_0 over 10 × the print", COLUMNS["SSE_f"]).ours
        assert found == pytest.approx(1, abs=0.1)


@needs_data
def test_the_plain_mechanism_is_as_it_was_found_elsewhere() -> None:
    assert cell("6.4", "ε = 0.01, k = 1", COLUMNS["SSE_f"]).ours == pytest.approx(1.53e4, rel=0.005)


def test_probabilities_are_those_of_the_exponential_mechanism() -> None:
    from tenue.taxonomy import Taxonomy

    flat = Taxonomy.from_nested({"all": ["a", "b"]})
    column = module.Categories(flat, ["a", "a", "b"])
    law = column.chosen(np.array([0, 0, 0]), 1.0)
    assert law.sum() == pytest.approx(1)
    best = column.chosen(np.array([0, 0, 0]), None)
    assert best.argmax() == law.argmax()
    assert sorted(best[0].tolist())[:-1] == [0.0] * (best.shape[1] - 1)
