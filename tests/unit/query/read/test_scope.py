"""Names lead to declared columns, and none to what names a person."""

from __future__ import annotations

import pytest

from tenue.query.read.logic import Absent, several
from tenue.query.read.scope import start
from unit.query.asked import CENSUS, ask, refused, refused_where


def test_the_table_starts_with_all_its_columns_and_rows() -> None:
    scope = start(CENSUS)
    assert list(scope.columns) == list(CENSUS.columns)
    assert scope.rows is None
    assert scope.named("c").title == "c"


def test_rows_only_become_fewer() -> None:
    scope = start(CENSUS).among(None)
    assert scope.rows is None
    fewer = scope.among(Absent("age")).among(Absent("sex"))
    assert fewer.rows == several(True, [Absent("sex"), Absent("age")])


def test_a_misspelled_column_gets_a_hint_from_the_schema() -> None:
    refusal = refused_where("incme > 3", "unknown-column")
    assert refusal.what == 'There is no column "incme" here.'
    assert refusal.fix == "Did you mean `income`?"


def test_identifiers_are_refused_and_say_why() -> None:
    assert "the unit that is protected" in refused_where("PERSON = 17", "identifier").what
    assert "an identifier" in refused_where("zip = '08001'", "identifier").what
    refused("SELECT COUNT(census.person) FROM census", "identifier")


@pytest.mark.parametrize("name", ["Mean income", "año", "a.b-c", "_", "x1"])
def test_a_name_may_be_made_up(name: str) -> None:
    assert ask(f'SELECT COUNT(*) AS "{name}" FROM census').outputs[0].alias == name  # noqa: S608


@pytest.mark.parametrize(
    "name", ["=cmd()", "<b>", "a,b", "a\tb", "a\nb", "1x", "x" * 129, "@x", "-x", "x ", "É"]
)
def test_a_name_that_could_do_harm_elsewhere_is_refused(name: str) -> None:
    refused(f'SELECT COUNT(*) AS "{name}" FROM census', "alias")  # noqa: S608


def test_the_name_before_the_point_must_be_the_table() -> None:
    refusal = refused_where("other.age > 3", "unknown-table")
    assert refusal.allowed == "Columns belong to `census`."
    refused_where("main.census.age > 3", "qualified-table")
