"""Few rows of each person, chosen on the machines that hold them and measured there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...noise.keyed import fresh_key
from ..people.crowd import Crowd, limits
from ..people.measure import Place
from ..request import People
from .dialect import SPARK
from .session import Session
from .workers import by_value, chooser


class Bench:
    """Selects from the chosen rows where they are.

    In the SQL, `handed` is the name given, and `gathered` all that was gathered.
    """

    def __init__(self) -> None:
        self._gathered: list[tuple[Chosen, str]] = []

    def select(self, table: Chosen, sql: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a SELECT from the rows of this name."""
        return table.session.run(f"WITH {table.handed} {sql}")

    def gather(self, table: Chosen, sql: str) -> None:
        """Keeps the SELECT: nothing is computed yet."""
        self._gathered.append((table, sql))

    def gathered(self, sql: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a SELECT from what was gathered; none if nothing was."""
        if not self._gathered:
            return []
        ((table, inner),) = self._gathered
        return table.session.run(f"WITH {table.handed}, gathered AS ({inner}) {sql}")

    def clear(self) -> None:
        """Forgets what was gathered."""
        self._gathered.clear()

    def close(self) -> None:
        """Forgets everything."""
        self.clear()


@dataclass(frozen=True)
class Chosen:
    """The rows chosen for one question, by a name in its session."""

    session: Session
    name: str

    @property
    def handed(self) -> str:
        """What stands after WITH."""
        return f"handed AS (SELECT * FROM {SPARK.quoted(self.name)})"  # noqa: S608


@dataclass(frozen=True)
class Spread(Place):
    """People whose rows lie on many machines.

    Guarantee
        As `People`. The choice follows from a key that is drawn here for one question: every
        machine that makes it, and makes it again, chooses the same rows.
    """

    session: Session

    def parts(self, people: People, rows: Crowd, every: bool) -> Iterator[Chosen]:
        """All rows at once."""
        limit, groups = limits(people)
        session = self.session
        columns = ", ".join(["u", *rows.handed])
        frame = session.of(f"SELECT {columns} FROM {SPARK.nested(rows.sql)}")  # noqa: S608
        choose = chooser(fresh_key(self.source), limit, groups, len(rows.shape), every)
        kinds = ", ".join(f"{one.name} {one.dataType.simpleString()}" for one in frame.schema)
        marked = f"{kinds}, chosen boolean, placed boolean"
        chosen = frame.repartition("u").mapInArrow(by_value(choose), marked)
        yield Chosen(session, session.named(chosen))
