"""Correlations of fine columns: rounded as far as needed, and said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tenue as tn
from tenue.errors import NotPromised
from tenue.query.coarse import coarser
from tenue.query.explain import plan_for
from tenue.query.read.parse import parse
from tenue.query.terms import Terms
from tenue.query.write.question import render
from tenue.schema import Schema

FINE = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "x": {"type": "number", "bounds": [0, 1_000_000], "grid": 0.01},
            "y": {"type": "number", "bounds": [-1_000_000, 1_000_000], "grid": 0.01},
            "z": {"type": "number", "bounds": [0, 9]},
        },
        "budget": {"total": 100_000},
    }
)


def test_what_fits_is_left_alone() -> None:
    sql = "SELECT CORR(z, z + 1) AS r FROM t"
    assert plan_for(sql, FINE, Terms(epsilon=1)).question == parse(sql, FINE)


def test_fine_grids_become_coarser_and_the_text_says_so() -> None:
    plan = plan_for("SELECT CORR(x, y) AS r FROM t", FINE, Terms(epsilon=1))
    assert "FLOOR(" in plan.sql
    assert parse(plan.sql, FINE) == plan.question
    for computed in plan.question.computed:
        assert computed.grid > 1
    half = coarser(parse("SELECT CORR(x, y) AS r FROM t", FINE), FINE, 2)
    assert parse(render(half, FINE), FINE) == half


def test_others_are_still_refused() -> None:
    with pytest.raises(NotPromised):
        plan_for("SELECT COVAR_POP(x, y) FROM t", FINE, Terms(epsilon=1))


def test_the_correlation_hardly_changes() -> None:
    source = np.random.default_rng(2)
    x = source.uniform(0, 1_000_000, 5000).round(2)
    y = (x - 500_000 + source.normal(0, 200_000, 5000)).round(2)
    rows = pd.DataFrame({"x": x, "y": y, "z": 1})
    with tn.protect(rows, schema=FINE, ledger=tn.ledger.Memory()) as data:
        found = data.ask("SELECT CORR(x, y) FROM t", epsilon=500).value
    assert found == pytest.approx(np.corrcoef(x, y)[0, 1], abs=0.02)
