"""The text of an amount means the amount: what the parser makes of it is the same."""

from __future__ import annotations

import pytest

from tenue.query.write.question import render
from unit.query.asked import CENSUS, ask, refused

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


def test_what_is_written_out_counts_each_time_it_is_named() -> None:
    def doubled(many: int) -> str:
        steps = "".join(
            f", a{i} AS (SELECT age, CASE WHEN age > {i} THEN v ELSE v + 1 END AS v FROM a{i - 1})"  # noqa: S608
            for i in range(1, many + 1)
        )
        return (
            f"WITH a0 AS (SELECT age, 2 * age AS v FROM census){steps} SELECT SUM(v) FROM a{many}"  # noqa: S608
        )

    assert len(ask(doubled(9)).computed) == 1
    refused(doubled(12), "too-long")
    refused(doubled(60), "too-long")
