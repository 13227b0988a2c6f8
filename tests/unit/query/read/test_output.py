"""The columns of an answer have names of their own."""

from __future__ import annotations

from tenue.engine.request import Group
from tenue.query.read.parse import parse
from tenue.query.write.question import render
from tenue.schema import Schema
from unit.query.asked import ask, refused


def names(sql: str) -> list[str]:
    return [output.alias for output in ask(sql).outputs]


def test_names_are_sensible_and_unique() -> None:
    assert names(
        "SELECT sex, BIN(age, 5), DATE_TRUNC('week', date), COUNT(*), COUNT(sex), SUM(age), "
        "AVG(age), AVG(age) + 1, COUNT(*) FROM census GROUP BY 1, 2, 3 LIMIT 3"
    ) == [
        "sex",
        "bin_age",
        "date_week",
        "count",
        "count_sex",
        "sum_age",
        "avg_age",
        "value",
        "count_2",
    ]


def test_given_names_go_first() -> None:
    assert names(
        "SELECT COUNT(*), COUNT(*), SUM(age) AS Count, AVG(age) AS count_2 FROM census"
    ) == [
        "count_3",
        "count_4",
        "Count",
        "count_2",
    ]
    refused("SELECT COUNT(*) AS n, SUM(age) AS N FROM census", "alias")


def test_a_column_is_called_as_the_question_calls_it() -> None:
    sql = "SELECT S, SUM(Pay) FROM (SELECT sex AS s, income AS pay FROM census) GROUP BY s"
    assert names(sql) == ["s", "sum_pay"]
    assert ask(sql).keys == (Group("sex", 2),)


def test_long_names_are_cut_so_that_they_can_be_given() -> None:
    long = "x" * 128
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {long: {"type": "number", "bounds": [0, 9]}},
        }
    )
    sql = f"SELECT BIN({long}, 2), SUM({long}), SUM({long}) + 0, SUM({long}) FROM t GROUP BY 1"  # noqa: S608
    question = parse(sql, schema)
    assert all(len(output.alias) <= 128 for output in question.outputs)
    assert parse(render(question, schema), schema) == question


def test_group_by_finds_a_column_before_a_name() -> None:
    assert ask("SELECT sex AS s, COUNT(*) AS sex FROM census GROUP BY sex").keys == (
        Group("sex", 2),
    )
    assert ask("SELECT sex AS job, COUNT(*) FROM census GROUP BY job").keys == (Group("sex", 2),)
    refused("SELECT sex AS employed, COUNT(*) FROM census GROUP BY employed", "not-grouped")
    refused("SELECT sex AS s, COUNT(*) FROM census GROUP BY census.s", "unknown-column")


def test_there_are_100_columns_at_most() -> None:
    assert len(ask("SELECT COUNT(*)" + ", COUNT(*)" * 99 + " FROM census").outputs) == 100
    refused("SELECT COUNT(*)" + ", COUNT(*)" * 100 + " FROM census", "too-many-outputs")


def test_places_are_whole_numbers_from_one() -> None:
    for place in ("0", "3", "1.5", "-1"):
        sql = f"SELECT sex, COUNT(*) FROM census GROUP BY {place}"  # noqa: S608
        refused(sql, "key" if place == "-1" else "position")
    refused("SELECT sex, COUNT(*) FROM census GROUP BY 'sex'", "position")
