"""The certificate of an answer."""

from __future__ import annotations

from ..noise.optimal_box import OptimalBox
from ..promise import Certificate, Pure, show
from ..schema import Schema
from ..version import VERSION
from .plan import Plan

__all__ = ["certify"]

_SOURCES = {
    "optimal": "Soria-Comas and Domingo-Ferrer 2013, Theorem 1",
    "discrete Laplace": "Ghosh, Roughgarden and Sundararajan 2009",
    "pair of discrete Laplace": "Dwork et al. 2006, on the pair of soundness section 2",
    "same-sign pair": "Soria-Comas and Domingo-Ferrer 2013, section 5",
    "same-sign box": "Soria-Comas and Domingo-Ferrer 2013, section 5",
    "box": "Soria-Comas and Domingo-Ferrer 2013, section 5",
}

ASSUMPTIONS = (
    "The bounds, grids and categories were stated by the holder without looking at the rows.",
    "The AES-256 stream keyed by the operating system cannot be told from uniform bits.",
)
WELL_FORMED = (
    "The source is a well-formed table: bytes of a row that break the file's own format are not "
    "covered."
)
RECORD = "Each person has at most one record."

DOES_NOT_PROMISE = (
    "It bounds what one unit's data can change; it does not stop inference about groups.",
    "The ledger, not this certificate, says what all answers about the table cost together.",
    "The time an answer takes is not covered.",
)


def certify(plan: Plan, schema: Schema) -> Certificate:
    """What is promised about an answer: a function of question, schema and price only."""
    names = list(dict.fromkeys(part.name for part in plan.parts))
    parameters = {"question": plan.sql, "epsilon": show(plan.epsilon)}
    for number, part in enumerate(plan.parts, start=1):
        what = ", ".join(f"{c.kind} {c.column}".strip() for c in part.components)
        law = part.law
        if isinstance(law, OptimalBox):
            scale = f"core {', '.join(f'{c:.6g}' for c in law.core)} steps"
        elif isinstance(law, tuple):
            scale = f"scale {', '.join(f'{one.scale:.6g}' for one in law)} steps"
        else:
            scale = repr(law)
        parameters[f"part {number}"] = f"{part.name} on {what}: {scale}"
    return Certificate(
        promise=Pure(plan.epsilon),
        neighbours=schema.neighbours,  # type: ignore[arg-type]
        unit=schema.unit,
        mechanism=plan.chosen.mechanism,
        parameters=parameters,
        source="; ".join(dict.fromkeys(_SOURCES[name] for name in names)),
        assumptions=(*ASSUMPTIONS, WELL_FORMED, RECORD),
        does_not_promise=DOES_NOT_PROMISE,
        schema_hash=schema.digest,
        version=VERSION,
    )
