"""Writes a schema as a new text, or into the holder's text, whose comments stay."""

from __future__ import annotations

import os
import shutil
import threading
import tomllib
from collections.abc import Mapping, MutableMapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from ...errors import refuse
from ..toml_values import key, literal, same

_WIDEST = 80
_ENTRIES = ("columns", "questions")
_LEVELS = 3  # document, section, entry


def written(values: Mapping[str, Any]) -> str:
    """The values as a new TOML text, one section after the other."""
    parts = []
    for name, section in values.items():
        if name in _ENTRIES:
            parts += [_section(f"{name}.{key(entry)}", keys) for entry, keys in section.items()]
        else:
            parts.append(_section(name, section))
    return "\n".join(parts)


def edited(text: str, values: Mapping[str, Any]) -> str:
    """The holder's text, edited where it differs from `values`.

    The result reads back as `values`, or the edit is refused.
    """
    old = tomllib.loads(text, parse_float=Decimal)
    if same(old, values, unordered=_LEVELS):
        return text
    try:
        document = tomlkit.parse(text)
        _edit(document, old, values)
        result = tomlkit.dumps(document)
        sound = same(tomllib.loads(result, parse_float=Decimal), values, unordered=_LEVELS)
    except (TOMLKitError, ValueError, KeyError):
        sound = False
    if not sound:
        raise refuse("schema.schema-layout-not-editable")
    return result


def write_whole(path: Path, text: str) -> None:
    """Writes the file whole or not at all: a crash leaves the old file or the new one."""
    draft = None
    try:
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}.tmp")
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except (OSError, ValueError):
        if draft is not None:
            draft.unlink(missing_ok=True)
        raise refuse("schema.file-not-writable", name=path.name) from None


def _section(title: str, values: Mapping[str, Any]) -> str:
    lines = (f"{key(name)} = {_wrapped(value)}\n" for name, value in values.items())
    return f"[{title}]\n" + "".join(lines)


def _wrapped(value: object) -> str:
    text = literal(value)
    if isinstance(value, list) and len(text) > _WIDEST:
        return "[\n" + "".join(f"  {literal(item)},\n" for item in value) + "]"
    return text


def _edit(
    table: MutableMapping[str, Any], old: Mapping[str, Any], new: Mapping[str, Any], *path: str
) -> None:
    for name in old:
        if name not in new:
            del table[name]
    for name, value in new.items():
        before = old.get(name)
        if isinstance(before, dict) and isinstance(value, dict) and len(path) < _LEVELS - 1:
            _edit(table[name], before, value, *path, name)
        elif name not in old or not same(before, value, unordered=0):
            if isinstance(before, dict):
                del table[name]
            inline = isinstance(table, InlineTable)
            table[name] = _on_line(value) if inline else _item(value, *path, name)


def _item(value: object, *path: str) -> Any:
    """A section of its own where the file has sections, a value on a line elsewhere."""
    section = len(path) == 1 or (len(path) == 2 and path[0] in _ENTRIES)
    if not section or not isinstance(value, dict):
        return _on_line(value)
    table = tomlkit.table()
    for name, item in value.items():
        table[name] = _item(item, *path, name)
    return table


def _on_line(value: object) -> Any:
    return tomlkit.value(_wrapped(value))
