"""Explain what a question would cost, without asking it."""

from __future__ import annotations

from typing import Annotated, Any

from . import options
from .parser import Argument, say


def explain(
    schema: options.Schema,
    sql: Annotated[str | None, Argument("The question, in SQL.", files=False)] = None,
    file: options.File = None,
    epsilon: options.Epsilon = None,
    accuracy: options.Accuracy = None,
    minimise: options.Minimise = "variance",
    interval: options.Interval = None,
    mechanism: options.Mechanism = None,
    measure_cut: options.MeasureCut = None,
    clip: options.Clip = None,
    prior: options.Prior = None,
    delta: options.Delta = None,
    as_json: options.AsJson = False,
) -> None:
    """Explain what an answer would cost and how far off it would be. Shows every admissible
    mechanism with its expected error; opens no table, costs nothing.

    Example
        tenue explain "SELECT COUNT(*) FROM people" --schema people.toml \\
            --accuracy 0.95:10
    """
    stated = locals()
    from ..ask.explain import explain as explained
    from ..ask.explain import explain_many
    from ..ask.paid_request import Terms
    from ..schema import Schema

    options.one_or_file(sql, file, stated)
    terms = options.terms_of(stated, many=file is not None)
    plan: Any
    if file is not None:
        plan = explain_many(options.questions_in(file), Schema.load(schema), **terms)
    else:
        plan = explained(str(sql), Schema.load(schema), Terms(**terms))
    say(plan.to_json() if as_json else str(plan))
