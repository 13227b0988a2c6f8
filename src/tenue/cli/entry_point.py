"""The command line as a process of its own: its streams, and its exit code."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NoReturn

from ..errors import Fault
from .main import main
from .parser import UNWRITTEN


def run() -> NoReturn:
    """Runs the verb that was typed, and ends the process with its exit code.

    Guarantee
        If standard output cannot be written, the exit code is not 0: it is 1, unless the verb has
        a more specific one.
    """
    if sys.stdout is None:  # closed: a file that cannot be written fails when it is used
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stderr is None:  # closed: a message that is lost there is not a failure
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
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
