"""A release made anywhere beside its original."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import tenue as tn
from tenue.evaluate.compare import (
    AS_WHOLES,
    IN_RANDOM_ORDER,
    OF_OTHER_LENGTH,
    ROW_BY_ROW,
    SETS,
    SHUFFLED,
    WIDTHS,
    as_single_values,
)
from tenue.evaluate.rows import open_rows
from tenue.text import WIDTH
from unit.publish.census import people, schema


def single(values: list[str | None], name: str = "x") -> tuple[list[object], tuple[str, ...]]:
    rows, changed = as_single_values(open_rows(pa.table({name: values})), schema())
    return rows.read([name])[name].to_pylist(), changed


@pytest.mark.parametrize(
    ("text", "middle"),
    [
        ("[30, 39]", 34.5),
        ("[30, 40[", 35),
        ("(30,40]", 35),
        ("]30; 40]", 35),
        ("[-10, -5]", -7.5),
        ("[0.5, 1.5]", 1.0),
    ],
)
def test_an_interval_is_its_middle(text: str, middle: float) -> None:
    assert single([text, "7", "*", "**", None, " "]) == (
        [middle, 7.0, None, None, None, None],
        ("x",),
    )


def test_dates_have_middles_too() -> None:
    found, changed = single(["[2020-01-01, 2020-01-03]", "2020-05-01"])
    assert found == [datetime.datetime(2020, 1, 2), datetime.datetime(2020, 5, 1)]
    assert changed == ("x",)


@pytest.mark.parametrize(
    "other", ["flu", "[a, b]", "2020-01-01", "[2020-01-01T00:00Z, 2021-01-01]"]
)
def test_a_column_that_has_something_else_stays_as_it_is(other: str) -> None:
    assert single(["[30, 39]", other]) == (["[30, 39]", other], ())


def test_plain_columns_and_declared_categories_stay_as_they_are() -> None:
    assert single(["30", "*"]) == (["30", "*"], ())
    assert single(["[1, 2]", "no"], "ill") == (["[1, 2]", "no"], ())
    rows, changed = as_single_values(open_rows(pa.table({"x": [1, 2]})), None)
    assert (rows.read(["x"])["x"].to_pylist(), changed) == ([1, 2], ())


# -- compare ---------------------------------------------------------------------------------------


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
    assert found.notes == (f"{AS_WHOLES}.",)
    assert found.check is not None
    assert found.check.k == tn.evaluate.check(coarse(), schema()).k
    assert json.loads(found.to_json())["check"]["k"] == found.check.k


def test_a_release_of_tenue_has_its_rows_in_another_order(tmp_path: Path) -> None:
    pa.csv.write_csv(people(), tmp_path / "people.csv")
    release = tn.publish(tmp_path / "people.csv", schema=schema(), method="microaggregate", k=4)
    release.save(tmp_path / "out", kind="parquet")
    made = tmp_path / "out" / "table.parquet"
    found = tn.compare(tmp_path / "people.csv", made, schema=schema())
    assert found.risk is None
    assert found.notes == (IN_RANDOM_ORDER,)
    assert found.check is not None
    assert found.check.k >= 4
    insisted = tn.compare(tmp_path / "people.csv", made, schema=schema(), related=True)
    assert SHUFFLED in insisted.warnings()
    assert "WARNING" in str(insisted)
    assert SHUFFLED not in tn.compare(people(), coarse(), schema=schema()).warnings()


def test_a_release_that_left_rows_out_is_compared_as_a_whole() -> None:
    found = tn.compare(people(), coarse().slice(0, 50), schema=schema())
    assert found.risk is None
    assert found.notes == (OF_OTHER_LENGTH,)
    assert found.rows == 50
    assert found.check is not None
    assert found.check.rows == 50
    assert isinstance(found.utility, tn.evaluate.Likeness)


def test_twice_the_same_rows_are_no_difference() -> None:
    found = tn.compare(people(), pa.concat_tables([people(), people()]), schema=schema()).utility
    assert isinstance(found, tn.evaluate.Likeness)
    assert found.pairs == found.boxes == 0
    assert found.sliced == pytest.approx(0, abs=1e-12)
    assert all(column.histogram == column.missing == 0 for column in found.columns)


def test_rows_of_tables_of_different_length_are_never_held_to_be_the_same() -> None:
    with pytest.raises(tn.Refused, match="different numbers of rows"):
        tn.compare(people(), people().slice(0, 10), related=True)


@pytest.mark.parametrize("band", ["[{low}, {high}[", "({low},{high}]", "[{low}, {high}]"])
def test_bands_and_stars_of_other_tools_can_be_compared(band: str) -> None:
    """As ARX and sdcMicro write them; the mutant that reads them as text finds no age at all."""
    table = people()
    lows = [age // 20 * 20 for age in table.column("age").to_pylist()]
    texts = [band.format(low=low, high=low + 20) for low in lows]
    texts[0] = "*"
    jobs = ["*", *table.column("job").to_pylist()[1:]]
    recoded = table.set_column(1, "age", pa.array(texts)).set_column(2, "job", pa.array(jobs))
    found = tn.compare(table, recoded, schema=schema())
    assert found.risk is not None  # equally many rows
    moved = {column.name: column for column in found.utility.columns}
    assert moved["age"].quantiles is not None
    assert 0 < moved["age"].quantiles < 10 / 120
    assert moved["age"].missing == pytest.approx(1 / 60)
    assert SETS.format(column="job") in found.notes
    assert max(map(len, str(found).splitlines())) <= WIDTH


def test_tenues_own_bands_and_sets_can_be_compared(tmp_path: Path) -> None:
    pa.csv.write_csv(people(), tmp_path / "people.csv")
    release = tn.publish(tmp_path / "people.csv", schema=schema(), method="generalise", k=4)
    release.save(tmp_path / "out", kind="csv")
    found = tn.compare(tmp_path / "people.csv", tmp_path / "out" / "table.csv", schema=schema())
    assert found.check is not None
    assert found.check.k >= 4
    assert any("`age`" in note and "midpoints" in note for note in found.notes)
    (age,) = (one for one in found.compared if one.name == "age")
    assert age.before is not None  # drawn beside the original, not as words
