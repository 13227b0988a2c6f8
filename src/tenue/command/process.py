"""The command line as a process of its own, which is over when its last word is written."""

from __future__ import annotations

import atexit
import os
import sys
from typing import NoReturn

from .main import main


def run() -> NoReturn:
    """Runs the verb that was typed, and ends the process with its exit code.

    Guarantee
        Whatever was to be done at the exit is done, and whatever was written has left, before the
        process ends. Only Python's taking apart of all that was loaded is left out, which takes
        longer than the question; memory is the system's to take back.
    """
    if sys.stderr is None:  # it was closed; to say nothing there is no failure
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    try:
        main()
    except SystemExit as end:
        code = end.code
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (OSError, ValueError):  # Python tells of it in its own way
        sys.exit(code)
    os._exit(code if isinstance(code, int) else 1)
