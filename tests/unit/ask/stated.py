"""A schema and questions that the tests of this room share."""

from __future__ import annotations

from fractions import Fraction

from tenue.ask.answer import Answer
from tenue.ask.certify import certify
from tenue.ask.plan.planner import make_plan
from tenue.ask.question import Aggregate, KeyOutput, Order, Output, Question
from tenue.ask.release import Released
from tenue.engine.computed_column import Within
from tenue.engine.request import Bin, Group
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

HALF = EpsilonDelta.of("0.5")

COUNT = Aggregate("count")
SUM = Aggregate("sum", "income")
AVG = Aggregate("avg", "income")


def schema(neighbours: str = "add-or-remove", **table: object) -> Schema:
    return Schema.from_dict(
        {
            "table": {"name": "people", "unit": "record", "neighbours": neighbours, **table},
            "columns": {
                "income": {"type": "number", "bounds": [0, 1000], "grid": 10},
                "age": {"type": "number", "bounds": [18, 90], "missing": 18},
                "region": {"type": "category", "categories": ["North", "South"]},
                "born": {"type": "date", "bounds": ["2020-01-15", "2020-03-20"]},
                "well": {"type": "boolean"},
            },
            "budget": {"total": 3, "per_analyst": 2},
        }
    )


def asked(*outputs: Output | KeyOutput, **more: object) -> Question:
    return Question("people", outputs, **more)  # type: ignore[arg-type]


ONE_COUNT = asked(Output("n", COUNT))
MEAN = asked(Output("mean", AVG))
BY_REGION = asked(
    KeyOutput("region", 0),
    Output("n", COUNT),
    Output("total", SUM),
    keys=(Group("region", 2),),
    order=(Order("n", descending=True),),
)
BY_AGE = asked(KeyOutput("bin", 0), Output("n", COUNT), keys=(Bin("age", 10, 1, 9),))
FILTERED = asked(Output("n", COUNT), where=Within("income", 51, None))
TENTH = Fraction(1, 10)


def answer(question: Question, *cells: tuple[tuple[int, ...], ...]) -> Answer:
    """What is said where these numbers were released, at half an epsilon."""
    described = schema()
    plan = make_plan(question, described, HALF, sql="SELECT …")
    return Answer(plan, described, Released(cells), certify(plan, described), Fraction(1, 2))
