"""The certificate that lies beside a released file, if it belongs to it."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from ..errors import Refused
from ..promise import Certificate, ProbabilisticKAnonymity

__all__ = ["certificate_beside", "notes_beside"]


def certificate_beside(table: object) -> Certificate | None:
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
        return Certificate.from_json(text.strip())
    except (OSError, ValueError, KeyError, TypeError, Refused):
        return None


def notes_beside(table: object) -> list[str]:
    """What the reader of k, l and t must know: of a swapped file they measure something else."""
    found = certificate_beside(table)
    if found is None:
        return []
    note = f"The certificate that came with this file promises {found.promise}."
    if isinstance(found.promise, ProbabilisticKAnonymity):
        note += (
            " Swapping leaves the quasi-identifiers as they were, so people may look like nobody "
            "else, and k, l and t do not measure it: a confidential value in a row is that "
            f"person's with probability at most 1/{found.promise.k}."
        )
    return [note]
