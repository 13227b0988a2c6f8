"""Plans that were made, of which those used last are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """At most so many values by their keys, for any number of threads.

    The value that goes first is the one that nobody has asked for the longest time.

    Example
        >>> kept = Kept(2)
        >>> [kept.get(key, lambda key=key: key * 10) for key in (1, 2, 1, 3)]
        [10, 20, 10, 30]
        >>> sorted(kept)
        [1, 3]
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._turn = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """What was made under this key; if nothing is kept, it is made now, and nobody waits.

        If two threads make it at once, both get what is kept.
        """
        with self._turn:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        made = make()
        with self._turn:
            made = self._values.setdefault(key, made)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[K]:
        with self._turn:
            return iter(list(self._values))

    def begin_anew(self) -> None:
        """In a forked child: a thread that is not there may have had the lock."""
        self._turn = threading.Lock()
