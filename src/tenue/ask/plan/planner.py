"""Chooses how to answer a question, without rows.

Aggregates that cannot share one noise share the price, and the prices add up. No aggregate that is
asked together with others is worse than asked alone for an equal part of the price: a strategy that
is worse for one of them is shown and not preferred.

A plan names every admissible strategy with its expected error and price, and the chosen one: the
least expected error for the caller's criterion. Two tables that share a schema have the same plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from ...arguments import Number, above_zero, fraction_of_one
from ...engine.request import Measure, People, Request
from ...engine.sql.statement import check_product
from ...errors import Refused, nearest, refuse
from ...noise.criterion import Criterion, criterion
from ...privacy.loss import NOTHING, SMALLEST, EpsilonDelta
from ...schema import Bounded, Category, Schema
from ...schema import Number as NumberColumn
from ..aggregates.contract import Block
from ..aggregates.reading import Reading
from ..aggregates.registry import FAMILIES, FAMILY_OF
from ..aggregates.strategy import (
    Range,
    Setting,
    Span,
    Strategy,
    merged,
    no_worse,
    score_of,
    sizes,
    split,
)
from ..aggregates.windows import read_output
from ..possible import warnings_of
from ..question import (
    Aggregate,
    Applied,
    Arithmetic,
    Expression,
    Output,
    Over,
    Question,
    engine_columns,
    parts_of,
    seen_by,
)
from .plan import DECLARED, Candidate, Plan
from .truncation import (
    Limit,
    check_limited,
    check_reachable,
    cut_count,
    limits_of,
    person_limits,
    spares,
    unit_limit,
    ways_to_keep,
)

_SUREST = 1 - Fraction(1, 10**9)
"""Selections truncate their scores where less than that is left to miss."""


def strategies(
    aggregates: Sequence[Aggregate],
    setting: Setting,
    price: EpsilonDelta,
    wanted: Criterion,
    levels: Mapping[Aggregate, Fraction] | None = None,
) -> list[Strategy]:
    """Every admissible strategy, each at a total of at most the price.

    levels: for values with a rank, the levels of the intervals that part of the price pays for.
    """
    ask = _Wanted(setting, price, wanted, levels or {})
    if len(aggregates) == 1:
        return ask.together(aggregates)
    apart = ask.apart(aggregates)
    yardstick = sizes(apart, wanted)
    together: list[Strategy] = []
    for asked in (ask, replace(ask, aside=True)):
        together += [
            replace(one, preferred=no_worse(sizes(one, wanted), yardstick))
            for one in asked.together(aggregates, yardstick)
        ]
        if any(one.preferred for one in together):
            return together
    return [*together, apart]


def levels_for(question: Question, interval: Number) -> Mapping[Aggregate, Fraction]:
    """For each value with a rank, the level of the interval that is paid for.

    An operation on two answers needs both intervals at once, each missing with half of the allowed
    probability: so an aggregate deeper in an expression has a higher level.
    """
    level = fraction_of_one(interval, "interval")
    levels: dict[Aggregate, Fraction] = {}

    def walk(expression: Expression, outside: Fraction) -> None:
        if isinstance(expression, Arithmetic):
            walk(expression.left, outside / 2)
            walk(expression.right, outside / 2)
        elif isinstance(expression, Applied):
            walk(expression.of, outside)
        elif isinstance(expression, Over):
            # the intervals of all groups of its window hold at once
            for part in parts_of(expression):
                walk(part, outside / question.cells)
        elif isinstance(expression, Aggregate) and FAMILY_OF[expression.kind].buys_intervals:
            levels[expression] = max(levels.get(expression, level), 1 - outside)

    for output in _outputs(question):
        walk(output.expression, 1 - level)
    if not levels:
        raise refuse("ask.interval-without-rank")
    if max(levels.values()) > _SUREST:
        raise refuse("ask.interval-out-of-range", interval=interval)
    return levels


@dataclass(frozen=True)
class _Wanted:
    """The terms that all aggregates of a question share.

    aside: whether aggregates that could share one noise have two, where one is worse for some.
    """

    setting: Setting
    price: EpsilonDelta
    wanted: Criterion
    levels: Mapping[Aggregate, Fraction]
    aside: bool = False

    def apart(self, aggregates: Sequence[Aggregate]) -> Strategy:
        """Each aggregate as if it were asked alone, for an equal part of the price."""
        one = replace(self, price=split(self.price, len(aggregates)))
        best = [
            min(one.together([a]), key=lambda found: score_of(found, self.wanted))
            for a in aggregates
        ]
        return merged("one by one", best)

    def together(
        self, aggregates: Sequence[Aggregate], yardstick: Mapping[Aggregate, float] | None = None
    ) -> list[Strategy]:
        """Aggregates that can share a noise do; each block has a part of the price.

        yardstick: the error of each aggregate if asked alone. A noise that serves several
            aggregates needs less than they would need alone; the rest goes to all blocks in
            proportion, so that every answer is better by the same factor.
        """
        sharing = [a for a in aggregates if a.kind in FAMILY_OF[a.kind].sharing]
        others = [a for a in aggregates if a not in sharing]
        blocks = [
            block
            for family in FAMILIES
            if (asked := [a for a in others if FAMILY_OF[a.kind] is family])
            for block in family.blocks(asked, self.setting, self.levels)
        ]
        if not blocks:
            return self._shared(sharing, self.price)
        if not sharing:
            return [_beside(None, blocks, split(self.price, len(blocks)))]
        each = split(self.price, len(aggregates))
        usual = each * len(sharing)
        strategies = []
        for index, one in enumerate(self._shared(sharing, usual)):
            needed = usual.units * self._share_needed(one, yardstick)
            share, price, *_ = self.price.shared([needed, *[float(each.units)] * len(blocks)])
            for shared in self._shared(sharing, share)[index : index + 1]:
                strategies.append(_beside(shared, blocks, price))
        return strategies

    def _shared(self, sharing: Sequence[Aggregate], price: EpsilonDelta) -> list[Strategy]:
        """The strategies with one shared noise, in the same order at every price."""
        family = FAMILY_OF[sharing[0].kind]
        ways = family.ways_aside if self.aside else family.ways
        return ways(sharing, self.setting, price, self.wanted)

    def _share_needed(self, shared: Strategy, yardstick: Mapping[Aggregate, float] | None) -> float:
        if yardstick is None:
            return 1.0
        errors = sizes(shared, self.wanted).items()
        ratios = [size / yardstick[a] for a, size in errors if yardstick[a] > 0]
        return min(1.0, max(ratios, default=1.0))


def _beside(shared: Strategy | None, blocks: Sequence[Block], price: EpsilonDelta) -> Strategy:
    first = [] if shared is None else [shared]
    whole = merged("", [*first, *(block(price.epsilon) for block in blocks)])
    names = [one.name for one in first]
    names += [draw.name for draw in whole.draws[sum(len(one.draws) for one in first) :]]
    return replace(whole, name=" + ".join(dict.fromkeys(names)))


# -- The plan of a question ------------------------------------------------------------------------


def make_plan(
    question: Question,
    schema: Schema,
    price: EpsilonDelta,
    minimise: object = "variance",
    sql: str = "",
    *,
    beside: bool = False,
    interval: Number | None = None,
    mechanism: str | None = None,
    measure_cut: Number | None = None,
) -> Plan:
    """The plan for a question at a price, for the caller's criterion.

    mechanism: the name of the candidate to choose; None for the one with the least error.
    interval: the level of intervals in values that part of the price shall pay for.
    measure_cut: the share of the price that measures how many persons are above the limits.
    beside: the question is one cell of several: others are answered for the same price, about
        disjoint rows.
    """
    if question.persons is None:
        check_limited(schema)
    share = None if measure_cut is None else fraction_of_one(measure_cut, "measure_cut")
    answered = price if share is None else price - price.part(share)
    asking = _Asking(question, schema, answered, criterion(minimise), sql, beside, interval)
    plan = _least_cut(asking, ways_to_keep(question, schema), mechanism)
    if share is None:
        return plan
    cut = cut_count(plan.truncating, plan.request, schema.neighbours, share, price)
    return replace(plan, price=price, cut=cut)


def _least_cut(asking: _Asking, kept: Sequence[People | None], mechanism: str | None) -> Plan:
    """The plan that counts all groups, where that is worth its error and truncates nothing else."""
    if len(kept) == 1:
        return asking.plan(kept[0], mechanism)
    everybody, few = kept
    truncated = asking.plan(few)
    complete = asking.plan(everybody, within=truncated.limits)
    errors = (sizes(plan.strategy, asking.wanted) for plan in (complete, truncated))
    setting = setting_of(asking.question, asking.schema, everybody)
    worth = set(complete.limits) < set(truncated.limits) and spares(*errors, setting=setting)
    if mechanism is None:
        return complete if worth else truncated
    try:
        return asking.plan(everybody if worth else few, mechanism)
    except Refused:  # only one of the contribution bounds may offer it
        return asking.plan(few if worth else everybody, mechanism)


@dataclass(frozen=True)
class _Asking:
    question: Question
    schema: Schema
    price: EpsilonDelta
    wanted: Criterion
    sql: str
    beside: bool
    interval: Number | None

    def plan(
        self,
        people: People | None,
        mechanism: str | None = None,
        within: tuple[Limit, ...] | None = None,
    ) -> Plan:
        """The best plan, or the one with that mechanism.

        within: the only limits that may truncate, if some strategy has no others.
        """
        question, schema, interval = self.question, self.schema, self.interval
        price, wanted = self.price, self.wanted
        setting = setting_of(question, schema, people)
        if self.beside:
            setting = replace(setting, grouped=True)
        levels = None if interval is None else levels_for(question, interval)
        aggregates = question.aggregates()
        declared: dict[Aggregate, Reading] = {}
        if schema.rows is not None:
            for family in FAMILIES:
                declared |= family.declared(aggregates, setting, schema.rows)
        asked = [a for a in aggregates if a not in declared]
        if asked:
            admissible = strategies(asked, setting, price, wanted, levels)
        else:
            admissible, price = [Strategy(DECLARED, (), declared)], NOTHING
        if declared:
            admissible = [replace(one, readings={**one.readings, **declared}) for one in admissible]
        elif interval is None and setting.all_public:
            epsilon = admissible[0].epsilon
            for family in FAMILIES:
                admissible += family.by_name(aggregates, setting, epsilon)
        candidates = candidates_for(admissible, question, schema, wanted)
        known = mechanism is None or isinstance(mechanism, str)
        named = [i for i, c in enumerate(candidates) if known and mechanism in (None, c.mechanism)]
        if not named:
            raise _unknown(mechanism, candidates)
        if within is not None:
            facts = seen_by(question, schema), people, question.cells
            limits = {i: set(limits_of(admissible[i], *facts)) for i in named}
            named = [i for i in named if limits[i] <= set(within)] or named
        best = min(named, key=lambda i: (not admissible[i].preferred, candidates[i].score))
        return build_plan(
            question,
            schema,
            admissible[best],
            price,
            wanted,
            self.sql,
            people=people,
            candidates=candidates,
            chosen=candidates[best],
            interval=None if interval is None else fraction_of_one(interval, "interval"),
        )


def build_plan(
    question: Question,
    schema: Schema,
    strategy: Strategy,
    price: EpsilonDelta,
    wanted: Criterion,
    sql: str,
    *,
    people: People | None,
    candidates: Sequence[Candidate] = (),
    chosen: Candidate | None = None,
    interval: Fraction | None = None,
    measures: Iterable[Measure] | None = None,
) -> Plan:
    """The plan of a question with one strategy.

    people: the contribution bounds; the strategy must have been made for just these.
    candidates: all candidates that are shown; the chosen one alone if none are given.
    chosen: the strategy as a candidate; None for one that follows from its readings.
    measures: what is measured, if it is less than all that its draws need.
    """
    check_reachable(question, schema)
    if chosen is None:
        (chosen,) = candidates_for([strategy], question, schema, wanted)
    if measures is None:
        measures = [measure for draw in strategy.draws for measure in draw.measures]
    needed = tuple(dict.fromkeys(measures))
    for measure in needed:
        if measure.kind == "moment":  # refused now, from the bounds, and not after the debit
            check_product(measure.factors, seen_by(question, schema).columns)
    return Plan(
        question=question,
        sql=sql,
        neighbours=schema.neighbours,
        unit=schema.unit,
        criterion=wanted,
        price=price,
        candidates=tuple(candidates) or (chosen,),
        chosen=chosen,
        strategy=strategy,
        request=Request(
            *(needed, question.where, question.keys, people, engine_columns(question.computed)),
            units=None if question.persons is None else question.persons.units,
        ),
        readings=tuple(
            [read_output(o.expression, question, strategy.readings) for o in _outputs(question)]
        ),
        needs_row_count=any(reading.needs_row_count for reading in strategy.readings.values()),
        interval=interval,
        limits=(
            *person_limits(question.persons, schema),
            *limits_of(strategy, seen_by(question, schema), people, question.cells),
            *unit_limit(question, schema),
        ),
        warnings=warnings_of(question, schema, chosen.expectations, price.epsilon),
    )


def candidates_for(
    admissible: Sequence[Strategy], question: Question, schema: Schema, wanted: Criterion
) -> list[Candidate]:
    """Each strategy as a candidate, with the errors that are known before a row is read."""
    whole = not question.keys and question.where is None and question.persons is None
    rows = schema.rows if whole else None
    outputs = _outputs(question)
    candidates = []
    for one in admissible:
        parts = one.parts
        expected = tuple(
            read_output(output.expression, question, one.readings).expect(output.alias, parts, rows)
            for output in outputs
        )
        candidates.append(Candidate(one.name, one.epsilon, expected, score_of(one, wanted)))
    return candidates


def _outputs(question: Question) -> list[Output]:
    return [output for output in question.outputs if isinstance(output, Output)]


def _unknown(mechanism: object, candidates: Sequence[Candidate]) -> Refused:
    names = list(dict.fromkeys(c.mechanism for c in candidates))
    for family in FAMILIES:
        refusal = family.refuse_name(str(mechanism), names)
        if refusal is not None:
            return refusal
    return refuse(
        "ask.mechanism-not-applicable",
        mechanism=str(mechanism)[:60],
        names=", ".join(f'"{name}"' for name in names),
        nearest=nearest(str(mechanism)[:60], names),
    )


def setting_of(question: Question, schema: Schema, people: People | None) -> Setting:
    """The facts that decide the price, under these contribution bounds."""
    schema, aggregates, cells = seen_by(question, schema), question.aggregates(), question.cells
    asked = {name for a in aggregates for name in (a.column, a.other)}
    columns = list(schema.columns.values())
    ranges, spans = {}, {}
    for column in [column for column in columns if column.name in asked]:
        if isinstance(column, NumberColumn):
            low, high = int(column.low / column.grid), int(column.high / column.grid)
            grid, ends = column.grid, column.bounds_per_unit
            sums = None if ends is None else (int(ends[0] / grid), int(ends[1] / grid))
            ranges[column.name] = Range(low, high, grid, column.missing is not None, sums)
            spans[column.name] = Span(low, high, column.grid)
        elif isinstance(column, Bounded):  # days or seconds from the lowest
            spans[column.name] = Span(0, column.steps, Fraction(1))
    return Setting(
        neighbours=schema.neighbours,
        grouped=bool(question.keys),
        filtered=question.where is not None,
        ranges=ranges,
        never_missing=frozenset([c.name for c in columns if c.missing is not None]),
        spans=spans,
        categories={c.name: len(c.categories) for c in columns if isinstance(c, Category)},
        rows_per_unit=1 if people is None else people.rows,
        groups_per_unit=None if people is None else people.groups,
        persons=people is not None or question.persons is not None,
        cells=cells,
    )


# -- The least epsilon that gives a wanted accuracy ------------------------------------------------

LARGEST = EpsilonDelta.of(100)
"""The search for an epsilon stops here: above it nothing is promised."""
_FIRST = EpsilonDelta.of("0.001")
_CLOSE = 1_000_000


def epsilon_for(
    accuracy: object,
    question: Question,
    schema: Schema,
    minimise: object,
    *,
    mechanism: str | None = None,
    measure_cut: Number | None = None,
) -> EpsilonDelta:
    """The least price, up to a millionth of itself, at which no output's margin of error at the
    level exceeds the reach.

    Refused where the error depends on rows: means and ratios, unless the number of rows is stated.
    """
    if not _outputs(question):
        return EpsilonDelta.of(1)
    if not isinstance(accuracy, tuple | list) or len(accuracy) != 3 or accuracy[0] != "interval":
        raise refuse("ask.invalid-accuracy", accuracy=accuracy)
    level, reach = fraction_of_one(accuracy[1], "level"), above_zero(accuracy[2], "reach")
    planned = partial(make_plan, minimise=minimise, mechanism=mechanism, measure_cut=measure_cut)

    def reached(price: EpsilonDelta) -> bool:
        return Fraction(_widest(planned(question, schema, price), schema, level)) <= reach

    def still_reached(price: EpsilonDelta) -> bool:
        try:
            return reached(price)
        except Refused:  # too little to be shared, though more of it would do
            return False

    high = _FIRST
    while not reached(high):
        high = high * 2
        if high > LARGEST:
            raise refuse(
                "ask.accuracy-out-of-reach", reach=float(reach), largest=int(LARGEST.epsilon)
            )
    while high > SMALLEST and still_reached(high // 2):
        high //= 2
    low = high // 2
    while high - low > max(SMALLEST, high // _CLOSE):
        middle = (low + high) // 2
        low, high = (low, middle) if still_reached(middle) else (middle, high)
    return high


def _widest(plan: Plan, schema: Schema, level: Fraction) -> float:
    widest = 0.0
    for reading in plan.readings:
        error = reading.promised(plan.parts, schema.rows)
        if error is None:
            raise reading.refuse_accuracy()
        widest = max(widest, error.half_width(level))
    return widest
