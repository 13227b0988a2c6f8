"""Many questions at one price: every way to answer them, and the one with the least error.

* one by one: each has an equal share of the price;
* side by side: questions about rows that cannot be the same cost what one of them costs;
* a box: all counts and sums get one noise, shaped to what one unit can do to all of them;
* strategies: counts, sums and means are read off fewer numbers that are released in their place:
  atoms, trees, tents, marginals, or the questions and their atoms together.

What is not linear keeps its own share. By default no answer is worse than asked alone at an equal
share; with minimise="mean" the mean error is the least that was found, whoever pays for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

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
    Atom,
    SumNoise,
    box_noise,
    is_atom,
    least_atom,
    measures_of,
)
from ..aggregates.reading import Reading
from ..aggregates.strategy import Strategy, sizes
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
from .select_strategy import SAME, BlockSetting, Known, blocks_for, line_block
from .workloads import MOST_VALUES, Line


def all_disjoint(conditions: Sequence[Predicate | None]) -> bool:
    """Whether every two are disjoint; None is true of every row."""
    known = [c for c in conditions if c is not None]
    if len(known) < len(conditions):
        return len(conditions) < 2
    return all(disjoint(p, q) for i, p in enumerate(known) for q in known[:i])


def disjoint(one: Predicate, other: Predicate) -> bool:
    """Whether some column would have to hold two different values; when in doubt, no.

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


# One noise for all counts and sums, shaped to what one unit can do to all of them at once.


@dataclass(frozen=True)
class Boxed:
    """The noise, the plan of each question that it answers, and whose each component is."""

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
    if not all(not q.keys and all(map(is_atom, q.aggregates())) for q in questions.values()):
        return []
    asked = [(number, a) for number, q in questions.items() for a in q.aggregates()]
    if not 2 <= len(asked) <= MOST_IN_A_BOX:
        return []
    shapes: list[tuple[Signs, bool]] = [("same", False)]
    shapes.append(("any", schema.neighbours == "replace"))
    found = (
        _box(questions, texts, schema, price, wanted, asked, signs, native)
        for signs, native in shapes
    )
    return [one for one in found if one is not None]


def _box(
    questions: Mapping[int, Question],
    texts: Sequence[str],
    schema: Schema,
    price: EpsilonDelta,
    wanted: Criterion,
    asked: Sequence[tuple[int, Aggregate]],
    signs: Signs,
    native: bool,
) -> Boxed | None:
    atoms: list[Atom] = []
    readings: dict[int, dict[Aggregate, Reading]] = {}
    own: dict[int, list[Atom]] = {}
    for place, (number, aggregate) in enumerate(asked):
        setting = setting_of(questions[number], schema, people_of(questions[number], schema))
        atom = least_atom(aggregate, setting, signs=signs, native=native)
        if atom is None:
            return None
        atoms.append(atom)
        own.setdefault(number, []).append(atom)
        readings.setdefault(number, {})[aggregate] = atom.read(place)
    epsilon = price.epsilon
    halved = schema.neighbours == "replace" and not native
    noise = box_noise(atoms, epsilon, epsilon / 2 if halved else epsilon, wanted, signs)
    name = noise.name + CUT_BY_PERSON * noise.cut_by_person
    plans = {
        number: build_plan(
            questions[number],
            schema,
            Strategy(name, (noise,), readings[number]),
            price,
            wanted,
            texts[number],
            people=people_of(questions[number], schema),
            measures=measures_of(atom.component for atom in own[number]),
        )
        for number in own
    }
    return Boxed(noise, plans, tuple(number for number, _ in asked))


# Many questions at one price: every way to answer them, and the one with the least error.

MOST_QUESTIONS = 10_000
MEAN = "mean"
"""What `minimise` says for the least mean error, whichever answers are worse than alone."""
_FEW = 100
_SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class WorkloadWay:
    """One way to answer all questions.

    mean, worst: the variance of an answer in parts of that alone, over all cells.
    computed: the columns that the questions of the blocks compute.
    """

    name: str
    mean: float
    worst: float
    boxed: Boxed | None = None
    beside: tuple[Plan, ...] | None = None
    blocks: tuple[Block, ...] = ()
    layout: Layout | None = None
    grid: Grid | None = None
    computed: tuple[Computed, ...] = ()

    @property
    def shared(self) -> tuple[int, ...]:
        """The numbers of the questions that are read off the blocks."""
        if self.layout is None:
            return ()
        return tuple(sorted({n.question for needs in self.layout.needs.values() for n in needs}))

    @property
    def fair(self) -> bool:
        """Whether no answer is worse than asked alone."""
        return self.worst <= SAME


