"""Says words to the command line in this process, and keeps what it writes.

Starting Python and loading Tenue takes longer than most commands. Each verb is started as a process
of its own somewhere (`test_loaded.py`, `unit/command`); for the rest, `tenue` is the same without
one.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from tenue.cli import main
from tenue.cli.parser import App
from tenue.errors import Fault, Refused


@dataclass(frozen=True)
class Said:
    """What was written, how it ended, and what was raised, if anything was."""

    stdout: str
    exit_code: int
    exception: Exception | None


def invoke(app: App, words: Sequence[str], *, keep: bool = True) -> Said:
    """The app without `main`: a refusal is kept, or raised; never printed."""
    out = io.StringIO()
    code: object = 0
    raised: Exception | None = None
    with contextlib.redirect_stdout(out):
        try:
            app(words)
        except SystemExit as end:
            code = end.code
        except (Refused, Fault) as wrong:
            if not keep:
                raise
            code, raised = 1, wrong
    assert isinstance(code, int)
    return Said(out.getvalue(), code, raised)


@dataclass(frozen=True)
class Ended:
    """What a command wrote, and its exit code."""

    stdout: str
    stderr: str
    returncode: int


def tenue(*words: str, cwd: Path) -> Ended:
    """The command with these words, begun in a folder: `main`, which ends with an exit code."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["tenue", *words]),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    assert isinstance(code, int)
    return Ended(out.getvalue(), err.getvalue(), code)
