"""Finds the verb, and turns every refusal into three sentences and exit code 2."""

from __future__ import annotations

import gc
import json
import os
import sys
from contextlib import suppress
from typing import NoReturn

from ..errors import Fault, Refused
from ..version import VERSION
from . import ask, check, demo, explain, init, ledger, limits, publish
from .papers import verb as papers
from .wording import in_options
from .words import App

app = App("tenue", "The least noise that keeps the promise.", version=f"tenue {VERSION}")
app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("explain")(explain.explain)
app.command("ask")(ask.ask)
app.command("limits")(limits.limits)
app.command("publish")(publish.publish)
app.command("check")(check.check)
app.command("papers")(papers.papers)
app.add("ledger", ledger.app)


def main() -> None:
    """Exit codes: 0 done, 2 refused, 1 our fault; 3 of `check` and `papers`, not as wanted. Nobody
    sees a traceback for a mistake."""
    as_json = "--json" in sys.argv
    gc.set_threshold(100_000)  # what is loaded stays: looking through it took a tenth of a question
    try:
        app(sys.argv[1:])
    except Refused as refusal:
        _refuse(refusal, as_json=as_json)
    except Fault as fault:
        if as_json:
            with suppress(OSError):  # it may be the fault
                sys.stdout.write(json.dumps({"fault": {"code": fault.code}}) + "\n")
        sys.stderr.write(f"Something failed on our side ({fault.code}): {fault}\n")
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        raise SystemExit(1) from None
    except BrokenPipeError:  # nobody reads on; what Python flushes at its end must go somewhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    raise SystemExit(0)


def _refuse(refusal: Refused, *, as_json: bool) -> NoReturn:
    said = {key: in_options(text) for key, text in refusal.to_dict().items()}
    if as_json:
        with suppress(OSError):
            sys.stdout.write(json.dumps({"refused": said}) + "\n")
    else:
        sys.stderr.write(f"Refused: {said['what']}\n{said['allowed']}\n{said['fix']}\n")
    raise SystemExit(2) from None
