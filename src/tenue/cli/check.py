"""Measure k, l and t of a file; the exit code says whether they are as required."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from ..errors import refuse
from ..text import hanging
from .messages import spoken
from .options import AsJson, Confidential, QuasiIdentifiers, columns_in, table_and_schema
from .parser import Argument, Option, conclude

_REQUIRED = ("k", "l", "t", "alpha", "c", "beta", "risk")
_LEAST = ("k", "l")


def check(
    table: Annotated[
        str,
        Argument(
            "A CSV or Parquet file, made by anyone, the folder of a release, the address of a "
            "table, or a schema that names it."
        ),
    ],
    schema: Annotated[Path | None, Option("The schema that states roles, types and unit.")] = None,
    quasi_identifiers: QuasiIdentifiers = None,
    confidential: Confidential = None,
    unit: Annotated[
        str | None,
        Option(
            "The column that identifies a person, or record.", value="COLUMN", suggest=("record",)
        ),
    ] = None,
    require: Annotated[
        str | None,
        Option(
            help="Exit with 3 unless k and l are at least, and t, alpha, beta and risk at most: "
            "k=5,l=2,t=0.3. With l also c, for recursive (c, l)-diversity: c=3,l=2.",
            value="LIMITS",
        ),
    ] = None,
    sampling_fraction: Annotated[
        str | None,
        Option(
            help="The share of a population that the table is a sample of, such as 0.01: also "
            "estimate population uniques and individual risk.",
            value="SHARE",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure k-anonymity, l-diversity and t-closeness. Accepts any file, not only releases of
    Tenue.

    Example
        tenue check out/table.csv --quasi-identifiers age,zip \\
            --confidential illness --require k=5,l=2
    """
    from ..evaluate import check as measured
    from ..schema import Schema

    required = _requirements(require)  # k=5 is how it is typed: no option of that name
    given, schema = table_and_schema(table, schema)
    with spoken():
        if given is None and schema is not None:
            given = Schema.load(schema).location
        if given is None:
            raise refuse("cli.source-missing")
        table = given
        _check_file(table)
        found = measured(
            table,
            schema=schema,
            quasi_identifiers=columns_in(quasi_identifiers),
            confidential=columns_in(confidential),
            unit=unit,
            sampling_fraction=sampling_fraction,
        )
        unmet = found.unmet(**required) if required else ()
    if as_json:
        asked = {"required": required, "unmet": list(unmet)} if required else {}
        text = json.dumps({**found.to_dict(), **asked})
    else:
        text = _verdict(required, unmet) + str(found)
    conclude(text, met=not unmet)


def _requirements(text: str | None) -> dict[str, Any]:
    """The requirements, written k=5,l=2,t=0.3."""
    required = {}
    for part in [] if text is None else text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or name not in _REQUIRED or name in required:
            raise refuse("cli.invalid-requirement", text=text)
        required[name] = value
    return required


def _verdict(required: dict[str, Any], unmet: Sequence[str]) -> str:
    """The first lines of the screen; nothing if nothing is required."""
    if unmet:
        return "".join(hanging(f"NOT MET: {text}") + "\n" for text in unmet) + "\n"
    limits = [
        f"{name} at {'least' if name in _LEAST else 'most'} {required[name]}" for name in required
    ]
    return f"Met: {', '.join(limits)}.\n\n" if limits else ""


def _check_file(table: str) -> None:
    path = Path(table)
    if path.exists() and not path.is_file():
        word = "a folder" if path.is_dir() else "no file"
        raise refuse("cli.not-a-table-file", table=table, word=word)
