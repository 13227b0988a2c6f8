"""The engines there are: each says which sources it claims, and how it opens and examines them.

An engine is named once, in `ROOMS`; whatever asks for a table goes through `backend_for`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import Fault
from ..schema import Table
from .contract import Engine, Tallied
from .finding import Finding

Load = Callable[[Sequence[str]], Any]

ROOMS = ("duckdb", "postgres", "spark")
"""The room of each engine; its `backend.py` holds a `BACKEND`, and imports no driver."""


class Backend(abc.ABC):
    """What an engine does with the sources it claims.

    claims: the classes of these sources, as `locate` gives them.
    """

    claims: tuple[type, ...] = ()

    def locate(self, source: object, name: str, folder: Path | None) -> Any:
        """What was given as the table, if only this engine knows such sources; else None."""
        return None

    @abc.abstractmethod
    def open_engine(self, source: Any, schema: Table, memory: int | None) -> Engine:
        """The engine for the table; refused if the source is not what the schema describes."""

    @abc.abstractmethod
    def open_table(self, source: Any) -> tuple[tuple[str, ...], Load]:
        """The columns of a table without a schema, and how they are read."""

    @abc.abstractmethod
    def open_tally(self, source: Any, memory: int) -> AbstractContextManager[Tallied]:
        """The counts of a table without a schema, made where its rows are."""

    @abc.abstractmethod
    def describe(self, source: Any, *, values: bool) -> list[Any]:
        """The columns of a table without a schema, as `engine/duckdb/profile.py` describes them;
        with `values`, also what its rows hold."""

    @abc.abstractmethod
    def examine(self, source: Any) -> Iterator[Finding]:
        """What the source has, lacks or has too much of, as far as it is seen without a schema."""


_REGISTERED: list[Backend] = []


def register(backend: Backend) -> None:
    """Adds an engine that has no room here; it is asked before those that have one."""
    _REGISTERED.insert(0, backend)


def unregister(backend: Backend) -> None:
    """Forgets an engine that was added."""
    _REGISTERED.remove(backend)


@cache
def _at_home() -> tuple[Backend, ...]:
    return tuple(import_module(f"{__package__}.{room}.backend").BACKEND for room in ROOMS)


def backends() -> tuple[Backend, ...]:
    """Every engine there is."""
    return (*_REGISTERED, *_at_home())


def backend_for(source: object) -> Backend:
    """The engine that claims a source, which `locate` gave."""
    for backend in backends():
        if isinstance(source, backend.claims):
            return backend
    raise Fault(f"no engine claims {type(source).__name__}")
