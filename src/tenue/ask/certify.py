"""The certificate of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from ..privacy import Certificate
from ..privacy.certificate import ONE_RECORD, STREAM
from ..privacy.certificate import certify as certified
from ..privacy.loss import Loss
from ..schema import Schema
from ..schema.table import RECORD
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

SPREAD = (
    "Rows of a person that lie on several machines (Spark) are chosen by SHAKE-256 under a drawn "
    "key, which cannot be told from uniform bits either."
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
    return certify_together([plan], plan.sql, plan.price, schema, seal)


def certify_together(
    plans: Sequence[Plan], sql: str, price: Loss, schema: Schema, seal: str = ""
) -> Certificate:
    """What is promised about all that is paid for at once: several plans may share a draw."""
    apart = {tuple(map(id, plan.strategy.draws)): plan for plan in reversed(plans)}
    said = [line for plan in reversed(apart.values()) for line in _said(plan)]
    sources = {name: source for _, name, source in said}
    parameters = {"question": sql, **price.to_dict()}
    parameters |= {f"part {number}": line for number, (line, *_) in enumerate(said, start=1)}
    draws = [draw for plan in plans for draw in plan.strategy.draws]
    limits = dict.fromkeys(limit for draw in draws for limit in draw.limits)
    bought = any(plan.cut is not None for plan in plans)
    counted = list(dict.fromkeys(plan.counted for plan in plans))
    return certified(
        price.promise(),
        schema,
        " and ".join(dict.fromkeys(plan.chosen.mechanism for plan in plans)),
        parameters,
        list(sources.values()),
        assumptions_of(schema, counted[0] if len(counted) == 1 else None),
        (*DOES_NOT_PROMISE, *limits, *((_PERSONS_NOT_ROWS,) if bought else ())),
        seal,
    )


def _said(plan: Plan) -> list[tuple[str, str, str]]:
    """What is drawn, by which mechanism, and where that is from."""
    if plan.free:
        return [(_NO_ROW, DECLARED, "the definition of neighbours: tables of the same size")]
    said = [(draw.line, draw.name, draw.source) for draw in plan.strategy.draws]
    if plan.cut is not None:
        said.append((plan.cut.line, plan.cut.part.name, plan.cut.source))
    return said


def assumptions_of(schema: Schema, counted: str | None = None) -> tuple[str, ...]:
    """What every answer with differential privacy about the table supposes.

    counted: what of each person counts, if that was planned; empty if all does.
    """
    # an answer may be drawn where the table is, and read again elsewhere: both read the same
    chosen = (SPREAD,) if schema.unit != RECORD and counted != "" else ()
    return (*ASSUMPTIONS, WELL_FORMED, _who(schema, counted), *chosen)


def _who(schema: Schema, counted: str | None) -> str:
    if schema.unit == RECORD:
        return ONE_RECORD
    if counted is not None:
        return f"Each person has one value of {schema.unit}; {counted or 'nobody is cut'}."
    limit = f"at most {schema.rows_per_unit} rows of a person are counted"
    if schema.groups_per_unit is not None:
        limit += f", in at most {schema.groups_per_unit} groups"
    return f"Each person has one value of {schema.unit}; {limit}, chosen at random."
