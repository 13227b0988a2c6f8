"""Files, folders and numbered steps that documents name."""

from __future__ import annotations

import re
from pathlib import Path

import tenue

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tenue"
ROOMS = [n for n in tenue.__all__ if getattr(getattr(tenue, n), "__name__", "") == f"tenue.{n}"]
"""The public modules of `tn`."""

_PATH = re.compile(r"`([\w<>./-]+(?:\.py|\.md|\.toml|/))`")
_STEP = re.compile(r"^\d+\. (.*(?:\n   .*)*)", re.MULTILINE)
_OPEN = re.compile(r"<\w+>")


def paths_in(text: str) -> list[str]:
    """The files (`room/file.py`) and folders (`room/`) that a text names, in its order."""
    return _PATH.findall(text)


def steps_in(text: str) -> list[str]:
    """The numbered steps of a text, each with its further lines."""
    return _STEP.findall(text)


def found(path: str) -> list[Path]:
    """What a path stands for, from Tenue's source or from the root; `<name>` is any name."""
    pattern = _OPEN.sub("*", path.rstrip("/"))
    several = [match for top in (SOURCE, ROOT) for match in sorted(top.glob(pattern))]
    return [one for one in several if one.is_dir()] if path.endswith("/") else several


def sections(text: str) -> dict[str, str]:
    """The texts below the headings of the second level."""
    _, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    return {title: body for title, _, body in (part.partition("\n") for part in parts)}
