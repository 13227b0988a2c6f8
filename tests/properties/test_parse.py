"""What `parse` promises of every question, over random tables and questions."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import itertools
import logging
import random
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot.dialects.duckdb import DuckDB

from tenue.ask.question import Question
from tenue.ask.sql.parse import parse
from tenue.ask.sql.write import render
from tenue.engine.computed_column import All, Among, Any_, Missing, Not, Predicate
from tenue.errors import InvalidQuestion
from tenue.schema import Bounded, Number, Schema
from unit.ask.asked import CENSUS
from unit.ask.generated import asked, tables
from unit.ask.hostile import statements

UNHURRIED = [HealthCheck.too_slow, HealthCheck.data_too_large]
TABLES = tables()


@settings(max_examples=150, deadline=None, suppress_health_check=UNHURRIED)
@given(st.data())
def test_a_question_becomes_what_it_says(data: st.DataObject) -> None:
    schema = data.draw(TABLES)
    question = data.draw(asked(schema))
    assert parse(question.sql, schema) == question.becomes


@settings(max_examples=100, deadline=None, suppress_health_check=UNHURRIED)
@given(st.data())
def test_the_text_of_a_question_means_the_question(data: st.DataObject) -> None:
    schema = data.draw(TABLES)
    question = data.draw(asked(schema)).becomes
    assert parse(render(question, schema), schema) == question


# -- the meaning of conditions, against DuckDB itself

SMALL = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "n": {"type": "number", "bounds": [-2, 4]},
            "r": {"type": "number", "bounds": [-1, 1], "grid": Decimal("0.5")},
            "c": {"type": "category", "categories": ["ab", "b%", "a_"]},
            "b": {"type": "boolean"},
            "d": {"type": "date", "bounds": ["2020-01-02", "2020-01-08"], "grid": 2},
            "s": {
                "type": "datetime",
                "bounds": ["2020-01-01T12:00", "2020-01-03T12:00"],
                "grid": 43200,
            },
        },
    }
)
DOMAINS: dict[str, list[Any]] = {
    "n": [None, -2, 0, 3, 4],
    "r": [None, -1, Decimal("0.5")],
    "c": [None, "ab", "b%", "a_"],
    "b": [None, True, False],
    "d": [None, date(2020, 1, 2), date(2020, 1, 6)],
    "s": [None, datetime(2020, 1, 1, 12), datetime(2020, 1, 3)],
}
ROWS = list(itertools.product(*DOMAINS.values()))
NUMBERS = st.sampled_from(
    ["-3", "-2.0", "-2", "-0.5", "0", ".5", "0.7", "1", "2.5", "3", "4", "5e0", "1e2"]
)
DAYS = st.sampled_from(["2020-01-02", "2020-01-03", "2020-01-06", "2019-12-31"])
MOMENTS = st.sampled_from(["2020-01-01 12:00:00", "2020-01-03", "2020-01-02T23:59:59"])
OPERATORS = st.sampled_from(["=", "<>", "!=", "<", "<=", ">", ">="])
EQUAL = st.sampled_from(["=", "<>"])


def compared(name: str, operators: st.SearchStrategy[str], values: st.SearchStrategy[str]) -> Any:
    lists = st.lists(values, min_size=1, max_size=3).map(", ".join)
    return (
        st.builds(f"{name} {{}} {{}}".format, operators, values)
        | st.builds(f"{{1}} {{0}} {name}".format, operators, values)
        | st.builds(f"{name} IN ({{}})".format, lists)
        | st.builds(f"{name} NOT IN ({{}})".format, lists)
        | st.sampled_from([f"{name} IS NULL", f"{name} IS NOT NULL"])
    )


def between(name: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        f"{name} {{}} {{}} AND {{}}".format,
        st.sampled_from(["BETWEEN", "NOT BETWEEN"]),
        values,
        values,
    )


QUOTED = "'{}'".format
LEAVES = st.one_of(
    *(compared(name, OPERATORS, NUMBERS) | between(name, NUMBERS) for name in "nr"),
    compared("c", EQUAL, st.sampled_from(["ab", "b%", "a_"]).map(QUOTED)),
    st.builds(
        "c {} '{}'".format,
        st.sampled_from(["LIKE", "NOT LIKE"]),
        st.text("ab%_", max_size=4),
    ),
    compared("b", EQUAL, st.sampled_from(["TRUE", "FALSE"])) | st.just("b"),
    compared("d", OPERATORS, DAYS.map(QUOTED) | DAYS.map("DATE '{}'".format)),
    between("d", DAYS.map(QUOTED)),
    compared("s", OPERATORS, MOMENTS.map(QUOTED) | MOMENTS.map("TIMESTAMP '{}'".format)),
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("{} AND {} OR {}".format, inner, inner, inner).map("({})".format),
        st.builds("NOT ({})".format, inner),
        st.builds("NOT {}".format, LEAVES),
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def rows_kept() -> Callable[[str], set[int]]:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t (id INT, n INT, r DECIMAL(3,1), c TEXT, b BOOLEAN, d DATE, s TIMESTAMP)"
    )
    marks = "(" + ", ".join("?" * 7) + ")"
    values = [value for at, row in enumerate(ROWS) for value in (at, *row)]
    connection.execute(f"INSERT INTO t VALUES {', '.join([marks] * len(ROWS))}", values)
    return lambda text: {
        at for (at,) in connection.execute(f"SELECT id FROM t WHERE {text}").fetchall()
    }


def holds(predicate: Predicate, row: Mapping[str, int | str | bool | None]) -> bool | None:
    """The predicate on one row of steps and categories, in Kleene's logic."""
    if isinstance(predicate, Missing):
        return row[predicate.column] is None
    if isinstance(predicate, Not):
        inner = holds(predicate.part, row)
        return None if inner is None else not inner
    if isinstance(predicate, All | Any_):
        found = [holds(part, row) for part in predicate.parts]
        decisive = isinstance(predicate, Any_)
        if decisive in found:
            return decisive
        return None if None in found else not decisive
    value = row[predicate.column]
    if value is None:
        return None
    if isinstance(predicate, Among):
        return value in predicate.values
    assert isinstance(value, int)
    return (predicate.first is None or predicate.first <= value) and (
        predicate.last is None or value <= predicate.last
    )


