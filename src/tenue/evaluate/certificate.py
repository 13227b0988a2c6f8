"""The certificate that lies beside a released file: whether it belongs to it, and what it says."""

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
    ProbabilisticKAnonymity,
    Promise,
    Pure,
    TCloseness,
)
from ..text import exactly, many, named
from .check_result import Check

SWAPPED = (
    "In this table confidential values changed places inside groups. Quasi-identifiers are as they "
    "were, so people may look like nobody else, and k, l and t do not measure it. Its promise is "
    "that a confidential value in a person's row came from that person's record with probability "
    "at most 1/{k}, for whoever cannot tell the records of a group apart. The value itself may "
    "be the same for all of a group, and is then known all the same."
)
"""What the reader of k, l and t of a swapped file must know: they measure something else."""
EACH_BY_ITSELF = (
    "In this table each quasi-identifier was grouped by itself. Its promise is that every value of "
    "one is shared by at least {k} units; of combinations nothing is promised, and k, l and t "
    "measure those."
)
"""The same of a table whose quasi-identifiers were grouped one by one."""
LINKED = (
    "This release has two linked tables. Quasi-identifiers are as they were, so people may look "
    "like nobody else, and k, l and t by them do not measure it. Its promise is that a record of a "
    "person's group is that person's own with probability at most 1/{k}, for whoever cannot tell "
    "the records of a group apart. Check the table of confidential values: its groups are those."
)
"""The same of two tables that are linked by the number of a group."""
IN_GROUPS = (
    "Rows are grouped by the column that links the two tables of this release. Which record of a "
    "group is whose is not said; what all of them have in common is known of all its members."
)
"""What a file shows whose rows say in which group they are."""
DRAWN = (
    "This table was drawn under differential privacy. No row is anybody's, so nobody is found by a "
    "row that stands alone, and k, l and t do not measure it."
)
"""The same of a private table."""
BUCKETED = (
    "This table is t-close on buckets: in each of its groups every bucket of a confidential column "
    "is at most {t} times as frequent, or as rare, as in the whole. Quasi-identifiers are as they "
    "were and do not say who shares a group, so k, l and t by quasi-identifiers do not measure it; "
    "where the file has a column `group`, group by that."
)
"""The same of a table in buckets."""
MISFIT = (
    "The certificate beside this file does not fit it: {wrong}. Nothing that it says is known to "
    "hold for this file."
)
LOST = "the manifest names the file, and there is no certificate"
UNNAMED = "no manifest says that it belongs to the file"
CHANGED = "the file is not the one that the manifest names; it was changed, or is another one"
EXCHANGED = "the certificate is not the one that the manifest names"
UNREADABLE = "it is no certificate"
BY_PERSON = (
    "Everybody may have several rows, and no column `{unit}` says whose a row is. k is what the "
    "certificate says of persons; l and t count rows."
)
UNCOUNTED = (
    "Everybody may have several rows, and no column `{unit}` says whose a row is. k, l and t count "
    "rows, so there may be fewer persons than that."
)

GROUP = "group"
"""The column that links the two tables of a release."""
_PART = re.compile(r"-\d{5}$")
_ROLES = ("quasi-identifiers", "confidential", "unprotected")


@dataclass(frozen=True)
class Beside:
    """What lies beside a released file.

    certificate: what speaks for the file; None if it does not fit.
    wrong: why it does not fit; empty if it does.
    rows: how many rows the manifest says that the file has; None if it does not say.
    columns: those of the other files of the release, if it has several tables.
    """

    certificate: Certificate | None
    wrong: str = ""
    rows: int | None = None
    columns: tuple[str, ...] = ()

    @property
    def linked(self) -> bool:
        """Whether it speaks of two tables that are linked by the number of a group."""
        return self.certificate is not None and GROUP in self.columns

    def only_groups(self, columns: Sequence[str]) -> bool:
        """Whether a file of these columns is that of two linked tables whose only
        quasi-identifier is the number of a group. In the other one people are found by theirs."""
        if self.certificate is None or not self.linked:
            return False
        known = _listed(self.certificate.parameters.get("quasi-identifiers", ""))
        has = {name.lower() for name in columns}
        return GROUP in has and has.isdisjoint(name.lower() for name in known)

    @property
    def drawn(self) -> bool:
        """Whether it says that no row is anybody's, so that no column has a role."""
        return self.certificate is not None and isinstance(self.certificate.promise, Pure)


