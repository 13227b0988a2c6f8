"""Publish a protected copy of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..errors import refuse
from .options import AsJson, SchemaOption
from .wording import spoken


def publish(
    schema: SchemaOption,
    method: Annotated[str, typer.Option(help="microaggregate or swap.")],
    k: Annotated[
        str,
        typer.Option(
            "-k", "--k", help="Least units in a group, 5 to start with; or income=12,tax=12."
        ),
    ],
    out: Annotated[Path, typer.Option(help="A new or empty folder for the release.")],
    by: Annotated[
        str | None,
        typer.Option(
            help="How groups are formed. microaggregate: mdav, or v-mdav if people form clusters. "
            "swap: quasi-identifiers; each-confidential, which moves numbers and dates least; "
            "other-attributes, which fits values to all other columns."
        ),
    ] = None,
    diversity: Annotated[
        str | None,
        typer.Option(
            "-l", "--l", help="Different values in each group, at least; groups grow for it."
        ),
    ] = None,
    closeness: Annotated[
        str | None,
        typer.Option(
            "-t", "--t", help="Earth mover's distance of a group from the table, at most: 0 to 1."
        ),
    ] = None,
    gamma: Annotated[str | None, typer.Option(help="The gain factor of v-mdav.")] = None,
    source: Annotated[str | None, typer.Option(help="The table, instead of the schema's.")] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="Where the release is registered; beside the schema if not given."),
    ] = None,
    no_register: Annotated[
        bool,
        typer.Option("--no-register", help="Register it nowhere; the certificate says so."),
    ] = False,
    override: Annotated[
        list[str] | None, typer.Option(help="second-release or homogeneous-groups; is recorded.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="csv or parquet.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a folder that holds something.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Publish: a protected copy, its certificate, and, for you alone, its risk and utility."""
    from ..microdata.copy import warnings_of
    from ..microdata.leave.leave import Target
    from ..microdata.leave.save import check_target
    from ..microdata.release import publish_into
    from .progress import Waiting

    with spoken(), Waiting(steps=4) as waiting:
        check_target(out, kind, replace=replace)
        _check_apart(out, ledger)
        asked = {"k": _sizes(k), "by": by, "l": diversity, "t": closeness, "gamma": gamma}
        release, manifest = publish_into(
            Target(out, kind, replace),
            source,
            schema=schema,
            method=method,
            ledger=False if no_register else ledger,
            override=tuple(override or ()),
            progress=waiting,
            **{name: value for name, value in asked.items() if value is not None},
        )
    if as_json:
        facts = {
            "out": str(out),
            "manifest": manifest,
            "certificate": release.certificate.to_dict(),
            "risk": json.loads(release.risk.to_json()),
            "warnings": warnings_of(release),
            "utility": json.loads(release.utility.to_json()),
            "history": [{"step": step.name, "text": step.text} for step in release.history],
        }
        typer.echo(json.dumps(facts))
        return
    typer.echo(release.report())
    typer.echo(f"\nWrote {', '.join([*manifest['files'], 'manifest.json'])} to {out}.")
    typer.echo("Keep this screen: only the files may leave.")


def _check_apart(out: Path, ledger: Path | None) -> None:
    """What may leave and what must stay do not lie in one folder."""
    if ledger is not None and ledger.resolve().is_relative_to(out.resolve()):
        raise refuse("command.ledger-would-lie-in-among-what-leaves", name=ledger.name, out=out)


def _sizes(text: str) -> object:
    """One k, or one for each column, written income=12,tax=5."""
    if "=" not in text:
        return text
    sizes = {}
    for part in text.split(","):
        name, equals, size = part.partition("=")
        if not equals:
            raise refuse("command.k-is-it-is-one-number-or", text=text)
        sizes[name.strip()] = size
    return sizes