def two_valued(predicate: Predicate, row: Mapping[str, int | str | bool | None]) -> bool:
    """The mistake that missing values invite: what is not known is taken as false, then negated."""
    if isinstance(predicate, Not):
        return not two_valued(predicate.part, row)
    if isinstance(predicate, All):
        return all(two_valued(part, row) for part in predicate.parts)
    if isinstance(predicate, Any_):
        return any(two_valued(part, row) for part in predicate.parts)
    return holds(predicate, row) is True


def in_steps(row: tuple[Any, ...]) -> dict[str, int | str | bool | None]:
    found: dict[str, int | str | bool | None] = {}
    for (name, column), value in zip(SMALL.columns.items(), row, strict=True):
        if isinstance(column, Bounded) and value is not None:
            zero = int(column.low / column.grid) if isinstance(column, Number) else 0
            found[name] = column.to_steps(value) + zero
        else:
            found[name] = value
    return found


STEPS = [in_steps(row) for row in ROWS]


def asks(condition: str) -> Question:
    return parse(f"SELECT COUNT(*) FROM t WHERE {condition}", SMALL)


@settings(max_examples=300, deadline=None, suppress_health_check=UNHURRIED)
@given(condition=CONDITIONS)
def test_a_condition_keeps_the_rows_that_sql_keeps(
    rows_kept: Callable[[str], set[int]], condition: str
) -> None:
    where = asks(condition).where
    assert where is not None
    kept = {at for at, row in enumerate(STEPS) if holds(where, row) is True}
    assert kept == rows_kept(condition)


def test_two_valued_logic_would_keep_other_rows(rows_kept: Callable[[str], set[int]]) -> None:
    condition = "n <> 0 OR NOT (d = '2020-01-06')"
    where = asks(condition).where
    assert where is not None
    wrong = {at for at, row in enumerate(STEPS) if two_valued(where, row)}
    assert wrong != rows_kept(condition)


@settings(max_examples=150, deadline=None, suppress_health_check=UNHURRIED)
@given(condition=CONDITIONS)
def test_a_condition_and_its_text_are_one_question(condition: str) -> None:
    question = asks(condition)
    text = render(question, SMALL)
    assert parse(text, SMALL) == question
    assert render(parse(text, SMALL), SMALL) == text


def random_condition(chosen: random.Random, depth: int) -> str:
    if depth == 0 or chosen.random() < 0.2:
        name = chosen.choice("nrcbds")
        value = {
            "n": lambda: str(chosen.randint(-4, 6)),
            "r": lambda: f"{chosen.randint(-9, 9) / 4}",
            "c": lambda: chosen.choice(["'ab'", "'b%'", "'a_'"]),
            "b": lambda: chosen.choice(["TRUE", "FALSE"]),
            "d": lambda: f"DATE '2020-01-0{chosen.randint(1, 9)}'",
            "s": lambda: f"'2020-01-0{chosen.randint(1, 4)} 0{chosen.randint(0, 9)}:00:00'",
        }[name]
        operator = chosen.choice(["=", "<>"] if name in "cb" else ["=", "<>", "<", ">=", ">", "<="])
        return chosen.choice(
            [
                f"{name} {operator} {value()}",
                f"{value()} {operator} {name}",
                f"{name} NOT IN ({value()}, {value()})",
                f"{name} IS NOT NULL",
            ]
        )
    parts = [random_condition(chosen, depth - 1) for _ in range(chosen.randint(1, 3))]
    return chosen.choice(["({})", "NOT ({})"]).format(chosen.choice([" AND ", " OR "]).join(parts))


@pytest.mark.slow
def test_a_hundred_thousand_random_trees_and_their_texts_are_one_question() -> None:
    chosen = random.Random(7)
    for _ in range(100_000):
        question = asks(random_condition(chosen, chosen.randint(0, 4)))
        assert parse(render(question, SMALL), SMALL) == question


