"""Draft a schema for a file."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any

from ..errors import refuse
from .options import AsJson
from .words import Argument, Option, say


def init(
    data: Annotated[Path, Argument(help="A CSV, TSV or Parquet file.")],
    out: Annotated[Path | None, Option(help="Where to; beside the data if not given.")] = None,
    bounds_from_data: Annotated[
        bool,
        Option(
            "--bounds-from-data",
            help="Fill bounds and categories from the rows. The schema is then not private.",
        ),
    ] = False,
    force: Annotated[bool, Option("--force", help="Write over a file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draft a schema: types from the file, a marked blank for all that you must decide."""
    from ..engine.duckdb.describe import describe
    from ..schema import BLANK, draft

    target = out or data.parent / f"{data.stem or 'data'}.toml"
    if target.exists() and not force:
        raise refuse("command.schema-is-there", name=target.name)
    name = re.sub(r"\W+", "_", data.name.split(".")[0]).strip("_").lower() or "data"
    columns = [_drafted(c) for c in describe(data, values=bounds_from_data)]
    same_folder = data.resolve().parent == target.resolve().parent
    text = draft(columns, name=name, source=data.name if same_folder else str(data.resolve()))
    try:
        target.write_text(text, encoding="utf-8")
    except OSError:
        raise refuse("command.schema-cannot-be-written", target=target) from None
    blanks = text.partition("[table]")[2].count(f'"{BLANK}"')
    if as_json:
        say(json.dumps({"schema": str(target), "columns": len(columns), "blanks": blanks}))
        return
    say(f"Wrote {target} with {len(columns)} columns.")
    if bounds_from_data:
        say("NOT PRIVATE: bounds and categories were read from the rows. Review them.")
    say(f'{blanks} blanks are marked "{BLANK}": fill them; the file does not load before.')


def _drafted(column: Any) -> Any:
    from ..schema import DraftColumn

    bounds = column.bounds
    if bounds is not None and column.type == "number":
        bounds = (math.floor(bounds[0]), math.ceil(bounds[1]))
        if bounds[0] == bounds[1]:
            bounds = (bounds[0], bounds[1] + 1)
    return DraftColumn(
        name=column.name,
        type=column.type,
        grid=1 if column.whole else None,
        bounds=bounds,
        categories=column.categories,
    )
