"""Compare a release made anywhere with its original."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from .messages import spoken
from .options import AsJson, Confidential, QuasiIdentifiers
from .parser import Argument, Option, say


def compare(
    original: Annotated[str, Argument(help="The table as it was: a CSV or Parquet file.")],
    released: Annotated[str, Argument(help="What was made of it, by anyone.")],
    schema: Annotated[
        Path | None, Option(help="The schema: roles, domains and taxonomies.")
    ] = None,
    quasi_identifiers: QuasiIdentifiers = None,
    confidential: Confidential = None,
    unrelated: Annotated[
        bool,
        Option("--unrelated", help="Row i is not the same record in both: compare whole tables."),
    ] = False,
    report: Annotated[
        Path | None, Option(help="Where to write report.html, for you alone.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a release made by anyone beside its original. It says what the release risks and what
    it is worth. Row i of both is held to be the same record, unless they have different numbers of
    rows or a certificate of Tenue lies beside the release: then they are compared as wholes.

    Example
        tenue compare census.csv released.csv --schema census.toml --report risk.html
    """
    from ..evaluate.compare import compare as compared
    from ..report.plot import write

    with spoken():
        found = compared(
            original,
            released,
            schema=schema,
            quasi_identifiers=names(quasi_identifiers),
            confidential=names(confidential),
            related=False if unrelated else None,
        )
        if report is not None:
            write(found, report)
    if as_json:
        say(json.dumps(found.to_dict()))
        return
    say(str(found))
    if report is not None:
        say(f"\nWrote {report}.")
    say("\nKeep this to yourself: it was computed from the original.")


def names(text: str | None) -> list[str] | None:
    """Columns as they are written: age,zip."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
