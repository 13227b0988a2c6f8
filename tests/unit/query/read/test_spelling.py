"""Every word of the text must be in the tree, and no other."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from tenue.errors import InvalidQuestion
from tenue.query.read.spelling import refuse_lost

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
