"""A release on disk: all of its files or none, and nothing else is overwritten.

In a CSV file, text that a spreadsheet would run as a formula gets an apostrophe in front, which the
manifest counts. Spreadsheets run a cell that begins with one of a few signs. Some skip spaces and
invisible characters first, and some read the wide and small forms of a sign; both are covered.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..engine.contract import FAULT
from ..errors import EngineFault, Refused, nearest, refuse
from .table.parquet_output import WrittenTable

KINDS = ("csv", "parquet")
STARTS = "=+-@\t\r\n＝＋－＠﹦﹢﹣﹫−"
IGNORED = "white space, control characters and invisible characters"
PREFIX = "'"

_SIGNS = STARTS.replace("\t\r\n", "").replace("-", r"\-")
# \s is ASCII only; \pZ are separators (the no-break space), \pC controls and formats
_RUNS = rf"^(?:[\s\pZ\pC]*[{_SIGNS}]|[\t\r\n])"
REPORT = "report.html"
_BESIDE = {"certificate.json", "manifest.json", REPORT}
_FILES = {*_BESIDE, *(f"table.{kind}" for kind in KINDS)}


def check_target(folder: Path, kind: str | None, *, replace: bool) -> None:
    """Refuses what could not be saved, before anything is read: a folder that is not empty, unless
    it may be replaced; one that cannot be created; an unknown kind of file."""
    if kind is not None and kind not in KINDS:
        raise refuse("publish.unknown-file-format", kind=kind, nearest=nearest(str(kind), KINDS))
    name = folder.absolute().name or str(folder)
    if folder.is_symlink():
        raise refuse("publish.release-folder-link", name=name)
    if folder.is_dir() and any(folder.iterdir()) and not replace:
        raise refuse("publish.release-folder-not-empty", name=name)
    if folder.is_dir() and not _is_release(folder):
        raise refuse("publish.not-a-release-folder", name=name)
    if folder.exists() and not folder.is_dir():
        raise refuse("publish.release-folder-is-file", name=name)
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not os.access(above, os.W_OK) or not above.is_dir():
        raise _unwritable(folder)


def _is_release(folder: Path) -> bool:
    """Whether a folder is empty or contains only the files of a release."""
    found = {path.name for path in folder.iterdir()}
    if found <= _FILES:
        return True
    try:
        named = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    tables = {name for name in named if name.endswith(tuple(f".{kind}" for kind in KINDS))}
    return found <= {*_BESIDE, *tables}


@dataclass(frozen=True)
class Report:
    """A page about the release, saved with it.

    for_holder: whether it contains what was computed from the original, and must not be shared.
    """

    text: str
    for_holder: bool


@dataclass(frozen=True)
class Draft:
    """A release on disk that has not left: its files are in a hidden folder beside the target,
    which only its owner can open, until `place` renames it."""

    folder: Path
    path: Path
    manifest: dict[str, Any]
    replace: bool

    @classmethod
    def write(
        cls,
        folder: Path,
        tables: Mapping[str, Any],
        certificate: str,
        kind: str,
        *,
        replace: bool,
        report: Callable[[], Report] | None = None,
    ) -> Draft:
        """Writes tables, certificate.json, report.html and manifest.json, and flushes them to the
        disk; if that fails, none remains."""
        check_target(folder, kind, replace=replace)
        target = folder.absolute()
        path = None
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            path = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
            return cls(folder, path, _fill(path, tables, certificate, kind, report), replace)
        except BaseException as error:
            if path is not None:
                shutil.rmtree(path, ignore_errors=True)
            if isinstance(error, OSError):
                raise _unwritable(folder) from None
            raise

    def place(self) -> dict[str, Any]:
        """Renames the folder to the target; returns the manifest.

        One step if there was nothing, two renames if a release is replaced (a crash between them
        leaves the old one beside it, under a name that begins with a dot).
        """
        try:
            self.path.chmod(0o755)
            _take_place(self.path, self.folder.absolute(), replace=self.replace)
        except OSError:
            raise _unwritable(self.folder) from None
        return self.manifest

    @property
    def placed(self) -> bool:
        """Whether the files have left their hidden folder; true if that cannot be determined."""
        return not self.path.is_dir()

    def discard(self) -> None:
        """Removes the files, if they have not left."""
        shutil.rmtree(self.path, ignore_errors=True)


def _fill(
    draft: Path,
    tables: Mapping[str, Any],
    certificate: str,
    kind: str,
    report: Callable[[], Report] | None,
) -> dict[str, Any]:
    entries, names = {}, []
    for name, table in tables.items():
        entries[name], files = _saved(table, draft, name, kind)
        names += files
    # the entry of the only table is that of the release
    manifest: dict[str, Any] = {"tables": entries} if len(entries) > 1 else dict(*entries.values())
    (draft / "certificate.json").write_text(certificate + "\n", encoding="utf-8")
    names.append("certificate.json")
    if report is not None:
        page = report()
        (draft / REPORT).write_text(page.text, encoding="utf-8")
        if page.for_holder:  # `files` are those that may leave
            manifest["for_the_holder"] = [REPORT]
        else:
            names.append(REPORT)
    manifest["files"] = {name: _digest(draft / name) for name in names}
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    (draft / "manifest.json").write_text(text, encoding="utf-8")
    for path in (*draft.iterdir(), draft):
        _force(path)
    return manifest


def _saved(table: Any, draft: Path, name: str, kind: str) -> tuple[dict[str, Any], list[str]]:
    """Writes one table; returns its entry in the manifest, and its files.

    Parquet files that several machines wrote are kept.
    """
    entry: dict[str, Any] = {"rows": table.num_rows, "columns": table.column_names}
    if kind == "csv":
        entry["formulas"] = _write_csv(table, draft / f"{name}.csv")
    elif isinstance(table, WrittenTable) and len(table.parts) > 1:
        files = [f"{name}-{number:05}.{kind}" for number in range(len(table.parts))]
        for part, file in zip(table.parts, files, strict=True):
            table.place(part, draft / file)
            if _digest(draft / file) != part.digest:
                raise EngineFault(FAULT)
        return {**entry, "parts": len(files)}, files
    else:
        _write_parquet(table, draft / f"{name}.{kind}")
    return entry, [f"{name}.{kind}"]


def _write_csv(table: Any, path: Path) -> dict[str, Any]:
    """Writes one table, batch by batch; returns which texts were defused."""
    import pyarrow as pa
    import pyarrow.csv

    changed: Counter[str] = Counter()
    head = defused(table.schema.empty_table())[0].schema
    with pyarrow.csv.CSVWriter(path, head) as sink:
        for batch in table.to_batches():
            safe, cells = defused(pa.Table.from_batches([batch]))
            sink.write_table(safe)
            changed.update(cells)
    starts = list(STARTS)
    return {"prefix": PREFIX, "before": starts, "also_after": IGNORED, "cells": dict(changed)}


def _write_parquet(table: Any, path: Path) -> None:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetWriter(path, table.schema) as sink:
        for batch in table.to_batches():
            sink.write_batch(batch)


def _take_place(draft: Path, target: Path, *, replace: bool) -> None:
    old = None
    # files that appeared since the folder was checked make the rename below fail
    if replace and target.is_dir() and any(target.iterdir()) and _is_release(target):
        old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
        try:
            target.rename(old)
        except OSError:
            old.rmdir()
            raise
    try:
        draft.rename(target)
    except OSError:
        if old is not None:
            old.rename(target)
        raise
    _force(target.parent)
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _force(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable(folder: Path) -> Refused:
    return refuse("publish.release-not-writable", name=folder.name)


def defused(table: Any) -> tuple[Any, dict[str, int]]:
    """The table with harmless text, and how many cells of each column were changed. Only text can
    be a formula: a negative number keeps its sign."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns, changed = [], {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column, count = _safe(column)
            if count:
                changed[name] = count
        columns.append(column)
    names = pc.cast(pa.array(table.column_names), pa.string())
    return pa.table(columns, names=_safe(names)[0].to_pylist()), changed


def _safe(words: Any) -> tuple[Any, int]:
    import pyarrow as pa
    import pyarrow.compute as pc

    risky = pc.fill_null(pc.match_substring_regex(words, _RUNS), False)
    count = int(pc.sum(risky).as_py() or 0)
    if not count:
        return words, 0
    prefix, nothing = pa.scalar(PREFIX, words.type), pa.scalar("", words.type)
    return pc.if_else(risky, pc.binary_join_element_wise(prefix, words, nothing), words), count
