"""Reads a schema file as plain values with their lines, and collects its mistakes.

Neither `tomllib` nor `tomlkit` reports the line of a value. This scanner walks a text that
`tomllib` has already accepted, so it only distinguishes keys from what resembles keys inside
strings, comments, arrays and inline tables.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

from ...errors import InvalidSchema, Refused, refuse
from ...text import hanging
from ..toml_values import plain

KeyPath = tuple[str | int, ...]

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
    """The line, counted from 1, of every key, section and array entry; `known` is None without a
    text."""

    def __init__(self, known: Mapping[KeyPath, int] | None = None) -> None:
        self._known = known

    def of(self, path: KeyPath) -> int | None:
        """The line of `path`, or of the nearest section around it."""
        if self._known is None:
            return None
        while path and path not in self._known:
            path = path[:-1]
        return self._known.get(path, 1)


def find_lines(text: str) -> Lines:
    """The lines of a valid TOML text.

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
        self.found: dict[KeyPath, int] = {}
        self.newest: dict[KeyPath, int] = {}  # of each array of tables, the last entry
        self.breaks = [match.start() for match in re.finditer("\n", text)]

    def known(self) -> dict[KeyPath, int]:
        section: KeyPath = ()
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
        if match is None:  # impossible in valid TOML
            self.at += 1
            return ""
        self.at = match.end()
        return match.group()

    def _record(self, path: KeyPath, start: int) -> None:
        line = bisect_left(self.breaks, start) + 1
        path = path[:_DEEPEST]
        for length in range(1, len(path)):
            self.found.setdefault(path[:length], line)
        self.found[path] = line

    def _header(self) -> KeyPath:
        start = self.at
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        keys = self._keys()
        path: KeyPath = ()
        for depth, key in enumerate(keys, start=1):
            path = (*path, key)
            if brackets == 2 and depth == len(keys):
                self.newest[path] = self.newest.get(path, -1) + 1
            if path in self.newest:
                path = (*path, self.newest[path])
        self.at += brackets
        self._record(path, start)
        return path

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

    def _pair(self, section: KeyPath) -> None:
        start = self.at
        path = (*section, *self._keys())
        self.at += 1  # the equals sign
        self._skip(_BLANK)
        self._record(path, start)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        first = self.text[self.at]
        if first in "\"'":
            self._skip(_STRING)
        elif first == "[":
            self._array(path)
        elif first == "{":
            self._inline_table(path)
        else:
            self._skip(_SCALAR)

    def _array(self, path: KeyPath) -> None:
        self.at += 1
        entry = 0
        while self._next() != "]":
            self._record((*path, entry), self.at)
            self._value((*path, entry))
            entry += 1
        self.at += 1

    def _inline_table(self, path: KeyPath) -> None:
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


# -- Mistakes in a schema file, all collected before it is refused ---------------------------------

_LISTED = 20
_RULE = "A schema loads only without mistakes"


@dataclass(frozen=True)
class Mistake:
    """One thing to correct.

    line: counted from 1; the section's line if a key is absent; None without a text.
    where: the key, such as `columns.income.bounds`.
    """

    line: int | None
    where: str
    what: str
    allowed: str
    fix: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what} {self.allowed} {self.fix}".removeprefix(": ")

    @property
    def place(self) -> str:
        """The line and the key, as far as they are known."""
        line = "" if self.line is None else f"line {self.line}"
        return ", ".join(filter(None, (line, self.where)))


@dataclass
class Mistakes:
    """The mistakes that were found while a file is read."""

    lines: Lines = field(default_factory=Lines)
    found: list[Mistake] = field(default_factory=list)

    def add(
        self, path: KeyPath, what: str, allowed: str, fix: str, *, at: KeyPath | None = None
    ) -> None:
        """Records a mistake in the key `path`, on the line of `at` if that is another."""
        where = ""
        for part in path:
            where += f"[{part}]" if isinstance(part, int) else f".{part}"
        line = self.lines.of(path if at is None else at)
        self.found.append(_mistake(line, where.removeprefix("."), what, allowed, fix))

    def add_refusal(self, path: KeyPath, refused: Refused) -> None:
        """Records a refusal of another room."""
        self.add(path, refused.what, refused.allowed, refused.fix)

    def stop(self, file: str) -> None:
        """Refuses the file if it has mistakes."""
        if self.found:
            raise refusal(self.found, file)


