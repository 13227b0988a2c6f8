"""Fingerprints by which a table is recognised: the state of its files, or its place and types in a
server.

A later opening compares names, sizes and times of writing with those recorded. While a table is
open, the identity of the files and the time of any change count too: a file that was swapped and
swapped back is not the same.

Whether rows were added or changed is not looked at: a table in a server lives, and its holder
changes `version` in the schema when answers are about other rows. No value can make a question
fail, so that nothing needs to be read again for that.
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
    """The ledger's record of validated files.

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
    """The fingerprint of a table outside this process, taken when it was opened."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that hold it; none if it is in a server."""

    def unchanged(self) -> bool:
        """Whether it is still the table that was opened."""

    def digest(self) -> str:
        """A digest that differs for other rows, as far as that can be seen without reading them."""

    def stamp(self) -> Stamp:
        """The ledger's record."""


class Watched:
    """The files of a table, as they were when it was opened. Only `digest` reads them.

    Parameters
        paths: the files; one that does not exist is watched too.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self._seen = {path: _look(path) for path in paths}
        self._reading = ""

    def read_as(self, how: str) -> Watched:
        """The same, with how the files are read, in words."""
        self._reading = how
        return self

    def unchanged(self) -> bool:
        """Whether no file was written, truncated, moved or replaced since."""
        return all(_look(path) == seen for path, seen in self._seen.items())

    def digest(self) -> str:
        """The SHA-256 of the files; of several, the SHA-256 of theirs, line by line."""
        return together([_digest(path) for path, seen in self._seen.items() if seen is not None])

    def stamp(self) -> Stamp:
        present = [
            (path.name, seen[2], seen[3]) for path, seen in self._seen.items() if seen is not None
        ]
        lines = "\n".join(f"{size} {modified} {name}" for name, size, modified in present)
        return Stamp(
            names=tuple(name for name, _, _ in present[:_MOST_NAMES]),
            size=sum(size for _, size, _ in present),
            modified=max((modified for _, _, modified in present), default=0),
            mark=digest_of(lines),
            reading=digest_of(self._reading),
        )


class InServer:
    """A table in a server: its place in the catalogue and its columns' types when it was opened.

    Parameters
        name: the name of the table.
        look: gives the catalogue's present entry, in words.
        how: how the table is read, in words: its declared columns.
    """

    paths: tuple[Path, ...] = ()

    def __init__(self, name: str, look: Callable[[], str], how: str) -> None:
        self._name, self._look, self._how = name, look, how
        self._seen = look()

    def unchanged(self) -> bool:
        return self._look() == self._seen

    def digest(self) -> str:
        return digest_of(self._seen)

    def stamp(self) -> Stamp:
        return Stamp((self._name,), 0, 0, digest_of(self._seen), digest_of(self._how))


def together(digests: Sequence[str]) -> str:
    """One digest of several files, given the digest of each."""
    return digests[0] if len(digests) == 1 else digest_of("\n".join(digests))


def digest_of(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _look(path: Path) -> tuple[int, ...] | None:
    try:
        now = path.stat()
    except OSError:
        return None
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)
