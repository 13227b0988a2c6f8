"""Marks of released rows: whether two tables, whatever they are called, have rows in common.

A mark is a word. `whole:` and a digest stand for a whole source; two releases with the same one are
of the same data. Others stand for single rows, a few drawn from each table by their hashes and cut
so short that many conceivable rows share each of them: one in common says nothing, a quarter of
them in common says that the tables overlap.
"""

from __future__ import annotations

from collections.abc import Mapping

WHOLE = "whole:"
_PART = 4
_LEAST = 3


def overlapped(marks: str, earlier: Mapping[str, int]) -> int | None:
    """The number of the last earlier release with common rows, or None.

    Parameters
        marks: words, with spaces between.
        earlier: the number of an entry, behind the number and the marks it has.

    Example
        >>> overlapped("whole:ab row:1", {"7 whole:cd row:1": 7, "9 whole:ab": 9})
        9
    """
    mine = set(marks.split())
    found = [number for text, number in earlier.items() if _meet(mine, set(text.split()[1:]))]
    return max(found, default=None)


def _meet(one: set[str], other: set[str]) -> bool:
    common = one & other
    if any(mark.startswith(WHOLE) for mark in common):
        return True
    rows = min(sum(not mark.startswith(WHOLE) for mark in marks) for marks in (one, other))
    return len(common) >= max(_LEAST, -(-rows // _PART))
