"""Explain what a question would cost, without asking it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import (
    AccuracyOption,
    AsJson,
    DeltaOption,
    EpsilonOption,
    IntervalOption,
    MechanismOption,
    MinimiseOption,
    PriorOption,
    SchemaOption,
    accuracy_of,
    minimise_of,
    prior_of,
)

if TYPE_CHECKING:
    from ..query.belief.answer import BeliefPlan
    from ..query.plan.plan import Plan


def explain(
    sql: Annotated[str, typer.Argument(help="The question, in SQL.")],
    schema: SchemaOption,
    epsilon: EpsilonOption = None,
    accuracy: AccuracyOption = None,
    minimise: MinimiseOption = "variance",
    interval: IntervalOption = None,
    mechanism: MechanismOption = None,
    prior: PriorOption = None,
    delta: DeltaOption = None,
    as_json: AsJson = False,
) -> None:
    """Show every admissible mechanism with its expected error. Opens no table, costs nothing."""
    from ..query.belief.plan import believe_for
    from ..query.session import explain_for
    from ..schema import Schema

    described = Schema.load(schema)
    price: dict[str, Any] = {
        "epsilon": epsilon,
        "accuracy": accuracy_of(accuracy),
        "minimise": minimise_of(minimise),
        "interval": interval,
        "mechanism": mechanism,
    }
    plan: Plan | BeliefPlan
    if prior is None and delta is None:
        plan = explain_for(sql, described, **price)
    else:
        plan = believe_for(sql, described, prior_of(prior), delta=delta, **price)
    typer.echo(plan.to_json() if as_json else str(plan))
