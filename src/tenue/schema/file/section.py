"""One section of a schema file, read key by key; what is wrong is noted and reading goes on.

A blank never loads. What the holder must say cannot be guessed, and above all it cannot be read
from the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from ...errors import Refused, nearest
from ..toml_values import show
from .text import KeyPath, Mistakes

BLANK = "FILL IN"
"""The text a draft writes where the holder must decide."""

_SHORT = "?"
_HINTS = {
    "name": "Write the name that questions will use for this table",
    "unit": 'Write "record" if every person has one row, else the column that names the person',
    "neighbours": 'Write "replace" if the number of rows is public, else "add-or-remove"',
    "bounds": (
        "Write the least and the greatest value any person could have, "
        "known without looking at the rows"
    ),
    "grid": "Write the step between values, such as 1 or 0.01",
    "categories": (
        "List every category a row could hold, known without looking at the rows, or remove "
        "this key and write taxonomy = a file"
    ),
    "total": "Write the epsilon that all analysts together may ever spend, such as 1.0",
    "role": 'Write "quasi-identifier", "confidential", "identifier" or "other"',
    "rows_per_unit": "Write the most rows that are kept of one person",
}


def is_blank(value: object, key: str) -> bool:
    """Whether the value is a marked blank; "?" is one too, but may be the name of a category."""
    return value == BLANK or (value == _SHORT and key not in ("categories", "missing"))


def hint(key: str) -> str:
    """How to fill the blank in `key`."""
    return _HINTS.get(key, f"Write a value for `{key}`")


# -- One section of the file, read key by key; what is wrong is noted and reading goes on ----------

T = TypeVar("T")

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")

_WIDEST_INTEGER = 256
_LARGEST_EXPONENT = 100


def is_text(value: object) -> bool:
    """Whether the value is text that says something and that every engine can hold."""
    return isinstance(value, str) and bool(value.strip()) and not _UNWRITABLE.search(value)


@dataclass(frozen=True)
class Section:
    """The keys of one section. Every method gives None where the key is absent or wrong."""

    values: Mapping[str, object]
    path: KeyPath
    mistakes: Mistakes

    @classmethod
    def read(cls, value: object, path: KeyPath, mistakes: Mistakes) -> Section | None:
        """The section at `path`; a mistake if it is not one."""
        if isinstance(value, Mapping):
            return cls(value, path, mistakes)
        title = ".".join(map(str, path))
        mistakes.add(
            path, f"`{title}` is {show(value)}", "It must be a section", f"Write [{title}]"
        )
        return None

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def wrong(self, key: str, allowed: str, fix: str, what: str | None = None) -> None:
        """Notes that the value of `key` cannot stand."""
        self.mistakes.add(
            (*self.path, key), what or f"`{key}` is {show(self.values.get(key))}", allowed, fix
        )

    def known(self, keys: Collection[str], of: str) -> None:
        """Notes every key that is not among `keys`."""
        for key in self.values:
            if key not in keys:
                listed = ", ".join(f"`{known}`" for known in sorted(keys))
                self.wrong(
                    key,
                    f"The keys of {of} are {listed}",
                    nearest(key, keys) if keys else "Remove it",
                    f"`{key}` is not a key of {of}",
                )

    def given(self, key: str, allowed: str, fix: str, *, required: bool = False) -> object | None:
        """The value as it stands, unless it is absent or a marked blank."""
        if key not in self.values:
            if required:
                path = (*self.path, key)
                self.mistakes.add(path, f"`{key}` is not stated", allowed, fix, at=self.path)
            return None
        value = self.values[key]
        entries: dict[KeyPath, object] = {(key,): value}
        if isinstance(value, list):
            entries = {(key, entry): item for entry, item in enumerate(value)}
        blanks = [place for place, item in entries.items() if is_blank(item, key)]
        for place in blanks:
            what = f"`{key}` still holds the blank {show(entries[place])}"
            allowed = "A schema loads only when every blank is filled"
            self.mistakes.add((*self.path, *place), what, allowed, hint(key))
        return None if blanks else value

    def text(self, key: str, allowed: str, fix: str, *, required: bool = False) -> str | None:
        """A text that is not empty."""
        value = self.given(key, allowed, fix, required=required)
        if value is None:
            return None
        if not is_text(value):
            self.wrong(key, allowed, fix)
            return None
        return str(value)

    def choice(
        self, key: str, options: Collection[str], *, required: bool = False, fix: str | None = None
    ) -> str | None:
        """One of the words in `options`."""
        listed = ", ".join(f'"{option}"' for option in options)
        allowed = f"`{key}` must be one of {listed}"
        fix = fix or f"Write {key} = one of {listed}"
        value = self.given(key, allowed, fix, required=required)
        if value is None or (isinstance(value, str) and value in options):
            return value
        self.wrong(key, allowed, nearest(value, options) if isinstance(value, str) else fix)
        return None

    def flag(self, key: str) -> bool | None:
        """True or false."""
        allowed, fix = f"`{key}` must be true or false", f"Write {key} = true, without quotes"
        value = self.given(key, allowed, fix)
        if value is None or isinstance(value, bool):
            return value
        self.wrong(key, allowed, fix)
        return None

    def number(
        self, key: str, check: Callable[[object], T], allowed: str, fix: str, *, required: bool
    ) -> T | None:
        """A number that `check` lets through; what `check` refuses is a mistake."""
        value = self.given(key, allowed, fix, required=required)
        return None if value is None else self.checked((key,), value, check, allowed, fix)

    def checked(
        self, keys: KeyPath, value: object, check: Callable[[object], T], allowed: str, fix: str
    ) -> T | None:
        """The number `value`, found at `keys` below this section, if `check` lets it through."""
        path = (*self.path, *keys)
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or _is_wide(value):
            self.mistakes.add(path, f"`{keys[0]}` is {show(value)}", allowed, fix)
            return None
        try:
            return check(value)
        except Refused as refused:
            self.mistakes.add_refusal(path, refused)
            return None


def _is_wide(value: int | Decimal) -> bool:
    if isinstance(value, int):
        return value.bit_length() > _WIDEST_INTEGER
    return value.is_finite() and abs(value.adjusted()) > _LARGEST_EXPONENT
