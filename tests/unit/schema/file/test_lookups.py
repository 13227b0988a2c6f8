"""Public tables in a schema: read with it, and refused with every mistake."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tenue.errors import InvalidSchema
from tenue.schema import Schema

GOOD = "code,name,beds\nn,North,3\ns,South,7.5\nx,,\n"


def schema(folder: Path, text: str | bytes = GOOD, **more: Any) -> Schema:
    (folder / "region.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    lookup = {
        "source": "region.csv",
        "key": "code",
        "columns": ["name", "beds"],
        "numbers": ["beds"],
    }
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {"code": {"type": "category", "categories": ["n", "s"]}},
            "lookups": {"region": {**lookup, **more}},
        },
        folder=folder,
    )


def test_a_lookup_is_read_with_the_schema(tmp_path: Path) -> None:
    found = schema(tmp_path)
    region = found.lookups["REGION"]
    assert region.keys == ("n", "s", "x")
    assert region.columns["name"] == ("North", "South", None)
    assert region.columns["beds"] == (3, Fraction(15, 2), None)
    assert Schema.parse(found.to_toml(), folder=tmp_path) == found


def test_what_it_says_is_part_of_the_schemas_digest(tmp_path: Path) -> None:
    one = schema(tmp_path)
    assert schema(tmp_path, "code,beds,name\ns,7.5,South\nn,3,North\nx,,\n").digest == one.digest
    assert schema(tmp_path, GOOD.replace("North", "north")).digest != one.digest
    assert one.replace(lookups=None).digest != one.digest


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ("code,name,beds\nn,a,1\nn,b,2\n", {}, "not unique"),
        ("code,name,beds\n,a,1\n", {}, "not unique"),
        ("code,name\nn,a\n", {}, "no column `beds`"),
        ("code,name,beds\nn,a\n", {}, "fields"),
        ("code,name,beds\nn,a,many\n", {}, "no number"),
        (b"\xff\xfe\x00", {}, "cannot be read"),
        ("", {}, "no column"),
        (GOOD, {"source": "absent.csv"}, "cannot be read"),
        (GOOD, {"key": None}, "key"),
        (GOOD, {"columns": []}, "columns"),
        (GOOD, {"columns": ["name", "NAME"]}, "columns"),
        (GOOD, {"numbers": ["code"]}, "numbers"),
        (GOOD, {"rows": 3}, "not a key"),
    ],
)
def test_mistakes_are_refused(tmp_path: Path, text: Any, more: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSchema, match=said):
        schema(tmp_path, text, **more)


def test_a_lookup_has_a_name_of_its_own(tmp_path: Path) -> None:
    stated = schema(tmp_path).to_dict()
    stated["lookups"] = {"T": stated["lookups"]["region"]}
    with pytest.raises(InvalidSchema):
        Schema.from_dict(stated, folder=tmp_path)


def parquet(folder: Path, table: dict[str, list[Any]]) -> Schema:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(table), folder / "region.parquet")
    return schema(folder, source="region.parquet")


def test_a_parquet_file_says_the_same_as_a_csv_file(tmp_path: Path) -> None:
    names = ["North", "South", None]
    found = parquet(tmp_path, {"beds": [3.0, 7.5, None], "code": ["n", "s", "x"], "name": names})
    assert found.lookups["region"] == schema(tmp_path).lookups["region"]
    assert found.digest == schema(tmp_path).digest


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"code": ["n", "n"], "name": ["a", "b"], "beds": [1, 2]}, "not unique"),
        ({"code": ["n", None], "name": ["a", "b"], "beds": [1, 2]}, "not unique"),
        ({"code": ["n"], "name": ["a"]}, "no column `beds`"),
        ({"code": ["n"], "name": ["a"], "beds": ["many"]}, "no number"),
        ({"code": ["n"], "name": [[1]], "beds": [1]}, "cannot be read as Parquet"),
        ({"code": ["n"], "name": ["a"], "beds": [float("inf")]}, "no number"),
        ({c: ["1"] * 100_001 for c in ("code", "name", "beds")}, "at most 100,000 rows"),
    ],
)
def test_mistakes_of_a_parquet_file_are_refused(
    tmp_path: Path, table: dict[str, list[Any]], said: str
) -> None:
    with pytest.raises(InvalidSchema, match=said):
        parquet(tmp_path, table)
    (tmp_path / "region.parquet").write_text(GOOD)
    with pytest.raises(InvalidSchema, match="cannot be read as Parquet"):
        schema(tmp_path, source="region.parquet")
