"""Finds the verb, and turns every refusal into three sentences and exit code 2."""

from __future__ import annotations

import json
import sys
from typing import NoReturn

import typer

from ..errors import Fault, Refused, refuse
from ..version import VERSION
from . import ask, check, demo, explain, init, ledger, publish
from .wording import in_options

app = typer.Typer(
    name="tenue",
    help="The least noise that keeps the promise.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
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
        code = app(prog_name="tenue", standalone_mode=False)
    except Refused as refusal:
        _refuse(refusal, as_json=as_json)
    except Fault as fault:
        if as_json:
            sys.stdout.write(json.dumps({"fault": {"code": fault.code}}) + "\n")
        sys.stderr.write(f"Something failed on our side ({fault.code}): {fault}\n")
        raise SystemExit(1) from None
    except typer.Abort:
        sys.stderr.write("Stopped.\n")
        raise SystemExit(1) from None
    except Exception as wrong:
        misused = _misused(wrong)
        if misused.what.startswith("Usage:") and not as_json:  # nothing was said but tenue
            sys.stdout.write(misused.what + "\n")
            raise SystemExit(0) from None
        _refuse(misused, as_json=as_json)
    raise SystemExit(code if isinstance(code, int) else 0)


def _refuse(refusal: Refused, *, as_json: bool) -> NoReturn:
    said = {key: in_options(text) for key, text in refusal.to_dict().items()}
    if as_json:
        sys.stdout.write(json.dumps({"refused": said}) + "\n")
    else:
        sys.stderr.write(f"Refused: {said['what']}\n{said['allowed']}\n{said['fix']}\n")
    raise SystemExit(2) from None


def _misused(wrong: Exception) -> Refused:
    """Words that no command understands, as a refusal; anything else is not ours to explain."""
    message = getattr(wrong, "format_message", None)
    if message is None:
        raise wrong
    verb = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    known = {command.name for command in app.registered_commands} | {"ledger"}
    of = f" {verb}" if verb in known else ""
    return refuse("command.misused", said=message(), of=of)