@settings(max_examples=50, deadline=None, suppress_health_check=UNHURRIED)
@given(one=CONDITIONS, two=CONDITIONS, three=CONDITIONS)
def test_the_laws_of_sql_do_not_change_a_question(one: str, two: str, three: str) -> None:
    for left, right in [
        (f"{one} AND ({two})", f"({two}) AND {one}"),
        (f"({one}) OR {two}", f"{two} OR ({one})"),
        (f"{one} AND ({two} AND {three})", f"(({one}) AND {two}) AND {three}"),
        (f"NOT NOT ({one})", f"(({one}))"),
        (f"NOT ({one} AND {two})", f"NOT ({one}) OR NOT ({two})"),
        (f"NOT ({one} OR {two})", f"NOT ({two}) AND NOT ({one})"),
        (f"{one} OR {one}", one),
        (f"({one}) AND {one} AND ({three})", f"{three} AND {one}"),
    ]:
        assert asks(left.replace("(b)", "b")).canonical == asks(right).canonical


# -- whatever is not a question is refused, and nothing else happens

VALID = [
    "SELECT COUNT(*) FROM census WHERE income > 50000 AND NOT sex = 'Male'",
    "SELECT sex, AVG(rate) AS m FROM census GROUP BY sex HAVING m > 0.5 ORDER BY m DESC LIMIT 1",
    "WITH a AS (SELECT age AS x FROM census WHERE employed) SELECT COUNT(*) FROM a WHERE x = 1",
    "SELECT DATE_TRUNC('month', date), COUNT(*) FROM census GROUP BY 1",
    "SELECT BIN(age, 10) AS b, SUM(age) FROM census c WHERE c.born < '1980-01-01' GROUP BY b",
    "SELECT SUM(CASE WHEN age * 2 > 3 AND employed IS TRUE THEN income - 1 ELSE 0 END) FROM census",
    "SELECT CASE WHEN age < 18 THEN 'a' END AS k, COUNT(DISTINCT sex) FROM census GROUP BY k",
    "SELECT ROUND(AVG(rate) FILTER (WHERE YEAR(date) = 2021), 2) FROM census",
    "SELECT AVG(v) FROM (SELECT person, SUM(age + 1) AS v FROM census GROUP BY person) WHERE v > 3",
    "SELECT FLOOR(age / 10) * 10 , COALESCE(SUM(age), 0) / 2 FROM census GROUP BY ALL",
]
WORDS = [
    *DuckDB.Tokenizer.KEYWORDS,
    *("COUNT(*)", "SUM(income)", "census", "income", "sex", "date", "employed", "x", "DATE_TRUNC"),
    *("'Male'", "'month'", "1", ".5", "-3", "1e5", "(", ")", ",", ".", ";"),
]


def is_question_or_refused(sql: str) -> bool:
    try:
        question = parse(sql, CENSUS)
    except InvalidQuestion:
        return False
    assert parse(render(question, CENSUS), CENSUS) == question
    return True


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80) | st.text("SELECTCOUNT(*)FROMcensus '\";-/=<>1.\n", max_size=60))
def test_any_text_is_a_question_or_refused(text: str) -> None:
    assert not is_question_or_refused(text)
    is_question_or_refused("SELECT COUNT(*) FROM census WHERE sex = " + text)
    is_question_or_refused("SELECT " + text + " FROM census")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_words_of_sql_are_a_question_or_refused(words: list[str]) -> None:
    is_question_or_refused("SELECT " + " ".join(words))
    is_question_or_refused("SELECT COUNT(*) FROM census " + " ".join(words))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(VALID), st.data())
def test_a_changed_question_is_a_question_or_refused(text: str, data: st.DataObject) -> None:
    words = text.split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        change = data.draw(st.sampled_from(["drop", "add", "swap", "repeat", "break"]))
        if change == "drop" and len(words) > 1:
            del words[at]
        elif change == "add":
            words.insert(at, data.draw(st.sampled_from(WORDS)))
        elif change == "swap":
            words[at] = data.draw(st.sampled_from(WORDS))
        elif change == "repeat":
            words.insert(at, words[at])
        else:
            words[at] = words[at][1:] + data.draw(st.characters())
    is_question_or_refused(" ".join(words))


def test_nothing_is_printed_or_logged(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    chosen = random.Random(7)
    soup = [" ".join(chosen.choices(WORDS, k=chosen.randrange(20))) for _ in range(500)]
    with caplog.at_level(logging.DEBUG):
        for text in [*statements("census", "income"), *soup, *VALID]:
            is_question_or_refused(text)
            is_question_or_refused("SELECT " + text)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


@settings(max_examples=50, deadline=None, suppress_health_check=UNHURRIED)
@given(st.data())
def test_a_refusal_depends_on_the_text_and_the_schema_only(data: st.DataObject) -> None:
    schema = data.draw(TABLES)
    question = data.draw(asked(schema))
    words = question.sql.split(" ")
    del words[data.draw(st.integers(0, len(words) - 1))]
    told = []
    for _ in range(2):
        try:
            told.append(parse(" ".join(words), Schema.from_dict(schema.to_dict())).canonical)
        except InvalidQuestion as refusal:
            told.append(str(refusal))
    assert told[0] == told[1]
