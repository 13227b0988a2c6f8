"""Every refusal leads to a working question in one step."""

from __future__ import annotations

import random
import re
import time
from collections import Counter

import pytest

from tenue.ask.explain import plan_select
from tenue.ask.paid_request import Terms
from tenue.ask.sql.parse import parse_select
from tenue.errors import InvalidQuestion, Refused
from tenue.schema import Schema
from unit.ask.refused_questions import BY_HAND, ENERGY, SURVEY, VISITS, every, generated

# ruff: noqa: S608 - these texts are what is tested

TERMS = Terms(epsilon=1)


def suggested(schema: Schema, sql: str) -> list[str] | None:
    """The questions in the last sentence of the refusal; None if the question is answered."""
    try:
        plan_select(sql, schema, TERMS)
    except Refused as refusal:
        return re.findall(r"`((?:SELECT|WITH) [^`]*)`", refusal.fix)
    return None


def answered(schema: Schema, sql: str) -> bool:
    try:
        plan_select(sql, schema, TERMS)
    except Refused:
        return False
    return True


def led(questions: list[tuple[Schema, str]]) -> tuple[list[str], list[str]]:
    """Those that are refused, and those of them whose suggestions are answered."""
    found = [(schema, sql, suggested(schema, sql)) for schema, sql in questions]
    refused = [(schema, sql, several) for schema, sql, several in found if several is not None]
    good = [sql for schema, sql, some in refused if some and all(answered(schema, s) for s in some)]
    return [sql for _, sql, _ in refused], good


@pytest.mark.parametrize("part", range(8))
def test_refusals_of_what_people_write_lead_to_an_answer(part: int) -> None:
    """More than 250 questions that were written before what suggests was; today all of them."""
    refused, good = led(BY_HAND[part::8])
    assert len(BY_HAND) > 250
    assert len(refused) > 25
    assert len(good) >= 0.9 * len(refused), Counter(refused) - Counter(good)


@pytest.mark.parametrize("seed", range(4))
def test_so_do_refusals_of_answered_questions_with_one_wrong_word(seed: int) -> None:
    refused, good = led(list(generated(40, seed)))
    assert len(refused) > 20
    assert len(good) >= 0.9 * len(refused), Counter(refused) - Counter(good)


@pytest.mark.slow
def test_so_do_many() -> None:
    refused, good = led(every(3_000, 5))
    assert len(good) >= 0.9 * len(refused), Counter(refused) - Counter(good)


NEAREST = [
    (SURVEY, "SELECT AVG(incom) FROM survey", "SELECT AVG(income) FROM survey"),
    (SURVEY, "SELECT AVG(hours-per-week) FROM survey", 'SELECT AVG("hours-per-week") FROM survey'),
    (
        SURVEY,
        "SELECT education, sex, AVG(income) FROM survey GROUP BY education",
        "SELECT education, sex, AVG(income) FROM survey GROUP BY education, sex",
    ),
    (
        SURVEY,
        "SELECT COUNT(*) FROM survey WHERE education BETWEEN 'Bachelor' AND 'Doctorate'",
        "SELECT COUNT(*) FROM survey WHERE education IN ('Bachelor', 'Master', 'Doctorate')",
    ),
    (
        SURVEY,
        "SELECT COUNT(*) FROM survey WHERE education ILIKE 'b%' AND age > 30",
        "SELECT COUNT(*) FROM survey WHERE education = 'Bachelor' AND age > 30",
    ),
    (
        SURVEY,
        "SELECT COUNT(*) FROM survey WHERE interviewed > '2023'",
        "SELECT COUNT(*) FROM survey WHERE interviewed > DATE '2023-01-01'",
    ),
    (
        SURVEY,
        "SELECT DISTINCT education FROM survey",
        "SELECT education, COUNT(*) FROM survey GROUP BY education",
    ),
    (
        SURVEY,
        "SELECT COUNT(age > 65) FROM survey",
        "SELECT COUNT(*) FILTER (WHERE age > 65) FROM survey",
    ),
    (
        SURVEY,
        "SELECT PERCENTILE(income, 90) FROM survey",
        "SELECT QUANTILE(income, 0.9) FROM survey",
    ),
    (
        SURVEY,
        "SELECT sex, COUNT(*) FROM survey WHERE COUNT(*) > 3 GROUP BY sex",
        "SELECT sex, COUNT(*) FROM survey GROUP BY sex HAVING COUNT(*) > 3",
    ),
    (
        SURVEY,
        "SELECT sex, AVG(income) OVER (PARTITION BY sex) FROM survey",
        "SELECT sex, AVG(income) FROM survey GROUP BY sex",
    ),
    (
        SURVEY,
        "SELECT COUNT(*) FROM survey WERE age > 30",
        "SELECT COUNT(*) FROM survey WHERE age > 30",
    ),
    (
        VISITS,
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(DISTINCT patient) > 5",
        "SELECT ward, COUNT(*), COUNT(DISTINCT patient) FROM visits GROUP BY ward "
        "HAVING COUNT(DISTINCT patient) > 5",
    ),
    (
        VISITS,
        "SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient = p.id WHERE v.days > 3",
        "SELECT COUNT(*) FROM visits WHERE days > 3",
    ),
    (
        ENERGY,
        "SELECT region, tarif, AVG(kwh) FROM meters WHERE tarif = 'Flat' GROUP BY region, tarif",
        "SELECT region, tariff, AVG(kwh) FROM meters WHERE tariff = 'flat' GROUP BY region, tariff",
    ),
    (
        ENERGY,
        "SELECT DATE_TRUNC('decade', read_on) AS d, COUNT(*) FROM meters GROUP BY d",
        "SELECT DATE_TRUNC('year', read_on) AS d, COUNT(*) FROM meters "
        "GROUP BY DATE_TRUNC('year', read_on)",
    ),
]


