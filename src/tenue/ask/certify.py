"""The certificate of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from ..privacy import Certificate
from ..privacy.certificate import ONE_RECORD, STREAM
from ..privacy.certificate import certify as certified
from ..privacy.loss import Loss
from ..schema import Schema
from ..schema.table import RECORD
from .aggregates.noise import NOISE_SOURCES
from .plan.plan import DECLARED, Plan

_NO_ROW = "the number of rows, which is public; no row was read"
ASSUMPTIONS = (
    "The bounds, grids and categories were stated by the holder without looking at the rows.",
    STREAM,
)
WELL_FORMED = (
    "The rows are those that the holder's opening read from end to end. It refuses a table that is "
    "not well formed; files that changed afterwards are refused, unless their size and time of "
    "writing are as before. The table of a connection is not watched."
)

SPREAD = (
    "Rows of a person that lie on several machines (Spark) are chosen by SHAKE-256 under a drawn "
    "key, whose output is indistinguishable from uniform bits, too."
)
_PERSONS_NOT_ROWS = (
    "The number of persons above a limit does not bound how many rows were truncated, only how "
    "many persons were."
)
DOES_NOT_PROMISE = (
    "It does not stop inference about groups; it bounds what one unit's data can change.",
    "It does not state what all answers about the table cost together; the ledger does.",
    "It does not cover the time that an answer takes.",
    "It promises no total epsilon of a data set that also has answers with individual differential "
    "privacy or published copies; this answer keeps its own promise.",
)


def certify(plan: Plan, schema: Schema, seal: str = "") -> Certificate:
    """The promise of an answer: a function of question, schema and price only.

    seal: the ledger's seal of the schema.
    """
    return certify_together([plan], plan.sql, plan.price, schema, seal)


def certify_together(
    plans: Sequence[Plan], sql: str, price: Loss, schema: Schema, seal: str = ""
) -> Certificate:
    """The promise of several plans that are paid for at once; they may share a draw."""
    apart = {tuple(map(id, plan.strategy.draws)): plan for plan in reversed(plans)}
    parts = [part for plan in reversed(apart.values()) for part in _lines_names_sources(plan)]
    parameters = {"question": sql, **price.to_dict()}
    parameters |= {f"part {number}": line for number, (line, *_) in enumerate(parts, start=1)}
    limits = dict.fromkeys(
        limit for plan in plans for draw in plan.strategy.draws for limit in draw.limits
    )
    if any(plan.cut is not None for plan in plans):
        limits[_PERSONS_NOT_ROWS] = None
    counted = list(dict.fromkeys(plan.counted for plan in plans))
    return certified(
        price.promise(),
        schema,
        " and ".join(dict.fromkeys(plan.chosen.mechanism for plan in plans)),
        parameters,
        list({name: source for _, name, source in parts}.values()),
        assumptions_of(schema, counted[0] if len(counted) == 1 else None),
        (*DOES_NOT_PROMISE, *limits),
        seal,
    )


def _lines_names_sources(plan: Plan) -> list[tuple[str, str, str]]:
    if plan.free:
        return [(_NO_ROW, DECLARED, "the definition of neighbours: tables of the same size")]
    parts = [(draw.line, draw.name, draw.source) for draw in plan.strategy.draws]
    if plan.cut is not None:
        parts.append((plan.cut.line, plan.cut.part.name, NOISE_SOURCES[plan.cut.part.name]))
    return parts


def assumptions_of(schema: Schema, counted: str | None = None) -> tuple[str, ...]:
    """The assumptions of every answer with differential privacy about the table.

    counted: the contribution limits, if they were planned; empty if none can truncate.
    """
    # an answer may be drawn where the table is, and read again elsewhere: the texts are the same
    chosen = (SPREAD,) if schema.unit != RECORD and counted != "" else ()
    return (*ASSUMPTIONS, WELL_FORMED, _who(schema, counted), *chosen)


def _who(schema: Schema, counted: str | None) -> str:
    if schema.unit == RECORD:
        return ONE_RECORD
    if counted is not None:
        return f"Each person has one value of {schema.unit}; {counted or 'nothing is truncated'}."
    limit = f"at most {schema.rows_per_unit} rows of a person are counted"
    if schema.groups_per_unit is not None:
        limit += f", in at most {schema.groups_per_unit} groups"
    return f"Each person has one value of {schema.unit}; {limit}, chosen at random."
