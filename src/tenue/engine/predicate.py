"""Conditions on the rows of the logical table (`request.py`), with SQL's three values."""

from __future__ import annotations

from collections.abc import Iterator

from ..frozen import dataclass


@dataclass(frozen=True)
class Within:
    """first ≤ the column's steps ≤ last; either end may be open. first > last holds for no row."""

    column: str
    first: int | None
    last: int | None


@dataclass(frozen=True)
class Among:
    """The category or boolean is one of these; booleans are True and False."""

    column: str
    values: tuple[str | bool, ...]


@dataclass(frozen=True)
class Missing:
    """The value is missing."""

    column: str


@dataclass(frozen=True)
class Not:
    """SQL's NOT: unknown stays unknown."""

    part: Predicate


@dataclass(frozen=True)
class All:
    """SQL's AND."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True)
class Any_:  # noqa: N801 - `Any` is taken by typing
    """SQL's OR."""

    parts: tuple[Predicate, ...]


Predicate = Within | Among | Missing | Not | All | Any_


def columns_in(predicate: Predicate) -> Iterator[str]:
    """Every column that a condition is about."""
    if isinstance(predicate, Not):
        yield from columns_in(predicate.part)
    elif isinstance(predicate, All | Any_):
        for part in predicate.parts:
            yield from columns_in(part)
    else:
        yield predicate.column
