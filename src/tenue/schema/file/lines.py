"""On which line of a TOML text each key stands.

Neither `tomllib` nor `tomlkit` tells where a value was. This scanner walks a text that `tomllib`
has already accepted, so it need not judge it: it only has to tell keys from what looks like keys
inside strings, comments, arrays and inline tables.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Mapping

Path = tuple[str | int, ...]

_DEEPEST = 50
_BLANK = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\r\n]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\[\s\S])*?"""(?!")'
    r"|'''[\s\S]*?'''(?!')"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
)


class Lines:
    """The line, counted from 1, of every key, section and array entry of a text."""

    def __init__(self, known: Mapping[Path, int] | None = None) -> None:
        self._known = known

    def of(self, path: Path) -> int | None:
        """The line of `path`, or of the nearest section around it; None if there is no text."""
        if self._known is None:
            return None
        while path and path not in self._known:
            path = path[:-1]
        return self._known.get(path, 1)


def find_lines(text: str) -> Lines:
    """Finds the lines in a valid TOML text.

    Example
        >>> lines = find_lines('# about\\n[columns.age]\\nbounds = [\\n  0,\\n  120]\\n')
        >>> lines.of(("columns", "age")), lines.of(("columns", "age", "bounds", 1))
        (2, 5)
        >>> lines.of(("columns", "age", "grid"))  # absent: its section
        2
    """
    return Lines(_Scan(text).known())


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, int] = {}
        self.newest: dict[Path, int] = {}  # of each array of tables, the last entry
        self.breaks = [match.start() for match in re.finditer("\n", text)]

    def known(self) -> dict[Path, int]:
        section: Path = ()
        self._skip(_BETWEEN)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                section = self._header()
            else:
                self._pair(section)
            self._skip(_BETWEEN)
        return self.found

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:  # only if the text were not TOML
            self.at += 1
            return ""
        self.at = match.end()
        return match.group()

    def _record(self, path: Path, start: int) -> None:
        line = bisect_left(self.breaks, start) + 1
        path = path[:_DEEPEST]
        for length in range(1, len(path)):
            self.found.setdefault(path[:length], line)
        self.found[path] = line

    def _header(self) -> Path:
        start = self.at
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        *parents, last = self._keys()
        path: Path = ()
        for parent in parents:
            path = self._within((*path, parent))
        path = (*path, last)
        if brackets == 2:
            self.newest[path] = self.newest.get(path, -1) + 1
        path = self._within(path)
        self.at += brackets
        self._record(path, start)
        return path

    def _within(self, path: Path) -> Path:
        return (*path, self.newest[path]) if path in self.newest else path

    def _keys(self) -> list[str]:
        keys = [self._key()]
        while self.text.startswith(".", self.at):
            self.at += 1
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        self._skip(_BLANK)
        quoted = self.text[self.at] in "\"'"
        word = self._skip(_STRING if quoted else _BARE_KEY)
        self._skip(_BLANK)
        return str(tomllib.loads(f"key = {word}")["key"]) if quoted else word

    def _pair(self, section: Path) -> None:
        start = self.at
        path = (*section, *self._keys())
        self.at += 1  # the equals sign
        self._skip(_BLANK)
        self._record(path, start)
        self._value(path)

    def _value(self, path: Path) -> None:
        first = self.text[self.at]
        if first in "\"'":
            self._skip(_STRING)
        elif first == "[":
            self._array(path)
        elif first == "{":
            self._inline_table(path)
        else:
            self._skip(_SCALAR)

    def _array(self, path: Path) -> None:
        self.at += 1
        entry = 0
        while self._next() != "]":
            self._record((*path, entry), self.at)
            self._value((*path, entry))
            entry += 1
        self.at += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        while self._next() != "}":
            self._pair(path)
        self.at += 1

    def _next(self) -> str:
        self._skip(_BETWEEN)
        if self.text.startswith(",", self.at):
            self.at += 1
            self._skip(_BETWEEN)
        return self.text[self.at]
