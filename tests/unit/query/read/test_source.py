"""CTEs and derived tables are folded into one scope."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

from tenue.engine.request import All, Among, Within
from tenue.query.question import Aggregate
from unit.query.asked import ask, refused


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
    assert refusal.fix == "Choose one of `years`."


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
    assert refused("SELECT COUNT(*) FROM censu", "unknown-table").fix == "Did you mean `census`?"
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
