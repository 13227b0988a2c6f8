"""The interactive protocols of the thesis, as policies of a data set.

Fixed noise (protocol 1): the holder fixes the scale λ; an answer has discrete Laplace noise of
exactly that scale in each of its numbers, and costs Δ/λ. Here Δ is the L1 sensitivity of all
numbers of the answer together, so the groups of one question cost as much as one group. The
sensitivities of successive questions are added up, which is never too little:
Δ(f₁ … fᵢ) ≤ Δ(f₁) + … + Δ(fᵢ). Successive questions about disjoint rows are not recognised; ask
them as the groups of one question instead.

Refinement (protocol 2): every question comes with a prior and its own epsilon, and is answered by
refinement, while the epsilons add up to no more than the budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from ...errors import OverBudget, refuse
from ...mechanism.additive_noise import Component, Term
from ...noise.criterion import criterion
from ...noise.discrete_laplace import DiscreteLaplace
from ...privacy.loss import EpsilonDelta
from ...schema import Schema
from ...schema.table import FIXED_NOISE, REFINEMENT
from ...text import exactly
from ..aggregates.noise import SumNoise, atom_sensitivity
from ..aggregates.reading import Linear, Reading
from ..aggregates.strategy import Setting, Strategy
from ..paid_request import Terms
from ..plan.plan import Plan
from ..plan.planner import build_plan, setting_of
from ..plan.truncation import check_limited, people_of
from ..question import Aggregate, Question


def allow_without_protocol(schema: Schema, what: str) -> None:
    """Refuses a feature that no protocol has a rule for."""
    if schema.protocol is not None:
        raise refuse(
            "ask.protocol-without-terms",
            name=schema.name,
            protocol=schema.protocol,
            said=what,
            word="Ask one question at a time" if what == "ask_many" else "Leave it out",
        )


@contextmanager
def priced_by(schema: Schema) -> Iterator[None]:
    """Under fixed noise the analyst chooses no epsilon, so a refusal advises something else."""
    try:
        yield
    except OverBudget as refusal:
        if schema.protocol is None or schema.protocol.kind != FIXED_NOISE:
            raise
        raise OverBudget(
            refusal.what,
            refusal.allowed,
            "Ask a question of lower sensitivity, repeat an answered question, which is free, or "
            "let the holder raise budget or scale",
            code=refusal.code,
            **refusal.facts,
        ) from None


def plan_fixed_noise(question: Question, sql: str, schema: Schema, terms: Terms) -> Plan:
    """The plan under fixed noise: the holder states the scale, and the price follows from it.

    Guarantee
        Each number of the answer has discrete Laplace noise of exactly the protocol's scale. The
        loss of the whole answer is at most the price, which is the sum of sensitivities over the
        scale, rounded up to whole units.
    """
    protocol = schema.protocol
    assert protocol is not None  # noqa: S101 - narrows the type
    if protocol.kind == REFINEMENT or protocol.scale is None:
        raise refuse("ask.protocol-needs-prior", name=schema.name, protocol=protocol)
    stated = terms.epsilon is not None or terms.accuracy is not None
    if stated or terms.minimise != "variance":
        raise refuse("ask.fixed-noise-terms", scale=exactly(protocol.scale))
    check_limited(schema)
    people = people_of(question, schema)
    setting = setting_of(question, schema, people)
    parts: list[SumNoise] = []
    readings: dict[Aggregate, Reading] = {}
    for aggregate in question.aggregates():
        moved, component, grid = _moved(aggregate, setting)
        # a step of the grid costs grid / scale, whatever the sensitivity
        law = DiscreteLaplace(sensitivity=moved, epsilon=moved * grid / protocol.scale)
        readings[aggregate] = Linear((Term(len(parts), 0, grid),), grid=grid)
        parts.append(SumNoise("discrete Laplace", (component,), law, law.epsilon))
    name = f"discrete Laplace of scale {exactly(protocol.scale)}"
    strategy = Strategy(name, tuple(parts), readings)
    price, wanted = EpsilonDelta.of(strategy.epsilon), criterion(terms.minimise)
    return build_plan(question, schema, strategy, price, wanted, sql, people=people)


def _moved(aggregate: Aggregate, setting: Setting) -> tuple[int, Component, Fraction]:
    """By how many steps one unit moves a count or sum, over all groups together."""
    native = setting.native_replace
    # with groups, to replace is to leave one and enter another
    times = 2 if setting.neighbours == "replace" and not native else 1
    if aggregate.kind == "units":
        return setting.units_moved, Component("units"), Fraction(1)
    if aggregate.kind not in ("count", "sum"):
        raise refuse("ask.fixed-noise-unsupported", name=aggregate.name)
    atom = atom_sensitivity(aggregate, setting, signs="any", native=native)
    assert atom is not None  # noqa: S101 - None is for signs="same" only
    moved, component, _, grid = atom
    return times * moved, component, grid
