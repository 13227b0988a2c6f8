"""The compiled algorithms, and notice of their compilation, which takes about ten seconds, once."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import Any

COMPILING = "compiling, once"
_told: ContextVar[Callable[[str], None] | None] = ContextVar("told", default=None)


def kernels() -> ModuleType:
    """The module `partition.mdav_numba`, for tables large enough to repay loading it (about one
    second; ten for the first compilation)."""
    _listen()
    return importlib.import_module(".partition.mdav_numba", __package__)


@contextmanager
def compilation_told(tell: Callable[[str], None]) -> Iterator[None]:
    """Inside, `tell` is called on compilation, instead of writing to the terminal."""
    token = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(token)


@cache
def _listen() -> None:
    """Listens to every compilation; loading from numba's cache is none."""
    from numba.core import event

    class Listener(event.Listener):
        depth = 0

        def on_start(self, _: Any) -> None:
            self.depth += 1  # a function compiles those that it calls
            if self.depth == 1:
                _tell()

        def on_end(self, _: Any) -> None:
            self.depth -= 1

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


def _tell() -> None:
    tell = _told.get()
    if tell is not None:
        tell(COMPILING)
    elif sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"tenue: {COMPILING}\n")
