"""Says on the screen how long a server or a cluster has been waited for.

Only seconds are shown: how many parts of the work are done would depend on the rows.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

AFTER = 2.0
"""Seconds after which the first word is said."""
EVERY = 1.0
"""Seconds between one and the next."""


@contextmanager
def waiting(title: str) -> Iterator[None]:
    """Says on standard error how long the work inside has taken, if it takes long.

    Guarantee
        Nothing is written unless somebody watches: standard error is a terminal or a notebook. One
        line is written over and over, and removed at the end.

    Parameters
        title: what is waited for; empty if nothing is.
    """
    stream = sys.stderr
    if not title or not is_watched(stream):
        yield
        return
    done = threading.Event()
    teller = threading.Thread(target=_tell, args=(stream, title, done), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def is_watched(stream: TextIO | None) -> bool:
    """Whether somebody sees at once what is written there."""
    with suppress(OSError, ValueError, AttributeError):  # closed, or no stream at all
        return stream is not None and (stream.isatty() or "ipykernel" in sys.modules)
    return False


def _tell(stream: TextIO, title: str, done: threading.Event) -> None:
    begun = time.monotonic()
    said, pause = "", AFTER
    with suppress(OSError, ValueError):  # nobody reads any more
        while not done.wait(pause):
            said, pause = f"Waiting for {title}: {time.monotonic() - begun:.0f} s", EVERY
            stream.write(f"\r{said}")
            stream.flush()
        if said:
            stream.write(f"\r{' ' * len(said)}\r")
            stream.flush()
