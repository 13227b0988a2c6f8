"""Grouping sets are right, add up, and lose no more than they cost."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import pandas as pd
import pytest

import tenue as tn
from properties.test_sql_right import LEVEL, RECORDS, tables
from properties.test_workload_loss import EPSILON, PRICE, broken, largest_loss, schema, strategies
from tenue.ask.grouping_sets import GroupedAnswer
from tenue.ask.question import GroupingSets
from tenue.ask.sql.parse import parse_select
from tenue.ask.sql.write import render
from tenue.ask.workload.plan import Workload, plan_workload
from tenue.schema import Schema
from unit.ask.small import session

KEYS = {
    "c": "c",
    "b": "b",
    "bin": "FLOOR(x / 4) * 4",
    "band": "CASE WHEN y < 0 THEN 'low' WHEN y < 2 THEN 'middle' ELSE 'high' END",
    "quarter": "EXTRACT(quarter FROM d)",
}
VALUES = {
    "n": "COUNT(*)",
    "present": "COUNT(x)",
    "total": "SUM(2 * y + 1)",
    "mean": "AVG(x)",
    "high": "COUNT(*) FILTER (WHERE y > 1)",
}


def questions(chosen: random.Random, many: int) -> Iterator[tuple[list[str], str]]:
    for _ in range(many):
        names = chosen.sample(list(KEYS), chosen.choice([1, 1, 2, 2, 2, 3]))
        values = chosen.sample(list(VALUES), chosen.randint(1, 3))
        keys = [KEYS[name] for name in names]
        sets = [
            f"ROLLUP ({', '.join(keys)})",
            f"CUBE ({', '.join(keys)})",
            f"GROUPING SETS (({', '.join(keys)}), ({keys[0]}), ())"
            if len(keys) > 1
            else f"GROUPING SETS ((), ({keys[0]}))",
        ]
        columns = [f"{KEYS[name]} AS {name}_" for name in names]
        columns += [f"GROUPING({KEYS[name]}) AS total_{name}" for name in names]
        columns += [f"{VALUES[name]} AS {name}" for name in values]
        where = chosen.choice(["", " WHERE y < 2", " WHERE c IN ('a', 'b') OR x > 3"])
        yield names, f"SELECT {', '.join(columns)} FROM t{where} GROUP BY {chosen.choice(sets)}"


def test_forty_questions_are_answered_as_duckdb_does() -> None:
    chosen = random.Random(17)
    stored, seen = tables(chosen)
    data = tn.protect(stored, schema=RECORDS, ledger=tn.ledger.Memory())
    with duckdb.connect() as raw:
        raw.register("t", seen)
        for names, text in questions(chosen, 40):
            answer = data.ask(text, epsilon=1000)
            assert isinstance(answer, GroupedAnswer)
            found = raw.sql(text).to_arrow_table().to_pylist()
            true = {key_of(row, names): row for row in found}
            for row, ends in zip(answer.value, answer.interval(LEVEL), strict=True):
                # a cell without rows is in no answer of DuckDB's
                for alias in set(row) - {f"{n}_" for n in names} - {f"total_{n}" for n in names}:
                    wanted = true.get(key_of(row, names), {}).get(alias)
                    low, high = ends[alias]
                    if alias == "mean" and wanted is None:
                        assert (low, high) == (0, 12), "of no rows a mean is not known"
                        continue
                    assert low - 1e-9 <= float(wanted or 0) <= high + 1e-9, (text, row, ends)
                    if alias != "mean":
                        assert row[alias] == pytest.approx(float(wanted or 0), abs=0.02)


@pytest.mark.parametrize("epsilon", [20, 200, 2000])
def test_a_mean_of_few_rows_is_off_by_its_noise_alone(epsilon: int) -> None:
    """A CUBE told −8.233 where −8.25 is true: four rows in a range of 400 steps.

    The pair of sums is off by some steps of noise, and the mean by these over the rows. Its
    interval says so; at a larger price the same cell is as near as DuckDB's.
    """
    rows = [("a", True, -8), ("a", True, -9), ("a", True, -8), ("a", True, -8)]
    rows += [("b", False, k % 7) for k in range(90)]
    stored = pd.DataFrame(rows, columns=["c", "b", "y"])
    given = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
            "columns": {
                "c": {"type": "category", "categories": ["a", "b"]},
                "b": {"type": "boolean"},
                "y": {"type": "number", "bounds": [-200, 200]},
            },
            "budget": {"total": 10**5},
        }
    )
    text = "SELECT c, b, AVG(y) AS m FROM t GROUP BY CUBE (c, b)"
    with tn.protect(stored, schema=given, ledger=tn.ledger.Memory()) as data:
        answer = data.ask(text, epsilon=epsilon)
        (told,) = [row["m"] for row in answer.value if (row["c"], row["b"]) == ("a", True)]
        ((low, high),) = [
            row["m"] for row in answer.interval(LEVEL) if (row["c"], row["b"]) == ("a", True)
        ]
    assert low <= -8.25 <= high
    assert low <= told <= high
    assert high - low <= 400 * 120 / epsilon, "noise of a few dozen times 400/ε, over four rows"
    if epsilon == 2000:
        assert told == pytest.approx(-8.25, abs=2.5)


def key_of(row: dict[str, Any], names: list[str]) -> tuple[Any, ...]:
    """The keys as text, and whether each is a total: rows of missing keys are no totals."""
    found: list[Any] = []
    for name in names:
        total, value = int(row[f"total_{name}"]), row[f"{name}_"]
        plain = float(value) if isinstance(value, int | float) else value
        known = "missing" if value is None else str(bool(value)) if name == "b" else str(plain)
        found.append("all" if total else known)
    return tuple(found)


def test_texts_say_the_same_question_again() -> None:
    for _, text in questions(random.Random(3), 40):
        asked = parse_select(text, RECORDS)
        assert isinstance(asked, GroupingSets)
        assert parse_select(render(asked, RECORDS), RECORDS) == asked


@pytest.mark.parametrize("rows_per_unit", [None, 1])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("epsilon", [0.01, 1])
def test_totals_are_the_sums_of_their_parts(
    neighbours: str, rows_per_unit: int | None, epsilon: float
) -> None:
    """Exactly, whatever was drawn; with one row of each person kept of two, too: it is drawn once.

    Mutant: limits cut, or noise drawn, for each set by itself.
    """
    text = "SELECT c, BIN(x, 20) AS b, COUNT(*) AS n, SUM(pay) AS s FROM t WHERE x < 35 "
    data = session(neighbours, rows_per_unit)
    answer = data.ask(text + "GROUP BY CUBE (c, BIN(x, 20))", epsilon=epsilon)
    assert isinstance(answer, GroupedAnswer)
    sums: dict[tuple[Any, Any, str], Fraction] = defaultdict(Fraction)
    rows = {(row["c"], row["b"]): row for row in answer.exact}
    for (c, b), alias in itertools.product(rows, ("n", "s")):
        if c is not None and b is not None:
            for part in ((c, None), (None, b), (None, None)):
                sums[*part, alias] += rows[c, b][alias]
    assert len(sums) == 2 * (3 + 2 + 1)
    for (c, b, alias), total in sums.items():
        assert rows[c, b][alias] == total
    parts = answer.parts
    matrix = parts.covariance
    fine = 2 * 6
    for alias in range(2):
        weights = matrix[:, alias:fine:2].sum(axis=1) - matrix[:, -2 + alias]
        assert abs(weights).max() < 1e-6 * abs(matrix).max(), "the difference has no error"


def planned(text: str, given: Schema) -> Workload:
    asked = parse_select(text, given)
    assert isinstance(asked, GroupingSets)
    parts = asked.parts()
    texts = [render(part, given) for part in parts]
    return plan_workload(parts, texts, given, PRICE, consistent=True)


@pytest.mark.parametrize("rows_per_unit", [None, 2])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT c, BIN(x, 4), COUNT(*) FROM t WHERE x < 6 GROUP BY CUBE (c, BIN(x, 4))",
        "SELECT c, COUNT(*), SUM(x) FROM t WHERE x > 0 GROUP BY ROLLUP (c)",
        "SELECT c, CASE WHEN x < 2 THEN 'low' ELSE 'high' END AS h, AVG(x) FROM t "
        "GROUP BY GROUPING SETS ((c), (h))",
    ],
)
def test_all_sets_together_lose_no_more_than_the_price(
    text: str, neighbours: str, rows_per_unit: int | None
) -> None:
    given = schema(neighbours, rows_per_unit)
    workload = planned(text, given)
    assert workload.blocks, "totals add up"
    for way in strategies(workload):
        assert 0 < largest_loss(workload, way, given, most=rows_per_unit or 1) <= EPSILON
    # mutant: every set has the noise of the whole price, as if it were the only one
    (first, *others) = workload.chosen.blocks
    if len(first.prices) > 1 and not others:
        mutant = broken(workload.chosen, prices=(PRICE.units,) * len(first.prices))
        assert largest_loss(workload, mutant, given, most=rows_per_unit or 1) > EPSILON
