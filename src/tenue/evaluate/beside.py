"""The certificate that lies beside a released file, if it belongs to it."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

from ..errors import Refused
from ..promise import Certificate, ProbabilisticKAnonymity, Promise
from .verdict import Check

__all__ = ["explained", "promised_beside", "swapped_note"]


def promised_beside(table: object) -> Promise | None:
    """What was promised of a released file; None unless a manifest beside it names its bytes."""
    if not isinstance(table, str | os.PathLike):
        return None
    path = Path(table)
    try:
        named = json.loads((path.parent / "manifest.json").read_text(encoding="utf-8"))["files"]
        for file in (path, path.parent / "certificate.json"):
            with file.open("rb") as opened:
                if named[file.name] != hashlib.file_digest(opened, "sha256").hexdigest():
                    return None
        text = (path.parent / "certificate.json").read_text(encoding="utf-8")
        return Certificate.from_json(text.strip()).promise
    except (OSError, ValueError, KeyError, TypeError, Refused):
        return None


def swapped_note(k: int) -> str:
    """What the reader of k, l and t of a swapped file must know: they measure something else."""
    return (
        "This table was swapped. Swapping leaves the quasi-identifiers as they were, so people may "
        "look like nobody else, and k, l and t do not measure it. Its promise is that a "
        "confidential value in a person's row came from that person's record with probability at "
        f"most 1/{k}. The value itself may be the same for all of a group, and is then known all "
        "the same."
    )


def explained(check: Check, promise: Promise | None) -> Check:
    """What was found, with what must be known of a table about which this was promised."""
    if promise is None:
        return check
    if isinstance(promise, ProbabilisticKAnonymity):
        notes = (swapped_note(promise.k), *check.notes)
        return replace(check, notes=notes, swapped=True)
    note = f"The certificate that came with this file promises {promise}."
    return replace(check, notes=(note, *check.notes))
