"""Made-up tables about people who do not exist, the same on every machine."""

from __future__ import annotations

from pathlib import Path

REGIONS = ("North", "East", "South", "West")
ROWS = 20_000
PANEL_ROWS = 10_000

SCHEMA = """\
# Everything public about the made-up table of this demo.
[table]
name = "people"
source = "people.parquet"
unit = "record"                 # each person has one row
neighbours = "add-or-remove"    # the number of people is secret

[columns.age]
type = "number"
bounds = [18, 90]
role = "quasi-identifier"

[columns.region]
type = "category"
categories = ["North", "East", "South", "West"]
role = "quasi-identifier"

[columns.income]
type = "number"
bounds = [0, 200_000]           # stated by the holder, never read from the rows
grid = 1
role = "confidential"

[columns.employed]
type = "boolean"
role = "quasi-identifier"

[budget]
total = 5.0
per_analyst = 3.0
"""


def write_people(folder: Path) -> Path:
    """Writes people.parquet and people.toml; returns the schema's path."""
    return _write(folder, "people", ROWS, 2026, SCHEMA)


def write_panel(folder: Path) -> Path:
    """The same of other people, whose number is public: panel.parquet and panel.toml."""
    schema = SCHEMA.replace('"people', '"panel')
    schema = schema.replace('"add-or-remove"    # the number of people is secret', '"replace"')
    return _write(folder, "panel", PANEL_ROWS, 2027, schema)


def _write(folder: Path, name: str, rows: int, seed: int, schema: str) -> Path:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ..noise.source import Seeded

    # repeatable words: the rows are made up, nothing about them is private
    words = Seeded(seed).words(4 * rows, 32).reshape(4, rows).astype(np.float64) / 2**32
    age = 18 + np.floor(words[0] ** 1.3 * 73)
    region = np.asarray(REGIONS)[(words[1] ** 1.2 * 4).astype(int)]
    employed = words[2] < np.where(age < 66, 0.78, 0.12)
    income = np.where(employed, 15_000 + 60_000 * words[3] ** 2.5 + 350 * (age - 18), 9_000)
    table = pa.table(
        {
            "age": age.astype(np.int32),
            "region": region,
            "income": np.floor(income).astype(np.int64),
            "employed": employed,
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / f"{name}.parquet")
    path = folder / f"{name}.toml"
    path.write_text(schema, encoding="utf-8")
    return path
