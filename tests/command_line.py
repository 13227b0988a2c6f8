"""Says words to the command line in this process, and keeps what it writes."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass

from tenue.command.words import App
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
