"""The journal of one transaction: facts written one after another, each chained to the last."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from .. import facts
from ..facts import Fact
from ..totals import Shelf, Totals


class Journal:
    """Collects what a transaction writes. Nothing is stored before the shelf takes it.

    Parameters
        shelf: where rows are read.
        head: number and hash of the last entry.
        owner: names the process that answers the reservations made here.
        alive: whether a process of that name may still be alive.
    """

    def __init__(
        self,
        shelf: Shelf,
        head: tuple[int, bytes],
        owner: Callable[[], str],
        alive: Callable[[str], bool],
    ) -> None:
        self.totals = Totals(shelf)
        self.owner = owner
        self.alive = alive
        self.head = head
        self.written: list[tuple[int, str, bytes]] = []
        self._time = datetime.now(UTC).isoformat(timespec="milliseconds")

    def write(self, fact: Fact) -> int:
        """Posts and chains a fact; returns its number."""
        sequence, previous = self.head
        sequence += 1
        text = facts.write(sequence, self._time, fact)
        self.totals.post(sequence, fact)
        self.head = (sequence, facts.link(previous, text))
        self.written.append((sequence, text, self.head[1]))
        return sequence
