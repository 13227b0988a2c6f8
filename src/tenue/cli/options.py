"""What `ask` and `explain` share: which table, at what price, and which questions."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import refuse
from .parser import Option

if TYPE_CHECKING:
    from ..ask.session import Session


TABLE = "Table and ledger"
PRICE = "Price and accuracy"
BELIEF = "Prior belief"
AGAIN = "Asking again"

Schema = Annotated[Path, Option("--schema", help="The file with the table's schema.", group=TABLE)]
Source = Annotated[
    str | None,
    Option(
        "--source", help="The table, instead of the schema's source.", value="FILE", group=TABLE
    ),
]
Ledger = Annotated[
    str | None,
    Option(
        "--ledger",
        help="The ledger's file or address; beside the table if not given.",
        value="FILE",
        group=TABLE,
    ),
]
Analyst = Annotated[
    str | None,
    Option("--analyst", help="Who asks; the holder if not given.", value="NAME", group=TABLE),
]
File = Annotated[
    Path | None,
    Option("--file", help="A file of questions that end with semicolons, asked together."),
]
Epsilon = Annotated[
    str | None,
    Option("--epsilon", help="What the answer may cost.", value="NUMBER", group=PRICE),
]
Minimise = Annotated[
    str,
    Option(
        "--minimise",
        help="Which error is made small: variance, absolute-error or interval:0.95; with --file "
        "also mean.",
        value="ERROR",
        suggest=("variance", "absolute-error", "mean"),
        group=PRICE,
    ),
]
Accuracy = Annotated[
    str | None,
    Option(
        "--accuracy",
        help="Instead of --epsilon: 0.95:10 asks for a margin of error of 10 at 95 % confidence.",
        value="LEVEL:REACH",
        group=PRICE,
    ),
]
Interval = Annotated[
    str | None,
    Option(
        "--interval",
        help="Spend part of epsilon on a confidence interval for MEDIAN, MIN …, at this level, "
        "such as 0.95.",
        value="LEVEL",
        group=PRICE,
    ),
]
Mechanism = Annotated[
    str | None,
    Option(
        "--mechanism",
        help="A mechanism that explain lists, instead of the best one.",
        value="NAME",
        group=PRICE,
    ),
]
MeasureCut = Annotated[
    str | None,
    Option(
        "--measure-cut",
        help="Spend this share of epsilon, such as 0.1, on the number of persons above a "
        "contribution limit.",
        value="SHARE",
        group=PRICE,
    ),
]
Clip = Annotated[
    str | None,
    Option(
        "--clip",
        help="auto: clip SUM and AVG at a value that part of epsilon chooses; may bias them.",
        value="auto",
        suggest=("auto",),
        group=PRICE,
    ),
]
Prior = Annotated[
    Path | None,
    Option("--prior", help="A JSON file with what you believe before asking.", group=BELIEF),
]
Delta = Annotated[
    str | None,
    Option(
        "--delta",
        help="What refinement of the prior may cost besides epsilon.",
        value="NUMBER",
        group=BELIEF,
    ),
]
Key = Annotated[
    str | None,
    Option("--key", help="A retry with the same key costs nothing.", value="TEXT", group=AGAIN),
]
Fresh = Annotated[
    bool, Option("--fresh", help="Draw new noise; the answer is paid for again.", group=AGAIN)
]
QuasiIdentifiers = Annotated[
    str | None,
    Option(
        "--quasi-identifiers",
        help="The columns that an intruder may know, instead of the schema's: age,zip",
        value="COLUMNS",
    ),
]
Confidential = Annotated[
    str | None,
    Option(
        "--confidential",
        help="The columns that an intruder wants to know, instead of the schema's: illness",
        value="COLUMNS",
    ),
]
AsJson = Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")]
_QUOTES = ("'", '"')
NEW_LEDGER = "A new ledger was made: {path}. Keep it; never start another for the same people."


def opened(schema: Path, ledger: str | None, analyst: str | None, source: str | None) -> Session:
    """The protected table."""
    # no question multiplies matrices: numpy need not start a thread for every processor
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ..ask.dataset import protect

    data = protect(source, schema=schema, ledger=ledger, analyst=analyst)
    for remark in () if data.opening is None else data.opening.remarks:
        sys.stderr.write(f"{remark}\n")
    if data.ledger.is_new and data.ledger.path is not None:
        sys.stderr.write(f"{NEW_LEDGER.format(path=shown(data.ledger.path))}\n")
    return data


def left(data: Session) -> str:
    """What remains for everybody, and for whoever asks if they have a quota."""
    budget = data.budget
    own = [
        f"  {quota}"
        for quota in budget.analysts
        if quota.analyst == data.analyst and quota.total is not None
    ]
    return "\n".join([str(budget).splitlines()[0], *own])


def shown(path: Path) -> str:
    """A path as somebody in this folder would type it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def minimise_of(text: str) -> object:
    """The criterion in the words of the command line."""
    name, _, level = text.partition(":")
    return (name, level) if level else name


def prior_of(path: Path | None) -> object:
    """The belief that a file holds."""
    if path is None:
        return None
    from ..prior import from_json

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise refuse("cli.unreadable-option-file", path=path) from None
    return from_json(text)


def accuracy_of(text: str | None) -> object:
    """("interval", level, reach), written level:reach."""
    if text is None:
        return None
    level, colon, reach = text.partition(":")
    if not colon:
        raise refuse("cli.accuracy-not-level-reach", text=text)
    return ("interval", level, reach)


def questions_in(path: Path) -> list[str]:
    """The questions of a file, which end with semicolons; what follows -- in a line is left out.

    Semicolons and dashes inside quotes are part of a question.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise refuse("cli.unreadable-option-file", path=path) from None
    found, quote, comment = [""], "", False
    for place, letter in enumerate(text):
        if comment:
            comment = letter != "\n"
            continue
        if quote:
            quote = "" if letter == quote else quote
        elif letter in _QUOTES:
            quote = letter
        elif text.startswith("--", place):
            comment = True
            continue
        elif letter == ";":
            found.append("")
            continue
        found[-1] += letter
    return [one.strip() for one in found if one.strip()]


def terms_of(call: Mapping[str, Any], *, many: bool) -> dict[str, Any]:
    """The terms that a verb was given, which are among its `locals()`, as the library reads them.

    many: only those on which several questions are asked together.
    """
    from ..ask.paid_request import OF_MANY, Terms

    stated = {term.name: call[term.name] for term in fields(Terms) if term.name in call}
    if many:
        stated = {name: stated[name] for name in OF_MANY}
    stated["accuracy"] = accuracy_of(stated["accuracy"])
    stated["minimise"] = minimise_of(stated["minimise"])
    if "prior" in stated:
        stated["prior"] = prior_of(stated["prior"])
    return stated


def one_or_file(sql: str | None, file: Path | None, call: Mapping[str, Any]) -> None:
    """Refuses both a question and a file, neither, or a file with terms of single questions.

    call: what the verb was given, which are its `locals()`.
    """
    if (sql is None) == (file is None):
        raise refuse("cli.question-or-file")
    if file is None:
        return
    from ..ask.paid_request import OF_MANY, Terms

    single = [term.name for term in fields(Terms) if term.name not in OF_MANY]
    given = [name for name in single if call.get(name) not in (None, False)]
    if given:
        raise refuse("cli.single-question-option", name=given[0])
