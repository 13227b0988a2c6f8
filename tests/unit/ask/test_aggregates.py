"""What every family of aggregates says of itself."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import pytest
from sqlglot import exp

from oracle_engine import OracleEngine
from tenue.ask.aggregates.contract import CATEGORY, NUMBER, ORDERED, Family, Function
from tenue.ask.aggregates.order_statistics import ValueOnly
from tenue.ask.aggregates.reading import Combined, Linear, fold, reach
from tenue.ask.aggregates.registry import FAMILIES, FAMILY_OF, SQL_FUNCTIONS
from tenue.ask.aggregates.strategy import (
    Draw,
    Range,
    Rows,
    Setting,
    Span,
    Strategy,
    merged,
    no_worse,
    score_of,
    sizes,
)
from tenue.ask.certify import certify
from tenue.ask.plan.planner import build_plan, strategies
from tenue.ask.question import Aggregate, Arithmetic, Constant, Output
from tenue.ask.release import release
from tenue.engine.request import Measure, Window
from tenue.mechanism.additive_noise import Component, Part, Term
from tenue.noise import DiscreteLaplace
from tenue.noise.criterion import VARIANCE, criterion
from tenue.noise.source import Source
from tenue.privacy.loss import EpsilonDelta
from unit.ask.stated import asked, schema

TABLE = [{"income": 10 * n, "region": "North" if n < 4 else "South"} for n in range(6)]
DRAW_NOISY = Linear(())


@dataclass(frozen=True)
class Plain(Draw):
    """What it reads, without noise: for tests only."""

    name: str
    epsilon: Fraction = Fraction(1, 2)
    source = "nowhere"
    limits = ("It promises nothing.",)

    @property
    def line(self) -> str:
        return f"{self.name} as it is"

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure("rows"), Measure("total", "income"))

    def check_draw(self, cells: int) -> None:
        """It refuses nothing."""

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        return [list(rows.measured[cell].values()) for cell in cells]


@dataclass(frozen=True)
class Middle(Draw):
    """One stored value: for tests only."""

    name: str = "middle"
    epsilon: Fraction = Fraction(1, 2)
    chosen = True
    source = "nowhere else"
    line = "the middle"

    @property
    def windows(self) -> Mapping[str, tuple[Window, ...]]:
        return {"income": (Window(1, 0, 0, 0, 1 << 40),)}

    def read(self, rows: Rows) -> None:
        rows.ranks("income")

    def check_draw(self, cells: int) -> None:
        """It refuses nothing."""

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        profiles = rows.ranks("income")
        return [[profiles[cell].values[profiles[cell].rows // 2][0]] for cell in cells]


def test_what_a_draw_says_of_itself_is_all_that_is_needed() -> None:
    """Draws with a tuple of their own come first; those that share one are drawn cell by cell."""
    described = schema()
    question = asked(Output("n", Aggregate("count")))
    strategy = merged(
        "both",
        [
            Strategy("a", (Middle(), Plain("one")), {question.aggregates()[0]: DRAW_NOISY}),
            Strategy("b", (Plain("two"), Middle()), {}),
        ],
    )
    assert strategy.parts == ()
    plan = build_plan(
        *(question, described, strategy, EpsilonDelta.of(2), VARIANCE, "SELECT …"), people=None
    )
    assert plan.request.measures == (Measure("rows"), Measure("total", "income"))
    found = release(plan, OracleEngine(described, TABLE), described)
    assert found.cells == (((6, 15), (6, 15), (3, 3)),)
    assert found.rows is None
    certificate = certify(plan, described)
    assert [v for k, v in certificate.parameters.items() if k.startswith("part")] == [
        "one as it is",
        "two as it is",
        "the middle",
        "the middle",
    ]
    assert certificate.does_not_promise.count("It promises nothing.") == 1


def test_a_draw_says_its_own_words() -> None:
    with pytest.raises(TypeError, match="check_draw, line, released, source"):
        Draw()  # type: ignore[abstract]

    class Silent(Draw):
        source = line = ""

        def check_draw(self, cells: int) -> None: ...

        def released(self, *anything: object) -> list[list[int]]:
            return []

    silent = Silent()
    assert silent.counts_rows, "unless it says otherwise, only so many rows of a person count"
    assert silent.required is None, "every row uses up a limit"
    assert (silent.measures, silent.windows, silent.cuts(schema())) == ((), {}, {})


# -- Comparing ways to answer: one number for each aggregate, and strategies side by side ----------

STRATEGY_RANGES = {
    "x": Range(0, 1000, Fraction(1), never_missing=False),
    "y": Range(-5, 50, Fraction(1, 2), never_missing=True),
}
STRATEGY_SETTING = Setting(
    "add-or-remove",
    grouped=False,
    filtered=False,
    ranges=STRATEGY_RANGES,
    spans={name: Span(r.low, r.high, r.grid) for name, r in STRATEGY_RANGES.items()},
    categories={"c": 4},
)
SUM_X, SUM_Y, AVG_X = Aggregate("sum", "x"), Aggregate("sum", "y"), Aggregate("avg", "x")
MAX_X, SPREAD, MODE = Aggregate("max", "x"), Aggregate("variance", "x"), Aggregate("mode", "c")


TENTH = EpsilonDelta.of("0.1")


def alone(aggregate: Aggregate, price: EpsilonDelta = TENTH) -> Strategy:
    return strategies((aggregate,), STRATEGY_SETTING, price, VARIANCE)[0]


@pytest.mark.parametrize("asked", [SUM_X, AVG_X, MAX_X, SPREAD, MODE], ids=str)
@pytest.mark.parametrize("minimise", ["variance", "absolute-error", ("interval", 0.9)])
def test_half_of_the_price_is_twice_the_error(asked: Aggregate, minimise: object) -> None:
    wanted = criterion(minimise)
    one, half = (sizes(alone(asked, price), wanted)[asked] for price in (TENTH, TENTH // 2))
    assert half == pytest.approx(2 * one, rel=0.02)
    assert score_of(alone(asked, TENTH // 2), wanted) > score_of(alone(asked), wanted)


def test_what_cannot_be_told_is_never_the_best() -> None:
    told = Strategy("unstated", (), {MAX_X: ValueOnly(Fraction(1), differential=True)})
    assert score_of(told, VARIANCE) == float("inf")


def test_no_worse_looks_at_each() -> None:
    assert no_worse({SUM_X: 1.0, SUM_Y: 0.0}, {SUM_X: 1.0, SUM_Y: 0.0})
    assert not no_worse({SUM_X: 0.1, SUM_Y: 2.0}, {SUM_X: 5.0, SUM_Y: 1.9})


def test_merged_strategies_read_their_own_parts() -> None:
    several = [alone(a) for a in (SUM_X, AVG_X, MAX_X, SPREAD, MODE, SUM_Y)]
    whole = merged("one by one", several)
    assert whole.epsilon == Fraction(6, 10)
    together = sizes(whole, VARIANCE)
    for one in several:
        assert {a: together[a] for a in one.readings} == pytest.approx(sizes(one, VARIANCE))
    last = whole.readings[SUM_Y]
    assert isinstance(last, Linear)
    assert whole.parts[last.terms[0].part].components[0].column == "y"
    assert (whole.readings[MAX_X].place, whole.readings[MODE].place) == (0, 1)  # type: ignore[union-attr]


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
@pytest.mark.parametrize("groups", [None, 1, 2, 3])
def test_one_person_moves_counts_of_people_so_far(
    neighbours: str, cells: int, groups: int | None
) -> None:
    """Against every way to be in cells; the mutants forget that a person may leave and enter, or
    that a cell moves by one at most."""
    setting = Setting(
        neighbours, grouped=True, filtered=False, ranges={}, groups_per_unit=groups, cells=cells
    )
    most = min(cells, groups or cells)
    ways = [w for w in itertools.product([0, 1], repeat=cells) if sum(w) <= most]
    others = ways if neighbours == "replace" else [(0,) * cells]
    far = max(
        sum(abs(a - b) for a, b in zip(one, other, strict=True)) for one in ways for other in others
    )
    assert setting.units_moved == far
    if (neighbours, cells, groups) == ("replace", 4, 1):
        assert most < far  # a person enters one cell and leaves another
    if (neighbours, cells, groups) == ("replace", 3, 2):
        assert 2 * most > far


# A family that says nothing answers nothing, and every family keeps to what it declares.

RANGES = {name: Range(0, 50, Fraction(1), never_missing=True) for name in ("x", "y")}
SPANS = {name: Span(0, 50, Fraction(1)) for name in RANGES}
SETTING = Setting(
    "replace",
    grouped=False,
    filtered=False,
    ranges=RANGES,
    spans=SPANS,
    never_missing=frozenset(RANGES),
    categories={"x": 3},
)


def example(function: Function) -> Aggregate:
    other = "y" if function.columns == 2 else None
    q = Fraction(1, 4) if function.share else function.q
    return Aggregate(function.kind, "x", other, q)


def test_a_family_that_says_nothing_answers_nothing() -> None:
    family, asked = Family(), [Aggregate("count")]
    assert family.kinds == frozenset()
    assert family.ways(asked, SETTING, EpsilonDelta(10**9), VARIANCE) == []
    assert family.blocks(asked, SETTING, {}) == []
    assert family.by_name(asked, SETTING, Fraction(1)) == []
    assert family.declared(asked, SETTING, 7) == {}
    assert family.refuse_name("smooth sensitivity 3", []) is None
    assert family.as_held(asked[0], Fraction(7), schema()) == 7


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_each_way_costs_its_price_and_reads_all_that_was_asked(family: Family) -> None:
    for function in family.functions:
        asked = example(function)
        if function.kind in family.sharing:
            found = family.ways([asked], SETTING, EpsilonDelta(10**9), VARIANCE)
        else:
            (block,) = family.blocks([asked], SETTING, {})
            found = [block(Fraction(1))]
        assert found
        for one in found:
            assert set(one.readings) == {asked}
            assert one.epsilon == 1
            assert 0 < one.readings[asked].size(one.parts, VARIANCE) < float("inf")
            assert all(draw.line and draw.source for draw in one.draws)


def test_which_columns_a_function_takes() -> None:
    columns = schema().columns
    fits = {
        takes.words: [name for name, c in columns.items() if isinstance(c, takes.types)]
        for takes in (NUMBER, ORDERED, CATEGORY)
    }
    assert fits == {
        "a number": ["income", "age"],
        "a number or a date": ["income", "age", "born"],
        "a category": ["region"],
    }


# -- Readings off released numbers -----------------------------------------------------------------

LAW = DiscreteLaplace(sensitivity=100, epsilon=1)
COUNT_LAW = DiscreteLaplace(sensitivity=1, epsilon=1)
PAIR = Part(
    "pair",
    (Component("above", "x", 0, 100), Component("below", "x", 0, 100)),
    (LAW, LAW),
    Fraction(1),
)
SINGLE = Part("count", (Component("rows"),), COUNT_LAW, Fraction(1))
PARTS = (PAIR, SINGLE)
LEVEL = Fraction(19, 20)
ROWS = Linear((Term(1, 0, Fraction(1)),), grid=Fraction(1))
NOISY = [[7_500, 2_500], [100]]


def test_linear_values_are_rounded_half_up_to_their_grid() -> None:
    half = Linear((Term(1, 0, Fraction(1, 2)),), grid=Fraction(1))
    assert [half.value([[], [n]], None) for n in (1, 2, -1, -2)] == [1, 1, 0, -1]
    assert Linear((Term(1, 0, Fraction(1, 2)),)).value([[], [1]], None) == Fraction(1, 2)


def test_linear_arithmetic_keeps_its_exact_error() -> None:
    count = Aggregate("count")
    readings = {count: ROWS}
    twice = fold(Arithmetic("*", Constant(Fraction(2)), count), readings)
    assert isinstance(twice, Linear)
    assert twice.expected_error(PARTS, NOISY, None) == pytest.approx(
        2 * COUNT_LAW.mean_absolute_error
    )
    nothing = fold(Arithmetic("-", count, count), readings)
    assert nothing.interval(PARTS, LEVEL, NOISY, None) == (0, 0)
    shifted = fold(Arithmetic("+", count, Constant(Fraction(5))), readings)
    assert shifted.value(NOISY, None) == 105


def test_ratios_have_wide_but_honest_intervals() -> None:
    count = Aggregate("count")
    ratio = fold(Arithmetic("/", count, Arithmetic("+", count, count)), {count: ROWS})
    assert isinstance(ratio, Combined)
    assert ratio.value(NOISY, None) == Fraction(1, 2)
    assert ratio.value([[], [0]], None) is None
    assert ratio.interval(PARTS, LEVEL, [[], [1]], None) is None  # the divisor may be 0
    found = ratio.interval(PARTS, LEVEL, NOISY, None)
    assert found is not None
    assert found[0] < Fraction(1, 2) < found[1]
    assert ratio.expected_error(PARTS, NOISY, None) is None


def test_linear_readings_are_moved_with_their_noise() -> None:
    assert ROWS.moved(2, 7).value([[], [], *NOISY], None) == ROWS.value(NOISY, None)


def test_what_is_unstated_stays_unstated_in_arithmetic() -> None:
    value = ValueOnly(Fraction(1), differential=True)
    count = Aggregate("count")
    asked = Aggregate("max", "x")
    both = fold(Arithmetic("+", asked, count), {asked: value, count: ROWS})
    assert both.expect("n", PARTS, None).words == ("not stated", "not stated")
    assert both.size(PARTS, VARIANCE) == float("inf")
    assert ROWS.expect("n", PARTS, None).words is None


def test_a_reach_is_told_on_both_sides_only_where_they_are_alike() -> None:
    assert reach(Fraction(10), (Fraction(8), Fraction(12))) == "2"
    assert reach(Fraction(10), (Fraction(9), Fraction(15))) == "9 to 15"
    assert reach(Fraction(10), None) == reach("red", (Fraction(0), Fraction(1))) == ""


# -- Every kind of aggregate has one family, and every function one meaning ------------------------


def test_each_kind_and_each_function_is_declared_once() -> None:
    kinds = Counter(kind for family in FAMILIES for kind in family.kinds)
    assert set(kinds.values()) == {1}
    assert set(kinds) == set(FAMILY_OF)
    names = [function.name for function in SQL_FUNCTIONS]
    assert len(set(names)) == len(names)
    assert {f for family in FAMILIES for f in family.functions} == set(SQL_FUNCTIONS)


def test_functions_ask_for_kinds_of_their_own_family_under_names_that_sqlglot_knows() -> None:
    for family in FAMILIES:
        for function in family.functions:
            assert FAMILY_OF[function.kind] is family
            assert function.name in exp.FUNCTION_BY_NAME
    nodes = [exp.FUNCTION_BY_NAME[function.name] for function in SQL_FUNCTIONS]
    assert len(set(nodes)) == len(nodes), "two functions would be read as one"


def test_what_shares_a_noise_belongs_to_one_family() -> None:
    """Ways to answer are asked of the family of the first."""
    assert len([family for family in FAMILIES if family.sharing]) == 1
    assert all(family.sharing <= family.kinds for family in FAMILIES)
