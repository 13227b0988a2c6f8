"""Explain what a question would cost, without asking it."""

from __future__ import annotations

from typing import Annotated

import typer

from .asking import (
    AccuracyOption,
    AsJson,
    EpsilonOption,
    IntervalOption,
    MechanismOption,
    MinimiseOption,
    SchemaOption,
    accuracy_of,
    minimise_of,
)

__all__ = ["explain"]


def explain(
    sql: Annotated[str, typer.Argument(help="The question, in SQL.")],
    schema: SchemaOption,
    epsilon: EpsilonOption = None,
    accuracy: AccuracyOption = None,
    minimise: MinimiseOption = "variance",
    interval: IntervalOption = None,
    mechanism: MechanismOption = None,
    as_json: AsJson = False,
) -> None:
    """Show every admissible mechanism with its expected error. Opens no table, costs nothing."""
    from ..query.session import explain_for
    from ..schema import Schema

    plan = explain_for(
        sql,
        Schema.load(schema),
        epsilon=epsilon,
        accuracy=accuracy_of(accuracy),
        minimise=minimise_of(minimise),
        interval=interval,
        mechanism=mechanism,
    )
    typer.echo(plan.to_json() if as_json else str(plan))
