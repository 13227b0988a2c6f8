"""Writes what a benchmark measured, with the facts of the machine it ran on."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["record"]

RESULTS = Path(__file__).parent / "results"
_PACKAGES = (
    *("tenue", "numpy", "cryptography", "duckdb", "psycopg", "adbc-driver-postgresql", "pyarrow"),
    *("numba", "opendp"),
)


def record(
    name: str, rows: Sequence[Mapping[str, object]], others: Mapping[str, str] | None = None
) -> Path:
    """Writes `rows` to benchmarks/results/<name>.json and returns where.

    others: the versions of what ran in another Python.
    """
    facts = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.system()} {platform.machine()}",
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        "versions": _versions() | dict(others or {}),
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({**facts, "rows": list(rows)}, indent=1) + "\n")
    return path


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
