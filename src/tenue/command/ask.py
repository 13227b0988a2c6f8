"""Ask a private question."""

from __future__ import annotations

from pathlib import Path
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
    opened,
    prior_of,
)


def ask(
    sql: Annotated[str, typer.Argument(help="The question, in SQL.")],
    schema: SchemaOption,
    epsilon: EpsilonOption = None,
    accuracy: AccuracyOption = None,
    minimise: MinimiseOption = "variance",
    interval: IntervalOption = None,
    mechanism: MechanismOption = None,
    ledger: Annotated[Path | None, typer.Option(help="The ledger's file.")] = None,
    analyst: Annotated[str | None, typer.Option(help="Who asks.")] = None,
    source: Annotated[str | None, typer.Option(help="The table, instead of the schema's.")] = None,
    key: Annotated[str | None, typer.Option(help="A retry with this key costs nothing.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Draw anew; costs again.")] = False,
    prior: PriorOption = None,
    delta: DeltaOption = None,
    individual: Annotated[
        bool,
        typer.Option("--individual", help="Individual DP, which is not DP: own ledger column."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask: the answer is private, and the ledger is debited before a row is read."""
    with opened(schema, ledger, analyst, source) as data:
        answer = data.ask(
            sql,
            epsilon=epsilon,
            accuracy=accuracy_of(accuracy),
            minimise=minimise_of(minimise),
            interval=interval,
            mechanism=mechanism,
            key=key,
            fresh=fresh,
            prior=prior_of(prior),
            delta=delta,
            individual=individual,
        )
        if as_json:
            typer.echo(answer.to_json())
            return
        typer.echo(str(answer))
        typer.echo(str(data.budget).splitlines()[0])
