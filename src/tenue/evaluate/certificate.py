"""The certificate that lies beside a released file, if it belongs to it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from ..errors import Refused
from ..promise import Certificate, KAnonymity, ProbabilisticKAnonymity, Promise
from .verdict import Check

SWAPPED = (
    "This table was swapped. Swapping leaves the quasi-identifiers as they were, so people may "
    "look like nobody else, and k, l and t do not measure it. Its promise is that a confidential "
    "value in a person's row came from that person's record with probability at most 1/{k}, for "
    "whoever cannot tell the records of a group apart. The value itself may be the same for all of "
    "a group, and is then known all the same."
)
"""What the reader of k, l and t of a swapped file must know: they measure something else."""


def certificate_beside(path: Path) -> Certificate | None:
    """The certificate of a released file; None unless a manifest beside it names its bytes.

    Anybody can write both: what it says is what the certificate says, and no more.
    """
    try:
        named = json.loads((path.parent / "manifest.json").read_text(encoding="utf-8"))["files"]
        for file in (path, path.parent / "certificate.json"):
            with file.open("rb") as opened:
                if named[file.name] != hashlib.file_digest(opened, "sha256").hexdigest():
                    return None
        text = (path.parent / "certificate.json").read_text(encoding="utf-8")
        return Certificate.from_json(text.strip())
    except (OSError, ValueError, KeyError, TypeError, Refused):
        return None


def explained(check: Check, promise: Promise | None) -> Check:
    """What was found, with what must be known of a table about which this is promised."""
    if isinstance(promise, ProbabilisticKAnonymity):
        return replace(check, notes=(SWAPPED.format(k=promise.k), *check.notes), swapped=True)
    return check


def quoted(check: Check, certificate: Certificate | None) -> Check:
    """What was found of a file, with what the certificate beside it says of it."""
    if certificate is None:
        return check
    promise = certificate.promise
    note = f"The certificate beside this file says: {promise}."
    known = certificate.parameters.get("quasi-identifiers", "")
    if isinstance(promise, KAnonymity) and check.smallest_rows < promise.k and _same(check, known):
        rows = "1 row" if check.smallest_rows == 1 else f"{check.smallest_rows} rows"
        note += f" The file contradicts it: some group has {rows} only."
    told = explained(check, promise)
    return replace(told, notes=(note, *told.notes))


def _same(check: Check, by: str) -> bool:
    """Whether no column was looked at of which nothing was promised."""
    promised = {name.strip().lower() for name in by.split(",")}
    return {name.lower() for name in check.quasi_identifiers} <= promised
