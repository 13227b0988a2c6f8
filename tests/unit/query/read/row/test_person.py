"""Tables that have one row for each person."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.engine.predicate import Among, Within
from tenue.engine.request import Units, UnitValue
from tenue.errors import InvalidQuestion
from tenue.promise.loss import EpsilonDelta
from tenue.query.plan.make import make_plan, setting_of
from tenue.query.question import Persons
from tenue.query.read.parse import parse
from tenue.query.write.question import render
from tenue.schema import Schema
from unit.query.asked import CENSUS, ask, refused

ASKED = "SELECT AVG(v) FROM (SELECT person, SUM(age) AS v FROM census {} GROUP BY {})"


def test_all_rows_of_a_person_make_one_value() -> None:
    question = ask(ASKED.format("WHERE sex = 'Male'", "person"))
    values = (UnitValue("v", "total", "age", 0, 360),)  # three rows of 120 at most
    assert question.persons == Persons(
        Units("person", values, Among("sex", ("Male",))), (Fraction(1),)
    )
    assert question.where is None
    assert ask(render(question, CENSUS)) == question


@pytest.mark.parametrize("grouped", ["person", "1", "ALL", "census.person"])
def test_the_unit_is_named_in_any_way(grouped: str) -> None:
    assert ask(ASKED.format("", grouped)) == ask(ASKED.format("", "person"))


def test_outside_is_a_table_like_any_other() -> None:
    question = ask(
        "WITH p AS (SELECT person, MAX(income) AS top, COUNT(*) AS n FROM census GROUP BY person) "
        "SELECT BIN(n, 1) AS k, SUM(top * 2) AS s FROM p WHERE top > 5 GROUP BY k"
    )
    assert question.where == Within("top", 6, None)
    assert [one.name for one in question.computed] == ["(2 * top)"]
    assert ask(render(question, CENSUS)) == question


def test_the_number_of_persons_is_secret_under_replace_too() -> None:
    schema = CENSUS.replace(table={"neighbours": "replace"})
    question = parse(
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM census GROUP BY 1)", schema
    )
    setting = setting_of(question, schema, None)
    assert setting.persons
    assert not setting.all_public
    assert not setting.rows_public("n")
    assert setting.rows_per_unit == 1


def test_the_ends_are_said() -> None:
    question = ask(ASKED.format("", "person"))
    plan = make_plan(question, CENSUS, EpsilonDelta(10**9))
    assert plan.counted == "`v` of each person, over all rows, counts from 0 to 360"
    assert plan.offer is None
    assert plan.request.people is None, "no row is left out"


def test_declared_ends_come_first() -> None:
    schema = CENSUS.replace(columns={"age": {"bounds_per_unit": [0, 150]}})
    question = parse(ASKED.format("", "person"), schema)
    assert question.persons is not None
    assert question.persons.units.values[0].high == 150


@pytest.mark.parametrize(
    "derived",
    [
        "SELECT sex, SUM(age) AS v FROM census GROUP BY sex",
        "SELECT person, sex, SUM(age) AS v FROM census GROUP BY person, sex",
        "SELECT person, SUM(age) AS v FROM census GROUP BY person, person",
        "SELECT SUM(age) AS v FROM census GROUP BY ALL",
        "SELECT person, SUM(age) AS v FROM census GROUP BY 2",
        "SELECT person, MEDIAN(age) AS v FROM census GROUP BY person",
        "SELECT person, SUM(age) / 2 AS v FROM census GROUP BY person",
        "SELECT person, COUNT(DISTINCT sex) AS v FROM census GROUP BY person",
        "SELECT person FROM census GROUP BY person",
        "SELECT person, SUM(age) AS v FROM census GROUP BY person HAVING COUNT(*) > 1",
        "SELECT person, SUM(v) AS v FROM "
        "(SELECT person, SUM(age) AS v FROM census GROUP BY person) GROUP BY person",
    ],
)
def test_anything_else_is_refused(derived: str) -> None:
    refused(f"SELECT AVG(v) FROM ({derived})", "derived-table")


def test_nobody_is_named_outside() -> None:
    with pytest.raises(InvalidQuestion):
        ask("SELECT COUNT(person) FROM (SELECT person, SUM(age) AS v FROM census GROUP BY person)")


def test_a_table_of_records_has_no_persons() -> None:
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {"x": {"type": "number", "bounds": [0, 9]}},
        }
    )
    with pytest.raises(InvalidQuestion):
        parse("SELECT AVG(v) FROM (SELECT x, SUM(x) AS v FROM t GROUP BY x)", schema)
