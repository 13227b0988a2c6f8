"""Questions answered with individual differential privacy, which is not differential privacy.

They have their own column of the ledger and their own certificate. The value has no scale, interval
or error beside it, because each of these would be a fact about the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from ..engine.contract import Engine
from ..engine.request import Group, Measure, Request
from ..engine.sql.grid_values import first_step, last_step
from ..errors import Refused, refuse
from ..mechanism import INDIVIDUAL_ASSUMES, INDIVIDUAL_LIMITS, individual_steps
from ..mechanism.individual_dp import release_mode
from ..noise.criterion import VARIANCE
from ..noise.source import SYSTEM
from ..privacy import Certificate, Individual
from ..privacy.certificate import certify
from ..privacy.loss import EpsilonDelta
from ..schema import Category, Column, Number, Schema
from ..schema.table import RECORD
from ..schema.table import Question as Approved
from ..text import exactly
from .aggregates.order_statistics import ValueOnly
from .aggregates.reading import Expectation
from .aggregates.strategy import Strategy
from .answer import Answer
from .paid_request import Inquiry, Terms, affordable, inquire
from .plan.plan import Candidate, Plan
from .plan.planner import build_plan
from .plan.truncation import people_of
from .question import Aggregate, Output, Question
from .release import Released
from .sql.parse import parse
from .sql.write import render

MECHANISM = "individual differential privacy"
_STATISTICS = {"min": "min", "max": "max", "avg": "mean", "sum": "sum", "var_pop": "variance"}
_STATISTICS |= {"corr": "correlation", "regr_slope": "slope", "mode": "mode"}
_FINER = {
    "median": Fraction(1, 2),
    "mean": Fraction(1, 1000),
    "correlation": Fraction(1, 1000),
}
"""The grid of an answer, in steps of the column; 1 for the others, a correlation has no steps."""
_RIDGE = 1
"""The addition to a slope's sum of squares, in squared steps: it hardly shows, and it suffices to
protect the slope for any rows."""


def approval(question: Question, schema: Schema) -> Approved | None:
    """The approved question with the same statistic, whatever post-processing follows."""
    asked = _asked(question, schema)
    for approved in schema.questions.values():
        if approved.promise == "individual":
            with suppress(Refused):
                if _asked(parse(approved.sql, schema), schema) == asked:
                    return approved
    return None


def plan_individual(question: Question, sql: str, schema: Schema, price: EpsilonDelta) -> Plan:
    """The plan of a question that individual differential privacy may answer, or a refusal."""
    asked, columns = _asked(question, schema)
    candidate = Candidate(
        mechanism=MECHANISM,
        epsilon=price.epsilon,
        expectations=(Expectation(question.outputs[0].alias, None, None, None),),
        score=0.0,
    )
    strategy = Strategy(MECHANISM, (), {asked: ValueOnly(_step_size(asked, columns))})
    return build_plan(
        *(question, schema, strategy, price, VARIANCE, sql),
        people=people_of(question, schema),
        chosen=candidate,
    )


def inquire_individually(
    sql: str, schema: Schema, terms: Terms, *, holder: bool, seal: str = ""
) -> Inquiry[Answer]:
    """A question of the holder, or of an analyst if the holder has approved it."""
    if terms.epsilon is None or terms.accuracy is not None:
        raise refuse("ask.individual-epsilon-missing")
    question = parse(sql, schema)
    plan = plan_individual(question, render(question, schema), schema, affordable(terms.epsilon))
    approved = approval(question, schema)
    if not holder and (approved is None or not approved.limited):
        raise refuse("ask.question-not-approved")
    least = None if approved is None else approved.epsilon
    if least is not None and plan.epsilon < least:
        raise refuse(
            "ask.below-approved-epsilon", epsilon=exactly(plan.epsilon), least=exactly(least)
        )
    asked = inquire(plan, schema, seal)

    def read(stored: bytes, replayed: bool) -> Answer:
        certificate = certify_individual(plan, schema, seal)
        return replace(asked.read(stored, replayed), certificate=certificate)

    return replace(
        asked,
        draw=lambda engine: release_individual(plan, engine, schema).to_bytes(),
        read=read,
        column="individual",
        question_name=None if approved is None else approved.name,
        times=None if approved is None else approved.times,
    )


def release_individual(plan: Plan, engine: Engine, schema: Schema) -> Released:
    """The statistic of this table, with noise calibrated to this table."""
    asked, columns = _asked(plan.question, schema)
    statistic, (column, *_) = _statistic(asked), columns
    if isinstance(column, Category):
        cells = len(column.categories)
        rows = engine.measure(Request((Measure("rows"),), keys=(Group(column.name, cells),)))
        votes = [rows.get((cell,), (0,))[0] for cell in range(cells)]
        category = release_mode(votes, plan.epsilon, truncated=False, source=SYSTEM)
        return Released((((category, 1),),))
    numbers = [c for c in columns if isinstance(c, Number)]
    grid = _grid(statistic, numbers)
    steps = engine.column_steps(*(number.name for number in numbers))
    low, high = list(map(first_step, numbers)), list(map(last_step, numbers))
    if len(numbers) == 2:
        ridge = _RIDGE if statistic == "slope" else None
        answer = individual_steps(statistic, steps, low, high, plan.epsilon, grid=grid, ridge=ridge)
    else:
        q = asked.q if statistic == "quantile" else None
        ends = low[0], high[0]
        answer = individual_steps(statistic, steps[:, 0], *ends, plan.epsilon, grid=grid, q=q)
    return Released((((answer.numerator, answer.denominator),),))


def certify_individual(plan: Plan, schema: Schema, seal: str = "") -> Certificate:
    """The certificate, which says at length what is not promised."""
    asked, columns = _asked(plan.question, schema)
    facts = {"question": plan.sql, "epsilon": exactly(plan.epsilon)}
    if asked.kind == "regr_slope" and isinstance(columns[0], Number):
        facts["ridge"] = f"{exactly(_RIDGE * columns[0].grid ** 2)} is added to the sum of squares"
    return certify(
        Individual(plan.epsilon),
        schema,
        MECHANISM,
        facts,
        ["Soria-Comas et al. 2017"],
        INDIVIDUAL_ASSUMES,
        INDIVIDUAL_LIMITS,
        seal,
    )


def _statistic(asked: Aggregate) -> str:
    if asked.kind == "quantile":
        return "median" if asked.q == Fraction(1, 2) else "quantile"
    return _STATISTICS[asked.kind]


def _step_size(asked: Aggregate, columns: Sequence[Column]) -> Fraction:
    grids = [c.grid for c in columns if isinstance(c, Number)]
    if asked.kind == "var_pop":
        return grids[0] ** 2
    if asked.kind == "regr_slope":
        return grids[1] / grids[0]
    return Fraction(1) if asked.kind in ("corr", "mode") else grids[0]


def _grid(statistic: str, columns: Sequence[Number]) -> Fraction:
    """The grid of an answer in steps. That of a slope has four digits of the steepest line through
    the bounds, in decimals of the columns' own units."""
    if statistic != "slope":
        return _FINER.get(statistic, Fraction(1))
    x, y = columns
    steepest = (y.high - y.low) / (x.high - x.low)
    power = math.floor(math.log10(steepest)) - 4
    return Fraction(10) ** power * x.grid / y.grid


def _asked(question: Question, schema: Schema) -> tuple[Aggregate, list[Column]]:
    """The one statistic and its columns; the regressor of a slope comes first."""
    output = question.outputs[0]
    alone = len(question.outputs) == 1
    asked = output.expression if alone and isinstance(output, Output) else None
    known = isinstance(asked, Aggregate) and asked.kind in (*_STATISTICS, "quantile")
    computes = question.computed or question.persons is not None
    if not isinstance(asked, Aggregate) or not known or computes:
        raise refuse("ask.not-individual-question")
    names = (asked.other, asked.column)
    columns = [schema.column(name) for name in names if name is not None]
    public = schema.unit == RECORD and schema.neighbours == "replace" and question.where is None
    unfit = [c for c in columns if c.missing is None or not isinstance(c, Number | Category)]
    if not public or unfit:
        raise refuse("ask.individual-count-secret", name=(unfit or columns)[0].name)
    return asked, columns
