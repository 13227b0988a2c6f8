"""Workloads are as good as they are said to be, and their intervals hold.

Errors come from the exact covariance, and are confirmed by draws of the noise that is really drawn.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from alarm import SHARE, budget, claim, mean_within
from tenue.ask.explain import explain_many
from tenue.ask.sql.parse import parse
from tenue.ask.workload import select_strategy
from tenue.ask.workload.explain import WorkloadPlan
from tenue.ask.workload.level import Runs
from tenue.ask.workload.measured_quantity import FINE, Block
from tenue.ask.workload.plan import plan_workload
from tenue.ask.workload.required_quantities import combination_of
from tenue.ask.workload.workloads import Line, marginals, prefixes, ranges
from tenue.engine.request import Measure
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

FILE = "statistics/test_workload.py"


def line_schema(values: int, neighbours: str = "add-or-remove") -> Schema:
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": neighbours},
            "columns": {"x": {"type": "number", "bounds": [0, values - 1], "missing": 0}},
            "budget": {"total": 99},
        }
    )


def tables_schema(sizes: tuple[int, ...]) -> Schema:
    columns: dict[str, Any] = {
        f"c{i}": {
            "type": "category",
            "categories": [f"v{k}" for k in range(size)],
            "missing": "v0",
        }
        for i, size in enumerate(sizes)
    }
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
            "columns": columns,
            "budget": {"total": 99},
        }
    )


def noise_of_atoms(block: Block) -> list[int]:
    """What least squares makes of noise alone, for every row, in parts 1/FINE."""
    (found,) = block.estimates(block.release({}, _system()))
    return found


def _system() -> Any:
    from tenue.noise.source import SYSTEM

    return SYSTEM


MOST_ROWS = 100
TOLERANCE = 0.17
"""How far a mean square may be off, in parts of the variance. A scale that is 20 % too small or too
large moves it by 36 % or 44 %, which is more than twice as much: it is always told apart."""
CAPPED = 3.0


def confirm(name: str, block: Block, rows: Any, variances: Any) -> None:
    """The noise that is really drawn has the mean square error that the covariance says.

    For each draw q is the mean square over some rows, capped at 3 times its expectation V. It has
    at most the variance of a quadratic form of independent draws, which is computed; Bernstein's
    inequality gives the number of draws, and (q − 3V)⁺ ≤ (q − V)²/8V what the cap takes away.
    """
    claim(FILE, name)
    places = np.unique(np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.int64))
    weights = np.array([np.concatenate(block.estimator.weights(rows, int(i))) for i in places])
    rates = block.rates
    spread = 1 / (2 * np.sinh(rates / 2) ** 2)
    told = variances[places]
    together = (weights * spread) @ weights.T
    assert np.allclose(np.diag(together), told, rtol=1e-6), "variances are those of the weights"
    expected = float(told.mean())
    # for the discrete Laplace law the fourth moment is v + 6v²
    own = (weights**2).mean(axis=0)
    excess = own**2 * (spread + 3 * spread**2)
    relative = float(2 * (together**2).mean() + excess.sum()) / expected**2
    draws = 50
    while _allowed(draws, relative) > TOLERANCE:
        draws = draws * 11 // 10
    seen = _mean_squares(block, weights, draws)

    def off(scale: float) -> float:
        return abs(float(np.minimum(seen * scale**2 / expected, CAPPED).mean()) - 1)

    limit = _allowed(draws, relative)
    assert off(1) <= limit, budget(off=off(1), limit=limit, draws=draws)
    for wrong in (0.8, 1.2):
        assert off(wrong) > limit, budget(wrong_scale=wrong, off=off(wrong), limit=limit)


def _allowed(draws: int, relative: float) -> float:
    return mean_within(draws, relative, CAPPED) + relative / (4 * (CAPPED - 1))


def _mean_squares(block: Block, weights: Any, draws: int) -> Any:
    found = []
    for start in range(0, draws, 200):
        many = min(200, draws - start)
        noise = [
            law.steps(many * length).reshape(many, length).astype(np.float64)
            for law, length in zip(block.laws, block.strategy.lengths, strict=True)
        ]
        found.append(((np.concatenate(noise, axis=1) @ weights.T) ** 2).mean(axis=1))
    return np.concatenate(found)


def test_estimates_are_the_weighted_sums_of_what_was_drawn() -> None:
    """What `confirm` says of weights holds for what users see."""
    for declared, values in ((prefixes("x"), 99), (ranges("x"), 30)):
        (block,) = explain_many(declared, line_schema(values), 1, "variance", None).workload.blocks
        (levels,) = block.release({}, _system())
        (cells,) = block.estimates([levels])
        noise = np.concatenate([np.array(level, dtype=np.float64) for level in levels])
        upto = np.concatenate([[0], np.cumsum(cells)]) / 2**20
        rows = declared.rows(values)
        for place in (0, len(rows) // 3, len(rows) - 1):
            weights = np.concatenate(block.estimator.weights(rows, place))
            seen = upto[rows.last[place]] - upto[rows.first[place]]
            assert seen == pytest.approx(weights @ noise, abs=1e-3)


@pytest.mark.parametrize(
    ("declared", "values", "most"),
    [
        (prefixes("x"), 99, 6.2),
        (prefixes("x"), 1_000, 10.0),
        (prefixes("x"), 10_000, 14.5),
        (ranges("x"), 100, 6.5),
        (ranges("x"), 1_000, 11.6),
    ],
    ids=["prefixes 99", "prefixes 1,000", "prefixes 10,000", "ranges 100", "ranges 1,000"],
)
@pytest.mark.random
def test_lines_have_small_errors(declared: Line, values: int, most: float) -> None:
    plan = explain_many(declared, line_schema(values), 1, "variance", None)
    (block,) = plan.workload.blocks
    rows = declared.rows(values)
    variances = block.estimator.variances(rows)
    assert math.sqrt(variances.mean()) <= most
    confirm(f"{'ranges' if declared.ranges else 'prefixes'} {values}", block, rows, variances)


@pytest.mark.random
@pytest.mark.parametrize(("minimise", "most"), [("mean", 10.4), ("variance", 12.2)])
def test_tables_have_small_errors(minimise: str, most: float) -> None:
    schema = tables_schema((2, 16, 7, 14, 10))
    asked = marginals([f"c{i}" for i in range(5)], ways=2)
    plan = explain_many(asked, schema, 1, minimise, None)
    (block,) = plan.workload.blocks
    assert math.sqrt(block.variances.mean()) <= most
    if minimise == "variance":
        assert plan.chosen.worst <= 1 + 1e-6, "no cell is worse than alone"
    confirm(f"tables {minimise}", block, block.rows, block.variances)


def test_written_thresholds_are_as_good_as_declared_ones() -> None:
    schema = line_schema(101)
    texts = [f"SELECT COUNT(*) FROM t WHERE x < {k}" for k in range(1, 100)]  # noqa: S608
    plan = explain_many(texts, schema, 1, "variance", None)
    (block,) = plan.workload.blocks
    assert math.sqrt(block.variances.mean()) <= 6.2


@pytest.mark.random
@pytest.mark.parametrize("written", [True, False])
def test_thresholds_under_replace_know_the_number_of_rows(written: bool) -> None:
    schema = line_schema(100, "replace")
    texts = [f"SELECT COUNT(*) FROM t WHERE x < {k}" for k in range(1, 100)]  # noqa: S608
    plan = explain_many(texts if written else prefixes("x"), schema, 1, "variance", None)
    (block,) = plan.workload.blocks
    rows = prefixes("x").rows(100)
    variances = block.estimator.variances(rows)
    assert variances[:99].mean() <= 85.6
    assert variances[99] == pytest.approx(0, abs=1e-9), "all rows are as many as is public"
    some = Runs(100, rows.offsets[:100], rows.first[:99], rows.last[:99])
    confirm(f"replace, written {written}", block, some, variances[:99])


def test_a_total_and_its_parts() -> None:
    schema = line_schema(10)
    texts = ["SELECT COUNT(*) FROM t", "SELECT BIN(x, 1), COUNT(*) FROM t GROUP BY 1"]
    for minimise, most in (("mean", 3.4), ("variance", 6.7)):
        plan = explain_many(texts, schema, 1, minimise, None)
        (block,) = plan.workload.blocks
        assert block.variances.mean() <= most
        cells = noise_of_atoms(block)
        assert cells[0] == sum(cells[1:]), "a total is the sum of its parts, exactly"


# -- never worse than what is known ----------------------------------------------------------------


def random_workload(number: int) -> tuple[Schema, list[str]]:
    rng = np.random.default_rng(number)
    schema = Schema.from_dict(
        {
            "table": {
                "name": "t",
                "unit": "record",
                "neighbours": ["add-or-remove", "replace"][number % 2],
            },
            "columns": {
                "x": {"type": "number", "bounds": [0, 20]},
                "y": {"type": "number", "bounds": [-3, 5], "missing": 0},
                "c": {"type": "category", "categories": ["a", "b", "d"], "missing": "a"},
            },
            "budget": {"total": 99},
        }
    )
    conditions = ["x < {}", "x >= {}", "x BETWEEN 3 AND {}", "y > 0", "c = 'a'", "c <> 'b'"]
    texts = []
    for _ in range(int(rng.integers(2, 9))):
        some = rng.choice(len(conditions), size=int(rng.integers(1, 3)), replace=False)
        where = " AND ".join(conditions[i].format(int(rng.integers(1, 20))) for i in some)
        kind = rng.integers(0, 8)
        what, group = "COUNT(*)", ""
        if kind == 0:
            what = "SUM(y)"
        elif kind == 1:
            what = "AVG(y)"
        elif kind == 2:
            what, group = "c, COUNT(*)", " GROUP BY c"
        elif kind == 3:
            what, group = "BIN(x, 5), COUNT(*)", " GROUP BY 1"
        texts.append(f"SELECT {what} FROM t WHERE {where}{group}")  # noqa: S608
    return schema, texts


@pytest.mark.parametrize(
    "numbers",
    [range(50), pytest.param(range(50, 210), marks=pytest.mark.slow)],
    ids=["fifty", "the others"],
)
def test_random_workloads_are_never_worse_than_box_atoms_or_one_by_one(numbers: range) -> None:
    better = 0
    for number in numbers:
        schema, texts = random_workload(number)
        parsed = [parse(text, schema) for text in texts]
        fair = plan_workload(parsed, texts, schema, EpsilonDelta.of(1))
        least = plan_workload(parsed, texts, schema, EpsilonDelta.of(1), "mean")
        known = [w for w in fair.ways if w.name in ("one by one", "box", "same-sign box", "atoms")]
        assert all(least.chosen.mean <= way.mean * (1 + 1e-5) for way in known)
        assert fair.chosen.worst <= 1 + 1e-6
        assert all(fair.chosen.mean <= way.mean * (1 + 1e-5) for way in known if way.fair)
        better += fair.chosen.mean < 0.999
    assert better > 0.7 * len(numbers), "most are better than one by one"


def test_ten_predicates_are_never_worse_than_the_box() -> None:
    schema = tables_schema((2,) * 10)
    texts = [f"SELECT COUNT(*) FROM t WHERE c{i} = 'v1'" for i in range(10)]  # noqa: S608
    plan = explain_many(texts, schema, 1, "variance", None)
    box = min(way.mean for way in plan.workload.ways if way.boxed is not None)
    assert plan.chosen.mean <= box


# -- intervals -------------------------------------------------------------------------------------


def covers(block: Block, place: int, draws: int = 12_000) -> tuple[float, float]:
    """How often noise is within the interval, and the interval in parts of the normal one."""
    law = combination_of((block,), (((0, 0, place), 1.0),))
    half = law.half_width(Fraction(19, 20))
    total = np.zeros(draws)
    start, weights = 0, block.weights(place)
    for one, many in zip(block.laws, block.strategy.lengths, strict=True):
        for weight in weights[start : start + many]:
            if weight:
                total += weight * one.steps(draws)
        start += many
    return float((np.abs(total) <= half).mean()), half / (1.959964 * math.sqrt(law.variance))


def planned(texts: list[str], schema: Schema, minimise: str = "mean") -> WorkloadPlan:
    return explain_many(texts, schema, 1, minimise, None)


def only(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    every = select_strategy.BlockSearch._candidates

    def chosen(*given: Any) -> list[Any]:
        return [one for one in every(*given) if one.strategy.name == family]

    monkeypatch.setattr(select_strategy.BlockSearch, "_candidates", chosen)


def block_of(family: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Block, int]:
    """A block of that family, and a row of it."""
    if family == "tents":
        plan = explain_many(prefixes("x"), line_schema(60), 1, "variance", None)
        place = 30
    elif family == "tree":
        only(family, monkeypatch)
        texts = [f"SELECT COUNT(*) FROM t WHERE x < {k}" for k in range(1, 150)]  # noqa: S608
        plan, place = planned(texts, line_schema(151)), 100
    elif family == "marginals":
        plan = explain_many(
            marginals(["c0", "c1", "c2"]), tables_schema((3, 4, 5)), 1, "mean", None
        )
        place = 5
    else:
        texts = ["SELECT COUNT(*) FROM t", "SELECT BIN(x, 1), COUNT(*) FROM t GROUP BY 1"]
        minimise = "mean" if family == "atoms" else "variance"
        plan = planned(texts, line_schema(12), minimise)
        place = 0
    (block,) = plan.workload.blocks
    return block, place


@pytest.mark.random
@pytest.mark.parametrize("family", ["atoms", "tents", "tree", "marginals", "questions and atoms"])
def test_intervals_hold(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim(FILE, f"intervals {family}")
    block, place = block_of(family, monkeypatch)
    assert block.strategy.name == family
    draws = 12_000
    seen, ratio = covers(block, place, draws)
    least = 0.95 - math.sqrt(math.log(1 / SHARE) / (2 * draws))
    assert seen >= least, budget(seen=seen, least=least)
    if _comparable(block.weights(place) / np.sinh(block.rates / 2)):
        assert ratio <= 1.12


def _comparable(sizes: Any) -> bool:
    """Whether at least ten terms have a deviation of half the largest or more."""
    ordered = np.sort(np.abs(sizes))[::-1]
    return len(ordered) >= 10 and bool(ordered[9] > ordered[0] / 2)


@pytest.mark.random
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_intervals_of_means_hold(share: float) -> None:
    """A mean is not rejected with 95 %; and whatever is not rejected is in its interval.

    30 conditions share the sums of 31 atoms, each with 40 rows; their mean is `share` of the way
    from 0 to 10."""
    claim(FILE, f"intervals of means {share}")
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
            "columns": {
                "x": {"type": "number", "bounds": [0, 31], "missing": 0},
                "y": {"type": "number", "bounds": [0, 10], "missing": 0},
            },
            "budget": {"total": 99},
        }
    )
    texts = [f"SELECT AVG(y) FROM t WHERE x < {k}" for k in range(1, 31)]  # noqa: S608
    plan = planned(texts, schema)
    (block,) = plan.workload.blocks
    number, place = 24, 24
    (reading,) = plan.workload.plans[number].readings
    law = reading._law(0, 1 - Fraction(share), -Fraction(share))
    half = reading.reach(0, share, Fraction(19, 20))
    draws, weights = 12_000, block.weights(place)
    total = np.zeros(draws)
    for weight, rate in zip(weights, block.rates, strict=True):
        if weight:
            one = next(
                l for l in block.laws if math.isclose(float(l.epsilon / l.sensitivity), rate)
            )
            total += weight * ((1 - share) * one.steps(draws) - share * one.steps(draws))
    seen = float((np.abs(total) <= half).mean())
    least = 0.95 - math.sqrt(math.log(1 / SHARE) / (2 * draws))
    assert seen >= least, budget(seen=seen, least=least)
    if _comparable(weights / np.sinh(block.rates / 2)):
        assert half / (1.959964 * math.sqrt(law.variance)) <= 1.12
    # the interval itself, for what was released
    steps = {
        y: {Measure("present", "y"): 40, Measure("total", "y"): round(400 * share)}
        for y in range(31)
    }
    for _ in range(6):
        drawn = block.release(steps, _system())
        above, below = (side[block.offsets[number]] for side in block.estimates(drawn))
        slack = block.slack(drawn)[block.offsets[number]]
        low, high = reading.interval((), Fraction(19, 20), ((above, below), (0, slack)), None)
        pivot = abs((1 - share) * below - share * above) / FINE
        assert (pivot > half + slack / FINE) or low <= 10 * share <= high


def test_a_normal_interval_would_not_hold() -> None:
    """Mutant: for few draws the normal interval at 99.9 % is too short."""
    texts = ["SELECT COUNT(*) FROM t", "SELECT BIN(x, 1), COUNT(*) FROM t GROUP BY 1"]
    (block,) = planned(texts, line_schema(12)).workload.blocks
    (law,) = block.laws
    normal = 3.2905 * math.sqrt(law.variance)
    outside = 2 * sum(law.mass(k) for k in range(math.floor(normal) + 1, 200))
    assert outside > 0.001
    ours = combination_of((block,), (((0, 0, 1), 1.0),)).half_width(Fraction(999, 1000))
    assert 2 * sum(law.mass(k) for k in range(math.floor(ours) + 1, 200)) <= 0.001


def test_pairs_of_answers_hang_together() -> None:
    """Thresholds 50 and 51 of 99 share most of their noise."""
    plan = explain_many(prefixes("x"), line_schema(99), 1, "variance", None)
    (block,) = plan.workload.blocks
    rows = prefixes("x").rows(99)
    one, other = (np.concatenate(block.estimator.weights(rows, k)) for k in (49, 50))
    spread = 1 / (2 * np.sinh(block.rates / 2) ** 2)
    together = float((one * spread) @ other)
    alone = float((one * spread) @ one) * float((other * spread) @ other)
    assert together / math.sqrt(alone) > 0.85
