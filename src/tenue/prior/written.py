"""How numbers and beliefs are written in JSON."""

from __future__ import annotations

import json
from fractions import Fraction


def written_number(number: Fraction | int) -> int | str:
    """A whole number as itself, any other as the exact text "numerator/denominator".

    Example
        >>> written_number(Fraction(7, 10)), written_number(Fraction(3))
        ('7/10', 3)
    """
    exact = Fraction(number)
    return exact.numerator if exact.denominator == 1 else str(exact)


def written(facts: dict[str, object]) -> str:
    """JSON in one form only, so that equal beliefs are equal texts."""
    return json.dumps(facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