@dataclass(frozen=True, eq=False)
class Workload:
    """Questions that are paid for together, in the way that was chosen.

    plans: one for each question. shared: the numbers of those that are read off the blocks.
    components: where the components of these are.
    line: what is added up from the cells of a declared histogram, over the atoms of its block.
    together, owners: the one noise of a box, and the question of each of its components.
    saved: the share of the variance that the chosen way saves, against one by one.
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
        """What the engine measures for the blocks: every cell of their grid."""
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
    """The best way to answer all questions at a total price.

    consistent: whether totals shall be the sums of their parts wherever some strategy is found.
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
        plans = tuple(alone.plan(number) for number in range(len(questions)))
        return Workload(alone, (apart,), apart, apart, NOTHING, plans)
    ways = [apart, *_beside(alone), *_boxed(alone), *_strategies(alone, price)]
    fitting = ([way for way in ways if way.blocks] if consistent else []) or ways
    least = min(fitting, key=_order)
    fairest = [way for way in fitting if way.fair] or fitting
    chosen = min(fairest, key=_order) if fair else least
    return _made(alone, ways, chosen, least)


def plan_line(
    declared: Line, question: Question, text: str, schema: Schema, price: EpsilonDelta
) -> Workload:
    """A histogram whose noise is shaped to the thresholds or ranges that are added up from it."""
    if question.cells > MOST_VALUES:
        name = declared.column
        raise refuse(
            "ask.workload-too-many-values", name=name, many=question.cells, most=MOST_VALUES
        )
    check_limited(schema)
    alone = Alone([question], [text], schema, price, VARIANCE)
    seen = seen_together(question.computed, schema)
    (layout,) = layouts({0: question}, seen)
    grid = grid_of([question], (), seen)
    assert grid is not None  # noqa: S101 - bins of one column are few
    setting = _setting(alone, price)
    block = line_block(layout, grid, question, declared.rows, setting)
    computed = engine_columns(question.computed)
    way = WorkloadWay(
        *(block.strategy.name, 1.0, 1.0),
        blocks=(block,),
        layout=layout,
        grid=grid,
        computed=computed,
    )
    rows = declared.rows(1 + int(block.labels.max()))
    line = Runs(block.strategy.atoms, rows.offsets, rows.first, rows.last)
    return replace(_made(alone, [way], way, way), line=line)


def _setting(alone: Alone, price: EpsilonDelta) -> BlockSetting:
    schema = alone.schema
    by_record, replaced = schema.unit == RECORD, schema.neighbours == "replace"
    rows = 1 if by_record else schema.rows_per_unit or 1
    return BlockSetting(price, replaced, rows, rows_public=by_record and replaced)


def _made(
    alone: Alone, ways: Sequence[WorkloadWay], chosen: WorkloadWay, least: WorkloadWay
) -> Workload:
    numbers, components = range(len(alone.questions)), dict[int, Components]()
    if chosen.beside is not None:
        plans = chosen.beside
    elif chosen.boxed is not None:
        boxed = chosen.boxed.plans
        plans = tuple(boxed[n] if n in boxed else alone.plan(n) for n in numbers)
    elif chosen.blocks:
        made, components = estimated_plans(alone, chosen)
        plans = tuple(made[n] if n in made else alone.plan(n) for n in numbers)
    else:
        plans = tuple(alone.plan(n) for n in numbers)
    return Workload(alone, tuple(ways), chosen, least, alone.price, plans, components)


def _order(way: WorkloadWay) -> float:
    """The mean to few digits: rounding shall not decide between ways that are as good."""
    return float(f"{way.mean:.6g}")


def _rows_public(question: Question, alone: Alone, number: int) -> bool:
    """Whether a mean is over a public number of rows: its sum alone is better than any pair."""
    readings = alone.like(number).strategy.readings.values()
    return any(reading.needs_row_count for reading in readings)


# -- ways ------------------------------------------------------------------------------------------