def certificate_beside(path: Path) -> Beside | None:
    """The certificate beside a file; it speaks for it only if a manifest names the bytes of both.

    Of a pattern, it speaks for all files that it names, none of which may be lacking.

    None if there is no certificate, and no manifest that names the file. Anybody can write all of
    them: what it says is what the certificate says, and no more.
    """
    manifest, beside = _manifest(path.parent), path.parent / "certificate.json"
    files = manifest.get("files")
    files = files if isinstance(files, dict) else {}
    found = [path] if path.exists() else sorted(path.parent.glob(path.name))
    known = [one for one in found or [path] if one.name in files]
    if not beside.is_file():
        return Beside(None, LOST) if known else None
    if {one.name for one in found} != set(fnmatch.filter(files, path.name)) and not path.exists():
        return Beside(None, CHANGED if known else UNNAMED)
    wrongs = [(one, CHANGED if one in known else UNNAMED) for one in found or [path]]
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
    told = [table for table in tables.values() if isinstance(table, dict)]
    listed = [table["columns"] for table in told if isinstance(table.get("columns"), list)]
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
    """What was found, with what must be known of a table about which this is promised.

    Parameters
        linked: whether it is one of two tables that are linked by the number of a group.
    """
    in_groups = check.quasi_identifiers == (GROUP,)
    if in_groups and (linked or isinstance(promise, TCloseness)):
        return replace(check, notes=(IN_GROUPS, *check.notes))
    if isinstance(promise, ProbabilisticKAnonymity):
        note = (LINKED if linked else SWAPPED).format(k=promise.k)
        return replace(check, notes=(note, *check.notes), swapped=True)
    if isinstance(promise, TCloseness):
        note = BUCKETED.format(t=exactly(promise.t))
        return replace(check, notes=(note, *check.notes), swapped=True)
    if isinstance(promise, ColumnKAnonymity) and len(check.quasi_identifiers) > 1:
        return replace(check, notes=(EACH_BY_ITSELF.format(k=promise.k), *check.notes))
    if isinstance(promise, Pure):
        return replace(check, notes=(DRAWN, *check.notes), drawn=True)
    return check


def quoted(check: Check, beside: Beside | None, columns: Sequence[str]) -> Check:
    """What was found of a file, with what lies beside it.

    Parameters
        columns: the columns of the file.
    """
    if beside is None:
        return check
    wrong = beside.wrong or _misfit(check, beside, columns)
    if wrong or beside.certificate is None:
        said = MISFIT.format(wrong=wrong)
        return replace(check, warnings=(said, *check.warnings), certificate_fits=False)
    promise = beside.certificate.promise
    note = f"The certificate beside this file says: {promise}."
    by_certificate = _by_certificate(check, beside.certificate, columns)
    told = explained(by_certificate, promise, linked=beside.linked)
    return replace(told, notes=(note, *told.notes), certificate_fits=True)


def _misfit(check: Check, beside: Beside, columns: Sequence[str]) -> str:
    """What of the file contradicts the certificate whose bytes it has; empty if nothing does."""
    if beside.certificate is None:
        return ""
    if beside.rows is not None and beside.rows != check.rows:
        return f"it was made for {many(beside.rows, 'row')}, and the file has {check.rows:,}"
    has = {name.lower() for name in (*columns, *beside.columns)}
    said = beside.certificate.parameters
    spoken = [name for role in _ROLES for name in _listed(said.get(role, ""))]
    absent = [name for name in spoken if name.lower() not in has]
    if absent:
        return f"it speaks of {named(absent)}, which the file does not have"
    promise = beside.certificate.promise
    if isinstance(promise, ColumnKAnonymity) and len(check.quasi_identifiers) == 1:
        least = promise.k
    else:
        least = promise.k if isinstance(promise, KAnonymity) else 0
    if check.smallest_rows < least and _same(check, said):
        rows = many(check.smallest_rows, "row")
        return f"it says {promise}, and some group has {rows} only"
    if isinstance(promise, TCloseness) and check.quasi_identifiers == (GROUP,):
        promised = _listed(said.get("confidential", ""))
        for column in check.confidential:
            far = column.exact_t_ratio
            if column.name in promised and (far is None or far > promise.t):
                return f"it says {promise}, and some group is farther in `{column.name}`"
    return ""


def _by_certificate(check: Check, certificate: Certificate, columns: Sequence[str]) -> Check:
    """Where units are persons whom the file does not name, k is what the certificate says of them.

    Rows are no persons: counting them would overstate k.
    """
    unit, promise = certificate.unit, certificate.promise
    if unit == "record" or unit.lower() in (name.lower() for name in columns):
        return check
    uncounted = UNCOUNTED.format(unit=unit)
    notes = [note for note in check.notes if note != uncounted]
    if not isinstance(promise, KAnonymity) or not _same(check, certificate.parameters):
        return replace(check, unit=unit, k_from="rows", notes=(uncounted, *notes))
    told = replace(check, unit=unit, k=promise.k, unique_share=0.0, k_from="certificate")
    return replace(told, notes=(BY_PERSON.format(unit=unit), *notes))


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _same(check: Check, said: Mapping[str, str]) -> bool:
    """Whether no column was looked at of which nothing was promised."""
    promised = {name.lower() for name in _listed(said.get("quasi-identifiers", ""))}
    return {name.lower() for name in check.quasi_identifiers} <= promised
