"""What people give: texts, lists and pairs; and how it is shown when it is refused."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import refuse

_MOST_NAMED = 8
_LONGEST = 60
_short = reprlib.Repr()
_short.maxstring = _short.maxother = _LONGEST


def shown(given: object) -> str:
    """What was given, in at most 60 characters, however deep, long or self-contained it is."""
    try:
        return _short.repr(given)[:_LONGEST]
    except ValueError:  # Python does not print numbers of thousands of digits
        return f"a large {type(given).__name__}"


def named(names: Iterable[str], link: str = ", ") -> str:
    """The first eight names, and how many more there are."""
    listed = list(names)
    text = link.join(f"`{name:.60}`" for name in listed[:_MOST_NAMED])
    more = len(listed) - _MOST_NAMED
    return f"{text} and {more} more" if more > 0 else text


def sequence(given: object, name: str) -> list[Any]:
    """A list of what was given; refused if it is one text, or nothing to go through."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise refuse("taxonomy.labels-not-a-list", name=name, given=shown(given))
    return list(given)


def text(given: object) -> str:
    """The name of a concept or category, as plain text."""
    if isinstance(given, str) and given:
        try:
            given.encode()  # half a surrogate pair cannot be written anywhere
        except UnicodeEncodeError:
            pass
        else:
            return str(given)
    raise refuse("taxonomy.invalid-label", given=shown(given))


def pair(given: object, kind: str, parts: str) -> tuple[object, object]:
    """The two parts of an edge, or of a category."""
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2:
        return given[0], given[1]
    raise refuse("taxonomy.invalid-taxonomy-pair", kind=kind, given=shown(given), parts=parts)


def refuse_repeated(names: Iterable[str], allowed: str) -> None:
    """Refuses names that occur more than once."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise refuse("taxonomy.declared-twice", named=named(repeated), rule=allowed)
