"""The text of a question is SQL that people can read, and means the question."""

from __future__ import annotations

import pytest

from tenue.query.read.parse import parse
from tenue.query.write.question import render
from unit.query.asked import CENSUS, ask

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
