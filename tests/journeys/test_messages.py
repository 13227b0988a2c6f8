"""What a new analyst is told: the reason that applies, and words that help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.ask.session import Session
from tenue.errors import Refused
from tenue.ledger import Memory

SCHEMA: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "budget": {"total": 10_000},
    "columns": {
        "sex": {"type": "category", "categories": ["Male", "Female"]},
        "hours-per-week": {"type": "number", "bounds": [0, 99]},
        "x": {"type": "number", "bounds": [0, 10]},
        "visit date": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]},
    },
}


@pytest.fixture(scope="module")
def data() -> Iterator[Session]:
    rows = {"sex": ["Male", "Female"] * 50, "hours-per-week": [40] * 100, "x": [3] * 60 + [4] * 40}
    days = {"visit date": ["2024-03-01"] * 100}
    with tn.protect(pd.DataFrame({**rows, **days}), schema=SCHEMA, ledger=Memory()) as opened:
        yield opened


@pytest.mark.parametrize(
    ("sql", "given", "says", "not_says"),
    [
        ("SELECT COUNT(*) FROM t WHERE sex = 'male'", {}, "Did you mean `Male`?", "Female"),
        ("SELECT AVG(hours-per-week) FROM t", {}, 'Write "hours-per-week"', "derived"),
        ("SELECT COUNT(hours-per-week) FROM t", {}, 'Write "hours-per-week"', "There is no column"),
        (
            "SELECT MEDIAN(x) FROM t",
            {"accuracy": ("interval", 0.95, 3)},
            "how close the values lie",
            "mean or a ratio",
        ),
        (
            "SELECT VARIANCE(x) FROM t",
            {"accuracy": ("interval", 0.95, 3)},
            "depends on the rows",
            "mean or a ratio",
        ),
        ("SELECT LISTAGG(x) FROM t", {}, "is not available", "Did you mean `LISTAGG`"),
        ("SELECT QUANTILE_DISC(x, 0.9) FROM t", {}, '"QUANTILE_DISC"', "PERCENTILE_DISC"),
        (
            "SELECT COUNT(*) FROM t WHERE sex IN ('Male') AND BOOL_AND(x)",
            {},
            "has a function",
            "IN cannot",
        ),
        ("SELECT STRING_AGG(sex) FROM t WHERE sex IN ('Male')", {}, '"STRING_AGG"', '"IN"'),
        (
            "SELECT COUNT(*) FROM t WHERE hours-per-week > 3",
            {},
            'Write "hours-per-week"',
            "computes",
        ),
        (
            "SELECT COUNT(*) FROM t WHERE sex = 'Male' AND 3 < hours-per-week",
            {},
            'Write "hours-per-week"',
            "computes",
        ),
        ("SELECT COUNT(*) FROM t WHERE 2 - 1 > 3", {}, "computes something", "double quotes"),
        (
            "SELECT COUNT(*) FROM t WHERE visit date > '2024-06-01'",
            {},
            'Write "visit date"',
            "Leave it out",
        ),
        ("SELECT COUNT(*) FROM t WHERE sex = 'visit date' frm", {}, "cannot be read", "visit date"),
        ("SELECT TRUNC(x), COUNT(*) FROM t GROUP BY 1", {}, "BIN(x, 1)", "one of"),
        ("SELECT COUNT(*) FROM t WHERE sex = Male", {}, "Write 'Male'", "two columns"),
        ('SELECT COUNT(*) FROM t WHERE sex IN ("Male")', {}, "Write 'Male'", "two columns"),
        ("SELECT COUNT(*) FROM t WHERE sex = x", {}, "two columns", "single quotes"),
    ],
)
def test_the_reason_is_the_one_that_applies(
    data: Session, sql: str, given: dict[str, Any], says: str, not_says: str
) -> None:
    with pytest.raises(Refused) as refused:
        data.ask(sql, **(given or {"epsilon": 1}))
    assert says in str(refused.value)
    assert not_says not in str(refused.value)


def test_quantile_cont_is_a_quantile(data: Session) -> None:
    found = [
        data.ask(sql, epsilon=1000, fresh=True).value
        for sql in ("SELECT QUANTILE_CONT(x, 0.3) FROM t", "SELECT QUANTILE(x, 0.3) FROM t")
    ]
    assert found == [3, 3]
    assert data.explain("SELECT QUANTILE_CONT(x, 0.3) FROM t", epsilon=1).sql == (
        data.explain("SELECT QUANTILE(x, 0.3) FROM t", epsilon=1).sql
    )


def test_names_in_quotes_are_names(data: Session) -> None:
    asked = 'SELECT AVG("hours-per-week") AS h FROM t WHERE "hours-per-week" > 3'
    assert data.ask(asked, epsilon=1000).value == pytest.approx(40, abs=1)


def test_no_certificate_names_a_document_that_users_lack(data: Session) -> None:
    asked = "SELECT AVG(x), MEDIAN(x), VARIANCE(x), COUNT(*) FROM t"
    for sql in (asked, "SELECT AVG(x) FROM t"):
        certificate = data.ask(sql, epsilon=1).certificate
        assert "soundness" not in certificate.to_json()


def test_the_footer_says_in_sentences_what_the_numbers_are(data: Session) -> None:
    answer = data.ask("SELECT COUNT(*) FROM t WHERE x = 4", epsilon=2)
    assert str(answer).splitlines()[-2:] == [
        "± is the margin of error, at a confidence of at least 95 %.",
        "Cost: epsilon 2 (discrete Laplace).",
    ]
    again = data.ask("SELECT COUNT(*) FROM t WHERE x = 4", epsilon=2)
    assert str(again).endswith("Cost: nothing, it was answered before (discrete Laplace).")
    assert "at least 95 %.<br>Cost: ε = 2 (discrete Laplace).</p>" in answer._repr_html_()
    bought = data.ask("SELECT MEDIAN(x) FROM t", epsilon=2, interval=0.9)
    said = " ".join(str(bought).split())
    assert "Epsilon 1 paid for intervals in values, at a confidence of 90 %." in said


def test_no_screen_is_wider_than_a_terminal(data: Session) -> None:
    answer = data.ask("SELECT sex, COUNT(*), AVG(x) FROM t GROUP BY sex", epsilon=3)
    for shown in (answer, answer.plan, answer.certificate, data.schema, data.budget):
        assert max(map(len, str(shown).splitlines())) < 80
