from __future__ import annotations

import numpy as np
import pytest

from exhibits import assert_as_expected, cell, data, needs_data
from tenue.evaluate import PublishedColumn, rematched
from tenue.microdata import permuted
from tenue.microdata.partition.whole_values import Classes, whole_values
from tenue.noise import Seeded
from tenue.papers.swapping import errata as module

EXPECTED = {
    "err.columns": "corrected",
    "err.rematch": "corrected",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_two_columns_single_everybody_out() -> None:
    found = cell("err.columns", "(1, 1), (2, 3), (3, 2), (4, 4)", "linked by who knows the records")
    assert found.ours == 1.0


@needs_data
@pytest.mark.parametrize(("k", "restored", "blind"), [(5, 0.477, 0.184), (10, 0.287, 0.092)])
def test_groups_of_whole_values_are_put_back_too(k: int, restored: float, blind: float) -> None:
    """Soundness, section 6: TAXINC as it is published, all other columns as they are."""
    census, place = data().census.values, 6
    line, codes = np.unique(census[:, place], return_inverse=True)
    labels = whole_values(Classes(codes.reshape(-1), line), k, 2).labels
    shown = census[permuted(labels, Seeded(k)), place]
    columns = {str(i): PublishedColumn(census[:, i], census[:, i]) for i in range(13) if i != place}
    swapped = PublishedColumn(census[:, place], shown, labels)
    found = rematched({**columns, "TAXINC": swapped})["TAXINC"]
    assert found.records == pytest.approx(restored, abs=0.01)
    assert found.records_blind == pytest.approx(blind, abs=0.0005)
