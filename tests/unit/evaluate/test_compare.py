from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import tenue as tn
from tenue.evaluate.compare import ROW_BY_ROW, SHUFFLED, WIDTHS
from unit.microdata.census import people, schema


def coarse() -> pa.Table:
    table = people()
    ages = [age // 20 * 20 for age in table.column("age").to_pylist()]
    return table.set_column(table.column_names.index("age"), "age", pa.array(ages))


def test_it_is_risk_and_utility_in_one() -> None:
    found = tn.compare(people(), coarse(), schema=schema())
    risk, utility = (
        measure(people(), coarse(), schema()) for measure in (tn.evaluate.risk, tn.evaluate.utility)
    )
    assert found.risk is not None
    assert found.risk.record_linkage == risk.record_linkage
    assert found.risk.check is not None
    assert risk.check is not None
    assert found.risk.check.k == risk.check.k
    assert found.utility.to_dict() == utility.to_dict()
    assert found.notes == (ROW_BY_ROW,)
    assert json.loads(found.to_json())["rows"] == 60


def test_without_a_schema_roles_may_be_named_or_left_out() -> None:
    named = tn.compare(people(), coarse(), quasi_identifiers=["age"], confidential=["ill"])
    assert named.risk is not None
    assert named.risk.check is not None
    assert WIDTHS in named.notes
    assert set(named.risk.own_values) == {"ill"}
    bare = tn.compare(people(), coarse())
    assert bare.risk is not None
    assert bare.risk.check is None
    assert bare.risk.linkage_by_quasi_identifiers is None


def test_unrelated_rows_are_compared_as_wholes() -> None:
    found = tn.compare(people(), coarse(), schema=schema(), related=False)
    assert found.risk is None
    assert isinstance(found.utility, tn.evaluate.Likeness)
    assert "Risk" not in str(found)


def test_a_release_of_tenue_has_its_rows_in_another_order(tmp_path: Path) -> None:
    pa.csv.write_csv(people(), tmp_path / "people.csv")
    release = tn.publish(tmp_path / "people.csv", schema=schema(), method="microaggregate", k=4)
    release.save(tmp_path / "out", kind="parquet")
    made = tmp_path / "out" / "table.parquet"
    found = tn.compare(tmp_path / "people.csv", made, schema=schema())
    assert SHUFFLED in found.warnings()
    assert "WARNING" in str(found)
    assert SHUFFLED not in tn.compare(people(), coarse(), schema=schema()).warnings()


def test_tables_of_different_length_are_refused() -> None:
    with pytest.raises(tn.Refused, match="different numbers of rows"):
        tn.compare(people(), people().slice(0, 10))