def _mistake(line: int | None, where: str, what: str, allowed: str, fix: str) -> Mistake:
    sentences = Refused(what, allowed, fix)  # which adds full stops
    return Mistake(line, where, sentences.what, sentences.allowed, sentences.fix)


def refusal(mistakes: Sequence[Mistake], file: str) -> Refused:
    """One refusal of all mistakes, whose `mistakes` are sorted by line."""
    ordered = tuple(sorted(mistakes, key=lambda mistake: mistake.line or 0))
    if len(ordered) == 1:
        only = ordered[0]
        return InvalidSchema(
            f"{', '.join(filter(None, (file, only.place)))}: {only.what}",
            only.allowed,
            only.fix,
            code="schema-mistakes",
            mistakes=ordered,
            file=file,
        )
    rules = {mistake.allowed for mistake in ordered}
    rule = rules.pop() if len(rules) == 1 else None  # a rule that all share is stated once
    lines = [
        str(mistake) if rule is None else f"{mistake.place}: {mistake.what} {mistake.fix}"
        for mistake in ordered[:_LISTED]
    ]
    if len(ordered) > _LISTED:
        lines.append(f"and {len(ordered) - _LISTED} more, shown when these are corrected.")
    listed = "".join("\n" + hanging(line, "  * ") for line in lines)
    return refuse(
        "schema.schema-mistakes",
        mistakes=ordered,
        file=file,
        many=len(ordered),
        rule=rule or _RULE,
        listed=listed,
    )


# -- Reading: text and values of a file ------------------------------------------------------------

_LARGEST = 1_000_000
_POSITION = re.compile(r" \(at line (\d+), column \d+\)$")
_FILE = f"A schema is a TOML file in UTF-8 of at most {_LARGEST:,} bytes"


def read_file(path: Path) -> str:
    """The text of the file; refused if it is absent, too large, or not text."""
    content = None
    try:
        if path.is_file():
            with path.open("rb") as file:
                content = file.read(_LARGEST + 1)
    except (OSError, ValueError):
        fix = "Check the path, and the permissions of the file"
        raise _refused(path.name, "It cannot be read", fix) from None
    if content is None:
        raise _refused(path.name, "There is no such file", "Check the path")
    if len(content) > _LARGEST:
        raise _too_large(path.name)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        what = "This is not UTF-8 text"
        raise _refused(path.name, what, "Save the file as UTF-8", line) from None


def within_limit(text: str, file: str) -> str:
    """The text, refused if it is too large for a file."""
    if len(text.encode("utf-8", "replace")) > _LARGEST:
        raise _too_large(file)
    return text


def read_text(text: str, file: str) -> tuple[dict[str, object], Lines]:
    """The values in the text, every number exact, and the line of each; refused unless TOML."""
    text = within_limit(text, file).replace("\r\n", "\n")
    try:
        values = tomllib.loads(text, parse_float=_decimal)
        return {name: plain(value) for name, value in values.items()}, find_lines(text)
    except RecursionError:
        raise too_deep(file) from None
    except ValueError as error:  # tomllib's own, and Python's for a number of 4,300 digits
        position = _POSITION.search(str(error))
        line = int(position[1]) if position else text.count("\n") + 1
        what = _POSITION.sub("", str(error)).replace(" (at end of document)", ", at the end")
        raise _refused(file, what, "Correct this line: it is not TOML", line) from None


def too_deep(file: str) -> Refused:
    """The refusal of values that are nested too deeply."""
    return _refused(file, "Values are nested too deeply", "Put a deep taxonomy in a file")


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent that Python cannot hold
        return Decimal("Infinity")


def _refused(file: str, what: str, fix: str, line: int | None = None) -> Refused:
    return refusal([_mistake(line, "", what, _FILE, fix)], file)


def _too_large(file: str) -> Refused:
    return _refused(file, "It is too large", "Put long lists of categories in taxonomy files")
