"""FROM: tables, lookups, rows of persons."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import tenue as tn
from tenue.ask.cells import cell_labels
from tenue.ask.plan.planner import make_plan, setting_of
from tenue.ask.question import Aggregate, Persons
from tenue.ask.sql.parse import parse
from tenue.ask.sql.write import render
from tenue.engine.computed_column import All, Among, Within
from tenue.engine.request import Units, UnitValue
from tenue.errors import InvalidQuestion
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema
from unit.ask.asked import CENSUS, ask, refused

# ruff: noqa: S608 - these texts are what is tested


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    folder: Path = tmp_path_factory.mktemp("lookups")
    rows = "code,name,beds\nn1,North,10\nn2,North,20\ns1,South,7.5\nx9,Nowhere,3\n"
    (folder / "region.csv").write_text(rows)
    region = {
        "source": "region.csv",
        "key": "code",
        "columns": ["name", "beds"],
        "numbers": ["beds"],
    }
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {
                "code": {"type": "category", "categories": ["n1", "n2", "s1", "q"], "missing": "q"},
                "ward": {"type": "category", "categories": ["n2", "s1"]},
                "zip": {"type": "category", "categories": ["n1", "s1"], "role": "identifier"},
                "x": {"type": "number", "bounds": [0, 10], "missing": 0},
            },
            "lookups": {"region": region},
            "budget": {"total": 100_000},
        },
        folder=folder,
    )


def test_an_inner_join_leaves_the_keys_and_n_is_secret(schema: Schema) -> None:
    question = parse("SELECT AVG(x) FROM t JOIN region USING (code)", schema)
    assert question.where == Among("code", ("n1", "n2", "s1"))
    assert not setting_of(question, schema, None).all_public
    left = parse("SELECT AVG(x) FROM t LEFT JOIN region USING (code)", schema)
    assert left == parse("SELECT AVG(x) FROM t", schema), "a LEFT JOIN keeps every row"
    assert setting_of(left, schema, None).all_public


def test_a_category_is_recoded(schema: Schema) -> None:
    question = parse(
        "SELECT name, COUNT(*) FROM t LEFT JOIN region USING (code) GROUP BY 1", schema
    )
    assert cell_labels(question, schema) == [("North",), ("South",)], "nobody lives nowhere"
    assert parse(render(question, schema), schema) == question
    assert question.outputs[0].alias == "name"


@pytest.mark.parametrize(
    "joined",
    [
        "JOIN region USING (code)",
        "INNER JOIN region ON t.code = region.code",
        "JOIN region AS r ON r.code = code",
        "JOIN region r ON (t.code) = r.code",
    ],
)
def test_one_join_is_written_in_several_ways(schema: Schema, joined: str) -> None:
    usual = parse("SELECT SUM(beds) AS s FROM t JOIN region USING (code)", schema)
    assert parse(f"SELECT SUM(beds) AS s FROM t {joined}", schema) == usual


def test_conditions_on_a_lookup_are_conditions_on_the_category(schema: Schema) -> None:
    text = (
        "SELECT COUNT(*) FROM t LEFT JOIN region ON ward = region.code WHERE region.name = 'South'"
    )
    question = parse(text, schema)
    assert question.where == Within(question.computed[0].name, 1, 1)
    assert parse(render(question, schema), schema) == question


def answers(schema: Schema, sql: str) -> object:
    rows = pd.DataFrame(
        {
            "code": ["n1", "n1", "n2", "s1", None, "?"],
            "ward": "s1",
            "zip": "n1",
            "x": [1, 2, 3, 4, 5, 6],
        }
    )
    with tn.protect(rows, schema=schema, ledger=tn.ledger.Memory()) as data:
        return data.ask(sql, epsilon=9_000).value


def test_answers_are_those_of_the_join(schema: Schema) -> None:
    by_name = "SELECT r.name, SUM(x) AS s FROM t {} JOIN region r USING (code) GROUP BY r.name"
    north, south = {"name": "North", "s": 6}, {"name": "South", "s": 4}
    assert answers(schema, by_name.format("INNER")) == [north, south]
    assert answers(schema, by_name.format("LEFT")) == [north, south]
    assert answers(schema, "SELECT SUM(x) FROM t JOIN region USING (code)") == 10
    assert answers(schema, "SELECT SUM(x) FROM t LEFT JOIN region USING (code)") == 21
    missing = "SELECT COUNT(*) FROM t LEFT JOIN region USING (code) WHERE name IS NULL"
    assert answers(schema, missing) == 2
    assert answers(schema, "SELECT SUM(beds * 2) FROM t JOIN region USING (code)") == 95
    assert answers(schema, "SELECT MODE(name) FROM t JOIN region USING (code)") == "North"
    assert answers(schema, "SELECT COUNT(DISTINCT name) FROM t JOIN region USING (code)") == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM t JOIN t AS u USING (code)",
        "SELECT COUNT(*) FROM t JOIN other USING (code)",
        "SELECT COUNT(*) FROM t RIGHT JOIN region USING (code)",
        "SELECT COUNT(*) FROM t FULL JOIN region USING (code)",
        "SELECT COUNT(*) FROM t CROSS JOIN region",
        "SELECT COUNT(*) FROM t NATURAL JOIN region",
        "SELECT COUNT(*) FROM t SEMI JOIN region USING (code)",
        "SELECT COUNT(*) FROM t, region",
        "SELECT COUNT(*) FROM region",
        "SELECT COUNT(*) FROM t JOIN region ON TRUE",
        "SELECT COUNT(*) FROM t JOIN region ON t.code < region.code",
        "SELECT COUNT(*) FROM t JOIN region ON t.code = region.code AND t.x = 3",
        "SELECT COUNT(*) FROM t JOIN region ON t.code = region.name",
        "SELECT COUNT(*) FROM t JOIN region ON t.x = region.code",
        "SELECT COUNT(*) FROM t JOIN region ON t.zip = region.code",
        "SELECT COUNT(*) FROM t JOIN region ON region.code = region.code",
        "SELECT COUNT(*) FROM t JOIN region USING (ward)",
        "SELECT COUNT(*) FROM t JOIN region USING (code, ward)",
        "SELECT COUNT(*) FROM t JOIN (SELECT * FROM region) AS r USING (code)",
        "SELECT COUNT(*) FROM t JOIN region AS t USING (code)",
        "SELECT COUNT(*) FROM t JOIN region USING (code) JOIN region USING (code)",
        "SELECT SUM(region.oops) FROM t JOIN region USING (code)",
        "SELECT SUM(name) FROM t JOIN region USING (code)",
        "SELECT region.code, COUNT(*) FROM t JOIN region USING (code) GROUP BY 1",
    ],
)
def test_everything_else_is_refused(schema: Schema, sql: str) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        parse(sql, schema)
    assert len(caught.value.fix) > 5


def test_without_lookups_nothing_is_joined(schema: Schema) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        parse("SELECT COUNT(*) FROM t JOIN region USING (code)", schema.replace(lookups=None))
    assert caught.value.reason == "join"


# -- Tables that have one row for each person ------------------------------------------------------

# ruff: noqa: S608 - these texts are what is tested


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
    assert plan.counted == (
        "`v` of each person, over all rows, counts from 0 to 360, "
        "and rows without a `person` count nowhere"
    )
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


# -- CTEs and derived tables are folded into one scope ---------------------------------------------

# ruff: noqa: S608 - these texts are what is tested


def test_conditions_of_all_levels_are_anded() -> None:
    question = ask(
        "WITH a AS (SELECT * FROM census WHERE age > 10) "
        "SELECT COUNT(*) FROM (SELECT age AS x, employed FROM a WHERE age < 20) AS d "
        "WHERE d.employed"
    )
    assert question.where == All((Among("employed", (True,)), Within("age", 11, 19)))


def test_renamed_columns_lead_to_declared_ones() -> None:
    question = ask("SELECT SUM(x) FROM (SELECT y AS x FROM (SELECT income AS y FROM census))")
    assert question.aggregates() == (Aggregate("sum", "income"),)
    assert question.outputs[0].alias == "sum_x"


def test_a_name_that_was_not_selected_is_gone() -> None:
    refusal = refused(
        "SELECT COUNT(*) FROM (SELECT age AS years FROM census) WHERE age > 3", "unknown-column"
    )
    assert refusal.fix.startswith("Choose one of `years`.")


def test_a_cte_sees_only_those_before_it() -> None:
    refused(
        "WITH a AS (SELECT * FROM b), b AS (SELECT * FROM census) SELECT COUNT(*) FROM a",
        "unknown-table",
    )
    refused("WITH a AS (SELECT * FROM a) SELECT COUNT(*) FROM a", "unknown-table")
    assert ask("WITH census AS (SELECT * FROM census) SELECT COUNT(*) FROM census").where is None


def test_many_levels_are_folded() -> None:
    def nested(levels: int) -> str:
        return "SELECT COUNT(*) FROM " + "(SELECT * FROM " * levels + "census" + ")" * levels

    assert ask(nested(28)).where is None
    refused(nested(40), "too-deep")


def test_an_unknown_table_gets_a_hint() -> None:
    fix = refused("SELECT COUNT(*) FROM censu", "unknown-table").fix
    assert fix.startswith("Did you mean `census`?")
    refused("SELECT COUNT(*)", "no-table")
    refused("SELECT COUNT(*) FROM read_csv('x')", "no-table")


def test_a_derived_table_may_name_groups() -> None:
    inner = "SELECT CASE WHEN age < 30 THEN 'young' ELSE 'old' END AS who, income FROM census"
    derived = f"SELECT who, SUM(income) AS s FROM ({inner}) WHERE who <> 'old' GROUP BY who"
    question = ask(derived)
    (key,) = question.keys
    assert question.labels(key) == ("young", "old")
    assert question.where is not None
    assert [output.alias for output in question.outputs] == ["who", "s"]
    doubled = ask("SELECT v, COUNT(*) FROM (SELECT 2 * age AS v FROM census) GROUP BY v")
    assert doubled.outputs[0].alias == "v"
