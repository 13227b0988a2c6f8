"""The larger printed tables, which lie as numbers beside the chapters that compute them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent


class Printed(NamedTuple):
    """A printed number, the right one where it is known, and how far chance moves it."""

    text: str
    right: float | None = None
    deviation: float | None = None


@cache
def printed(chapter: str, table: str) -> dict[str, Printed]:
    """The cells of a table, by the name of their row and column."""
    tables = json.loads((_HERE / chapter / "printed.json").read_text(encoding="utf-8"))
    return {name: Printed(*cell) for name, cell in tables[table].items()}
