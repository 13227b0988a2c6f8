"""The certificate of an answer."""

from __future__ import annotations

from ..mechanism.bernstein import Bernstein
from ..mechanism.part import Component
from ..promise import Certificate, Pure
from ..promise.certificate import ONE_RECORD, STREAM
from ..promise.certificate import certify as certified
from ..schema import Schema
from ..schema.table import RECORD
from ..screen.number import exactly
from .family.mode import VOTE, Ballot
from .family.smooth import SMOOTH, SMOOTH_LIMITS
from .plan.plan import DECLARED, Plan

_SOURCES = {
    "optimal": "Soria-Comas and Domingo-Ferrer 2013, Theorem 1",
    "discrete Laplace": "Ghosh, Roughgarden and Sundararajan 2009",
    "pair of discrete Laplace": "Dwork et al. 2006, on the pair of soundness section 2",
    "same-sign pair": "Soria-Comas and Domingo-Ferrer 2013, section 5",
    "same-sign box": "Soria-Comas and Domingo-Ferrer 2013, section 5",
    "box": "Soria-Comas and Domingo-Ferrer 2013, section 5",
    "joint moments": "Dwork et al. 2006, on the moments of soundness section 2",
    "interval by selection": "McSherry and Talwar 2007, at ranks beyond the one asked for",
    DECLARED: "soundness, notation: when n is public",
    VOTE: "McSherry and Talwar 2007, with one-sided scores",
    SMOOTH: "Nissim, Raskhodnikova and Smith 2007; constants: soundness section 3",
    "selection": "McSherry and Talwar 2007, with the rank score of soundness section 3",
}

ASSUMPTIONS = (
    "The bounds, grids and categories were stated by the holder without looking at the rows.",
    STREAM,
)
WELL_FORMED = (
    "The source is a well-formed table: bytes of a row that break the file's own format are not "
    "covered."
)

DOES_NOT_PROMISE = (
    "It bounds what one unit's data can change; it does not stop inference about groups.",
    "The ledger, not this certificate, says what all answers about the table cost together.",
    "The time an answer takes is not covered.",
    "This answer keeps its promise; if the data set has also had individual-DP answers or "
    "published copies, no total epsilon of the data set is promised.",
)


def certify(plan: Plan, schema: Schema) -> Certificate:
    """What is promised about an answer: a function of question, schema and price only."""
    choices = plan.strategy.choices
    names = list(dict.fromkeys([p.name for p in plan.parts] + [c.name for c in choices]))
    parameters = {"question": plan.sql, "epsilon": exactly(plan.epsilon)}
    for number, part in enumerate(plan.parts, start=1):
        what = ", ".join(map(_what, part.components))
        parameters[f"part {number}"] = f"{part.name} on {what}: {part.noise.words}"
    for number, choice in enumerate(choices, start=len(plan.parts) + 1):
        if isinstance(choice, Ballot):
            behind = choice.vote.behind(0.05)
            parameters[f"part {number}"] = (
                f"{choice.name} among {choice.vote.categories} categories of {choice.column}: "
                f"epsilon {exactly(choice.vote.epsilon)} for one row; with 95 % at most "
                f"{behind:.3g} rows behind the most frequent"
            )
            continue
        selection = choice.selection
        rank = "" if selection.score.rank is None else f", aimed at rank {selection.score.rank}"
        parameters[f"part {number}"] = (
            f"{choice.name} of {choice.column} among {selection.points} grid points{rank}: "
            f"epsilon {exactly(selection.epsilon)} for one row"
        )
    if plan.free:
        names = [DECLARED]
        parameters["part 1"] = "the number of rows, which is public; no row was read"
    limits: tuple[str, ...] = DOES_NOT_PROMISE
    smoothed = plan.strategy.smoothed
    if smoothed is not None:
        names, limits = [SMOOTH], (*DOES_NOT_PROMISE, *SMOOTH_LIMITS)
        parameters["part 1"] = (
            f"{smoothed.statistic} of {smoothed.column}, kept between its bounds: noise with tail "
            f"gamma = {smoothed.gamma}, scaled by the smooth sensitivity"
        )
    return certified(
        Pure(plan.epsilon),
        schema,
        plan.chosen.mechanism,
        parameters,
        [_SOURCES[name] for name in names],
        assumptions_of(schema, plan.counted),
        limits,
    )


def assumptions_of(schema: Schema, counted: str = "") -> tuple[str, ...]:
    """What every answer with differential privacy about the table supposes.

    counted: what of each person counts, if that was planned.
    """
    return (*ASSUMPTIONS, WELL_FORMED, _who(schema, counted))


def _what(component: Component | Bernstein) -> str:
    named = f"{component.kind} {component.column}".strip()
    if isinstance(component, Component) and "unit-total" in component.kind:
        return f"{named}, the sum of a person cut to {component.low} and {component.high} steps"
    return named


def _who(schema: Schema, counted: str) -> str:
    if schema.unit == RECORD:
        return ONE_RECORD
    if counted:
        return f"Each person has one value of {schema.unit}; {counted}."
    limit = f"at most {schema.rows_per_unit} rows of a person are counted"
    if schema.groups_per_unit is not None:
        limit += f", in at most {schema.groups_per_unit} groups"
    return f"Each person has one value of {schema.unit}; {limit}, chosen at random."
