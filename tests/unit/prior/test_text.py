"""Beliefs as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenue.errors import InvalidPrior
from tenue.prior import (
    BetaBinomial,
    Binomial,
    Categorical,
    Histogram,
    Independent,
    Normal,
    Ordinal,
    Points,
    Table,
    Uniform,
    from_json,
)

BELIEFS: list[Any] = [
    Uniform(0, "0.1"),
    Normal(1, "0.5", -3, "3.25"),
    Histogram([0, "0.5", 2], ["1/3", "2/3"]),
    Histogram([0, 10**6], [1]).on_grid(1),
    Uniform(0, 10**6).on_grid("0.5"),
    Points({1: "1/3", "2.5": "2/3"}),
    Binomial(1080, 0.3),
    BetaBinomial(10, "0.5", 2),
    Categorical({"flu": 0.7, "none": 0.3}),
    Categorical({True: 0.7, False: 0.3}),
    Categorical({"1/2": 0.5, "é": 0.5}),
    Ordinal(["a", "b"], [1, 0]),
    Independent([Categorical({"x": 1}), Points({0: 1})]),
    Table({("a", 0.5): 0.5, ("b", 2): 0.5}),
    Table({("1/2", True): 0.5, ("b", False): 0.5}),
]


@pytest.mark.parametrize("belief", BELIEFS, ids=repr)
def test_there_and_back(belief: Any) -> None:
    text = belief.to_json()
    again = from_json(text)
    assert type(again) is type(belief)
    assert again == belief
    assert again.to_json() == text
    if hasattr(belief, "values"):
        assert again.masses == belief.masses


def test_equal_beliefs_have_one_text() -> None:
    one = Categorical({"a": 0.5, "b": 0.5, "c": 0})
    assert one.to_json() == Categorical([("b", "1/2"), ("a", 0.50)]).to_json()


def test_decimals_are_exact_in_json() -> None:
    text = '{"prior": "points", "masses": [[0.1, 0.1], [0.2, 0.2], [0.3, 0.7]]}'
    assert from_json(text) == Points({"0.1": "0.1", "0.2": "0.2", "0.3": "0.7"})


def test_densities_may_come_with_a_grid() -> None:
    text = '{"prior": "uniform", "low": 0, "high": 120, "grid": 1}'
    assert from_json(text) == Uniform(0, 120).on_grid(1)
    text = '{"prior": "normal", "mean": 2, "sd": 1, "low": 0, "high": 5, "grid": 0.5}'
    both = f'{{"prior": "independent", "components": [{text}, {text}]}}'
    assert len(from_json(both).values) == 121


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "7",
        "null",
        '{"prior": "gauss", "mean": 0}',
        '{"prior": ["uniform"]}',
        '{"low": 0, "high": 1}',
        '{"prior": "uniform", "low": 0}',
        '{"prior": "uniform", "low": 0, "high": 1, "mean": 2}',
        '{"prior": "uniform", "low": 0, "high": NaN}',
        '{"prior": "uniform", "low": 0, "low": 0, "high": 1}',
        '{"prior": "categorical", "masses": {"a": 0.5, "a": 0.5}}',
        '{"prior": "categorical", "masses": {"a": 0.5}}',
        '{"prior": "categorical", "masses": 3}',
        '{"prior": "points", "masses": {"a": 1}}',
        '{"prior": "table", "masses": [["a", 1]]}',
        '{"prior": "table", "numeric": [true], "masses": [[["a", "b"], 1]]}',
        '{"prior": "table", "numeric": [true], "masses": [[["a"], 1]]}',
        '{"prior": "independent", "components": {}}',
        '{"prior": "independent", "components": [{"prior": "uniform", "low": 0, "high": 1}]}',
        '{"prior": "histogram", "edges": [0, 1], "masses": [1], "grid": 0}',
        "[" * 100_000,
    ],
)
def test_what_is_no_belief_is_refused(text: str) -> None:
    with pytest.raises(InvalidPrior):
        from_json(text)


def test_only_texts_are_read() -> None:
    for given in (None, 7, {"prior": "uniform"}, "x" * 4_000_001):
        with pytest.raises(InvalidPrior):
            from_json(given)  # type: ignore[arg-type]


def test_the_text_is_plain_json() -> None:
    facts = json.loads(Binomial(1080, 0.3).to_json())
    assert facts == {"prior": "binomial", "n": 1080, "p": "3/10"}
