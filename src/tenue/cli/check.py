"""Measure k, l and t of a file, and say by the exit code whether they are as required."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from ..errors import refuse
from ..text import hanging
from .messages import spoken
from .options import AsJson, Confidential, QuasiIdentifiers
from .parser import Argument, Option, say

UNMET = 3
"""The exit code of a file that was measured and is not as required.

That is an answer, neither a refusal (2: nothing was measured) nor a fault (1: something broke), and
a script must be able to tell the three apart.
"""

_REQUIRED = ("k", "l", "t")


def check(
    table: Annotated[
        str, Argument(help="A CSV or Parquet file, made by anyone, or the address of a table.")
    ],
    schema: Annotated[
        Path | None, Option(help="The schema that states roles, types and unit.")
    ] = None,
    quasi_identifiers: QuasiIdentifiers = None,
    confidential: Confidential = None,
    unit: Annotated[
        str | None,
        Option(
            help="The column that identifies a person, or record.",
            value="COLUMN",
            suggest=("record",),
        ),
    ] = None,
    require: Annotated[
        str | None,
        Option(
            help="Exit with 3 unless k and l are at least, and t is at most: k=5,l=2,t=0.3",
            value="LIMITS",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure k-anonymity, l-diversity and t-closeness. Of any file, whoever made it.

    Example
        tenue check out/table.csv --quasi-identifiers age,zip \\
            --confidential illness --require k=5,l=2
    """
    from ..evaluate import check as measured

    required = _requirements(require)  # k=5 is how it is typed: no option of that name
    with spoken():
        _check_file(table)
        found = measured(
            table,
            schema=schema,
            quasi_identifiers=_names(quasi_identifiers),
            confidential=_names(confidential),
            unit=unit,
        )
        unmet = found.unmet(**required) if required else ()
    if as_json:
        asked = {"required": required, "unmet": list(unmet)} if required else {}
        text = json.dumps({**found.to_dict(), **asked})
    else:
        text = _verdict(required, unmet) + str(found)
    try:
        say(text)
    finally:
        if unmet:  # whether anybody could read it or not
            raise SystemExit(UNMET)


def _requirements(text: str | None) -> dict[str, Any]:
    """What is required, as it is written: k=5,l=2,t=0.3."""
    required = {}
    for part in [] if text is None else text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or name not in _REQUIRED or name in required:
            raise refuse("cli.invalid-requirement", text=text)
        required[name] = value
    return required


def _verdict(required: dict[str, Any], unmet: Sequence[str]) -> str:
    """The first lines of the screen; nothing if nothing is required."""
    if required and not unmet:
        least = [
            f"{name} at {'most' if name == 't' else 'least'} {required[name]}" for name in required
        ]
        return f"Met: {', '.join(least)}.\n\n"
    return "".join(hanging(f"NOT MET: {text}") + "\n" for text in unmet) + ("\n" if unmet else "")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _check_file(table: str) -> None:
    path = Path(table)
    if path.is_dir() or (path.exists() and not path.is_file()):
        word = "a folder" if path.is_dir() else "no file"
        raise refuse("cli.not-a-table-file", table=table, word=word)
