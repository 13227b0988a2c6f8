"""What a schema tells once it is read."""

from __future__ import annotations

import pytest

from tenue.errors import InvalidArgument
from tenue.schema import Schema

STATED = {
    "table": {
        "name": "visits",
        "unit": "patient",
        "neighbours": "add-or-remove",
        "rows": 5000,
        "rows_per_unit": 20,
        "version": "7",
    },
    "columns": {
        "patient": {"type": "identifier"},
        "born": {
            "type": "date",
            "bounds": ["1900-01-01", "2024-12-31"],
            "role": "quasi-identifier",
        },
        "sex": {"type": "category", "categories": ["f", "m"], "role": "quasi-identifier"},
        "cost": {"type": "number", "bounds": [0, 0.5], "grid": 0.01, "role": "confidential"},
        "hiv": {"type": "boolean", "role": "confidential", "sensitive": True},
    },
    "budget": {"total": 5, "per_analyst": 0.5},
    "questions": {"q": {"sql": "SELECT", "promise": "pure"}},
}


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.from_dict(STATED)


def test_columns_by_role(schema: Schema) -> None:
    assert [column.name for column in schema.quasi_identifiers] == ["born", "sex"]
    assert [column.name for column in schema.confidential] == ["cost", "hiv"]
    assert [column.name for column in schema.identifiers] == ["patient"]


def test_a_column_by_name(schema: Schema) -> None:
    assert schema.column("BORN") is schema.columns["born"]
    with pytest.raises(InvalidArgument) as refused:
        schema.column("bron")
    assert refused.value.fix == "Did you mean `born`?"
    assert refused.value.what == '`visits` has no column "bron".'
    with pytest.raises(InvalidArgument):
        schema.column(3)  # type: ignore[arg-type]


def test_bounds_from_data_are_not_private(schema: Schema) -> None:
    assert schema.private
    marked = schema.replace(table={"bounds_from_data": True})
    assert not marked.private
    assert "NOT PRIVATE" in str(marked)


PRINTED = """\
visits: protects each patient (at most 20 rows), neighbours add-or-remove, 5000 rows
  patient  identifier                                 identifier
  born     date        1900-01-01 to 2024-12-31 by 1  quasi-identifier
  sex      category    f, m                           quasi-identifier
  cost     number      0 to 0.5 by 0.01               confidential
  hiv      boolean                                    confidential, sensitive
  budget: epsilon 5, 0.5 for each analyst
  approved questions: q"""


def test_it_prints_short(schema: Schema) -> None:
    assert str(schema) == PRINTED


def test_it_is_a_table_in_a_notebook(schema: Schema) -> None:
    assert repr(schema) == str(schema)
    names = ["<i>", "s" * 30, "t" * 30]
    shown = schema.replace(columns={"sex": {"categories": names}})._repr_html_()
    assert "<td>3 categories: &lt;i&gt;, ssssss" in shown
    assert "<th>column</th><th>type</th><th>may hold</th><th>role</th>" in shown
    assert "<p>budget: epsilon 5, 0.5 for each analyst</p>" in shown
    assert shown.count("<tr>") == 6


def test_its_source_is_shown_nowhere(schema: Schema) -> None:
    with_source = schema.replace(table={"source": "duckdb://secret-place#t"})
    for view in (str(with_source), repr(with_source), with_source._repr_html_()):
        assert "secret" not in view
