"""Intervals of what is computed from answers hold: combinations, consistent tables, cut sums, and
what `accuracy=` promised before. On skewed, empty and tiny tables, and for persons with limits.

Combinations are drawn; consistent tables follow from their raw answers, draw by draw; cut sums are
enumerated.
"""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tenue as tn
from alarm import SHARE, budget, claim
from tenue.ask.aggregates.clip import Clip, ClipReading
from tenue.ask.answers import Answers
from tenue.ask.explain import explain_many, plan_for
from tenue.ask.paid_request import Terms, inquire_many
from tenue.ask.release import ReleasedMany, measured_cells
from tenue.ask.workload import explain as explaining
from tenue.ask.workload.combine import _found, combine
from tenue.ask.workload.plan import Workload
from tenue.ask.workload.workloads import prefixes
from tenue.engine.request import Measure
from tenue.noise.source import SYSTEM
from tenue.schema import Schema

FILE = "attacks/test_workload_coverage.py"
LEVEL = Fraction(19, 20)
DRAWS = 10_000


def schema(neighbours: str = "add-or-remove", rows_per_unit: int | None = None) -> Schema:
    table: dict[str, Any] = {"name": "t", "unit": "record", "neighbours": neighbours}
    if rows_per_unit is not None:
        table |= {"unit": "who", "rows_per_unit": rows_per_unit}
    return Schema.from_dict(
        {
            "table": table,
            "columns": {
                "who": {"type": "identifier"},
                "x": {"type": "number", "bounds": [0, 39], "missing": 0},
                "pay": {"type": "number", "bounds": [0, 1000], "missing": 0},
                "debt": {"type": "number", "bounds": [-50, 1000], "missing": 0},
                "c": {"type": "category", "categories": ["a", "b", "d"], "missing": "a"},
            },
            "budget": {"total": 10_000},
        }
    )


