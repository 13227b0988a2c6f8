"""Ask a private question."""

from __future__ import annotations

from typing import Annotated, Any

from . import options
from .parser import Argument, say


def ask(
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
    ledger: options.Ledger = None,
    analyst: options.Analyst = None,
    source: options.Source = None,
    key: options.Key = None,
    fresh: options.Fresh = False,
    prior: options.Prior = None,
    delta: options.Delta = None,
    individual: options.Individual = False,
    as_json: options.AsJson = False,
) -> None:
    """Ask a question, in SQL. The answer is private; the ledger is debited before a row is read.
    With --file, many questions are asked together, at one price.

    Example
        tenue ask "SELECT AVG(age) FROM people WHERE income > 50000" \\
            --schema people.toml --epsilon 0.5
    """
    stated = locals()
    options.one_or_file(sql, file, stated)
    questions = None if file is None else options.questions_in(file)
    answer: Any
    with options.opened(schema, ledger, analyst, source) as data:
        terms = options.terms_of(stated, many=questions is not None)
        if questions is not None:
            answer = data.ask_many(questions, key=key, fresh=fresh, **terms)
        else:
            answer = data.ask(str(sql), key=key, fresh=fresh, **terms)
        say(answer.to_json() if as_json else f"{answer}\n{options.left(data)}")
