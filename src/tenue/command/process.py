"""The command line as a process of its own, which is over when its last word is written."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn

from ..errors import Fault
from .main import main
from .words import UNWRITTEN


def run() -> NoReturn:
    """Runs the verb that was typed, and ends the process with its exit code.

    Guarantee
        Whatever was to be done at the exit is done, and whatever was written has left, before the
        process ends. Only Python's taking apart of all that was loaded is left out, which takes
        longer than the question; memory is the system's to take back. What could not be written is
        no success: the exit code is then 1, unless the verb has one that says more.
    """
    if sys.stdout is None:  # it was closed; a file that cannot be written fails when it is used
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stderr is None:  # it was closed; to say nothing there is no failure
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    try:
        main()
    except SystemExit as end:
        code = end.code
    atexit._run_exitfuncs()
    status = code if isinstance(code, int) else 1
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        if status != 1:  # else it was said
            sys.stderr.write(f"Something failed on our side ({Fault.code}): {UNWRITTEN}\n")
        status = status or 1
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(status)
