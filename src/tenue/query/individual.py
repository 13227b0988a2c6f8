"""Questions answered with individual differential privacy, which is not differential privacy.

Own column of the ledger, own certificate, and nothing beside the value: neither scale nor interval
nor error, for each would be a fact about the rows (soundness section 3).
"""

from __future__ import annotations

from fractions import Fraction

from ..engine.contract import Engine
from ..engine.request import Request
from ..errors import NotPromised, Refused
from ..mechanism import INDIVIDUAL_ASSUMES, INDIVIDUAL_LIMITS, individual_steps
from ..noise.criterion import VARIANCE
from ..number import NANO
from ..promise import Certificate, Individual, show
from ..schema import Number, Schema
from ..schema.table import RECORD
from ..schema.table import Question as Approved
from ..version import VERSION
from .all_rows import column_steps
from .answer import Released
from .parse import parse
from .plan import Candidate, Expectation, Plan
from .question import Aggregate, Output, Question
from .strategy import Strategy
from .told import Told

__all__ = ["approval", "certify_individual", "plan_individual", "release_individual"]

MECHANISM = "individual differential privacy"
_STATISTICS = {"min": "min", "max": "max", "avg": "mean", "sum": "sum", "var_pop": "variance"}
_FINER = {"median": Fraction(1, 2), "mean": Fraction(1, 1000)}
"""The grid of an answer, in steps of the column; 1 for the others."""


def approval(question: Question, schema: Schema) -> Approved | None:
    """The approved question that asks the same of the rows, whatever is done with the answer."""
    asked = _asked(question, schema)
    for approved in schema.questions.values():
        if approved.promise != "individual":
            continue
        try:
            same = _asked(parse(approved.sql, schema), schema) == asked
        except Refused:
            same = False
        if same:
            return approved
    return None


def plan_individual(question: Question, sql: str, schema: Schema, nano: int) -> Plan:
    """The plan of a question that individual differential privacy may answer, or a refusal."""
    asked, column = _asked(question, schema)
    unit = column.grid**2 if asked.kind == "var_pop" else column.grid
    reading = Told(unit)
    candidate = Candidate(
        mechanism=MECHANISM,
        epsilon=Fraction(nano, NANO),
        expectations=(Expectation(question.outputs[0].alias, None, None, None),),
        score=0.0,
    )
    return Plan(
        question=question,
        sql=sql,
        neighbours=schema.neighbours,
        unit=schema.unit,
        criterion=VARIANCE,
        nano=nano,
        candidates=(candidate,),
        chosen=candidate,
        strategy=Strategy(MECHANISM, (), {}),
        request=Request(()),
        readings=(reading,),
        needs_row_count=False,
    )


def release_individual(plan: Plan, engine: Engine, schema: Schema) -> Released:
    """The statistic of this table with noise for this table."""
    asked, column = _asked(plan.question, schema)
    low, high = int(column.low / column.grid), int(column.high / column.grid)
    steps = column_steps(engine, column.name)
    statistic = _statistic(asked)
    grid = _FINER.get(statistic, Fraction(1))
    q = asked.q if statistic == "quantile" else None
    answer = individual_steps(statistic, steps, low, high, plan.epsilon, grid=grid, q=q)
    return Released((((answer.numerator, answer.denominator),),))


def certify_individual(plan: Plan, schema: Schema) -> Certificate:
    """What is promised, and at length what is not."""
    return Certificate(
        promise=Individual(plan.epsilon),
        neighbours=schema.neighbours,  # type: ignore[arg-type]
        unit=schema.unit,
        mechanism=MECHANISM,
        parameters={"question": plan.sql, "epsilon": show(plan.epsilon)},
        source="Soria-Comas et al. 2017; limits: soundness section 3",
        assumptions=INDIVIDUAL_ASSUMES,
        does_not_promise=INDIVIDUAL_LIMITS,
        schema_hash=schema.digest,
        version=VERSION,
    )


def _statistic(asked: Aggregate) -> str:
    if asked.kind == "quantile":
        return "median" if asked.q == Fraction(1, 2) else "quantile"
    return _STATISTICS[asked.kind]


def _asked(question: Question, schema: Schema) -> tuple[Aggregate, Number]:
    outputs = [o for o in question.outputs if isinstance(o, Output)]
    plain = len(question.outputs) == 1 and len(outputs) == 1
    asked = outputs[0].expression if plain else None
    known = isinstance(asked, Aggregate) and asked.kind in (*_STATISTICS, "quantile")
    if not isinstance(asked, Aggregate) or not known:
        raise NotPromised(
            "The question is not one that individual differential privacy answers",
            "It answers one MEDIAN, QUANTILE, MIN, MAX, AVG, SUM or VAR_POP of the whole table",
            "Ask without individual=True: counts cost the same and get real differential privacy",
        )
    column = schema.column(asked.column or "")
    public = schema.unit == RECORD and schema.neighbours == "replace" and question.where is None
    if not public or column.missing is None or not isinstance(column, Number):
        raise NotPromised(
            "The number of rows that the question is about is not public",
            'Individual differential privacy needs unit = "record", neighbours = "replace", no '
            "WHERE, and a number column that declares what stands for missing values",
            f"Add missing = … to [columns.{column.name}], or ask without individual=True",
        )
    return asked, column
