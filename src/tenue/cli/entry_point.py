"""The command line as a process of its own: its streams, and its exit code."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import Any, NoReturn

from ..errors import Fault
from .main import TRACEBACK, main, unforeseen_fault
from .parser import UNWRITTEN


def run() -> NoReturn:
    """Runs the verb that was typed, and ends the process with its exit code.

    Guarantee
        No error is shown with its message, not even that of a thread or a finaliser, unless
        `TENUE_TRACEBACK=1` asks for it.
        If standard output cannot be written, the exit code is not 0: it is 1, unless the verb has
        a more specific one.
    """
    if sys.stdout is None:  # closed: a file that cannot be written fails when it is used
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stderr is None:  # closed: a message that is lost there is not a failure
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    if os.environ.get(TRACEBACK) != "1":
        threading.excepthook = sys.unraisablehook = _aside
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        if status != 1:  # else it was reported
            sys.stderr.write(f"Something failed on our side ({Fault.code}): {UNWRITTEN}\n")
        status = status or 1
        with suppress(OSError, ValueError):  # Python flushes standard output at its exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(status)


def _aside(lost: Any) -> None:
    """Says that something failed that the verb does not wait for: a thread or a finaliser."""
    error = lost.exc_value
    if error is not None and not isinstance(error, SystemExit) and not sys.is_finalizing():
        code, _, what = unforeseen_fault(error)
        with suppress(OSError, ValueError):
            sys.stderr.write(f"Something failed on our side ({code}): {what}\n")