def table(kind: str) -> pd.DataFrame:
    """A table: with all in one cell, with nobody, with one row, with persons of many rows."""
    many = {"skewed": 400, "empty": 0, "one row": 1, "persons": 90}[kind]
    places = np.arange(many)
    return pd.DataFrame(
        {
            "who": (places // 9).astype(str),
            "x": np.where(places % 50 == 0, 31, 0),
            "pay": np.where(places % 100 == 0, 1000, 1),
            "debt": np.where(places % 100 == 0, 1000, -1),
            "c": np.where(places % 80 == 0, "d", "a").astype(object),
        }
    )


KINDS = ("skewed", "empty", "one row", "persons")
LIMITS = {"persons": 2}


class Drawn:
    """A workload over a table, and what is drawn for it: all that follows after the engine."""

    def __init__(self, texts: Any, kind: str, neighbours: str = "add-or-remove") -> None:
        given = schema(neighbours, LIMITS.get(kind))
        found = explain_many(texts, given, 1, "mean", None)
        self.workload: Workload = found.workload
        assert self.workload.blocks, "a strategy answers"
        stored = table(kind)
        with tn.protect(stored, schema=given, ledger=tn.ledger.Memory()) as data:
            self.measured = measured_cells(self.workload.request, data._dataset.engine)
        self.rows = len(stored)
        self._read = inquire_many(self.workload, given).read

    def answers(self, *, noisy: bool = True) -> Answers:
        """Those of one draw, or the true ones: as released, without noise."""
        blocks = tuple(
            tuple(tuple(map(tuple, side)) for side in self._sides(block, noisy))
            for block in self.workload.blocks
        )
        none = (None,) * len(self.workload.plans)
        return self._read(ReleasedMany(blocks, none).to_bytes(), False)

    def kept_below(self, bound: int) -> int:
        """How many of the rows that were kept have x below that."""
        counts = [self.measured.get(cell, {}).get(Measure("rows"), 0) for cell in range(bound)]
        return sum(counts)

    def _sides(self, block: Any, noisy: bool) -> Any:
        if noisy:
            return block.release(self.measured, SYSTEM, self.rows)
        public = [[[self.rows]]] if block.strategy.sum_public else [[]]
        return [[*side, *public[0]] for side in block.truth(self.measured, self.rows)]


# -- combinations ----------------------------------------------------------------------------------

THRESHOLDS = [f"SELECT COUNT(*) FROM t WHERE x < {k}" for k in range(1, 40)]
TABLES = [
    "SELECT c, BIN(x, 10) AS b, COUNT(*) FROM t GROUP BY c, 2",
    "SELECT c, COUNT(*) FROM t GROUP BY c",
]
MIXED = [
    "SELECT c, SUM(debt) AS s, COUNT(*) AS n FROM t GROUP BY c",
    "SELECT SUM(debt) AS s FROM t WHERE x < 20",
    "SELECT COUNT(*) FROM t WHERE c = 'a'",
]
COMBINED: dict[str, tuple[Any, dict[Any, Any], str, str]] = {
    "thresholds that overlap": (THRESHOLDS, dict.fromkeys(range(15, 25), 1), "skewed", ""),
    "a range": (THRESHOLDS, {30: 1, 10: -1}, "empty", ""),
    "a range under replace": (THRESHOLDS, {30: 1, 10: -1}, "one row", "replace"),
    "cells and their total": (
        TABLES,
        {(0, "a", 0): 1, (0, "a", 10): 1, (1, "a"): -3},
        "skewed",
        "",
    ),
    "sums and counts": (
        MIXED,
        {(0, "a", "s"): 2, (0, "d", "n"): Fraction(1, 3), 1: -1, 2: 0.1},
        "skewed",
        "",
    ),
    "persons": (THRESHOLDS, {30: 0.7, 10: -1, 3: 5}, "persons", ""),
}


def share_within(drawn: Drawn, coefficients: Any, half: float) -> float:
    """How often the noise that is really drawn leaves a combination within that of its truth."""
    answers = drawn.answers(noisy=False)
    cells = [explained(answers, key, value) for key, value in coefficients.items()]
    total = np.zeros(DRAWS)
    for number, block in enumerate(drawn.workload.blocks):
        for side in range(block.quantity.many):
            start, weights = 0, np.zeros(sum(block.strategy.lengths))
            for (b, s, row), weight in (place for rows in cells for place in rows):
                if (b, s) == (number, side):
                    weights = weights + weight * block.weights(row)
            for law, many in zip(block.laws, block.strategy.lengths, strict=True):
                for weight in weights[start : start + many]:
                    if weight:
                        total += weight * law.steps(DRAWS)
                start += many
    return float((np.abs(total) <= half).mean())


def explained(answers: Answers, key: Any, value: Any) -> Any:
    factor = float(Fraction(str(value)) if isinstance(value, float) else value)
    return [(place, factor * weight) for place, weight in _found(answers, key).rows]


@pytest.mark.random
@pytest.mark.parametrize("name", COMBINED)
def test_combinations_hold(name: str) -> None:
    claim(FILE, f"combine {name}")
    texts, coefficients, kind, neighbours = COMBINED[name]
    drawn = Drawn(texts, kind, neighbours or "add-or-remove")
    truth = drawn.answers(noisy=False)
    half = combine(truth, coefficients).law.half_width(LEVEL)
    least = 0.95 - math.sqrt(math.log(1 / SHARE) / (2 * DRAWS))
    seen = share_within(drawn, coefficients, half)
    assert seen >= least, budget(seen=seen, least=least)
    if name == "thresholds that overlap":
        # mutant: errors added up as if answers shared no noise
        own = [combine(truth, {key: 1}).law.half_width(LEVEL) for key in coefficients]
        apart = math.sqrt(sum(half**2 for half in own))
        assert share_within(drawn, coefficients, apart) < least


@pytest.mark.parametrize("name", COMBINED)
def test_without_noise_a_combination_is_its_truth(name: str) -> None:
    """What the draws above are off: the value leaves by the same way, noise or not."""
    texts, coefficients, kind, neighbours = COMBINED[name]
    drawn = Drawn(texts, kind, neighbours or "add-or-remove")
    found = combine(drawn.answers(noisy=False), coefficients)
    wanted = Fraction(0)
    for key, value in coefficients.items():
        # which rows of a person are kept is drawn: by what was kept
        true = drawn.kept_below(key + 1) if kind == "persons" else asked(texts, key, table(kind))
        wanted += Fraction(str(value)) * true
    assert abs(found.exact - wanted) <= found.slack < Fraction(1, 1000)


def asked(texts: Sequence[str], key: Any, of: pd.DataFrame) -> int:
    """The truth of one answer."""
    if texts is THRESHOLDS:
        return int((of.x < key + 1).sum())
    number, *rest = key if isinstance(key, tuple) else (key,)
    of = of[of.c == (rest[0] if rest else "a")] if texts is TABLES or number != 1 else of
    if texts is TABLES:
        return int((of.x // 10 * 10 == rest[1]).sum()) if number == 0 else len(of)
    if number == 1:
        return int(of[of.x < 20].debt.sum())
    return int(of.debt.sum()) if rest[1:] == ["s"] else len(of)


# -- consistent tables -----------------------------------------------------------------------------

CONSISTENT = [
    "SELECT COUNT(*) AS n, SUM(pay) AS s FROM t",
    "SELECT c, COUNT(*) AS n, SUM(pay) AS s FROM t GROUP BY c",
    "SELECT c, BIN(x, 20) AS b, COUNT(*) AS n, SUM(pay) AS s FROM t GROUP BY c, 2",
]


def numbers(values: Any) -> list[Any]:
    """All counts and sums of several answers, one after the other."""
    rows = [row for value in values for row in (value if isinstance(value, list) else [value])]
    return [row[name] for row in rows for name in ("n", "s")]


def consistent_draws(kind: str, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """How often each number is inside its interval, raw and made consistent."""
    drawn = Drawn(CONSISTENT, kind)
    truth = numbers([answer.value for answer in drawn.answers(noisy=False)])
    inside = np.zeros((2, len(truth)))
    for _ in range(draws):
        raw = drawn.answers()
        made = raw.consistent()
        told = [numbers([one.interval(LEVEL) for one in several]) for several in (raw, made)]
        held = np.array(
            [
                [low <= true <= high for (low, high), true in zip(t, truth, strict=True)]
                for t in told
            ]
        )
        assert (held[1] | ~held[0]).all(), "a raw interval that holds makes a consistent one hold"
        inside += held
        values = numbers([one.value for one in made])
        assert min(values) >= 0
        if kind != "persons":  # of persons totals are not said to add up: they might be cut
            assert values[0] == sum(values[2:8:2]) == sum(values[8::2])
    return inside[0] / draws, inside[1] / draws


@pytest.mark.parametrize("kind", KINDS)
def test_consistent_intervals_hold_where_raw_ones_do(kind: str) -> None:
    consistent_draws(kind, 30)


@pytest.mark.slow
@pytest.mark.random
@pytest.mark.parametrize("kind", KINDS)
def test_consistent_intervals_hold(kind: str) -> None:
    claim(FILE, f"consistent {kind}")
    draws = DRAWS // len(KINDS)
    raw, made = consistent_draws(kind, draws)
    least = 0.95 - math.sqrt(math.log(2 * len(made) / SHARE) / (2 * draws))
    for seen in (raw.min(), made.min()):
        assert seen >= least, budget(seen=seen, least=least)


def test_the_width_of_the_raw_answer_alone_is_too_short() -> None:
    """Mutant: what was moved is left out. Of an empty table much is moved, from below 0 to 0; of a
    skewed one, parts take each other's noise."""
    drawn = Drawn(CONSISTENT, "skewed")
    truth = numbers([answer.value for answer in drawn.answers(noisy=False)])
    missed = 0
    for _ in range(60):
        raw = drawn.answers()
        values = numbers([one.value for one in raw.consistent()])
        ends = numbers([one.interval(LEVEL) for one in raw])
        halves = [(high - low) / 2 for low, high in ends]
        inside = [low <= t <= high for (low, high), t in zip(ends, truth, strict=True)]
        missed += sum(
            held and abs(value - t) > half
            for held, value, half, t in zip(inside, values, halves, truth, strict=True)
        )
    assert missed > 0


# -- cut sums --------------------------------------------------------------------------------------


def clipped(text: str, epsilon: Any, **column: Any) -> tuple[Clip, ClipReading]:
    described = {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {"x": {"type": "number", "bounds": [0, 20], **column}},
        "budget": {"total": 10_000},
    }
    plan = plan_for(text, Schema.from_dict(described), Terms(epsilon=epsilon, clip="auto"))
    (draw,), (reading,) = plan.strategy.draws, plan.readings
    assert isinstance(draw, Clip)
    assert isinstance(reading, ClipReading)
    return draw, reading


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 9])
@pytest.mark.parametrize("level", [Fraction(1, 2), LEVEL, Fraction(999, 1000)])
def test_cut_sums_hold_at_every_cut(epsilon: Fraction, level: Fraction) -> None:
    """Every cut that may be chosen, every noise: enumerated. The cut says nothing of the noise."""
    draw, reading = clipped("SELECT SUM(x) FROM t", epsilon)
    for place, cut in enumerate(draw.bounds):
        law = draw.law_at(cut)
        low, high = reading.interval((), level, ((place, 0),), None)
        inside = sum(law.mass(k) for k in range(math.ceil(low), math.floor(high) + 1))
        assert inside >= float(level) - 1e-12
        # mutant: the noise of the lowest cut, whichever was chosen
        if place and level == LEVEL and epsilon < 9:
            low, high = reading.interval((), level, ((0, 0),), None)
            assert sum(law.mass(k) for k in range(math.ceil(low), math.floor(high) + 1)) < level


@pytest.mark.parametrize("values", [[1], [0], [20], [0] * 9 + [20], [7] * 12])
def test_cut_means_hold_at_every_cut(values: list[int]) -> None:
    """One row, heavy skew, all alike; both noises enumerated."""
    draw, reading = clipped("SELECT AVG(x) FROM t", 12)
    for place, cut in enumerate(draw.bounds):
        if cut > 8:
            continue  # as the others, with more to enumerate
        law = draw.law_at(cut)
        total = sum(min(value, cut) for value in values)
        true = Fraction(total, len(values))
        far = next(k for k in range(1, 500) if law.mass(k) < 1e-7)
        masses = {k: law.mass(k) for k in range(-far, far + 1)}
        inside = 0.0
        for one, other in product(masses, masses):
            noisy = ((place, cut * len(values) - total + one, total + other),)
            low, high = reading.interval((), LEVEL, noisy, None)
            inside += masses[one] * masses[other] * (low <= true <= high)
        assert inside >= 0.95 - 1e-6


def chosen_masses(draw: Clip, values: Sequence[int]) -> dict[int, float]:
    """The probability of each cut, from the scores of the table's values."""
    selection, many = draw.selection, len(values)
    places = places_of(draw, values)
    scores = []
    for place in range(len(draw.bounds)):
        less, up_to = sum(p < place for p in places), sum(p <= place for p in places)
        scores.append(min(selection.score.of(many, less, up_to), selection.reach))
    weights = np.exp(-float(selection.law.fall) * np.array(scores))
    return dict(zip(draw.bounds, (weights / weights.sum()).tolist(), strict=True))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 9])
