"""Compare a release made anywhere with its original."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from .messages import spoken
from .options import AsJson, Confidential, QuasiIdentifiers, columns_in
from .parser import Argument, Option, say


def compare(
    original: Annotated[str, Argument("The table as it was: a CSV or Parquet file.")],
    released: Annotated[str, Argument("The release, made by anyone.")],
    schema: Annotated[Path | None, Option("The schema: roles, domains and taxonomies.")] = None,
    quasi_identifiers: QuasiIdentifiers = None,
    confidential: Confidential = None,
    unrelated: Annotated[
        bool, Option("Row i is not the same record in both: compare whole tables.")
    ] = False,
    report: Annotated[Path | None, Option("Where to write report.html, for you alone.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure risk and utility of a release made by anyone. Row i of release and original is taken
    to be the same record, unless their numbers of rows differ or a certificate of Tenue lies beside
    the release: then they are compared as whole tables.

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
            quasi_identifiers=columns_in(quasi_identifiers),
            confidential=columns_in(confidential),
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
