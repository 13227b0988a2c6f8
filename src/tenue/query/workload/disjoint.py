"""Whether no row can satisfy two conditions, shown from the conditions alone."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.request import All, Among, Predicate, Within


def all_disjoint(conditions: Sequence[Predicate | None]) -> bool:
    """Whether every two are disjoint; None is true of every row."""
    known = [c for c in conditions if c is not None]
    if len(known) < len(conditions):
        return len(conditions) < 2
    return all(disjoint(p, q) for i, p in enumerate(known) for q in known[:i])


def disjoint(one: Predicate, other: Predicate) -> bool:
    """Whether some column would have to hold two different values; when in doubt, no.

    Example
        >>> disjoint(Among("sex", ("f",)), All((Among("sex", ("m",)), Within("age", 18, None))))
        True
    """
    return any(_apart(p, q) for p in _conjuncts(one) for q in _conjuncts(other))


def _conjuncts(condition: Predicate) -> list[Predicate]:
    if isinstance(condition, All):
        return [part for whole in condition.parts for part in _conjuncts(whole)]
    return [condition]


def _apart(one: Predicate, other: Predicate) -> bool:
    if isinstance(one, Among) and isinstance(other, Among) and one.column == other.column:
        return not set(one.values) & set(other.values)
    if isinstance(one, Within) and isinstance(other, Within) and one.column == other.column:
        firsts = [w.first for w in (one, other) if w.first is not None]
        lasts = [w.last for w in (one, other) if w.last is not None]
        return bool(firsts and lasts) and max(firsts) > min(lasts)
    return False
