"""Methods that can read a table in passes, where it would not fit into memory."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import refuse
from ...number import whole
from ...schema.table import RECORD
from ..private.streamed import VALUE
from ..table.coded import Coding
from ..table.original import Validated
from ..table.stored import LEAST_MEMORY, MEMORY
from .contract import Method


@dataclass(frozen=True, kw_only=True)
class Passable(Method):
    """A method that holds a table, or reads it in passes.

    held: how many bytes of a stored table may be held; None for all that there are.
    """

    held: int | None = None

    @property
    def in_order(self) -> bool:
        """Whether groups follow from counts and places that come in order."""
        return False

    @property
    def passable(self) -> bool:
        """Whether groups can be found of a table that is not held."""
        return self.in_order and self.schema.unit == RECORD

    def room(self, memory: object) -> int | None:
        """How many bytes may be held; refused where groups are formed of the whole table at once.

        Counted in rows: whose rows belong together is only known of a table that is held.
        """
        if memory is None:
            return None
        if self.schema.unit != RECORD:
            raise refuse("microdata.memory-with-persons", unit=self.schema.unit)
        if not self.in_order:
            raise refuse("microdata.memory-with-whole-table", label=self.label)
        return whole(memory, "memory", least=LEAST_MEMORY)

    @property
    def memory(self) -> int | None:
        return self.held

    def in_passes(self, table: Validated) -> bool:
        if not self.passable or not table.stored or (self.held is None and not table.spread):
            return False
        return table.rows * len(Coding.of(self.schema).columns) * VALUE > self.room_for_rows

    @property
    def room_for_rows(self) -> int:
        """How many bytes of a table may be held; those of many machines would fill this one."""
        return MEMORY if self.held is None else self.held
