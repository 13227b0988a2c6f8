"""Measure k, l and t of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..errors import refuse
from .options import AsJson
from .wording import spoken
from .words import Argument, Option, say


def check(
    table: Annotated[str, Argument(help="A CSV or Parquet file, made by anyone.")],
    schema: Annotated[Path | None, Option(help="Roles, types and unit.")] = None,
    quasi_identifiers: Annotated[
        str | None, Option(help="What an intruder may know, instead of the schema's: age,zip")
    ] = None,
    confidential: Annotated[
        str | None, Option(help="What he wants to know, instead of the schema's: illness")
    ] = None,
    unit: Annotated[str | None, Option(help="The column that names a person, or: record")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a file: how many look alike, what groups give away. The file may be anybody's."""
    from ..evaluate import check as measured

    with spoken():
        _check_file(table)
        found = measured(
            table,
            schema=schema,
            quasi_identifiers=_names(quasi_identifiers),
            confidential=_names(confidential),
            unit=unit,
        )
    say(found.to_json() if as_json else str(found))


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _check_file(table: str) -> None:
    path = Path(table)
    if path.is_dir() or (path.exists() and not path.is_file()):
        word = "a folder" if path.is_dir() else "no file"
        raise refuse("command.checked-csv-tsv", table=table, word=word)
