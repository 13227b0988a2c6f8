"""By what a table is known again: the state of its files, or its place and types in a server.

A later opening compares names, sizes and times of writing with what was recorded. While a table is
open, the identity of the files and the time of any change count too: a file that was swapped and
swapped back is not the same.

Whether rows were added or changed is not looked at: a table in a server lives, and its holder says
by `version` in the schema when answers are about other rows. No value can make a question fail, so
that nothing needs to be read again for that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_MOST_NAMES = 100


@dataclass(frozen=True)
class Stamp:
    """By what validated files are known again.

    names: the last parts of their names, the first hundred of them.
    size: how many bytes they have together.
    modified: when the last of them was written, in nanoseconds.
    mark: a digest of every name, size and time of writing.
    reading: a digest of how they are read: kind, separators, table, declared columns.
    """

    names: tuple[str, ...]
    size: int
    modified: int
    mark: str
    reading: str


class Known(Protocol):
    """By what a table outside this process is known again, as it was when it was opened."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that hold it; none if it is in a server."""
        ...

    def unchanged(self) -> bool:
        """Whether it is the one that was opened."""
        ...

    def digest(self) -> str:
        """What tells other rows apart, as far as that can be told without looking at them."""
        ...

    def stamp(self) -> Stamp:
        """What the ledger records."""
        ...


class Watched:
    """The files of a table, as they were when it was opened. No byte of them is read by looking.

    Parameters
        paths: the files; one that is not there is watched too.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._seen = [_look(path) for path in paths]
        self._reading = ""

    @property
    def paths(self) -> tuple[Path, ...]:
        return self._paths

    def read_as(self, how: str) -> Watched:
        """The same, and how the files are read, in words."""
        self._reading = how
        return self

    def unchanged(self) -> bool:
        """Whether every file is the one it was, not written, truncated, moved or replaced since."""
        return [_look(path) for path in self.paths] == self._seen

    def digest(self) -> str:
        """The SHA-256 of the files; of several, that of theirs, line by line."""
        found = []
        for path, seen in zip(self.paths, self._seen, strict=True):
            if seen is not None:
                with path.open("rb") as file:
                    found.append(hashlib.file_digest(file, "sha256").hexdigest())
        return together(found)

    def stamp(self) -> Stamp:
        """By what the files are known again."""
        there = [
            (path.name, seen[2], seen[3])
            for path, seen in zip(self.paths, self._seen, strict=True)
            if seen is not None
        ]
        lines = "\n".join(f"{size} {modified} {name}" for name, size, modified in there)
        return Stamp(
            names=tuple(name for name, _, _ in there[:_MOST_NAMES]),
            size=sum(size for _, size, _ in there),
            modified=max((modified for _, _, modified in there), default=0),
            mark=digest_of(lines),
            reading=digest_of(self._reading),
        )


def together(digests: Sequence[str]) -> str:
    """One digest of several files, given that of each."""
    return digests[0] if len(digests) == 1 else digest_of("\n".join(digests))


def _look(path: Path) -> tuple[int, ...] | None:
    try:
        now = path.stat()
    except OSError:
        return None
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)


def digest_of(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


# By what a table in a server is known again: its place in the catalogue, and its columns' types.


class InServer:
    """A table as the catalogue described it when it was opened.

    Parameters
        name: what the table is called.
        look: what the catalogue says now, in words.
        how: how the table is read, in words: its declared columns.
    """

    paths: tuple[Path, ...] = ()

    def __init__(self, name: str, look: Callable[[], str], how: str) -> None:
        self._name, self._look, self._how = name, look, how
        self._seen = look()

    def unchanged(self) -> bool:
        """Whether the same table is still there, with the same columns."""
        return self._look() == self._seen

    def digest(self) -> str:
        """A digest of its place and columns."""
        return digest_of(self._seen)

    def stamp(self) -> Stamp:
        """What the ledger records."""
        return Stamp((self._name,), 0, 0, digest_of(self._seen), digest_of(self._how))
