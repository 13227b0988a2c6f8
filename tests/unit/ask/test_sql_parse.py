"""A text becomes a question, and a question a text."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from tenue.ask.question import Aggregate, KeyOutput, Output, Question
from tenue.ask.sql import parse as parse_module
from tenue.ask.sql.aggregate import FUNCTIONS
from tenue.ask.sql.parse import parse, parse_select, refuse_lost
from tenue.ask.sql.tree import Tree
from tenue.ask.sql.write import render
from tenue.engine.computed_column import Among, Within
from tenue.engine.request import Group
from tenue.errors import InvalidQuestion
from tenue.schema import Schema
from unit.ask.asked import CENSUS, ask, refused
from unit.ask.hostile import GROUPS, statements

TEXTS = [
    "SELECT COUNT(*) AS count FROM census",
    "SELECT sex, AVG(income) AS avg_income FROM census GROUP BY sex",
    "SELECT sex AS s, COUNT(*) AS sex FROM census GROUP BY sex HAVING sex = 'Male' ORDER BY sex",
    "SELECT BIN(rate, 0.3) AS r, -COUNT(*) AS value FROM census GROUP BY BIN(rate, 0.3) LIMIT 3",
    "SELECT SUM(income) / COUNT(*) * (1 / 3) AS m FROM census HAVING "
    "SUM(income) / COUNT(*) * (1 / 3) >= 0.5",
    "SELECT DATE_TRUNC('month', born) AS born_month, COUNT(*) AS count FROM census "
    "GROUP BY DATE_TRUNC('month', born) HAVING DATE_TRUNC('month', born) > DATE '2020-02-01'",
    "SELECT DATE_TRUNC('day', seen) AS d, COUNT(*) AS n FROM census "
    "GROUP BY DATE_TRUNC('day', seen) "
    "HAVING DATE_TRUNC('day', seen) > TIMESTAMP '2020-02-01 12:00:00'",
    "SELECT DATE_TRUNC('hour', seen) AS h, employed, COUNT(*) AS n FROM census "
    "GROUP BY DATE_TRUNC('hour', seen), employed "
    "HAVING employed = FALSE AND DATE_TRUNC('hour', seen) = TIMESTAMP '2020-02-01 12:00:00' "
    "ORDER BY n DESC, h LIMIT 7",
    'SELECT "native-country", COUNT("date") AS "how many" FROM census GROUP BY "native-country"',
    'SELECT sex AS "all", COUNT(*) AS n FROM census GROUP BY sex ORDER BY 1 DESC',
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_canonical_text_stays_as_it_is(text: str) -> None:
    assert render(ask(text), CENSUS) == text


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_means_its_question(text: str) -> None:
    question = ask(text)
    assert parse(render(question, CENSUS), CENSUS) == question


def test_arithmetic_keeps_its_parentheses() -> None:
    for text in (
        "COUNT(*) - (SUM(age) - 1)",
        "COUNT(*) - SUM(age) - 1",
        "(COUNT(*) - 1) * 2",
        "COUNT(*) * 2 / SUM(age) - 0.5",
        "COUNT(*) / (SUM(age) / 2)",
        "-(COUNT(*) * 2)",
        "(-COUNT(*)) * (-2)",
    ):
        question = ask(f"SELECT {text} AS x FROM census")  # noqa: S608
        assert f"SELECT {text} AS x" in render(question, CENSUS)


# -- Every word of the text must be in the tree, and no other --------------------------------------

KEPT = [
    "SELECT COUNT(*), -SUM(a) + 1.5 / .5 AS \"X y\" FROM t AS u WHERE NOT a <> 3 AND b = 'it''s'",
    "WITH c AS (SELECT * FROM t) SELECT AVG(a) FROM c WHERE a BETWEEN 1 AND 2 OR a NOT LIKE 'x'",
    "SELECT a, COUNT(*) FROM t GROUP BY a HAVING COUNT(*) >= 1 ORDER BY a DESC, 2 ASC LIMIT 3",
    "SELECT DATE_TRUNC('Month', date) FROM t WHERE date > DATE '2020-01-01' AND a IS NOT NULL",
    "SELECT COUNT(*) FROM t WHERE a IN (1, 2) AND b = TRUE AND c = FALSE AND d < TIMESTAMP 'x'",
]


def check(sql: str) -> None:
    refuse_lost(sqlglot.tokenize(sql, read="duckdb"), sqlglot.parse_one(sql, read="duckdb"))


@pytest.mark.parametrize("sql", KEPT)
def test_a_text_and_its_tree_agree(sql: str) -> None:
    check(sql)


@pytest.mark.parametrize("sql", KEPT)
def test_a_tree_without_any_one_of_its_parts_does_not(sql: str) -> None:
    tokens = sqlglot.tokenize(sql, read="duckdb")
    count = sum(1 for _ in sqlglot.parse_one(sql, read="duckdb").walk())
    silent = (exp.Column, exp.Table, exp.TableAlias, exp.Alias, exp.CTE, exp.Cast, exp.Ordered)
    for at in range(1, count):
        tree = sqlglot.parse_one(sql, read="duckdb")
        node = list(tree.walk())[at]
        if isinstance(node, silent):  # these say something only by what they hold
            node = next(iter(node.iter_expressions()))
        node.replace(exp.Paren())
        with pytest.raises(InvalidQuestion):
            refuse_lost(tokens, tree)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(ALL a) FROM t",
        "SELECT ALL a FROM t",
        "SELECT a FROM t GROUP BY DISTINCT a",
        "SELECT a FROM t ORDER BY a NULLS LAST",
        "SELECT DATE_TRUNC('month', a, 'UTC') FROM t",
        "SELECT DATE_TRUNC(month, a) FROM t",
        "SELECT a FROM t WHERE a IS UNKNOWN",
        "SELECT a FROM 't'",
        'SELECT "sum"(a) FROM t',
        "SELECT CAST('2020-01-01' AS DATE) FROM t",
        "SELECT DATETRUNC('month', a) FROM t",
    ],
)
def test_what_sqlglot_passes_over_is_refused(sql: str) -> None:
    with pytest.raises(InvalidQuestion):
        check(sql)


def test_a_negation_cannot_be_lost() -> None:
    tokens = sqlglot.tokenize("SELECT a FROM t WHERE NOT a = 1", read="duckdb")
    with pytest.raises(InvalidQuestion):
        refuse_lost(tokens, sqlglot.parse_one("SELECT a FROM t WHERE a = 1", read="duckdb"))
    with pytest.raises(InvalidQuestion):
        refuse_lost(tokens[:-4], sqlglot.parse_one("SELECT a FROM t WHERE NOT a = 1"))


# -- The whole way from a text to a question, and what never gets through --------------------------


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
            name: {"type": "number", "bounds": [-9_000, 9_000]}
            for name in ["interval", "all", "union", "distinct", "join", "over", "case", "values"]
        },
    }
)
"""A table whose columns open the gate to words of SQL: the other nets must hold alone."""


def test_questions_about_awkward_names_still_work() -> None:
    question = parse('SELECT COUNT(*) FROM date WHERE interval > 3 AND "case" = 1', AWKWARD)
    assert question.table == "date"


def test_every_function_sqlglot_knows_is_refused_but_ours() -> None:
    allowed = {*FUNCTIONS, "VAR_SAMP", "FLOOR", "CEIL", "CEILING", "ABS", "ROUND", "SQRT"}
    allowed |= {"LEAST", "GREATEST"}
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
    monkeypatch.setattr(Tree, "refuse_unread", lambda tree, root=None: None)
    monkeypatch.setattr(parse_module, "refuse_lost", lambda tokens, tree: None)
    ask(sql)  # with node types alone it would have become a question


def test_a_type_error_never_reaches_an_engine() -> None:
    refusal = refused("SELECT COUNT(*) FROM census WHERE sex = 7", "type")
    assert refusal.what == "`sex` is compared with 7."
    assert refusal.fix.startswith("Write a declared category in quotes, such as 'Female'.")


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
