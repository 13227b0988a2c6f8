"""Names of columns and tables, and mappings that ignore their case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

V = TypeVar("V")

_LONGEST = 128
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_COLUMN_NAME = re.compile(r"[^\W\d](?:[\w .-]*[\w.-])?")
_PERSONAL = "id|uuid|guid|ssn|email|passport|iban|surname"
_OF_PERSONS = r"(first|last|full|family|given|maiden|patient|person)[\W_]?name"
_PERSON = re.compile(rf"(?i:name|(.*[\W_])?({_PERSONAL}|{_OF_PERSONS}))|.*[a-z0-9]I[Dd]")

COMPUTED = ("(", "[")
"""Begins the name of a computed column, and never a declared name."""

IDENTIFIER = f"It must be a letter, then letters, digits and _, at most {_LONGEST} in all"
COLUMN_NAME = (
    f"It must start with a letter and have letters, digits, _, -, dots and inner spaces, at most "
    f"{_LONGEST} in all; letters beyond a to z in lower case, for engines fold only those alike"
)


def is_identifier(name: str) -> bool:
    """Whether the name is an SQL identifier without quotes.

    Example
        >>> is_identifier("census_2020"), is_identifier("2020"), is_identifier("a b")
        (True, False, False)
    """
    return len(name) <= _LONGEST and _IDENTIFIER.fullmatch(name) is not None


def is_column_name(name: str) -> bool:
    """Whether SQL accepts the name, perhaps in quotes, and every engine folds its case alike.

    Example
        >>> is_column_name("native-country"), is_column_name("año"), is_column_name('a"b')
        (True, True, False)
    """
    return (
        len(name) <= _LONGEST
        and _COLUMN_NAME.fullmatch(name) is not None
        and unicodedata.is_normalized("NFC", name)
        and all(letter.isascii() or letter == letter.lower() for letter in name)
    )


def names_a_person(name: str) -> bool:
    """Whether a column of this name usually names persons or rows.

    Example
        >>> [names_a_person(name) for name in ("patient_id", "patientId", "paid")]
        [True, True, False]
        >>> [names_a_person(name) for name in ("name", "last_name", "lastName", "product_name")]
        [True, True, True, False]
    """
    return _PERSON.fullmatch(name) is not None


def folded(name: str) -> str:
    """The form in which two names are compared: SQL ignores the case of a declared name.

    A computed column is named after its text in brackets, in which case counts: 'A' and 'a' are two
    categories.

    Example
        >>> folded("Age"), folded("(CASE WHEN c = 'A' THEN 1 END)")
        ('age', "(CASE WHEN c = 'A' THEN 1 END)")
    """
    return name if name.startswith(COMPUTED) else name.lower()


class Named(Mapping[str, V], Generic[V]):
    """An immutable mapping that ignores the case of names, as SQL does.

    Two of them are equal when they have equal values under the same names, in any order.

    Example
        >>> ages = Named([("Age", 1), ("Sex", 2)])
        >>> ages["AGE"], list(ages), "sex" in ages, ages.get("income")
        (1, ['Age', 'Sex'], True, None)
    """

    __slots__ = ("_folded", "_items")

    def __init__(self, items: Iterable[tuple[str, V]] = ()) -> None:
        self._items = tuple(items)
        self._folded = {folded(name): value for name, value in self._items}

    def __getitem__(self, name: str) -> V:
        if name not in self:
            raise KeyError(name)
        return self._folded[folded(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and folded(name) in self._folded

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Named):
            return NotImplemented
        return dict(self._items) == dict(other._items)

    def __hash__(self) -> int:
        return hash(frozenset(self))

    def __repr__(self) -> str:
        return f"Named({list(self._items)!r})"
