"""All columns share one budget, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.private import column, margins
from tenue.microdata.private.domain import Domain
from tenue.noise.source import Seeded
from tenue.schema import Schema

TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}
DOMAIN = Domain.of(
    Schema.from_dict(
        {
            "table": TABLE,
            "columns": {
                "a": {"type": "category", "categories": ["x", "y", "z"]},
                "b": {"type": "number", "bounds": [0, 10_000]},
                "c": {"type": "boolean"},
            },
        }
    )
)


def test_the_parts_of_the_budget_sum_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[Fraction] = []
    real = column.private_margin

    def watched(axis, places, epsilon, source):  # type: ignore[no-untyped-def]
        spent.append(epsilon)
        return real(axis, places, epsilon, source)

    monkeypatch.setattr(margins, "private_margin", watched)
    places = np.zeros((50, 3), np.int64)
    found = margins.private_margins(DOMAIN, places, Fraction(7, 10), Seeded(1))
    assert sum(spent) == Fraction(7, 10)
    assert len(found) == 3
    assert [int(margin.edges[-1]) for margin in found] == [3, 10_001, 2]


def test_more_rows_mean_less_error() -> None:
    few, many = (margins.columns_error(DOMAIN, n, Fraction(1)) for n in (1_000, 100_000))
    assert many < few / 10
