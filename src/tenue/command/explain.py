"""Explain what a question would cost, without asking it."""

from __future__ import annotations

from typing import Annotated

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
    from ..query.explain import explain as explained
    from ..query.terms import Terms
    from ..schema import Schema

    terms = Terms(
        epsilon=epsilon,
        accuracy=accuracy_of(accuracy),
        minimise=minimise_of(minimise),
        interval=interval,
        mechanism=mechanism,
        prior=prior_of(prior),
        delta=delta,
    )
    plan = explained(sql, Schema.load(schema), terms)
    typer.echo(plan.to_json() if as_json else str(plan))
