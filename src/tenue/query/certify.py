"""The certificate of an answer."""

from __future__ import annotations

from ..promise import Certificate, Pure
from ..promise.certificate import ONE_RECORD, STREAM
from ..promise.certificate import certify as certified
from ..schema import Schema
from ..schema.table import RECORD
from ..screen.number import exactly
from .plan.plan import DECLARED, Plan

_NO_ROW = "the number of rows, which is public; no row was read"
ASSUMPTIONS = (
    "The bounds, grids and categories were stated by the holder without looking at the rows.",
    STREAM,
)
WELL_FORMED = (
    "The rows are those that the holder's opening read from end to end: what is not well formed is "
    "refused there, and so are files that changed afterwards, unless their size and time of "
    "writing are as before. The table of a connection is not watched."
)

_PERSONS_NOT_ROWS = (
    "The number of persons above a limit bounds how many persons were cut, not how many rows."
)
DOES_NOT_PROMISE = (
    "It bounds what one unit's data can change; it does not stop inference about groups.",
    "The ledger, not this certificate, says what all answers about the table cost together.",
    "The time an answer takes is not covered.",
    "This answer keeps its promise; if the data set has also had individual-DP answers or "
    "published copies, no total epsilon of the data set is promised.",
)


def certify(plan: Plan, schema: Schema, seal: str = "") -> Certificate:
    """What is promised about an answer: a function of question, schema and price only.

    seal: by which schema, as the ledger seals it.
    """
    draws = plan.strategy.draws
    said = [(draw.line, draw.name, draw.source) for draw in draws]
    if plan.cut is not None:
        said.append((plan.cut.line, plan.cut.part.name, plan.cut.source))
    if plan.free:
        said = [(_NO_ROW, DECLARED, "the definition of neighbours: tables of the same size")]
    sources = {name: source for _, name, source in said}
    parameters = {"question": plan.sql, "epsilon": exactly(plan.epsilon)}
    parameters |= {f"part {number}": line for number, (line, *_) in enumerate(said, start=1)}
    limits = dict.fromkeys(limit for draw in draws for limit in draw.limits)
    return certified(
        Pure(plan.epsilon),
        schema,
        plan.chosen.mechanism,
        parameters,
        list(sources.values()),
        assumptions_of(schema, plan.counted),
        (*DOES_NOT_PROMISE, *limits, *(() if plan.cut is None else (_PERSONS_NOT_ROWS,))),
        seal,
    )


def assumptions_of(schema: Schema, counted: str | None = None) -> tuple[str, ...]:
    """What every answer with differential privacy about the table supposes.

    counted: what of each person counts, if that was planned; empty if all does.
    """
    return (*ASSUMPTIONS, WELL_FORMED, _who(schema, counted))


def _who(schema: Schema, counted: str | None) -> str:
    if schema.unit == RECORD:
        return ONE_RECORD
    if counted is not None:
        return f"Each person has one value of {schema.unit}; {counted or 'nobody is cut'}."
    limit = f"at most {schema.rows_per_unit} rows of a person are counted"
    if schema.groups_per_unit is not None:
        limit += f", in at most {schema.groups_per_unit} groups"
    return f"Each person has one value of {schema.unit}; {limit}, chosen at random."
