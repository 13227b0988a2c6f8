"""The text of an amount means the amount: what the parser makes of it is the same."""

from __future__ import annotations

import pytest

from tenue.query.write.question import render
from unit.query.asked import CENSUS, ask

TEXTS = [
    "2 * age",
    "age / 3",
    "2 * age / 3 - income + 1",
    "-age",
    "-rate - 0.5",
    "age * (income - 1) * (rate + age) / 7",
    "CASE WHEN age <= 17 THEN -income ELSE 0.3 END",
    "CASE WHEN sex = 'Male' OR age IS NULL THEN rate END",
    "FLOOR(income / 1000)",
    "3 * FLOOR(rate) - age",
    "EXTRACT(year FROM born) - EXTRACT(month FROM date)",
    "EXTRACT(hour FROM seen) * age",
    "age - age + income",
    "0 * (CASE WHEN employed = TRUE THEN 1 END) + age",
    "(CASE WHEN employed = TRUE THEN 1 END) - age",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_is_read_as_the_same(text: str) -> None:
    question = ask(f"SELECT SUM({text}) AS s FROM census")  # noqa: S608
    (computed,) = question.computed
    assert computed.name[0] + computed.name[-1] == "()"
    assert ask(render(question, CENSUS)) == question
    assert ask(f"SELECT SUM{computed.name} AS s FROM census") == question  # noqa: S608


def test_what_is_written_is_short() -> None:
    assert ask("SELECT SUM((1 + age) + 2 * (age * 1) - 4) FROM census").computed[0].name == (
        "(3 * age - 3)"
    )
