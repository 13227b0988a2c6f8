"""Open a table and validate its rows, without asking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from ..errors import refuse
from . import options
from .ledger import balance_as_dict
from .parser import Argument, Option, say


def open_table(
    source: Annotated[
        str | None,
        Argument("The table's file or address, or a schema that names it."),
    ] = None,
    schema: Annotated[
        Path | None, Option("The file with the table's schema; needed unless SOURCE is one.")
    ] = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Open a table and read all of its rows, without asking. Makes its ledger, and records there
    that the holder has validated these rows: later openings need not read them, and named analysts
    may ask. A table that was validated before and has not changed is not read again.

    Example
        tenue open people.toml
    """
    given, described = options.table_and_schema(source, schema)
    if described is None:
        raise refuse("cli.parameter-missing", name="--schema", of="tenue open")
    with options.opened(described, ledger, None, given) as data:
        opening, budget, path = data.opening, data.budget, data.ledger.path
        if opening is None:
            raise AssertionError  # the holder opened it
        shown = "" if path is None else options.shown(path)
        if as_json:
            facts = {"read": opening.read, "remarks": list(opening.remarks)}
            counts = {"unreadable": dict(opening.unreadable), "rounded": dict(opening.rounded)}
            more = {"ledger": shown, "balance": balance_as_dict(budget)}
            say(json.dumps({"table": data.schema.name, **facts, **counts, **more}))
            return
        how = "every row was read" if opening.read else "its rows were read before and are the same"
        say(f"{data.schema.name} is open: {how}.")
        say(f"Ledger: {shown}" if shown else "The ledger is on a server.")
        say(str(budget))
