"""The whole way from a text to a question, and what never gets through."""

from __future__ import annotations

import pytest
from sqlglot import exp

from tenue.engine.request import Among, Group, Within
from tenue.errors import InvalidQuestion
from tenue.query.question import Aggregate, KeyOutput, Output, Question
from tenue.query.read import parse as parse_module
from tenue.query.read.aggregate import FUNCTIONS
from tenue.query.read.parse import parse, parse_select
from tenue.query.read.tree import Tree
from tenue.schema import Schema
from unit.query.asked import CENSUS, ask, refused
from unit.query.hostile import GROUPS, statements


def test_a_question_says_all_that_the_text_says() -> None:
    assert ask("SELECT sex, AVG(income) FROM census WHERE age >= 18 GROUP BY sex") == Question(
        table="census",
        outputs=(KeyOutput("sex", 0), Output("avg_income", Aggregate("avg", "income"))),
        keys=(Group("sex", 2),),
        where=Within("age", 18, None),
    )


def test_the_corpus_is_large_and_has_no_repetitions() -> None:
    corpus = statements("census", "income")
    assert len(corpus) >= 2 * 350
    assert len(set(corpus)) == len(corpus)


@pytest.mark.parametrize("group", GROUPS)
def test_hostile_statements_are_refused(group: str) -> None:
    for table, number, schema in [("census", "income", CENSUS), ("date", "interval", AWKWARD)]:
        for text in GROUPS[group]:
            sql = text.replace("\x00", "\n").format(t=table, n=number)
            with pytest.raises(InvalidQuestion):
                parse_select(sql, schema)


AWKWARD = Schema.from_dict(
    {
        "table": {"name": "date", "unit": "record", "neighbours": "replace"},
        "columns": {
            name: {"type": "number", "bounds": [0, 9]}
            for name in ["interval", "all", "union", "distinct", "join", "over", "case", "values"]
        },
    }
)
"""A table whose columns open the gate to words of SQL: the other nets must hold alone."""


def test_questions_about_awkward_names_still_work() -> None:
    question = parse('SELECT COUNT(*) FROM date WHERE interval > 3 AND "case" = 1', AWKWARD)
    assert question.table == "date"


def test_every_function_sqlglot_knows_is_refused_but_ours() -> None:
    allowed = {*FUNCTIONS, "VAR_SAMP", "FLOOR", "CEIL", "CEILING"}
    for name in sorted(exp.FUNCTION_BY_NAME.keys() - allowed):
        for arguments in ("income", "*", "'month', date"):
            for sql in (
                f"SELECT {name}({arguments}) FROM census",  # noqa: S608
                f"SELECT COUNT(*) FROM census WHERE {name}({arguments}) > 3",  # noqa: S608
            ):
                with pytest.raises(InvalidQuestion):
                    ask(sql)


LOST = [
    "SELECT DATE_TRUNC('month', seen, 'UTC'), COUNT(*) FROM census GROUP BY 1",
    "SELECT sex, COUNT(*) FROM census GROUP BY 1 ORDER BY 1 NULLS LAST",
    "SELECT COUNT(*) FROM 'census'",
    'SELECT "COUNT"(*) FROM census',
    "SELECT COUNT(*) AS 'x' FROM census",
    "SELECT COUNT(*) FROM census WHERE date = CAST('2020-02-02' AS DATE)",
    "SELECT DATETRUNC('month', seen), COUNT(*) FROM census GROUP BY 1",
]


@pytest.mark.parametrize("sql", LOST)
def test_what_sqlglot_passes_over_is_found(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidQuestion):
        ask(sql)
    monkeypatch.setattr(parse_module, "refuse_lost", lambda tokens, tree: None)
    ask(sql)  # without the net it would have become a question


UNREAD = [
    "SELECT COUNT(income, age) FROM census",
    "SELECT COUNT(*) FROM census WHERE age BETWEEN SYMMETRIC 9 AND 1",
    "SELECT COUNT(*) FROM census AS c(a, b)",
    "SELECT COUNT(*) FROM main.census",
]


@pytest.mark.parametrize("sql", UNREAD)
def test_no_argument_of_a_node_goes_unseen(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidQuestion):
        ask(sql)
    monkeypatch.setattr(Tree, "read", lambda tree, node, *names: tuple(map(node.args.get, names)))
    monkeypatch.setattr(Tree, "refuse_unread", lambda tree: None)
    monkeypatch.setattr(parse_module, "refuse_lost", lambda tokens, tree: None)
    ask(sql)  # with node types alone it would have become a question


def test_a_type_error_never_reaches_an_engine() -> None:
    refusal = refused("SELECT COUNT(*) FROM census WHERE sex = 7", "type")
    assert refusal.what == "`sex` is compared with 7."
    assert refusal.fix == "Write a declared category in quotes, such as 'Female'."


def test_names_are_found_in_any_case_and_spelled_as_declared() -> None:
    question = ask(
        'SELECT SUM("INCOME") FROM CENSUS WHERE Native_Country = 1'.replace(
            "Native_Country = 1", "\"NATIVE-COUNTRY\" = 'Peru'"
        )
    )
    assert question.table == "census"
    assert question.aggregates() == (Aggregate("sum", "income"),)
    assert question.where == Among("native-country", ("Peru",))


@pytest.mark.parametrize("sql", [None, 7, b"SELECT COUNT(*) FROM census", ["SELECT"]])
def test_only_text_is_a_question(sql: object) -> None:
    with pytest.raises(InvalidQuestion):
        parse(sql, CENSUS)  # type: ignore[arg-type]
