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
        What could not be written is no success: the exit code is then 1, unless the verb has one
        that says more.
    """
    if sys.stdout is None:  # it was closed; a file that cannot be written fails when it is used
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stderr is None:  # it was closed; to say nothing there is no failure
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        if status != 1:  # else it was said
            sys.stderr.write(f"Something failed on our side ({Fault.code}): {UNWRITTEN}\n")
        status = status or 1
        with suppress(OSError, ValueError):  # what Python flushes at its exit must go somewhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(status)
