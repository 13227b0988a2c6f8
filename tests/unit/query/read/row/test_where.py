"""The text of a condition."""

from __future__ import annotations

import pytest

from tenue.engine.request import All, Among, Any_, Not, Within
from tenue.errors import InvalidArgument
from tenue.query.read.row.where import render_where
from unit.query.asked import CENSUS, where


@pytest.mark.parametrize(
    "text",
    [
        "age >= 0",
        "age > 120",
        "age = 3",
        "age <> 3",
        "age <= 3",
        "age >= 3",
        "age BETWEEN 3 AND 5",
        "NOT age BETWEEN 3 AND 5",
        "age IN (3, 5, 7)",
        "age NOT IN (3, 5, 7)",
        "age BETWEEN 10 AND 20 OR age IN (3, 5)",
        "rate >= -0.3",
        "born = DATE '1900-01-08'",
        "seen <= TIMESTAMP '2020-01-01 23:59:30'",
        "sex = 'Male'",
        "occupation IN ('Sales', 'it''s 100%')",
        "occupation LIKE ''",
        "employed = TRUE",
        "employed IN (FALSE, TRUE)",
        "employed = TRUE AND employed = FALSE",
        "age IS NULL",
        "age IS NOT NULL",
        "employed = TRUE AND sex = 'Male'",
        "employed = TRUE AND (age IS NULL OR age <= 3)",
        "employed = TRUE AND age <= 3 OR sex = 'Male'",
    ],
)
def test_a_canonical_condition_stays_as_it_is(text: str) -> None:
    predicate = where(text)
    assert isinstance(predicate, Within | Among | Not | All | Any_) or "NULL" in text
    assert render_where(predicate, CENSUS) == text  # type: ignore[arg-type]


def test_conditions_that_are_not_in_normal_form_keep_their_meaning() -> None:
    odd = Not(All((Within("age", 3, None), Not(Any_((Within("age", 5, 5), Among("sex", ())))))))
    text = render_where(odd, CENSUS)
    assert where(text) == where("age < 3 OR age = 5 OR sex LIKE ''")


def test_a_predicate_of_another_schema_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        render_where(Within("sex", 1, 2), CENSUS)
    with pytest.raises(InvalidArgument):
        render_where(Within("salary", 1, 2), CENSUS)
