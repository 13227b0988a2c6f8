"""A line that says how far a long run has come."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

Tell = Callable[[str, int, int], None]
_LONG = 20
_CLEAR = "\r\x1b[K"


def line(stream: TextIO | None = None) -> Tell | None:
    """Tells on standard error what is being done, how much is done, and of how much.

    Guarantee
        None where nobody sits before it: a file or a pipe gets no line. The last step clears it.
    """
    out = sys.stderr if stream is None else stream
    if not out.isatty():
        return None

    def tell(name: str, done: int, of: int) -> None:
        full = _LONG * done // of
        bar = "█" * full + "░" * (_LONG - full)
        out.write(f"{_CLEAR}{bar} {done}/{of}  {name}{_CLEAR if done + 1 == of else ''}")
        out.flush()

    return tell
