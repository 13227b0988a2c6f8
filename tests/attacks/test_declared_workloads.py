"""Declared workloads: conditions that compute, texts that go on, names and bins of any kind."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import Refused

SCHEMA: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {
        "x": {"type": "number", "bounds": [0, 9]},
        "hours-per-week": {"type": "number", "bounds": [0, 9]},
        "part": {"type": "number", "bounds": [0, 1], "grid": 0.1},
        "marital-status": {"type": "category", "categories": ["a", "b"]},
        "c": {"type": "category", "categories": ["u", "v"]},
    },
    "budget": {"total": 1_000_000},
}
TABLE = pd.DataFrame(
    {
        "x": [n % 10 for n in range(1000)],
        "hours-per-week": [n // 100 for n in range(1000)],
        "part": [n % 10 / 10 for n in range(1000)],
        "marital-status": ["a", "b"] * 500,
        "c": ["u", "u", "v", "v"] * 250,
    }
)
SURE = 1000
"""Noise at this price is 0, but for a chance that no machine will see."""


@pytest.fixture
def data() -> Any:
    with tn.protect(TABLE, schema=SCHEMA, ledger=tn.ledger.Memory()) as opened:
        yield opened


def test_a_condition_that_computes_is_answered_and_not_only_paid_for(data: Any) -> None:
    """The request left out what the condition computes: it failed after the debit."""
    where = '2 * x + "hours-per-week" > 9'
    found = data.ask_many(tn.workload.prefixes("x", where=where), epsilon=SURE)
    there = TABLE[2 * TABLE.x + TABLE["hours-per-week"] > 9]
    assert found.up_to(4).value == (there.x <= 4).sum()
    assert found.up_to(9).value == len(there)


@pytest.mark.parametrize("end", [0.1, 0.2, 0.3, 0.6, 0.7, "0.7"])
def test_the_ends_of_decimal_bins_are_compared_exactly(data: Any, end: Any) -> None:
    """The double nearest to a tenth is above a tenth: its bin was left out of its own threshold."""
    found = data.ask_many(tn.workload.prefixes("part"), epsilon=SURE)
    bins = round(10 * float(end))
    assert found.up_to(end).value == 100 * (bins + 1)
    assert found.between(end, 0.9).value == 100 * (10 - bins)
    assert found.between(end, end).value == 100


def test_names_that_are_not_one_word(data: Any) -> None:
    found = data.ask_many(tn.workload.ranges("hours-per-week"), epsilon=SURE)
    assert found.between(2, 4).value == 300
    tables = data.ask_many(tn.workload.marginals(["marital-status", "c"]), epsilon=SURE)
    assert [row["count"] for row in tables[0].value] == [250] * 4


@pytest.mark.parametrize(
    "declared",
    [
        tn.workload.prefixes("x", where="x > 1 GROUP BY 1 HAVING count > 50 --"),
        tn.workload.prefixes("x", where="x > 1 GROUP BY 1 LIMIT 1 --"),
        tn.workload.prefixes("x", where="x > 1 GROUP BY 1 ORDER BY 2 --"),
        tn.workload.ranges("x", where="x > 1; SELECT 1"),
        tn.workload.ranges("x", where="x > 1) OR (x < 1"),
        tn.workload.ranges("x", width="1) AS x, c, COUNT(*) AS n FROM t GROUP BY 1, 2 --"),
        tn.workload.ranges("x", width="1) AS x, SUM(x) AS n FROM t GROUP BY 1 --"),
        tn.workload.marginals(["c", "COUNT(*)"], ways=1),
        tn.workload.marginals(["c", "SUM(x) AS s, c"], ways=1),
        tn.workload.marginals(["c"], ways=1, where="x > 1 GROUP BY 1 LIMIT 1 --"),
    ],
)
def test_what_is_declared_is_all_that_is_asked(data: Any, declared: Any) -> None:
    """Refused before the debit; some were answered as another question, some failed after it."""
    before = data.budget.spent
    with pytest.raises(Refused):
        data.ask_many(declared, epsilon=1)
    assert data.budget.spent == before
