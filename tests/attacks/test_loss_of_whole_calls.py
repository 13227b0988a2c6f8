"""What whole calls lose, seen from outside: a judge who knows no strategy, no price and no family.

Laws are replaced by a tape. A first run draws zeros, so that what leaves is the truth; a second one
draws marks, so that each number that leaves tells which draw it got. Then the same call runs on
neighbouring tables, in DuckDB, and Σ loss over all draws must stay within epsilon. Whatever leaves
without a mark must be the same for all tables, and so must the laws that were drawn from.
"""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.ask.explain import explain_many, plan_select
from tenue.ask.paid_request import Inquiry, Terms, inquire, inquire_many
from tenue.ask.plan.plan import Plan
from tenue.ask.workload import measured_quantity, select_strategy
from tenue.engine.open import open_engine
from tenue.errors import Refused
from tenue.noise.box.steps import OptimalBoxSteps
from tenue.noise.law import GridLaw
from tenue.schema import Schema

Row = dict[str, Any]
EPSILON = Fraction(700_000_001, 10**9)
MARK = 10**15
SETTINGS = list(itertools.product(("add-or-remove", "replace"), (None, 2)))


def schema(neighbours: str, rows_per_unit: int | None) -> Schema:
    table: dict[str, Any] = {"name": "t", "unit": "record", "neighbours": neighbours}
    columns: dict[str, Any] = {
        "x": {"type": "number", "bounds": [-2, 5]},
        "y": {"type": "number", "bounds": [2, 4], "grid": 2, "missing": 2},
        "c": {"type": "category", "categories": ["a", "b", "d"]},
        "k": {"type": "category", "categories": ["u", "v"], "missing": "u"},
        "p": {"type": "boolean"},
    }
    if rows_per_unit is not None:
        table |= {"unit": "who", "rows_per_unit": rows_per_unit}
        columns["who"] = {"type": "identifier"}
        columns["x"]["bounds_per_unit"] = [-2, 7]
    return Schema.from_dict({"table": table, "columns": columns})


# -- the judge -------------------------------------------------------------------------------------


class Tape:
    """The laws that were drawn from, in order; draws are 0, or marks."""

    def __init__(self) -> None:
        self.laws: list[Any] = []
        self.marked = False

    def draw(self, law: Any, size: int, many: int) -> np.ndarray[Any, Any]:
        found = np.zeros((size, many), dtype=object)
        for row in found:
            if self.marked:
                row[:] = [(64 * len(self.laws) + j + 1) * MARK for j in range(many)]
            self.laws.append(law)
        return found


def run(inquiry: Inquiry[Any], engine: Any, *, marked: bool = False) -> tuple[list[Any], list[Any]]:
    """What left, as one list; and the laws."""
    tape = Tape()
    tape.marked = marked

    def scalar(law: Any, size: int, source: object = None) -> Any:
        return tape.draw(law, size, 1)[:, 0]

    def vector(law: Any, size: int, source: object = None) -> Any:
        return tape.draw(law, size, law.dimension)

    with (
        mock.patch.object(GridLaw, "steps", scalar),
        mock.patch.object(OptimalBoxSteps, "steps", vector),
    ):
        left = json.loads(inquiry.draw(engine))
    return list(flat(left)), tape.laws


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, list):
        for one in value:
            yield from flat(one)
    else:
        yield value


def loss_of(law: Any, shift: list[int]) -> Fraction:
    """How much one draw tells two truths apart at most, by the definition of its law."""
    if not any(shift):
        return Fraction(0)
    if isinstance(law, OptimalBoxSteps):
        parts = [Fraction(s, size) for s, size in zip(shift, law.ball.sensitivities, strict=True)]
        if type(law.ball).__name__ == "SameSign":
            norm = max(0, *parts) + max(0, *(-part for part in parts))
        else:
            norm = max(map(abs, parts))
        return law.epsilon * math.ceil(norm)
    if hasattr(law, "delta_steps"):  # the step-shaped law pays for every step it begins
        return law.epsilon * math.ceil(Fraction(abs(shift[0]), law.delta_steps))
    assert type(law).__name__ == "DiscreteLaplace", law
    return law.epsilon * abs(shift[0]) / Fraction(law.sensitivity)


