"""The certificate beside a released file: whether it belongs to the file, and its statements."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import Refused
from ..privacy import (
    Certificate,
    ColumnKAnonymity,
    KAnonymity,
    NoFormalPromise,
    ProbabilisticKAnonymity,
    Promise,
    Pure,
    TCloseness,
)
from ..text import exactly, many, named
from .check_result import Check

SWAPPED = (
    "In this table confidential values were swapped inside groups. Quasi-identifiers are "
    "unchanged, so people may be unique, and k, l and t do not measure the promise: a "
    "confidential value in a person's row originates from that person's record with probability "
    "at most 1/{k}, provided the intruder considers every assignment of the group's records to "
    "its members equally likely. If all members of a group have the same value, it is known "
    "nevertheless."
)
EACH_BY_ITSELF = (
    "In this table each quasi-identifier was grouped separately. Every value of one is shared by "
    "at least {k} units; nothing is promised about combinations, which k, l and t measure."
)
LINKED = (
    "This release has two linked tables. Quasi-identifiers are unchanged, so people may be "
    "unique, and k, l and t by quasi-identifiers do not measure the promise: a record of a "
    "person's group is that person's with probability at most 1/{k}, provided the intruder "
    "considers every assignment of the group's records to its members equally likely. Check the "
    "table of confidential values, which has these groups."
)
IN_GROUPS = (
    "Rows are grouped by the column that links the two tables of this release. The release does "
    "not say which record of a group is whose; what all of them have in common is known of all "
    "members."
)
DRAWN = (
    "This table was drawn under differential privacy. No row is the row of a person, so nobody is "
    "found by a unique row, and k, l and t do not measure the promise."
)
PERTURBED = (
    "In this table some values were changed at random, and nothing is promised. Rows that share "
    "values need not be of people who do, so k, l and t describe the file and no protection; what "
    "protects is that values may be false."
)
BUCKETED = (
    "This table is t-close on buckets: in each of its groups every bucket of a confidential "
    "column is at most {t} times as frequent, or as rare, as in the whole table. "
    "Quasi-identifiers are unchanged and do not say who shares a group, so k, l and t by "
    "quasi-identifiers do not measure the promise; if the file has a column `group`, group by "
    "that."
)
MISFIT = (
    "The certificate beside this file does not fit it: {wrong}. Its statements may not hold for "
    "this file."
)
LOST = "the manifest names the file, but there is no certificate"
UNNAMED = "no manifest says that it belongs to the file"
CHANGED = "the file differs from the one that the manifest names"
EXCHANGED = "the certificate is not the one that the manifest names"
UNREADABLE = "it is not a certificate"
BY_PERSON = (
    "A person may have several rows, and no column `{unit}` says whose a row is. k is what the "
    "certificate states for persons; l and t count rows."
)
UNCOUNTED = (
    "A person may have several rows, and no column `{unit}` says whose a row is. k, l and t count "
    "rows, so there may be fewer persons."
)

GROUP = "group"
"""The column that links the two tables of a release."""
_PART = re.compile(r"-\d{5}$")
_ROLES = ("quasi-identifiers", "confidential", "unprotected")


@dataclass(frozen=True)
class Beside:
    """The certificate beside a released file.

    certificate: None if it does not fit.
    wrong: why it does not fit; empty if it does.
    rows: the number of rows of the file, if the manifest has it.
    columns: the columns of the other files of the release, if it has several tables.
    """

    certificate: Certificate | None
    wrong: str = ""
    rows: int | None = None
    columns: tuple[str, ...] = ()

    @property
    def linked(self) -> bool:
        """Whether it describes two tables that are linked by the number of a group."""
        return self.certificate is not None and GROUP in self.columns

    def only_groups(self, columns: Sequence[str]) -> bool:
        """Whether a file with these columns is the one of two linked tables whose only
        quasi-identifier is the number of a group."""
        if self.certificate is None or not self.linked:
            return False
        known = _listed(self.certificate.parameters.get("quasi-identifiers", ""))
        has = {name.lower() for name in columns}
        return GROUP in has and has.isdisjoint(name.lower() for name in known)

    @property
    def drawn(self) -> bool:
        """Whether rows were drawn under differential privacy, so that no column has a role."""
        return self.certificate is not None and isinstance(self.certificate.promise, Pure)


def certificate_beside(path: Path) -> Beside | None:
    """The certificate beside a file; it fits only if a manifest has the hashes of both.

    A pattern of files needs all files of that pattern that the manifest names.

    None if there is no certificate, and no manifest that names the file. Anybody can write all of
    these files: the result states what the certificate states, and no more.
    """
    manifest, beside = _manifest(path.parent), path.parent / "certificate.json"
    files = manifest.get("files")
    files = files if isinstance(files, dict) else {}
    found = [path] if path.exists() else sorted(path.parent.glob(path.name))
    if not found:
        return None  # opening the table refuses it
    known = [one for one in found if one.name in files]
    if not beside.is_file():
        return Beside(None, LOST) if known else None
    if {one.name for one in found} != set(fnmatch.filter(files, path.name)) and not path.exists():
        return Beside(None, CHANGED if known else UNNAMED)
    wrongs = [(one, CHANGED if one in known else UNNAMED) for one in found]
    for file, wrong in (*wrongs, (beside, EXCHANGED)):
        if files.get(file.name) != _digest(file):
            return Beside(None, wrong)
    try:
        text = beside.read_text(encoding="utf-8")
        certificate = Certificate.from_json(text.strip())
    except (OSError, ValueError, Refused):
        return Beside(None, UNREADABLE)
    tables = manifest.get("tables")
    name = path.stem if path.exists() else _PART.sub("", found[0].stem)
    tables = {name: manifest} if not isinstance(tables, dict) else tables
    facts = [table for table in tables.values() if isinstance(table, dict)]
    listed = [table["columns"] for table in facts if isinstance(table.get("columns"), list)]
    own = tables.get(name)
    rows = own.get("rows") if isinstance(own, dict) else None
    columns = tuple(str(name) for names in listed for name in names) if len(tables) > 1 else ()
    return Beside(certificate, rows=rows if isinstance(rows, int) else None, columns=columns)


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return None


def explained(check: Check, promise: Promise | None, *, linked: bool = False) -> Check:
    """The result, with a note if k, l and t do not measure the promise.

    Parameters
        linked: whether it is one of two tables that are linked by the number of a group.
    """
    in_groups, swapped = check.quasi_identifiers == (GROUP,), False
    if in_groups and (linked or isinstance(promise, TCloseness)):
        note = IN_GROUPS
    elif isinstance(promise, ProbabilisticKAnonymity):
        note, swapped = (LINKED if linked else SWAPPED).format(k=promise.k), True
    elif isinstance(promise, TCloseness):
        note, swapped = BUCKETED.format(t=exactly(promise.t)), True
    elif isinstance(promise, ColumnKAnonymity) and len(check.quasi_identifiers) > 1:
        note = EACH_BY_ITSELF.format(k=promise.k)
    elif isinstance(promise, NoFormalPromise):
        note = PERTURBED
    elif isinstance(promise, Pure):
        note = DRAWN
    else:
        return check
    return replace(check, notes=(note, *check.notes), swapped=swapped, drawn=note == DRAWN)


def quoted(check: Check, beside: Beside | None, columns: Sequence[str]) -> Check:
    """The result for a file with these columns, with the statements of its certificate."""
    if beside is None:
        return check
    wrong = beside.wrong or _misfit(check, beside, columns)
    if wrong or beside.certificate is None:
        warning = MISFIT.format(wrong=wrong)
        return replace(check, warnings=(warning, *check.warnings), certificate_fits=False)
    promise = beside.certificate.promise
    note = f"The certificate beside this file says: {promise}."
    by_certificate = _by_certificate(check, beside.certificate, columns)
    found = explained(by_certificate, promise, linked=beside.linked)
    return replace(found, notes=(note, *found.notes), certificate_fits=True)


def _misfit(check: Check, beside: Beside, columns: Sequence[str]) -> str:
    """How the file contradicts its certificate; empty if it does not."""
    if beside.certificate is None:
        return ""
    if beside.rows is not None and beside.rows != check.rows:
        return f"it was made for {many(beside.rows, 'row')}, but the file has {check.rows:,}"
    has = {name.lower() for name in (*columns, *beside.columns)}
    stated = beside.certificate.parameters
    in_roles = [name for role in _ROLES for name in _listed(stated.get(role, ""))]
    absent = [name for name in in_roles if name.lower() not in has]
    if absent:
        return f"it names {named(absent)}, which the file does not have"
    promise = beside.certificate.promise
    least = 0
    if isinstance(promise, ColumnKAnonymity | KAnonymity):
        several = isinstance(promise, ColumnKAnonymity) and len(check.quasi_identifiers) > 1
        least = 0 if several else promise.k
    if check.smallest_rows < least and _covers_quasi_identifiers(check, stated):
        rows = many(check.smallest_rows, "row")
        return f"it states {promise}, but some group has {rows} only"
    if isinstance(promise, TCloseness) and check.quasi_identifiers == (GROUP,):
        promised = _listed(stated.get("confidential", ""))
        for column in check.confidential:
            far = column.exact_t_ratio
            if column.name in promised and (far is None or far > promise.t):
                return f"it states {promise}, but some group is farther in `{column.name}`"
    return ""


def _by_certificate(check: Check, certificate: Certificate, columns: Sequence[str]) -> Check:
    """If units are persons whom the file does not name, k is that of the certificate.

    Counting rows would overstate k.
    """
    unit, promise = certificate.unit, certificate.promise
    if unit == "record" or unit.lower() in (name.lower() for name in columns):
        return check
    uncounted = UNCOUNTED.format(unit=unit)
    notes = [note for note in check.notes if note != uncounted]
    if not isinstance(promise, KAnonymity) or not _covers_quasi_identifiers(
        check, certificate.parameters
    ):
        return replace(check, unit=unit, k_from="rows", notes=(uncounted, *notes))
    notes = [BY_PERSON.format(unit=unit), *notes]
    return replace(
        check, unit=unit, k=promise.k, unique_share=0.0, k_from="certificate", notes=tuple(notes)
    )


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _covers_quasi_identifiers(check: Check, stated: Mapping[str, str]) -> bool:
    promised = {name.lower() for name in _listed(stated.get("quasi-identifiers", ""))}
    return {name.lower() for name in check.quasi_identifiers} <= promised
