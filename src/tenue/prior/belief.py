"""What every belief is: frozen, compared by content, written as JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..errors import refuse
from .written import written


class Belief(ABC):
    """What somebody believes about a value before asking.

    Guarantee
        Frozen. Whatever is wrong with it was refused when it was made, without looking at data.
        Equal beliefs have equal JSON.
    """

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """The belief as plain JSON values."""

    def to_json(self) -> str:
        """The belief as canonical JSON text; `from_json` gives it back."""
        return written(self.to_dict())

    def _set(self, **facts: Any) -> None:
        for name, fact in facts.items():
            object.__setattr__(self, name, fact)

    def __setattr__(self, name: str, value: object) -> None:
        raise refuse("prior.of-belief-was-to-be-changed", name=name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Belief) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())