@pytest.mark.parametrize(
    "values",
    [
        [],
        [20],
        [0] * 5000 + [20],
        [1] * 900 + [3] * 90 + [20] * 9,
        [20] * 3000,
        [k % 21 for k in range(2000)],
    ],
)
def test_few_rows_are_above_the_cut(epsilon: Fraction, values: list[int]) -> None:
    """What an answer says of the rows above its cut, by the exact masses of the choice."""
    draw, reading = clipped("SELECT SUM(x) FROM t", epsilon)
    for level in (Fraction(1, 2), LEVEL, Fraction(999, 1000)):
        most = reading.rows_above(level)
        masses = chosen_masses(draw, values)
        beyond = sum(m for cut, m in masses.items() if sum(v > cut for v in values) > most)
        assert beyond <= 1 - level
    # the masses are those that are drawn
    places = places_of(draw, values)
    profile = [(p, sum(q < p for q in places), places.count(p)) for p in sorted(set(places))]
    drawn = [draw.selection.choose(len(values), profile, SYSTEM) for _ in range(300)]
    likely = [cut for cut, mass in masses.items() if mass > 0.2]
    assert all(draw.bounds.index(cut) in drawn for cut in likely)


def places_of(draw: Clip, values: Sequence[int]) -> list[int]:
    return [min(i for i, cut in enumerate(draw.bounds) if value <= cut) for value in values]


