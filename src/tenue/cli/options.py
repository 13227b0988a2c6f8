"""Options that several verbs share, and how their values are read."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import refuse
from .parser import Option

if TYPE_CHECKING:
    from ..ask.session import Session

PRICE = "Price and accuracy"
_OfTable = partial(Option, group="Table and ledger")
_OfPrice = partial(Option, group=PRICE)
_OfBelief = partial(Option, group="Prior belief")
_OfRetry = partial(Option, group="Asking again")

Schema = Annotated[Path, _OfTable("The file with the table's schema.")]
Source = Annotated[str | None, _OfTable("The table, instead of the schema's source.", value="FILE")]
Ledger = Annotated[
    str | None,
    _OfTable("The ledger's file or address; beside the table if not given.", value="FILE"),
]
Analyst = Annotated[str | None, _OfTable("Who asks; the holder if not given.", value="NAME")]
File = Annotated[
    Path | None, Option("A file of questions that end with semicolons, asked together.")
]
Epsilon = Annotated[str | None, _OfPrice("What the answer may cost.", value="NUMBER")]
Minimise = Annotated[
    str,
    _OfPrice(
        "Which error is made small: variance, absolute-error or interval:0.95; with --file "
        "also mean.",
        value="ERROR",
        suggest=("variance", "absolute-error", "mean"),
    ),
]
Accuracy = Annotated[
    str | None,
    _OfPrice(
        "Instead of --epsilon: 0.95:10 asks for a margin of error of 10 at 95 % confidence.",
        value="LEVEL:REACH",
    ),
]
Interval = Annotated[
    str | None,
    _OfPrice(
        "Spend part of epsilon on a confidence interval for MEDIAN, MIN …, at this level, "
        "such as 0.95.",
        value="LEVEL",
    ),
]
Mechanism = Annotated[
    str | None, _OfPrice("A mechanism that explain lists, instead of the best one.", value="NAME")
]
MeasureCut = Annotated[
    str | None,
    _OfPrice(
        "Spend this share of epsilon, such as 0.1, on the number of persons above a "
        "contribution limit.",
        value="SHARE",
    ),
]
Clip = Annotated[
    str | None,
    _OfPrice(
        "auto: clip SUM and AVG at a value that part of epsilon chooses; may bias them.",
        value="auto",
        suggest=("auto",),
    ),
]
Individual = Annotated[
    bool,
    _OfPrice(
        "Answer with individual differential privacy, which is weaker than differential "
        "privacy and has a ledger column of its own."
    ),
]
Prior = Annotated[Path | None, _OfBelief("A JSON file with what you believe before asking.")]
Delta = Annotated[
    str | None, _OfBelief("What refinement of the prior may cost besides epsilon.", value="NUMBER")
]
Key = Annotated[str | None, _OfRetry("A retry with the same key costs nothing.", value="TEXT")]
Fresh = Annotated[bool, _OfRetry("Draw new noise; the answer is paid for again.")]
QuasiIdentifiers = Annotated[
    str | None,
    Option(
        "The columns that an intruder may know, instead of the schema's: age,zip", value="COLUMNS"
    ),
]
Confidential = Annotated[
    str | None,
    Option(
        "The columns that an intruder wants to know, instead of the schema's: illness",
        value="COLUMNS",
    ),
]
AsJson = Annotated[bool, Option("Print one JSON object and nothing else.", names=("--json",))]
_PART = re.compile(r"""--[^\n]*\n?|'[^']*'?|"[^"]*"?|;|-|[^-;'"]+""")
NEW_LEDGER = "A new ledger was made: {path}. Keep it; never start another for the same people."


def opened(schema: Path, ledger: str | None, analyst: str | None, source: str | None) -> Session:
    """The protected table."""
    # no question multiplies matrices, so numpy needs no thread for every processor
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ..ask.dataset import protect

    data = protect(source, schema=schema, ledger=ledger, analyst=analyst)
    for remark in () if data.opening is None else data.opening.remarks:
        sys.stderr.write(f"{remark}\n")
    if data.ledger.is_new and data.ledger.path is not None:
        sys.stderr.write(f"{NEW_LEDGER.format(path=shown(data.ledger.path))}\n")
    return data


def left(data: Session) -> str:
    """What remains for everybody, and for the analyst who asks, if they have a quota."""
    budget = data.budget
    quotas = [one for one in budget.analysts if one.analyst == data.analyst]
    own = [f"  {one}" for one in quotas if one.total is not None]
    return "\n".join([str(budget).splitlines()[0], *own])


def table_and_schema(given: str | None, schema: Path | None) -> tuple[str | None, Path | None]:
    """The table and the schema, where the folder of a release or a schema may stand for the table.

    A table of the schema's own source is None.
    """
    path = Path(given or "")
    if given is None or "://" in given:
        return given, schema
    if path.suffix.lower() == ".toml" and schema is None and path.is_file():
        return None, path
    if not (path / "certificate.json").is_file():
        return given, schema
    tables = sorted({re.sub(r"-\d{5}(?=\.parquet$)", "-*", name) for name in _tables(path)})
    if len(tables) != 1:
        listed = ", ".join(str(path / name) for name in tables)
        raise refuse("cli.release-of-several-tables", folder=path, listed=listed or "none")
    return str(path / tables[0]), schema


def _tables(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if file.suffix in (".csv", ".parquet")]


def columns_in(text: str | None) -> list[str] | None:
    """The columns of a text such as age,zip."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def shown(path: Path) -> str:
    """A path, relative to the current folder if it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def minimise_of(text: str) -> object:
    """The criterion, written name or name:level."""
    name, _, level = text.partition(":")
    return (name, level) if level else name


def accuracy_of(text: str | None) -> object:
    """("interval", level, reach), written level:reach."""
    if text is None:
        return None
    level, colon, reach = text.partition(":")
    if not colon:
        raise refuse("cli.accuracy-not-level-reach", text=text)
    return ("interval", level, reach)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise refuse("cli.unreadable-option-file", path=path) from None


def questions_in(path: Path) -> list[str]:
    """The questions of a file, each ended by a semicolon, without comments (from -- to the line's
    end). Semicolons and dashes inside quotes are part of a question."""
    questions = [""]
    for part in _PART.findall(_text_of(path)):
        if part == ";":
            questions.append("")
        elif not part.startswith("--"):
            questions[-1] += part
    return [one.strip() for one in questions if one.strip()]


def terms_of(call: Mapping[str, Any], *, many: bool) -> dict[str, Any]:
    """The terms among the `locals()` of a verb, as the library reads them.

    many: only those on which several questions are asked together.
    """
    from ..ask.paid_request import OF_MANY, Terms

    stated = {term.name: call[term.name] for term in fields(Terms) if term.name in call}
    if many:
        stated = {name: stated[name] for name in OF_MANY}
    stated["accuracy"] = accuracy_of(stated["accuracy"])
    stated["minimise"] = minimise_of(stated["minimise"])
    if stated.get("prior") is not None:
        from ..prior import from_json

        stated["prior"] = from_json(_text_of(stated["prior"]))
    return stated


def one_or_file(sql: str | None, file: Path | None, call: Mapping[str, Any]) -> None:
    """Refuses both a question and a file, neither, or a file with terms of single questions.

    call: the `locals()` of the verb.
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
