"""Many questions at one price: every candidate, and the one with the least error.

* one by one: each has an equal share of the price;
* side by side: questions about disjoint rows cost as much as one of them;
* a box: all counts and sums get one noise, shaped to what one unit can change in all of them;
* strategies (the matrix mechanism): counts, sums and means are computed from other numbers that are
  released: atoms, trees, tents, marginals, or the questions and their atoms together.

Questions that are not linear keep their own share. By default no answer is worse than asked alone
at an equal share; minimise="mean" takes the least mean error, even if some answers get worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from ...engine.computed_column import All, Among, Computed, Predicate, Within
from ...engine.request import Request
from ...errors import Refused, refuse
from ...noise.box.law import Signs
from ...noise.criterion import VARIANCE, Criterion, criterion
from ...privacy.loss import NOTHING, EpsilonDelta
from ...schema import Schema
from ...schema.table import RECORD
from ..aggregates.noise import (
    CUT_BY_PERSON,
    MOST_IN_A_BOX,
    SumNoise,
    box_noise,
    is_atom,
    least_atom,
    measures_of,
)
from ..aggregates.reading import Reading
from ..aggregates.strategy import SAME, Strategy, sizes
from ..plan.plan import Plan
from ..plan.planner import build_plan, make_plan, setting_of
from ..plan.truncation import check_limited, people_of
from ..question import (
    Aggregate,
    ComputedColumn,
    Question,
    computed_by,
    engine_columns,
    seen_together,
)
from .estimate import Alone, estimated_plans, request_of
from .grid import Grid, grid_of
from .level import Runs
from .measured_quantity import Block
from .required_quantities import Components, Layout, is_linear, layouts
from .select_strategy import BlockSearch, BlockSetting, line_block
from .workloads import MOST_VALUES, Line


def all_disjoint(conditions: Sequence[Predicate | None]) -> bool:
    """Whether every two are disjoint; None is true of every row."""
    known = [c for c in conditions if c is not None]
    if len(known) < len(conditions):
        return len(conditions) < 2
    return all(disjoint(p, q) for p, q in combinations(known, 2))


def disjoint(one: Predicate, other: Predicate) -> bool:
    """Whether some column would need two different values; in doubt False.

    Example
        >>> disjoint(Among("sex", ("f",)), All((Among("sex", ("m",)), Within("age", 18, None))))
        True
    """
    return any(_apart(p, q) for p in _conjuncts(one) for q in _conjuncts(other))


def _conjuncts(condition: Predicate) -> list[Predicate]:
    if isinstance(condition, All):
        return [part for whole in condition.parts for part in _conjuncts(whole)]
    return [condition]


def _apart(one: Predicate, other: Predicate) -> bool:
    if isinstance(one, Among) and isinstance(other, Among) and one.column == other.column:
        return not set(one.values) & set(other.values)
    if isinstance(one, Within) and isinstance(other, Within) and one.column == other.column:
        firsts = [w.first for w in (one, other) if w.first is not None]
        lasts = [w.last for w in (one, other) if w.last is not None]
        return bool(firsts and lasts) and max(firsts) > min(lasts)
    return False


@dataclass(frozen=True)
class Boxed:
    """The noise, the plan of each question that it answers, and the question of each component."""

    noise: SumNoise
    plans: Mapping[int, Plan]
    owners: tuple[int, ...]


def boxes(
    questions: Mapping[int, Question],
    texts: Sequence[str],
    schema: Schema,
    price: EpsilonDelta,
    wanted: Criterion,
) -> list[Boxed]:
    """The boxes that answer all of the questions: none if some has groups, or anything but counts
    and sums, or if they are too many.

    questions: those that share the noise, by number. price: of that noise.
    """
    asked = [(number, a) for number, q in questions.items() for a in q.aggregates()]
    if not all(map(_fits_box, questions.values())) or not 2 <= len(asked) <= MOST_IN_A_BOX:
        return []
    people = {number: people_of(q, schema) for number, q in questions.items()}
    settings = {number: setting_of(q, schema, people[number]) for number, q in questions.items()}
    replaced, epsilon = schema.neighbours == "replace", price.epsilon
    shapes: tuple[tuple[Signs, bool], ...] = (("same", False), ("any", replaced))
    found = []
    for signs, native in shapes:
        each = [least_atom(a, settings[n], signs=signs, native=native) for n, a in asked]
        atoms = [atom for atom in each if atom is not None]
        if len(atoms) < len(each):
            continue
        halved = replaced and not native
        noise = box_noise(atoms, epsilon, epsilon / 2 if halved else epsilon, wanted, signs)
        name = noise.name + CUT_BY_PERSON * noise.cut_by_person
        plans = {}
        for number, question in questions.items():
            own = [place for place, (owner, _) in enumerate(asked) if owner == number]
            readings: dict[Aggregate, Reading] = {
                asked[place][1]: atoms[place].read(place) for place in own
            }
            plans[number] = build_plan(
                *(question, schema, Strategy(name, (noise,), readings), price, wanted),
                texts[number],
                people=people[number],
                measures=measures_of(atoms[place].component for place in own),
            )
        found.append(Boxed(noise, plans, tuple(number for number, _ in asked)))
    return found


def _fits_box(question: Question) -> bool:
    return not question.keys and all(map(is_atom, question.aggregates()))


# -- all candidates, and the chosen one ------------------------------------------------------------

MOST_QUESTIONS = 10_000
MEAN = "mean"
"""The `minimise` for the least mean error, even if some answers are worse than alone."""
_FEW = 100
_SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class WorkloadWay:
    """One candidate for all questions.

    mean, worst: over all cells, the variance of an answer as a multiple of its variance alone.
    plans: of the questions that have other plans than alone, unless blocks answer them.
    computed: the columns that the questions of the blocks compute.
    """

    name: str
    mean: float
    worst: float
    plans: Mapping[int, Plan] = field(default_factory=dict)
    boxed: Boxed | None = None
    blocks: tuple[Block, ...] = ()
    layout: Layout | None = None
    grid: Grid | None = None
    computed: tuple[Computed, ...] = ()

    @property
    def shared(self) -> tuple[int, ...]:
        return () if self.layout is None else self.layout.asked

    @property
    def fair(self) -> bool:
        """Whether no answer is worse than asked alone."""
        return self.worst <= SAME


@dataclass(frozen=True, eq=False)
class Workload:
    """Questions that are paid for together, and the chosen candidate.

    plans: one for each question. shared: the numbers of those that the blocks answer.
    components: those of each of these.
    line: the sums over cells of a declared histogram, over the atoms of its block.
    together, owners: the one noise of a box, and the question of each of its components.
    saved: the share of the variance that the chosen candidate saves, against one by one.
    """

    alone: Alone
    ways: tuple[WorkloadWay, ...]
    chosen: WorkloadWay
    least: WorkloadWay
    price: EpsilonDelta
    plans: tuple[Plan, ...]
    components: Mapping[int, Components] = field(default_factory=dict)
    line: Runs | None = None

    @property
    def shared(self) -> tuple[int, ...]:
        return tuple(self.components)

    @property
    def epsilon(self) -> Fraction:
        return self.price.epsilon

    @property
    def saved(self) -> float:
        return max(0.0, 1 - self.chosen.mean)

    @property
    def together(self) -> SumNoise | None:
        return None if self.chosen.boxed is None else self.chosen.boxed.noise

    @property
    def owners(self) -> tuple[int, ...]:
        return () if self.chosen.boxed is None else self.chosen.boxed.owners

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.chosen.blocks

    @cached_property
    def request(self) -> Request:
        return request_of(self.alone, self.chosen)


def plan_workload(
    questions: Sequence[Question],
    texts: Sequence[str],
    schema: Schema,
    price: EpsilonDelta,
    minimise: object = "variance",
    *,
    consistent: bool = False,
) -> Workload:
    """The best candidate for all questions at a total price.

    consistent: whether totals shall be the sums of their parts wherever some strategy allows it.
    """
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise refuse("ask.too-many-questions", many=len(questions), most_questions=MOST_QUESTIONS)
    if any(question.persons is None for question in questions):
        check_limited(schema)
    fair = minimise != MEAN
    wanted = criterion(minimise) if fair else VARIANCE
    alone = Alone(questions, texts, schema, price, wanted)
    apart = WorkloadWay("one by one", 1.0, 1.0)
    if all(alone.free):
        return replace(_made(alone, [apart], apart, apart), price=NOTHING)
    ways = [apart, *_beside(alone), *_boxed(alone), *_strategies(alone)]
    fitting = ([way for way in ways if way.blocks] if consistent else []) or ways
    least = min(fitting, key=_order)
    fairest = [way for way in fitting if way.fair] or fitting
    chosen = min(fairest, key=_order) if fair else least
    return _made(alone, ways, chosen, least)


def plan_line(
    declared: Line, question: Question, text: str, schema: Schema, price: EpsilonDelta
) -> Workload:
    """A histogram whose noise is shaped to the thresholds or ranges that are sums of its cells."""
    many = question.cells
    if many > MOST_VALUES:
        name = declared.column
        raise refuse("ask.workload-too-many-values", name=name, many=many, most=MOST_VALUES)
    check_limited(schema)
    alone = Alone([question], [text], schema, price, VARIANCE)
    seen = seen_together(question.computed, schema)
    (layout,) = layouts({0: question}, seen)
    grid = grid_of([question], (), seen)
    assert grid is not None  # noqa: S101 - bins of one column are few
    block = line_block(layout, grid, question, declared.rows, _setting(alone, price))
    way = WorkloadWay(
        *(block.strategy.name, 1.0, 1.0),
        blocks=(block,),
        layout=layout,
        grid=grid,
        computed=engine_columns(question.computed),
    )
    rows = declared.rows(1 + int(block.labels.max()))
    line = replace(rows, atoms=block.strategy.atoms)
    return replace(_made(alone, [way], way, way), line=line)


def _setting(alone: Alone, price: EpsilonDelta) -> BlockSetting:
    schema = alone.schema
    by_record, replaced = schema.unit == RECORD, schema.neighbours == "replace"
    rows = 1 if by_record else schema.rows_per_unit or 1
    return BlockSetting(price, replaced, rows, rows_public=by_record and replaced)


def _made(
    alone: Alone, ways: Sequence[WorkloadWay], chosen: WorkloadWay, least: WorkloadWay
) -> Workload:
    plans, components = chosen.plans, dict[int, Components]()
    if chosen.blocks:
        plans, components = estimated_plans(alone, chosen)
    numbers = range(len(alone.questions))
    every = tuple(plans[n] if n in plans else alone.plan(n) for n in numbers)
    return Workload(alone, tuple(ways), chosen, least, alone.price, every, components)


def _order(way: WorkloadWay) -> float:
    """The mean to few digits, so that rounding does not decide between equal candidates."""
    return float(f"{way.mean:.6g}")


def _judged(name: str, alone: Alone, plans: Mapping[int, Plan]) -> WorkloadWay:
    total = cells = worst = 0.0
    for number, question in enumerate(alone.questions):
        for aggregate, bar in alone.sizes(number).items():
            ratio = 1.0
            if number in plans and bar > 0:
                ratio = (sizes(plans[number].strategy, alone.wanted)[aggregate] / bar) ** 2
            total, cells = total + ratio * question.cells, cells + question.cells
            worst = max(worst, ratio)
    return WorkloadWay(name, total / max(cells, 1), worst, plans)


def _beside(alone: Alone) -> list[WorkloadWay]:
    """Questions about disjoint rows; not of persons, because several could count one of them."""
    questions, schema = alone.questions, alone.schema
    if schema.unit != RECORD or not 2 <= len(questions) <= _FEW or any(q.keys for q in questions):
        return []
    together, _ = computed_by(dict(enumerate(questions)))
    if len(together) < len(questions) or not all_disjoint([q.where for q in questions]):
        return []
    plans = {
        number: make_plan(q, schema, alone.price, alone.wanted, alone.texts[number], beside=True)
        for number, q in enumerate(questions)
    }
    return [_judged("side by side", alone, plans)]


def _boxed(alone: Alone) -> list[WorkloadWay]:
    questions = dict(enumerate(alone.questions))
    shared = {n: q for n, q in questions.items() if not alone.free[n] and _fits_box(q)}
    if not shared:
        return []
    price = alone.price_of(len(shared))
    found = boxes(shared, alone.texts, alone.schema, price, alone.wanted)
    return [replace(_judged(one.noise.name, alone, one.plans), boxed=one) for one in found]


def _strategies(alone: Alone) -> list[WorkloadWay]:
    """Strategies for all linear questions: at the least mean, and with none worse than alone.

    If their computed columns make too many cells, for those without computed columns.
    """
    questions = alone.questions
    linear = {n: q for n, q in enumerate(questions) if not alone.free[n] and is_linear(q)}
    # for a mean over a public number of rows its sum alone is better than any pair
    linear = {n: q for n, q in linear.items() if not alone.over_public_rows(n)}
    together, computed = computed_by(linear)
    found = _strategies_for(alone, together, computed)
    if not found and computed:
        plain = [n for n in together if not questions[n].computed]
        found = _strategies_for(alone, plain, [])
    return found


def _strategies_for(
    alone: Alone, linear: Sequence[int], computed: Sequence[ComputedColumn]
) -> list[WorkloadWay]:
    if len(linear) < 2:
        return []
    schema, questions = seen_together(computed, alone.schema), alone.questions
    setting = _setting(alone, alone.price_of(len(linear)))
    found = []
    bars = {(n, a): v for n in linear for a, v in alone.variances(n).items()}
    asked = {n: questions[n] for n in linear}
    for layout in layouts(asked, schema):
        present = {need.slice.present for needs in layout.needs.values() for need in needs} - {""}
        grid = grid_of(list(asked.values()), present, schema)
        if grid is None:
            continue
        search = BlockSearch(layout, grid, questions, setting)
        for bounded in (True, False):
            try:
                blocks = search.blocks(bars, bounded=bounded)
            except Refused:  # too small a price to be shared among levels
                continue
            if blocks is not None:
                way = _way(blocks, layout, grid, alone, bars)
                found.append(replace(way, computed=engine_columns(computed)))
    return found


def _way(
    blocks: Sequence[Block],
    layout: Layout,
    grid: Grid,
    alone: Alone,
    bars: dict[tuple[int, Aggregate], float],
) -> WorkloadWay:
    total = cells = worst = 0.0
    for block in blocks:
        starts = dict(zip(block.slices, block.offsets, strict=False))
        for need in layout.needs[block.quantity]:
            own = block.variances[starts[need.slice] :][: need.slice.cells] * float(need.factor)
            with np.errstate(over="ignore"):  # an infinite ratio is only worse
                ratio = own / max(bars[need.question, need.aggregate], _SMALLEST)
            total, cells = total + float(ratio.sum()), cells + len(ratio)
            worst = max(worst, float(ratio.max()))
    shared = {number for number, _ in bars}
    others = [n for n in range(len(alone.questions)) if n not in shared]
    own_cells = sum(alone.questions[n].cells * len(alone.questions[n].aggregates()) for n in others)
    name = " and ".join(dict.fromkeys(block.strategy.name for block in blocks))
    mean = (total + own_cells) / max(cells + own_cells, 1)
    return WorkloadWay(name, mean, worst, blocks=tuple(blocks), layout=layout, grid=grid)
