"""Runs the verb that was typed; a refusal is three sentences and exit code 2."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import NoReturn

from ..errors import Fault, Refused
from ..text import hanging
from ..version import VERSION
from . import (
    ask,
    check,
    compare,
    completion,
    demo,
    doctor,
    explain,
    init,
    ledger,
    limits,
    papers,
    publish,
)
from .messages import in_options
from .parser import App

UNFORESEEN = (
    "{where}. This is an error in Tenue; what was paid stays paid. Please report this message. "
    "TENUE_TRACEBACK=1 shows more, which may quote rows of the table."
)

app = App("tenue", "The least noise that keeps the promise.", version=f"tenue {VERSION}")
app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("doctor")(doctor.doctor)
app.command("explain")(explain.explain)
app.command("ask")(ask.ask)
app.command("limits")(limits.limits)
app.command("publish")(publish.publish)
app.command("check")(check.check)
app.command("compare")(compare.compare)
app.command("papers")(papers.papers)
app.add("ledger", ledger.app)
app.command("completion")(completion.completion_of(app))


def main() -> None:
    """Exit codes: 0 done, 2 refused, 1 our fault; 3 of `check`, `doctor` and `papers`, not as
    required. The message of an unforeseen error may quote a row, so neither it nor a traceback is
    shown without `TENUE_TRACEBACK=1`, which is for the holder of the table."""
    as_json = "--json" in sys.argv
    try:
        app(sys.argv[1:])
    except Refused as refusal:
        _refuse(refusal, as_json=as_json)
    except Fault as fault:
        _admit(fault.code, str(fault), as_json=as_json)
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        raise SystemExit(1) from None
    except BrokenPipeError:  # the reader has gone; Python flushes standard output at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except Exception as unforeseen:
        if os.environ.get("TENUE_TRACEBACK") == "1":
            raise
        _admit(Fault.code, UNFORESEEN.format(where=_place(unforeseen)), as_json=as_json)
    raise SystemExit(0)


def _admit(code: str, what: str, *, as_json: bool) -> NoReturn:
    if as_json:
        with suppress(OSError):  # standard output may be the fault
            sys.stdout.write(json.dumps({"fault": {"code": code}}) + "\n")
    sys.stderr.write(f"Something failed on our side ({code}): {what}\n")
    raise SystemExit(1) from None


def _place(error: Exception) -> str:
    """The type of an error and the line that raised it, without its values."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    kind = type(error).__name__
    if last is None:
        return kind
    code = last.tb_frame.f_code
    return f"{kind} in {os.path.basename(code.co_filename)}, line {last.tb_lineno}"


def _fitted(text: str) -> str:
    """Wraps the lines for a terminal, except indented ones, which point at a line above them."""
    if not sys.stderr.isatty():
        return text
    lines = text.splitlines()
    return "".join(f"{line if line.startswith(' ') else hanging(line)}\n" for line in lines)


def _refuse(refusal: Refused, *, as_json: bool) -> NoReturn:
    facts = {key: in_options(text) for key, text in refusal.to_dict().items()}
    if as_json:
        with suppress(OSError):
            sys.stdout.write(json.dumps({"refused": facts}) + "\n")
    else:
        text = "Refused: {what}\n{allowed}\n{fix}\n".format(**facts)
        sys.stderr.write(_fitted(text))
    raise SystemExit(2) from None
