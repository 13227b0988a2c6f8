"""What a new analyst is told: the reason that applies, and words that help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import Refused
from tenue.ledger import Memory
from tenue.query.session import Session

SCHEMA: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "budget": {"total": 10_000},
    "columns": {
        "sex": {"type": "category", "categories": ["Male", "Female"]},
        "hours-per-week": {"type": "number", "bounds": [0, 99]},
        "x": {"type": "number", "bounds": [0, 10]},
    },
}


@pytest.fixture(scope="module")
def data() -> Iterator[Session]:
    rows = {"sex": ["Male", "Female"] * 50, "hours-per-week": [40] * 100, "x": [3] * 60 + [4] * 40}
    with tn.protect(pd.DataFrame(rows), schema=SCHEMA, ledger=Memory()) as opened:
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
        ("SELECT LISTAGG(x) FROM t", {}, "cannot be asked", "Did you mean `LISTAGG`"),
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
