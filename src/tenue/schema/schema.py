"""A schema and the file that holds it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields
from datetime import date
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import refuse
from .column import Bounded, Category, Column, Number, Value
from .file.reader import read_table
from .file.text import Lines, read_file, read_text, too_deep, within_limit
from .table import Table
from .toml_values import plain, show

_HERE = Path()
_ENTRIES = ("columns", "questions", "lookups")


@dataclass(frozen=True, kw_only=True, repr=False)
class Schema(Table):
    """Everything public about a table, as its holder states it.

    Guarantee
        The holder stated everything in it; nothing was read from rows unless `bounds_from_data`
        says so. A file with mistakes is refused with all of them at once: each of the refusal's
        `mistakes` has the line, the key, what is wrong, what is allowed and how to fix it. Numbers
        are exact.

    `Schema.load`, `Schema.parse` and `Schema.from_dict` make one and check every rule. Schemas are
    equal when they state the same, even in different files.

    Example
        >>> schema = Schema.parse('''
        ... [table]
        ... name = "census"
        ... unit = "record"
        ... neighbours = "replace"
        ...
        ... [columns.income]
        ... type = "number"
        ... bounds = [0, 200_000]
        ... role = "confidential"
        ... ''')
        >>> schema.column("INCOME").steps
        200000
        >>> print(schema)
        census: protects each record, neighbours replace
          income  number  0 to 200000 by 1  confidential
    """

    stated: Mapping[str, Any] = field(compare=False, repr=False)
    text: str | None = field(default=None, compare=False, repr=False)
    folder: Path = field(default=_HERE, compare=False, repr=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """The schema in a TOML file."""
        file = _path(path, "path")
        return cls._read(read_file(file), file.parent, file.name)

    @classmethod
    def parse(cls, text: str, *, folder: str | os.PathLike[str] = _HERE) -> Schema:
        """The schema in a TOML text, which names files relative to `folder`."""
        if not isinstance(text, str):
            raise refuse("schema.schema-not-toml-text", text=show(text))
        return cls._read(text, _path(folder, "folder"), "The schema")

    @classmethod
    def from_dict(
        cls, mapping: Mapping[str, Any], *, folder: str | os.PathLike[str] = _HERE
    ) -> Schema:
        """The schema in a mapping that has the sections and keys of the file.

        Example
            >>> schema = Schema.from_dict({
            ...     "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
            ...     "columns": {"rate": {"type": "number", "bounds": (0, 1), "grid": 0.1}}})
            >>> schema.columns["rate"].grid
            Fraction(1, 10)
        """
        if not isinstance(mapping, Mapping):
            raise refuse("schema.schema-not-a-mapping", mapping=show(mapping))
        return cls._from_mapping(mapping, _path(folder, "folder"), None)

    @classmethod
    def _from_mapping(cls, mapping: Mapping[str, Any], folder: Path, text: str | None) -> Schema:
        try:
            values = plain(mapping)
        except RecursionError:
            raise too_deep("The schema") from None
        return cls._from_values(values, Lines(), folder, "The schema", text)

    @classmethod
    def _read(cls, text: str, folder: Path, file: str) -> Schema:
        values, lines = read_text(text, file)
        return cls._from_values(values, lines, folder, file, text)

    @classmethod
    def _from_values(
        cls, values: Any, lines: Lines, folder: Path, file: str, text: str | None
    ) -> Schema:
        table = read_table(values, lines, folder, file)
        parts = {part.name: getattr(table, part.name) for part in fields(table)}
        return cls(**parts, stated=values, text=text, folder=folder)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of what the schema means, for certificates and cache keys; see `fingerprint`
        for what it covers."""
        return fingerprint(self)

    @property
    def location(self) -> str | None:
        """The source as an engine opens it: a file's path starts at the schema's own folder."""
        if self.source is None or "://" in self.source:
            return self.source
        return str(self.folder / self.source)

    @property
    def ledger_location(self) -> Path | str | None:
        """The ledger's file or address, if the schema names one; a relative path starts at the
        schema's own folder."""
        if self.ledger is None or "://" in self.ledger:
            return self.ledger
        return self.folder / self.ledger

    @property
    def without_role(self) -> tuple[str, ...]:
        """The columns whose role the holder has not stated, although a release may have them.

        No release has a column that names a person or is derived from others.
        """
        stated = self.stated["columns"]
        return tuple(
            name
            for name, column in self.columns.items()
            if "role" not in stated[name]
            and column.role != "identifier"
            and name.lower() != self.unit.lower()
            and not (isinstance(column, Number) and column.expression is not None)
        )

    def replace(self, **sections: Mapping[str, Any] | None) -> Schema:
        """A schema in which the given keys have new values; None removes a key or a section.

        Example
            >>> schema = Schema.from_dict({
            ...     "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            ...     "columns": {"age": {"type": "number", "bounds": [0, 120]}}})
            >>> schema.replace(table={"rows": 1080}, columns={"age": {"bounds": [0, 99]}}).rows
            1080
        """
        stated = self.to_dict()
        for name, section in sections.items():
            depth = 2 if name in _ENTRIES else 1
            stated[name] = _merged(stated.get(name), section, depth)
        return self._from_mapping(stated, self.folder, self.text)

    def to_dict(self) -> dict[str, Any]:
        """The sections and keys as stated, which `Schema.from_dict` reads."""
        return deepcopy(dict(self.stated))

    def to_toml(self) -> str:
        """The schema as TOML: the holder's own text, edited only where values have changed."""
        from .file.writer import edited, written

        return written(self.stated) if self.text is None else edited(self.text, self.stated)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_toml()` whole or not at all.

        A relative source or taxonomy keeps its name, which then starts at the new file's folder.
        """
        from .file.writer import write_whole

        file = _path(path, "path")
        write_whole(file, within_limit(self.to_toml(), file.name))


def _path(given: object, name: str) -> Path:
    if isinstance(given, str | os.PathLike):
        return Path(given)
    raise refuse("schema.path-wrong-type", name=name, given=show(given))


def _merged(old: Any, new: Any, depth: int) -> Any:
    if depth == 0 or not isinstance(new, Mapping) or not isinstance(old, Mapping):
        return new
    return {**old, **{name: _merged(old.get(name), item, depth - 1) for name, item in new.items()}}


def fingerprint(table: Table) -> str:
    """The SHA-256, in hexadecimal, of what changes the meaning of an answer or a release.

    That is the table's name, unit, neighbours, public number of rows, contribution limits, whether
    bounds came from the data, the content of lookups, and every column with its type, domain, role,
    missing value, missing-value markers, expression and bounds of a person's sum. Comments, layout,
    the order of columns and keys, the case of names, and defaults that are written out do not
    count. Neither do the budget, the protocol and the approved questions (they decide whether an
    answer is given and at what price), the paths of source and ledger (moving a file changes
    nothing), and the data version (a part of its own in the cache key).
    """
    meaning: dict[str, object] = {
        "form": "tenue schema 1",
        "name": table.name.lower(),
        "unit": table.unit.lower(),
        "neighbours": table.neighbours,
        "rows": table.rows,
        "rows_per_unit": table.rows_per_unit,
        "groups_per_unit": table.groups_per_unit,
        "bounds_from_data": table.bounds_from_data,
        "columns": {name.lower(): _column(column) for name, column in table.columns.items()},
    }
    if table.lookups:
        meaning["lookups"] = {name.lower(): one.digest for name, one in table.lookups.items()}
    text = json.dumps(meaning, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _column(column: Column) -> dict[str, object]:
    meaning: dict[str, object] = {
        "type": column.type,
        "role": column.role,
        "sensitive": column.sensitive,
        "missing": _value(column.missing),
    }
    if column.marks:
        meaning["marks"] = sorted(
            show(mark if isinstance(mark, str) else Fraction(mark)) for mark in column.marks
        )
    if isinstance(column, Bounded):
        meaning |= {key: str(getattr(column, key)) for key in ("low", "high", "grid")}
    if isinstance(column, Number):
        if column.expression is not None:
            meaning["expression"] = str(column.expression.tree)
        if column.bounds_per_unit is not None:
            meaning["bounds_per_unit"] = list(map(str, column.bounds_per_unit))
    if isinstance(column, Category):
        meaning["taxonomy"] = column.taxonomy.digest
    return meaning


def _value(value: Value | None) -> str | bool | None:
    if value is None or isinstance(value, bool):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)


def given_schema(given: object) -> tuple[Schema, Path | None]:
    """The schema, and its file if it came from one."""
    if isinstance(given, Schema):
        return given, None
    if isinstance(given, Mapping):
        return Schema.from_dict(given), None
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        return Schema.load(path), path
    raise refuse("schema.schema-wrong-type", type=type(given).__name__)
