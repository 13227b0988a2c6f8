"""Ask a private question."""

from __future__ import annotations

from typing import Annotated

from . import options
from .parser import Argument, Option, say


def ask(
    schema: options.Schema,
    sql: Annotated[str | None, Argument(help="The question, in SQL.", files=False)] = None,
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
    individual: Annotated[
        bool,
        Option(
            "--individual",
            help="Answer with individual differential privacy, which is weaker than differential "
            "privacy and has a ledger column of its own.",
            group=options.PRICE,
        ),
    ] = False,
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
    if file is not None:
        questions = options.questions_in(file)
        with options.opened(schema, ledger, analyst, source) as data:
            answers = data.ask_many(
                questions, key=key, fresh=fresh, **options.terms_of(stated, many=True)
            )
            say(answers.to_json() if as_json else f"{answers}\n{options.left(data)}")
        return
    assert sql is not None  # noqa: S101 - one of the two is given
    with options.opened(schema, ledger, analyst, source) as data:
        answer = data.ask(sql, key=key, fresh=fresh, **options.terms_of(stated, many=False))
        if as_json:
            say(answer.to_json())
            return
        say(str(answer))
        say(options.left(data))