@pytest.mark.parametrize(("schema", "sql", "expected"), NEAREST, ids=[sql for _, sql, _ in NEAREST])
def test_what_is_suggested_is_the_question_of_the_asker(
    schema: Schema, sql: str, expected: str
) -> None:
    assert suggested(schema, sql) == [expected]


def test_an_inner_question_comes_first_and_its_answer_has_a_place() -> None:
    sql = "SELECT COUNT(*) FROM survey WHERE income > (SELECT AVG(income) FROM survey)"
    with pytest.raises(InvalidQuestion) as refused:
        plan_select(sql, SURVEY, TERMS)
    assert refused.value.code == "unsupported-subquery"
    assert refused.value.fix.endswith(
        "Ask two questions, in this order and each with half of epsilon: "
        "`SELECT AVG(income) FROM survey`, and then, with its answer in place of 100000, "
        "`SELECT COUNT(*) FROM survey WHERE income > 100000`."
    )


def test_a_refusal_keeps_its_code_its_facts_and_its_sentences() -> None:
    with pytest.raises(InvalidQuestion) as refused:
        parse_select("SELECT AVG(incom) FROM survey", SURVEY)
    assert refused.value.code == "unknown-column"
    assert refused.value.reason == "unknown-column"
    assert refused.value.fix.startswith("Did you mean `income`?")
    assert str(refused.value).endswith(refused.value.fix)


def test_nothing_is_suggested_that_the_schema_cannot_say() -> None:
    """Identifiers and constants of the text about persons never come back."""
    for schema, sql in (
        (SURVEY, "SELECT COUNT(*) FROM survey WHERE id = 17"),
        (VISITS, "SELECT COUNT(*) FROM visits WHERE patient = 'p17'"),
    ):
        (text,) = suggested(schema, sql) or []
        assert "17" not in text


def test_no_text_makes_it_fail_or_hang() -> None:
    """Whatever is asked, a refusal is a refusal, and soon."""
    dice = random.Random(3)
    texts = [
        "SELECT " + "(" * 400 + "1",
        "SELECT " + "NOT " * 500 + "age FROM survey",
        "SELECT COUNT(*) FROM survey WHERE " + " OR ".join(["age > "] * 300),
        "SELECT " + "a::b." * 300,
        "SELECT CASE " * 60,
        "WITH a AS (" * 50,
        "SELECT '" + "x" * 500,
    ]
    text = "SELECT FROM WHERE ( ) , age 'x CASE WHEN * GROUP BY OVER AND [ ] { } :: IN"
    words = text.split()
    texts += [" ".join(dice.choices(words, k=30)) for _ in range(25)]
    start = time.monotonic()
    for text in texts:
        with pytest.raises(InvalidQuestion):
            parse_select(text, SURVEY)
    assert time.monotonic() - start < 15
