"""Several releases of one table side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from command_line import tenue
from tenue.errors import InvalidArgument
from tenue.evaluate import compare, compare_several
from unit.publish.census import people, schema


def coarse(width: int) -> pa.Table:
    ages = [age // width * width for age in people().column("age").to_pylist()]
    return people().set_column(people().column_names.index("age"), "age", pa.array(ages))


def test_each_has_the_figures_that_it_has_alone() -> None:
    given = {"fine": coarse(2), "coarse": coarse(20)}
    found = compare_several(people(), given, schema())
    assert list(found.releases) == ["fine", "coarse"]
    for name, table in given.items():
        assert found.releases[name].to_dict() == compare(people(), table, schema()).to_dict()
    head, *rows = found.rows()
    assert [row[0] for row in rows] == ["fine", "coarse"]
    assert {"linked", "largest risk", "values", "associations"} < set(head)
    text = str(found)
    assert text.index("fine") < text.index("coarse")
    for one in found.releases.values():
        assert one.utility.in_short.split(";")[0] in " ".join(text.split())


def test_what_none_has_is_not_shown() -> None:
    longer = {"a": pa.concat_tables([people(), people()]), "b": people().slice(0, 50)}
    found = compare_several(people(), longer, schema())
    assert {"linked", "values"}.isdisjoint(found.rows()[0])
    assert found.releases["b"].left_out[0] == "10 of 60 rows (16.7 %)"
    assert found.releases["a"].left_out == ()


def test_its_report_shows_every_release_and_is_for_the_holder(tmp_path: Path) -> None:
    found = compare_several(people(), {"one": coarse(5), "two <b>": coarse(10)}, schema())
    tn.report.write(found, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    for words in (
        "2 releases beside their original",
        "two &lt;b&gt;",
        "Associations in <code>one</code>",
    ):
        assert words in page
    assert "<b>" not in page
    tn.report.write(found, tmp_path / "p.html", public=True)
    public = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "Associations" not in public
    assert tn.report.plot(found).svg().count("original") >= 1


@pytest.mark.parametrize("wrong", [{}, [[1]], None])
def test_releases_have_names(wrong: object) -> None:
    with pytest.raises(InvalidArgument, match="releases"):
        compare_several(people(), wrong, schema())


def test_the_command_takes_several_releases(tmp_path: Path) -> None:
    schema().save(tmp_path / "people.toml")
    pq.write_table(people(), tmp_path / "people.parquet")
    for name, width in (("fine", 2), ("coarse", 20)):
        (tmp_path / name).mkdir()
        pq.write_table(coarse(width), tmp_path / name / "table.parquet")
    words = ["compare", "people.parquet", "fine/table.parquet", "coarse/table.parquet"]
    words += ["--schema", "people.toml"]
    done = tenue(*words, "--report", "r.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("release")
    assert (tmp_path / "r.html").exists()
    found = json.loads(tenue(*words, "--json", cwd=tmp_path).stdout)
    assert list(found["releases"]) == ["fine", "coarse"]  # and not their common file name
    twice = tenue(*words[:3], "fine/table.parquet", *words[4:], cwd=tmp_path)
    assert twice.returncode == 2
    assert "named twice" in twice.stderr