# -- accuracy --------------------------------------------------------------------------------------


def widest(answers: Answers) -> Fraction:
    """Half the width of the widest interval, as it is told after the draw."""
    ends = [one.interval(LEVEL) for one in answers]
    flat = [e for end in ends for e in (end if isinstance(end, list) else [{"n": end}])]
    pairs = [pair for row in flat for pair in row.values() if isinstance(pair, tuple)]
    return max((Fraction(high) - Fraction(low)) / 2 for low, high in pairs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", [THRESHOLDS, TABLES])
def test_what_accuracy_promised_is_kept(
    kind: str, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last digit: what rounding adds after the draw is spared before.

    Mutant: the price at which the width before the draw is exactly what was asked for.
    """
    given = schema(rows_per_unit=LIMITS.get(kind))
    at_one = explain_many(texts, given, 1, "variance", None)
    reach = max(at_one.half_widths(LEVEL))
    wanted = ("interval", LEVEL, reach)
    with tn.protect(table(kind), schema=given, ledger=tn.ledger.Memory()) as data:
        answers = data.ask_many(texts, accuracy=wanted)
        assert widest(answers) <= Fraction(reach)
        assert 1 <= answers.price <= Fraction(102, 100)
    monkeypatch.setattr(explaining, "_SPARE", 1.0)
    if not at_one.workload.blocks:
        return
    with tn.protect(table(kind), schema=given, ledger=tn.ledger.Memory()) as data:
        assert widest(data.ask_many(texts, accuracy=wanted)) > Fraction(reach)


def test_declared_thresholds_keep_what_accuracy_promised() -> None:
    given = schema()
    with tn.protect(table("skewed"), schema=given, ledger=tn.ledger.Memory()) as data:
        answers = data.ask_many(prefixes("x"), accuracy=("interval", LEVEL, 9))
        for high in range(40):
            low_end, high_end = answers.up_to(high).interval(LEVEL)
            assert (high_end - low_end) / 2 <= 9
