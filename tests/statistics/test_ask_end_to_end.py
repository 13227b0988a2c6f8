"""Two hundred questions, each different, from SQL to the answer, with the system's own noise.

The truth comes from DuckDB itself. Of 200 intervals at 90 % so many cover it as chance allows; the
same intervals cut to a third are seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import tenue as tn
from alarm import SHARE, budget, claim

FILE = "statistics/test_ask_end_to_end.py"
LEVEL = 0.9
QUESTIONS = 200


def people() -> pd.DataFrame:
    made = np.random.default_rng(5)
    n = 3_000
    return pd.DataFrame(
        {
            "age": made.integers(18, 91, n),
            "income": np.round(made.lognormal(10, 0.6, n).clip(0, 200_000), 0),
            "change": pd.Series(made.integers(-50, 51, n))
            .mask(made.random(n) < 0.1)
            .astype("Int64"),
            "sex": made.choice(["f", "m"], n),
            "town": made.choice(["A", "B", "C", "D"], n, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def schema(neighbours: str) -> dict[str, Any]:
    return {
        "table": {"name": "people", "unit": "record", "neighbours": neighbours},
        "columns": {
            "age": {"type": "number", "bounds": [18, 90], "grid": 1},
            "income": {"type": "number", "bounds": [0, 200_000], "grid": 1},
            "change": {"type": "number", "bounds": [-50, 50], "grid": 1},
            "sex": {"type": "category", "categories": ["f", "m"]},
            "town": {"type": "category", "categories": ["A", "B", "C", "D"]},
        },
        "budget": {"total": 1_000},
    }


def questions() -> Iterator[tuple[str, float]]:
    """(SQL, epsilon); the interval of the first output is looked at."""
    outputs = [
        "COUNT(*)",
        "COUNT(change)",
        "SUM(income)",
        "SUM(change)",
        "AVG(income)",
        "AVG(change)",
        "AVG(age), COUNT(*)",
        "SUM(age), SUM(income), COUNT(*)",
        "COUNT(*), AVG(income)",
        "SUM(income) / COUNT(*)",
    ]
    places = [
        "",
        " WHERE age > {n}",
        " WHERE sex = 'f' AND income < {n}000",
        " WHERE town IN ('A', 'C') OR age BETWEEN 20 AND {n}",
        " GROUP BY town ORDER BY town",
    ]
    for number in range(QUESTIONS):
        output = outputs[number % len(outputs)]
        place = places[number // len(outputs) % len(places)].format(n=30 + number % 40)
        keyed = "town, " if "GROUP" in place else ""
        epsilon = 0.3 + (number // 50) * 0.2
        yield f"SELECT {keyed}{output} FROM people{place}", epsilon  # noqa: S608


def first(shape: Any) -> Any:
    """The first output of the first row, whatever shape the answer has."""
    if isinstance(shape, list):
        shape = shape[0]
    if isinstance(shape, dict):
        shape = next(value for key, value in shape.items() if key != "town")
    return shape


def fewest(n: int, p: float) -> int:
    """The least count that a binomial reaches but for a false alarm."""
    total = 0.0
    for count in range(n + 1):
        total += math.comb(n, count) * p**count * (1 - p) ** (n - count)
        if total > SHARE:
            return count
    return n


@pytest.mark.random
def test_intervals_of_200_questions_cover_the_truth() -> None:
    claim(FILE, "coverage")
    frame = people()
    raw = duckdb.connect()
    raw.register("people", frame)
    ends = []
    for neighbours in ("add-or-remove", "replace"):
        with tn.protect(frame, schema=schema(neighbours), ledger=tn.ledger.Memory()) as data:
            for number, (sql, epsilon) in enumerate(questions()):
                if (number % 2 == 0) != (neighbours == "replace"):
                    continue
                answer = data.ask(sql, epsilon=epsilon)
                (row, *_) = raw.execute(sql).fetchall()
                truth = row[1] if "GROUP" in sql else row[0]
                ends.append((float(truth), *map(float, first(answer.interval(LEVEL)))))
    assert len(ends) == QUESTIONS
    hits = sum(low - 1e-9 <= truth <= high + 1e-9 for truth, low, high in ends)
    narrow = sum(abs(truth - (low + high) / 2) <= (high - low) / 6 for truth, low, high in ends)
    least = fewest(QUESTIONS, LEVEL)
    facts = budget(covered=hits, of=QUESTIONS, least=least, covered_by_a_third=narrow)
    assert hits >= least, facts
    assert narrow < least, facts
