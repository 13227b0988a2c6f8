"""What every belief is: frozen, compared by content, written as JSON."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

from ..errors import refuse


def written_number(number: Fraction | int) -> int | str:
    """A whole number as itself, any other as the exact text "numerator/denominator".

    Example
        >>> written_number(Fraction(7, 10)), written_number(Fraction(3))
        ('7/10', 3)
    """
    exact = Fraction(number)
    return exact.numerator if exact.denominator == 1 else str(exact)


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
        facts = self.to_dict()  # one form only, so that equal beliefs are equal texts
        return json.dumps(facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def _set(self, **facts: Any) -> None:
        for name, fact in facts.items():
            object.__setattr__(self, name, fact)

    def __setattr__(self, name: str, value: object) -> None:
        raise refuse("prior.belief-frozen", name=name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Belief) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())
