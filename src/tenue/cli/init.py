"""Draft a schema for a table."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from ..errors import refuse
from .options import AsJson
from .parser import Argument, Option, say


def init(
    data: Annotated[
        str,
        Argument(
            "A CSV, TSV, Parquet, JSON or JSON lines file, a pattern of such files, "
            "duckdb://file#table, postgresql://user@host/database#schema.table, "
            "spark://host:7077#db.table, sc://host:15002#db.table or spark://local#folder."
        ),
    ],
    out: Annotated[
        Path | None, Option("Where the schema goes; beside the data if not given.")
    ] = None,
    purpose: Annotated[
        Literal["ask", "publish", "both"],
        Option("What the table is for: only asking needs a budget.", names=("--for",)),
    ] = "both",
    bounds_from_data: Annotated[
        bool, Option("Fill bounds and categories from the rows. The schema is then not private.")
    ] = False,
    force: Annotated[bool, Option("Overwrite an existing schema.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draft a schema for a table. Types come from the file; your decisions are marked blanks.

    Example
        tenue init census.csv --for publish
    """
    from ..engine.duckdb.profile import MOST_CATEGORIES
    from ..engine.open import describe_table
    from ..schema import BLANK, draft

    name, folder = _name(data)
    stem = Path(data).stem if _is_one_file(data) else ""
    target = out or folder / f"{stem or name}.toml"
    if target.exists() and not force:
        raise refuse("cli.schema-exists", name=target.name)
    columns = [_drafted(c) for c in describe_table(data, values=bounds_from_data)]
    text = draft(columns, name=name, source=_source(data, target), purpose=purpose)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError:
        raise refuse("cli.schema-not-writable", target=target) from None
    blanks = text.partition("[table]")[2].count(f'"{BLANK}"')
    identifiers = [column.name for column in columns if column.type == "identifier"]
    many = [column.name for column in columns if column.many]
    marks = {column.name: list(column.marks) for column in columns if column.marks}
    if as_json:
        found = {"schema": str(target), "columns": len(columns), "blanks": blanks}
        more = {"identifiers": identifiers, "many_texts": many, "missing": marks}
        say(json.dumps({**found, **more}))
        return
    say(f"Wrote {target} with {len(columns)} columns.")
    if identifiers:
        names = ", ".join(identifiers)
        say(f"Declared as identifiers: {names}. Correct those that do not identify a person.")
    if many:
        say(f"More than {MOST_CATEGORIES} different texts, so no categories: {', '.join(many)}.")
    if marks:
        say(f"Missing-value markers were found in: {', '.join(marks)}. Check them in the schema.")
    if bounds_from_data:
        say("NOT PRIVATE: bounds and categories were read from the rows. Review them.")
    say(f'{blanks} blanks are marked "{BLANK}": fill them; the file does not load before.')


def _is_one_file(data: str) -> bool:
    return "://" not in data and not re.search(r"[*?\[]", data)


def _name(data: str) -> tuple[str, Path]:
    """A name for the table, and the folder for its schema."""
    if "://" in data:
        file, _, table = data.partition("://")[2].partition("#")
        words, folder = table.rpartition(".")[2] or Path(file).stem, Path()
    elif _is_one_file(data):
        words, folder = Path(data).name.split(".")[0], Path(data).parent
    else:
        words = re.split(r"[*?\[]", Path(data).name)[0] or Path(data).parent.name
        folder = Path()
    return re.sub(r"\W+", "_", words).strip("_").lower() or "data", folder


def _source(data: str, target: Path) -> str:
    """The source as the schema names it: a relative path starts at the schema's folder."""
    from ..schema.address import is_address

    if _is_one_file(data):
        path = Path(data)
        same = path.resolve().parent == target.resolve().parent
        return path.name if same else str(path.resolve())
    if target.resolve().parent == Path().resolve() or is_address(data):
        return data
    scheme, mark, rest = data.rpartition("://")
    file, sign, table = rest.partition("#") if mark else (rest, "", "")
    return f"{scheme}{mark}{Path(file).absolute()}{sign}{table}"


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
        marks=column.marks,
        many=column.many,
    )
