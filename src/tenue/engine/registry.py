"""The engines: each says which sources it claims, and how it opens and examines them.

An engine is named once, in `ROOMS`; every access to a table goes through `backend_for`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import Fault, Refused, refuse
from ..schema import Table
from .contract import Engine
from .waiting import waiting

if TYPE_CHECKING:
    from .source.count_queries import Tally

Load = Callable[[Sequence[str]], Any]
"""The Arrow columns of these names, in this order."""

ROOMS = ("duckdb", "postgres", "spark")
"""The room of each engine; its `backend.py` holds a `BACKEND`, and imports no driver."""


Verdict = Literal["fine", "missing", "wrong", "too much", "not read"]
"""wrong: values are not as declared; not read: nobody has looked."""


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    subject: source, driver, server, table, rights, columns, values, budget or ledger.
    what: a sentence about it; `fix`: the remedy, if one is needed.
    """

    subject: str
    verdict: Verdict
    what: str
    fix: str = ""

    @classmethod
    def refused(cls, subject: str, refusal: Refused) -> Finding:
        return cls(subject, "missing", refusal.what, refusal.fix)

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


class Backend(abc.ABC):
    """What an engine does with the sources it claims.

    claims: the classes of these sources, as `locate` gives them.
    """

    claims: tuple[type, ...] = ()

    def locate(self, source: object, name: str, folder: Path | None) -> Any:
        """The source that was given, if only this engine knows such sources; else None."""
        return None

    @abc.abstractmethod
    def open_engine(self, source: Any, schema: Table, memory: int | None) -> Engine:
        """The engine for the table; refused if the source is not what the schema describes."""

    @abc.abstractmethod
    def open_table(self, source: Any) -> tuple[tuple[str, ...], Load]:
        """The columns of a table without a schema, and how they are read; refused if it is none."""

    @abc.abstractmethod
    def open_tally(self, source: Any, memory: int) -> AbstractContextManager[Tally]:
        """The counts of a table without a schema, made where its rows are, as long as the context
        lasts; refused if it is none.

        Parameters
            memory: how many bytes DuckDB may hold before it puts counts on disk. A relation's
                connection, a server and Spark have limits of their own.
        """

    @abc.abstractmethod
    def describe(self, source: Any, *, values: bool) -> list[Any]:
        """The columns of a table without a schema, as `engine/duckdb/profile.py` describes them;
        with `values`, also the values that its rows have."""

    @abc.abstractmethod
    def examine(self, source: Any) -> Iterator[Finding]:
        """What the source has, lacks or has too much of, as far as that needs no schema."""


class Driven(Backend):
    """A backend whose driver may not be installed: the `session` and `engine` of its room use it,
    and are imported when a source needs them.

    title: what it is called, where it is waited for.
    room: the package.
    engine: the name of its `Engine`.
    driver: the package that may not be installed.
    """

    title: str
    room: str
    engine: str
    driver: str

    def open_engine(self, source: Any, schema: Table, memory: int | None) -> Engine:
        with waiting(self.title):
            engine: Engine = getattr(self._imported(), self.engine)(source, schema)
        return engine

    def open_table(self, source: Any) -> tuple[tuple[str, ...], Load]:
        opened: tuple[tuple[str, ...], Load] = self._imported().open_table(source)
        return opened

    def open_tally(self, source: Any, memory: int) -> AbstractContextManager[Tally]:
        counts: AbstractContextManager[Tally] = self._imported().open_tally(source)
        return counts

    def describe(self, source: Any, *, values: bool) -> list[Any]:
        with waiting(self.title):
            columns: list[Any] = self._imported().describe(source, values=values)
        return columns

    def _imported(self) -> Any:
        try:
            import_module(self.driver)
            import_module(f"{self.room}.session")
        except ImportError:
            raise refuse(f"engine.table-needs-{self.driver}") from None
        return import_module(f"{self.room}.engine")


_REGISTERED: list[Backend] = []


def register(backend: Backend) -> None:
    """Adds an engine that has no room here; it is asked before those that have one."""
    _REGISTERED.insert(0, backend)


def unregister(backend: Backend) -> None:
    _REGISTERED.remove(backend)


@cache
def _at_home() -> tuple[Backend, ...]:
    return tuple(import_module(f"{__package__}.{room}.backend").BACKEND for room in ROOMS)


def backends() -> tuple[Backend, ...]:
    """All engines, those that were added first."""
    return (*_REGISTERED, *_at_home())


def backend_for(source: object) -> Backend:
    """The engine that claims a source, which `locate` gave."""
    for backend in backends():
        if isinstance(source, backend.claims):
            return backend
    raise Fault(f"no engine claims {type(source).__name__}")
