"""A set of categories is not written like a category that has such a name."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest

import tenue as tn
from tenue.evaluate.one_table.interval_values import Domain, one_of

NAMES = ["Bern", "Genf", "{Bern, Genf}", "{{Bern, Genf}}", "*"]


@pytest.mark.parametrize("by", ["multidimensional", "full-domain"])
def test_rows_of_a_set_are_told_from_those_of_its_namesake(by: str) -> None:
    """Bern was published as `{Bern, Genf}` beside rows that really are called so."""
    schema = tn.Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {
                "town": {"type": "category", "categories": NAMES, "role": "quasi-identifier"},
                "ill": {"type": "boolean", "role": "confidential"},
            },
        }
    )
    towns = ["Bern", "Genf", "Bern"] + [name for name in NAMES[2:] for _ in range(3)]
    rows = pa.table({"town": towns, "ill": [True, False] * 6})
    release = tn.publish(rows, schema=schema, method="generalise", k=3, by=by, ledger=False)
    texts = Counter(release.table.column("town").to_pylist())
    domain = Domain(schema.columns["town"])
    if by == "full-domain":
        assert texts == {"**": 12}
        assert domain.penalty("**") == 1
        return
    assert texts == {"{{{Bern, Genf}}}": 3, "{Bern, Genf}": 3, "{{Bern, Genf}}": 3, "*": 3}
    assert domain.penalty("{{{Bern, Genf}}}") == Fraction(2, 5)
    assert domain.penalty("{Bern, Genf}") == 0


def test_without_a_namesake_a_set_is_written_as_before() -> None:
    assert one_of(["Bern", "Genf"], ["Bern", "Genf", "Basel"]) == "{Bern, Genf}"