def largest_loss(inquiry: Inquiry[Any], engines: list[Any], pairs: list[tuple[int, int]]) -> float:
    base, laws = run(inquiry, engines[0])
    marked, _ = run(inquiry, engines[0], marked=True)
    marks = [None if b == m else (m - b) // MARK - 1 for b, m in zip(base, marked, strict=True)]
    found = [run(inquiry, engine) for engine in engines]
    for _, other in found:
        assert list(map(repr, other)) == list(map(repr, laws)), "laws tell of rows"
    largest = Fraction(0)
    for one, two in pairs:
        shifts: dict[int, dict[int, int]] = {}
        for mark, a, b in zip(marks, found[one][0], found[two][0], strict=True):
            if mark is None:
                assert a == b, "something leaves without noise"
            else:
                shifts.setdefault(mark // 64, {})[mark % 64] = b - a
        moved = (
            loss_of(laws[place], [by.get(j, 0) for j in range(max(by) + 1)])
            for place, by in shifts.items()
        )
        largest = max(largest, sum(moved, Fraction(0)))
    return float(largest)


# -- tables and calls ------------------------------------------------------------------------------


def table(rows: list[Row], given: Schema) -> pa.Table:
    types = {"x": pa.float64(), "y": pa.int64(), "p": pa.bool_()}
    names = [name for name in ("x", "y", "c", "k", "p", "who") if name in given.columns]
    return pa.table(
        {n: pa.array([r.get(n) for r in rows], types.get(n, pa.string())) for n in names}
    )


def some_row(chance: random.Random, who: str) -> Row:
    odd = [float("nan"), float("inf"), -float("inf"), 99.0, -99.0]
    return {
        "x": chance.choice([None, -2.0, 0.0, 1.4, 5.0, 5.0, -2.0, *odd]),
        "y": chance.choice([None, 2, 4, 3, 100]),
        "c": chance.choice([None, "a", "b", "d", "other"]),
        "k": chance.choice([None, "u", "v"]),
        "p": chance.choice([None, True, False]),
        "who": who,
    }


def engines_of(given: Schema, chance: random.Random) -> tuple[list[Any], list[tuple[int, int]]]:
    """Tables that differ in one unit from the first, or from each other; which are neighbours."""
    most = given.rows_per_unit or 1
    shared = [some_row(chance, f"s{n}") for n in range(2)]

    def unit(who: str) -> list[Row]:
        return [some_row(chance, who) for _ in range(chance.randint(1, most))]

    high: Row = {"x": 5.0, "y": 4, "c": "a", "k": "v", "p": True, "who": "high"}
    low: Row = {"x": -2.0, "y": 2, "c": "b", "k": "u", "p": False, "who": "low"}
    units = [*([row] * most for row in (high, low)), *(unit(f"u{n}") for n in range(6))]
    tables = [shared, *(shared + rows for rows in units)]
    pairs = [(0, n) for n in range(1, len(tables))]
    if given.neighbours == "replace":
        tables = tables[1:]
        pairs = list(itertools.combinations(range(len(tables)), 2))
    return [open_engine(table(rows, given), given) for rows in tables], pairs


CONDITIONS = ["x > 0", "x <= 1", "c = 'a'", "c NOT IN ('a')", "p", "p IS NOT TRUE", "x + y > 4"]
CONDITIONS += ["x IS NULL", "k = 'v' OR x BETWEEN 0 AND 4", "NOT (p AND c = 'b')"]
NUMBERS = [
    "x",
    "y",
    "2 * x + 1",
    "x * y",
    "-x * x",
    "CASE WHEN p THEN x ELSE 0 END",
    "FLOOR(x / 2)",
]
NUMBERS += ["CASE WHEN c = 'a' THEN x END", "COALESCE(x, 7)", "x - y"]
KEYS = ["c", "k", "p", "BIN(x, 2)", "CASE WHEN x < 1 THEN 'low' WHEN p THEN 'yes' ELSE 'rest' END"]


def select(chance: random.Random, *, sets: bool = False) -> str:
    def aggregate() -> str:
        number = chance.choice(NUMBERS)
        few = ["COUNT(*)", "COUNT(x)", f"SUM({number})", f"AVG({number})", "AVG(p)"]
        few += ["COUNT(DISTINCT c)"] if chance.random() < 0.1 else []
        only = f" FILTER (WHERE {chance.choice(CONDITIONS)})" if chance.random() < 0.1 else ""
        found = chance.choice(few)
        return found + ("" if "DISTINCT" in found else only)

    keys = chance.sample(KEYS, chance.choice([1, 2] if sets else [0, 0, 1, 1, 2]))
    asked = [f"{key} AS k{n}" for n, key in enumerate(keys)]
    asked += [f"{aggregate()} AS a{n}" for n in range(chance.choice([1, 1, 2]))]
    where = f" WHERE {chance.choice(CONDITIONS)}" if chance.random() < 0.5 else ""
    by = ", ".join(keys)
    group = f" GROUP BY {chance.choice(['ROLLUP', 'CUBE'])} ({by})" if sets else f" GROUP BY {by}"
    return f"SELECT {', '.join(asked)} FROM t{where}{group if keys else ''}"


def call(chance: random.Random, given: Schema) -> Inquiry[Any] | None:
    """One call, as an analyst might make it; None if it is refused."""
    price, kind = EPSILON, chance.random()
    minimise = chance.choice(["variance", "mean"])
    try:
        if kind < 0.15:
            sets = plan_select(select(chance, sets=True), given, Terms(epsilon=price))
            return inquire_many(sets.workload, given)  # type: ignore[union-attr]
        if kind < 0.3:
            outer = chance.choice(["AVG(v)", "SUM(v), COUNT(*)", "COUNT(*) FILTER (WHERE v > 1)"])
            inner = chance.choice(["SUM(x)", "COUNT(*)", "AVG(x)", "SUM(2 * x + 1)"])
            persons = f"SELECT {outer} FROM (SELECT who, {inner} AS v FROM t GROUP BY who)"
            one = persons if "who" in given.columns else select(chance)
            plan = plan_select(one, given, Terms(epsilon=price))
            assert isinstance(plan, Plan)
            return inquire(plan, given)
        if kind < 0.45:
            declared = [
                tn.workload.ranges("x"),
                tn.workload.prefixes("x", where=chance.choice(CONDITIONS)),
                tn.workload.marginals(["c", "k", "p"], ways=2),
            ]
            many = explain_many(chance.choice(declared), given, price, minimise, None)
        else:
            texts = [select(chance) for _ in range(chance.choice([2, 3, 5]))]
            many = explain_many(texts, given, price, minimise, None)
        return inquire_many(many.workload, given)
    except Refused:
        return None


@pytest.mark.parametrize(("neighbours", "rows_per_unit"), SETTINGS)
def test_no_call_loses_more_than_its_price(neighbours: str, rows_per_unit: int | None) -> None:
    chance = random.Random(f"{neighbours} {rows_per_unit}")
    given = schema(neighbours, rows_per_unit)
    engines, pairs = engines_of(given, chance)
    losses = []
    while len(losses) < 12:
        inquiry = call(chance, given)
        if inquiry is not None:
            assert inquiry.price.epsilon == EPSILON
            losses.append(largest_loss(inquiry, engines, pairs))
    assert max(losses) <= float(EPSILON) * (1 + 1e-12)
    assert max(losses) > 0.99 * float(EPSILON), "the judge sees the whole loss"


def _prefixes(given: Schema) -> Inquiry[Any]:
    plan = explain_many(tn.workload.prefixes("x"), given, EPSILON, "variance", None)
    return inquire_many(plan.workload, given)


def _sums(given: Schema) -> Inquiry[Any]:
    texts = ["SELECT SUM(x) FROM t", "SELECT k, SUM(x) FROM t GROUP BY k"]
    texts += ["SELECT SUM(x) FROM t WHERE c = 'a'"]
    plan = explain_many(texts, given, EPSILON, "mean", None)
    assert plan.workload.blocks
    return inquire_many(plan.workload, given)


def _alone(given: Schema) -> Any:
    return mock.patch.object(
        select_strategy, "make_block", _with(measured_quantity.make_block, rows_per_unit=1)
    )


def _unswapped(given: Schema) -> Any:
    return mock.patch.object(measured_quantity, "swap_of", return_value=Fraction(1))


def _with(made: Callable[..., Any], **changed: Any) -> Callable[..., Any]:
    return lambda *args, **named: made(*args, **{**named, **changed})


@pytest.mark.parametrize(
    ("neighbours", "rows_per_unit", "asked", "mutant"),
    [
        ("add-or-remove", 2, _prefixes, _alone),
        ("add-or-remove", 2, _sums, _alone),
        ("replace", None, _prefixes, _unswapped),
        ("replace", None, _sums, _unswapped),
    ],
)
def test_the_judge_finds_what_is_forgotten(
    neighbours: str,
    rows_per_unit: int | None,
    asked: Callable[[Schema], Inquiry[Any]],
    mutant: Callable[[Schema], Any],
) -> None:
    """The rows of a person, and that a replaced row leaves one atom and enters another."""
    given = schema(neighbours, rows_per_unit)
    engines, pairs = engines_of(given, random.Random(3))
    assert largest_loss(asked(given), engines, pairs) <= float(EPSILON)
    with mutant(given):
        wrong = asked(given)
    assert largest_loss(wrong, engines, pairs) > 1.2 * float(EPSILON)
