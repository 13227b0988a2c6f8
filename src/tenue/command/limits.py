"""Suggest limits of what one person may add."""

from __future__ import annotations

from typing import Annotated

from . import options
from .wording import spoken
from .words import Option, say


def limits(
    schema: options.Schema,
    epsilon: options.Epsilon = None,
    by: Annotated[
        list[str] | None, Option("--by", help="Groups of a typical question; may be repeated.")
    ] = None,
    column: Annotated[str | None, Option(help="Whose sums of a person shall be limited.")] = None,
    quantiles: Annotated[
        str | None, Option(help="Which shares of persons shall not be cut: 0.5,0.8,0.95")
    ] = None,
    most: Annotated[
        int | None, Option(help="The most rows and groups that a limit may be.", least=2)
    ] = None,
    ledger: options.Ledger = None,
    analyst: Annotated[str | None, Option(help="Who asks.")] = None,
    source: Annotated[str | None, Option(help="The table, instead of the schema's.")] = None,
    key: Annotated[str | None, Option(help="A retry with this key costs nothing.")] = None,
    fresh: Annotated[bool, Option("--fresh", help="Draw anew; costs again.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Suggest limits of what one person may add. Shows private quantiles of the rows, groups and
    sums of a person, and the noise at each; it is paid like a question."""
    from ..query.suggest.limits import MOST, SHARES

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
        if as_json:
            say(found.to_json())
            return
        say(str(found))
        say(options.left(data))
