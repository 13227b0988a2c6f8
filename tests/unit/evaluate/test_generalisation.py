"""Three measures of what generalising lost, against their definitions written out."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidTable

SCHEMA = tn.Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"},
            "sex": {"type": "category", "categories": ["f", "m"], "role": "quasi-identifier"},
            "pay": {"type": "number", "bounds": [0, 9], "role": "confidential"},
        },
    }
)


def table(rows: list[tuple[str | None, str]]) -> pa.Table:
    ages, sexes = zip(*rows, strict=True)
    return pa.table({"age": list(ages), "sex": list(sexes), "pay": [1] * len(rows)})


ROWS = [("[0, 20]", "f")] * 3 + [("[0, 20]", "*")] * 2 + [("[50, 100]", "m")] * 4


def test_by_hand() -> None:
    made = table(ROWS)
    assert tn.evaluate.discernibility(made, SCHEMA) == 9 + 4 + 16
    assert tn.evaluate.average_class_size(made, SCHEMA, k=2) == 9 / 3 / 2
    assert tn.evaluate.ncp(made, SCHEMA) == pytest.approx((5 * 0.2 + 4 * 0.5 + 2 * 1) / 18)


def test_a_suppressed_row_counts_as_everything() -> None:
    made = table(ROWS)
    assert tn.evaluate.discernibility(made, SCHEMA, suppressed=2) == 29 + 2 * 11
    assert tn.evaluate.average_class_size(made, SCHEMA, suppressed=3) == 12 / 3
    assert tn.evaluate.ncp(made, SCHEMA, suppressed=1) == pytest.approx((5 + 2) / 20)


def test_definitions() -> None:
    rng = random.Random(3)
    for _ in range(20):
        rows = [(str(rng.randint(0, 3)), rng.choice("fm")) for _ in range(30)]
        sizes = Counter(rows)
        assert tn.evaluate.discernibility(table(rows), SCHEMA) == sum(sizes[row] for row in rows)
        assert tn.evaluate.average_class_size(table(rows), SCHEMA) == 30 / len(sizes)
        assert tn.evaluate.ncp(table(rows), SCHEMA) == 0


def test_the_ends_of_the_range() -> None:
    nothing = table([("[0, 100]", "*")] * 5)
    assert tn.evaluate.ncp(nothing, SCHEMA) == 1
    assert tn.evaluate.discernibility(nothing, SCHEMA) == 25


def test_of_a_blank_nothing_is_known() -> None:
    assert tn.evaluate.ncp(table([(None, "f"), ("3", "f")]), SCHEMA) == 0.25


def test_files_and_columns_by_name(tmp_path: Path) -> None:
    file = tmp_path / "made.csv"
    file.write_text('age,sex\n"[0, 20]",f\n"[0, 20]",f\n"[21, 40]",m\n')
    assert tn.evaluate.discernibility(file, quasi_identifiers=["age"]) == 5
    assert tn.evaluate.ncp(file, SCHEMA) == pytest.approx((0.2 + 0.2 + 0.19) / 6)


def test_what_is_not_recoded_by_this_schema_is_refused() -> None:
    with pytest.raises(InvalidTable, match="`age`"):
        tn.evaluate.ncp(table([("[0, 200]", "f")]), SCHEMA)
    with pytest.raises(InvalidArgument, match="quasi-identifiers"):
        tn.evaluate.discernibility(table(ROWS))
    with pytest.raises(InvalidArgument):
        tn.evaluate.average_class_size(table(ROWS), SCHEMA, k=0)
