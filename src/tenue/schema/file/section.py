"""One section of a schema file, read key by key; mistakes are collected and reading goes on.

A blank never loads: only the holder can fill it, and never from the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from ...errors import Refused, nearest
from ..toml_values import show
from .text import KeyPath, Mistakes

BLANK = "FILL IN"
"""The text that a draft writes where the holder must decide."""
_SHORT_BLANK = "?"  # in a list of categories or of missing-value markers it is a value
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


T = TypeVar("T")

UNWRITABLE = re.compile("[\0\ud800-\udfff]")
"""The characters that not every engine can store."""
_WIDEST_INTEGER = 256
_LARGEST_EXPONENT = 100


def is_text(value: object) -> bool:
    """Whether the value is text that is not blank and that every engine can store."""
    return isinstance(value, str) and bool(value.strip()) and not UNWRITABLE.search(value)


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
        what = f"`{title}` is {show(value)}"
        mistakes.add(path, what, "It must be a section", f"Write [{title}]")
        return None

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def wrong(self, key: str, allowed: str, fix: str, what: str | None = None) -> None:
        """Records a mistake in the value of `key`."""
        what = what or f"`{key}` is {show(self.values.get(key))}"
        self.mistakes.add((*self.path, key), what, allowed, fix)

    def attempt(self, keys: KeyPath, work: Callable[[], T]) -> T | None:
        """The result of `work`; its refusal is a mistake at `keys` below this section."""
        try:
            return work()
        except Refused as refused:
            self.mistakes.add_refusal((*self.path, *keys), refused)
            return None

    def known(self, keys: Collection[str], of: str) -> None:
        """Records every key that is not among `keys` as a mistake."""
        for key in self.values:
            if key not in keys:
                listed = ", ".join(f"`{known}`" for known in sorted(keys))
                what, allowed = f"`{key}` is not a key of {of}", f"The keys of {of} are {listed}"
                self.wrong(key, allowed, nearest(key, keys), what)

    def given(self, key: str, allowed: str, fix: str, *, required: bool = False) -> object | None:
        """The value as stated, unless it is absent or a blank."""
        if key not in self.values:
            if required:
                path = (*self.path, key)
                self.mistakes.add(path, f"`{key}` is not stated", allowed, fix, at=self.path)
            return None
        value = self.values[key]
        entries: dict[KeyPath, object] = {(key,): value}
        if isinstance(value, list):
            entries = {(key, entry): item for entry, item in enumerate(value)}
        short = () if key in ("categories", "missing") else (_SHORT_BLANK,)
        blanks = [keys for keys, item in entries.items() if item in (BLANK, *short)]
        for keys in blanks:
            what = f"`{key}` still holds the blank {show(entries[keys])}"
            allowed = "A schema loads only when every blank is filled"
            fix = _HINTS.get(key, f"Write a value for `{key}`")
            self.mistakes.add((*self.path, *keys), what, allowed, fix)
        return None if blanks else value

    def valid(
        self,
        key: str,
        is_valid: Callable[[Any], bool],
        allowed: str,
        fix: str,
        *,
        required: bool = False,
    ) -> Any:
        """The value, if `is_valid` is true of it."""
        value = self.given(key, allowed, fix, required=required)
        if value is None or is_valid(value):
            return value
        self.wrong(key, allowed, fix)
        return None

    def text(self, key: str, allowed: str, fix: str, *, required: bool = False) -> str | None:
        """A text that is not blank."""
        text: str | None = self.valid(key, is_text, allowed, fix, required=required)
        return text

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
        flag: bool | None = self.valid(key, lambda value: isinstance(value, bool), allowed, fix)
        return flag

    def number(
        self,
        key: str,
        check: Callable[[object], T],
        allowed: str,
        fix: str,
        *,
        required: bool = False,
    ) -> T | None:
        """A number, as `check` returns it; its refusal is a mistake."""
        value = self.given(key, allowed, fix, required=required)
        return None if value is None else self.checked((key,), value, check, allowed, fix)

    def checked(
        self, keys: KeyPath, value: object, check: Callable[[object], T], allowed: str, fix: str
    ) -> T | None:
        """The number `value`, found at `keys` below this section, as `check` returns it."""
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or _is_wide(value):
            path = (*self.path, *keys)
            self.mistakes.add(path, f"`{keys[0]}` is {show(value)}", allowed, fix)
            return None
        return self.attempt(keys, lambda: check(value))


def _is_wide(value: int | Decimal) -> bool:
    if isinstance(value, int):
        return value.bit_length() > _WIDEST_INTEGER
    return value.is_finite() and abs(value.adjusted()) > _LARGEST_EXPONENT
