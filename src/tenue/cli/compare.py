"""Compare a release made anywhere with its original."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from ..errors import refuse
from .messages import spoken
from .options import AsJson, Confidential, QuasiIdentifiers, columns_in
from .parser import Argument, Option, say


def compare(
    original: Annotated[str, Argument("The table as it was: a CSV or Parquet file.")],
    released: Annotated[str, Argument("The release, made by anyone.")],
    others: Annotated[
        list[str] | None, Argument("Further releases of the same table, shown side by side.")
    ] = None,
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
    the release: then they are compared as whole tables. Several releases are shown side by side.

    Example
        tenue compare census.csv released.csv --schema census.toml --report risk.html
    """
    from ..evaluate.compare import Comparison
    from ..evaluate.compare import compare as compared
    from ..evaluate.comparisons import Comparisons, compare_several
    from ..report.plot import write

    with spoken():
        asked: dict[str, Any] = {
            "schema": schema,
            "quasi_identifiers": columns_in(quasi_identifiers),
            "confidential": columns_in(confidential),
            "related": False if unrelated else None,
        }
        found: Comparison | Comparisons
        if others:
            paths = [released, *others]
            found = compare_several(original, dict(zip(_names(paths), paths, strict=True)), **asked)
        else:
            found = compared(original, released, **asked)
        if report is not None:
            write(found, report)
    if as_json:
        say(json.dumps(found.to_dict()))
        return
    say(str(found))
    if report is not None:
        say(f"\nWrote {report}.")
    say("\nKeep this to yourself: it was computed from the original.")


def _names(paths: Sequence[str]) -> list[str]:
    """A name for each release: its path, without the folders and the file name that all share."""
    if len(set(paths)) < len(paths):
        raise refuse("cli.release-named-twice")
    parts = [Path(path).parts for path in paths]
    same = 0
    while len({one[: same + 1] for one in parts}) == 1:
        same += 1
    shown = [one[same:] for one in parts]
    if all(len(one) > 1 for one in shown) and len({one[-1] for one in shown}) == 1:
        shown = [one[:-1] for one in shown]
    return ["/".join(one) for one in shown]
