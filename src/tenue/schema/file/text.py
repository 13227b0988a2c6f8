"""How a schema file becomes plain values, each with its line."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path

from ...errors import InvalidSchema, Refused
from ..literal import plain
from .lines import Lines, find_lines
from .mistake import Mistake, refusal

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
        fix = "Check the path, and who may read the file"
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
    """The text, refused if a file of it could not be read again."""
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
    """The refusal of tables inside tables inside tables."""
    return _refused(file, "Values are nested too deeply", "Put a deep taxonomy in a file")


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent that Python cannot hold
        return Decimal("Infinity")


def _refused(file: str, what: str, fix: str, line: int | None = None) -> Refused:
    said = InvalidSchema(what, _FILE, fix)
    return refusal([Mistake(line, "", said.what, said.allowed, said.fix)], file)


def _too_large(file: str) -> Refused:
    return _refused(file, "It is too large", "Put long lists of categories in taxonomy files")
