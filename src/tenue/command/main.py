"""Finds the verb, and turns every refusal into three sentences and exit code 2."""

from __future__ import annotations

import json
import sys

import typer

from ..errors import Fault, Refused
from ..version import VERSION
from . import ask, check, demo, explain, init, ledger, publish

__all__ = ["app", "main"]

app = typer.Typer(
    name="tenue",
    help="The least noise that keeps the promise.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("explain")(explain.explain)
app.command("ask")(ask.ask)
app.command("publish")(publish.publish)
app.command("check")(check.check)
app.add_typer(ledger.app, name="ledger")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tenue {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


def main() -> None:
    """Exit codes: 0 done, 2 refused, 1 our fault. Nobody sees a traceback for a mistake."""
    as_json = "--json" in sys.argv
    try:
        app(standalone_mode=True)
    except Refused as refusal:
        if as_json:
            sys.stdout.write(json.dumps({"refused": refusal.to_dict()}) + "\n")
        else:
            sys.stderr.write(f"Refused: {refusal.what}\n{refusal.allowed}\n{refusal.fix}\n")
        raise SystemExit(2) from None
    except Fault as fault:
        if as_json:
            sys.stdout.write(json.dumps({"fault": {"code": fault.code}}) + "\n")
        sys.stderr.write(f"Something failed on our side ({fault.code}): {fault}\n")
        raise SystemExit(1) from None
