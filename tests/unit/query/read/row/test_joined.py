"""Joins with public lookups: recodings, filters, and nothing else."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import tenue as tn
from tenue.engine.predicate import Among, Within
from tenue.errors import InvalidQuestion
from tenue.query.cells import cell_labels
from tenue.query.plan.make import setting_of
from tenue.query.read.parse import parse
from tenue.query.write.question import render
from tenue.schema import Schema


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
