"""Suggest contribution limits."""

from __future__ import annotations

from typing import Annotated

from . import options
from .messages import spoken
from .parser import Option, say


def limits(
    schema: options.Schema,
    epsilon: options.Epsilon = None,
    by: Annotated[
        list[str] | None, Option("A group of a typical question, as in GROUP BY.", value="GROUP")
    ] = None,
    column: Annotated[
        str | None,
        Option("The column whose sum over one person's rows is limited.", value="COLUMN"),
    ] = None,
    quantiles: Annotated[
        str | None,
        Option(
            "The shares of persons whom a limit does not truncate; 0.5,0.8,0.95 if not given.",
            value="SHARES",
        ),
    ] = None,
    most: Annotated[
        int | None, Option("The most rows and groups that a limit may be.", least=2)
    ] = None,
    ledger: options.Ledger = None,
    analyst: options.Analyst = None,
    source: options.Source = None,
    key: options.Key = None,
    fresh: options.Fresh = False,
    as_json: options.AsJson = False,
) -> None:
    """Suggest contribution limits. Shows private quantiles of the rows, groups and sums of a
    person, and the noise at each; it is paid like a question.

    Example
        tenue limits --schema visits.toml --epsilon 1 --by ward --column cost
    """
    from ..ask.limits import MOST, SHARES

    shares = SHARES if quantiles is None else [text.strip() for text in quantiles.split(",")]
    with options.opened(schema, ledger, analyst, source) as data, spoken():
        found = data.suggest_limits(
            epsilon=epsilon,
            by=by or [],
            column=column,
            quantiles=shares,
            most=MOST if most is None else most,
            key=key,
            fresh=fresh,
        )
        say(found.to_json() if as_json else f"{found}\n{options.left(data)}")