def _judged(name: str, alone: Alone, plans: dict[int, Plan]) -> WorkloadWay:
    """A way in which some questions have other plans than alone."""
    total = cells = worst = 0.0
    for number, question in enumerate(alone.questions):
        for aggregate, bar in alone.sizes(number).items():
            ratio = 1.0
            if number in plans and bar > 0:
                ratio = (sizes(plans[number].strategy, alone.wanted)[aggregate] / bar) ** 2
            total, cells = total + ratio * question.cells, cells + question.cells
            worst = max(worst, ratio)
    return WorkloadWay(name, total / max(cells, 1), worst)


def _beside(alone: Alone) -> list[WorkloadWay]:
    """Questions about different rows; for the rows of one person may answer several of them."""
    questions, schema = alone.questions, alone.schema
    if schema.unit != RECORD or not 2 <= len(questions) <= _FEW or any(q.keys for q in questions):
        return []
    together, _ = computed_by(dict(enumerate(questions)))
    if len(together) < len(questions) or not all_disjoint([q.where for q in questions]):
        return []
    plans = tuple(
        make_plan(q, schema, alone.price, alone.wanted, text, beside=True)
        for q, text in zip(questions, alone.texts, strict=True)
    )
    way = _judged("side by side", alone, dict(enumerate(plans)))
    return [replace(way, beside=plans)]


def _boxed(alone: Alone) -> list[WorkloadWay]:
    paying = [n for n, free in enumerate(alone.free) if not free]
    shared = {
        n: q
        for n, q in enumerate(alone.questions)
        if n in paying and not q.keys and all(map(is_atom, q.aggregates()))
    }
    if not shared:
        return []
    price = alone.price if len(shared) == len(paying) else alone.share * len(shared)
    found = boxes(shared, alone.texts, alone.schema, price, alone.wanted)
    return [replace(_judged(one.noise.name, alone, dict(one.plans)), boxed=one) for one in found]


def _strategies(alone: Alone, price: EpsilonDelta) -> list[WorkloadWay]:
    """Strategies for all linear questions: at the least mean, and with none worse than alone.

    If what they compute makes too many cells, for those that compute nothing.
    """
    questions = alone.questions
    linear = {n: q for n, q in enumerate(questions) if not alone.free[n] and is_linear(q)}
    linear = {n: q for n, q in linear.items() if not _rows_public(q, alone, n)}
    together, computed = computed_by(linear)
    found = _strategies_for(alone, together, computed, price)
    if not found and computed:
        plain = [n for n in together if not questions[n].computed]
        found = _strategies_for(alone, plain, [], price)
    return found


def _strategies_for(
    alone: Alone, linear: Sequence[int], computed: Sequence[ComputedColumn], whole: EpsilonDelta
) -> list[WorkloadWay]:
    if len(linear) < 2:
        return []
    schema, questions = seen_together(computed, alone.schema), alone.questions
    paying = alone.free.count(False)
    price = whole if len(linear) == paying else alone.share * len(linear)
    setting = _setting(alone, price)
    found = []
    bars = {(n, a): v for n in linear for a, v in alone.variances(n).items()}
    asked = {n: questions[n] for n in linear}
    for layout in layouts(asked, schema):
        present = {need.slice.present for needs in layout.needs.values() for need in needs} - {""}
        grid = grid_of([questions[n] for n in linear], present, schema)
        if grid is None:
            continue
        known: Known = {}
        for bounded in (True, False):
            try:
                blocks = blocks_for(layout, grid, questions, bars, setting, known, bounded=bounded)
            except Refused:  # too little to be shared among levels
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
            with np.errstate(over="ignore"):  # infinitely worse is worse
                ratio = own / max(bars[need.question, need.aggregate], _SMALLEST)
            total, cells = total + float(ratio.sum()), cells + len(ratio)
            worst = max(worst, float(ratio.max()))
    shared = {number for number, _ in bars}
    others = [n for n in range(len(alone.questions)) if n not in shared]
    own_cells = sum(alone.questions[n].cells * len(alone.questions[n].aggregates()) for n in others)
    name = " and ".join(dict.fromkeys(block.strategy.name for block in blocks))
    mean = (total + own_cells) / max(cells + own_cells, 1)
    return WorkloadWay(name, mean, worst, blocks=tuple(blocks), layout=layout, grid=grid)
