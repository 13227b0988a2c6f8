"""Made-up tables, from whole numbers only, and their schemas."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa

import tenue as tn

REGIONS = ["North", "South", "East"]
JOBS = {"any": {"desk": ["clerk", "writer"], "field": ["farmer", "miner"]}}

_PERSON = {
    "income": {"type": "number", "bounds": [0, 200_000], "grid": 1},
    "age": {"type": "number", "bounds": [0, 120]},
    "rate": {"type": "number", "bounds": [-1, 1], "grid": 0.1},
    "region": {"type": "category", "categories": REGIONS},
    "employed": {"type": "boolean"},
    "born": {"type": "date", "bounds": ["1920-01-01", "2019-12-31"]},
    "seen": {
        "type": "datetime",
        "bounds": ["2020-01-01T00:00:00", "2020-12-31T23:59:00"],
        "grid": 60,
    },
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "replaced": {
        "table": {
            "name": "census",
            "unit": "record",
            "neighbours": "replace",
            "rows": 240,
        },
        "columns": {
            **_PERSON,
            "income": {**_PERSON["income"], "missing": 0},
            "age": {**_PERSON["age"], "missing": 40},
        },
        "budget": {"total": 1000, "delta": 1e-3, "individual": 100},
    },
    "uncounted": {
        "table": {"name": "census", "unit": "record", "neighbours": "replace"},
        "columns": _PERSON,
        "budget": {"total": 1000},
    },
    "added": {
        "table": {"name": "census", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            **_PERSON,
            "thousands": {
                "type": "number",
                "bounds": [0, 200],
                "grid": 0.1,
                "expression": "income / 1000",
            },
            "spread": {
                "type": "number",
                "bounds": [-120, 200_000],
                "expression": "income - age",
            },
        },
        "budget": {"total": 1000, "per_analyst": 10, "delta": 1e-3, "individual": 100},
        "questions": {
            "median_income": {
                "sql": "SELECT MEDIAN(income) FROM census",
                "promise": "individual",
                "epsilon": 0.5,
                "times": 2,
            }
        },
    },
    "visits": {
        "table": {
            "name": "visits",
            "unit": "patient",
            "neighbours": "add-or-remove",
            "rows_per_unit": 3,
            "groups_per_unit": 2,
        },
        "columns": {
            "patient": {"type": "identifier"},
            "cost": {
                "type": "number",
                "bounds": [0, 2_000],
                "grid": 0.5,
                "bounds_per_unit": [0, 3_000],
            },
            "ward": {"type": "category", "taxonomy": JOBS},
            "sick": {"type": "boolean"},
            "day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]},
        },
        "budget": {"total": 1000, "individual": 100},
    },
    "people": {
        "table": {
            "name": "people",
            "unit": "id",
            "neighbours": "add-or-remove",
            "rows_per_unit": 1,
        },
        "columns": {
            "id": {"type": "identifier"},
            "age": {"type": "number", "bounds": [0, 100]},
            "employed": {"type": "category", "categories": ["yes", "no"]},
            "benefits": {"type": "category", "categories": ["yes", "no"]},
            "sick": {"type": "boolean"},
        },
        "budget": {"total": 1000, "delta": 1e-3},
    },
    "exchanged": {
        "table": {
            "name": "people",
            "unit": "id",
            "neighbours": "replace",
            "rows_per_unit": 2,
        },
        "columns": {
            "id": {"type": "identifier"},
            "age": {"type": "number", "bounds": [0, 100], "missing": 0},
            "employed": {"type": "category", "categories": ["yes", "no"]},
            "benefits": {"type": "category", "categories": ["yes", "no"]},
            "sick": {"type": "boolean"},
        },
        "budget": {"total": 1000, "delta": 1e-3},
    },
    "fixed": {
        "table": {"name": "census", "unit": "record", "neighbours": "add-or-remove"},
        "columns": _PERSON,
        "budget": {"total": 1000},
        "protocol": {"kind": "fixed-noise", "scale": 20},
    },
    "refinement": {
        "table": {"name": "census", "unit": "record", "neighbours": "add-or-remove"},
        "columns": _PERSON,
        "budget": {"total": 1000},
        "protocol": {"kind": "refinement"},
    },
}


def census(size: int = 240) -> pa.Table:
    """Records; a few have no age, no region or an income beyond the bounds."""
    return pa.table(
        {
            "income": [i * 7919 % 210_000 for i in range(size)],
            "age": [None if i % 31 == 0 else i * 37 % 101 for i in range(size)],
            "rate": [(i * 13 % 21 - 10) / 10 for i in range(size)],
            "region": [None if i % 53 == 5 else REGIONS[i * i % 3] for i in range(size)],
            "employed": [i * 11 % 7 < 4 for i in range(size)],
            "born": [date(1930, 1, 1) + timedelta(days=i * 97 % 30_000) for i in range(size)],
            "seen": [datetime(2020, 1, 1) + timedelta(minutes=i * 2111) for i in range(size)],
        }
    )


def visits(size: int = 400) -> pa.Table:
    """Visits of 90 patients, who have from 1 to 8 of them."""
    wards = ["clerk", "writer", "farmer", "miner"]
    return pa.table(
        {
            "patient": [f"p{i * i % 97 if i % 5 else i % 90}" for i in range(size)],
            "cost": [(i * 331 % 4_001) / 2 for i in range(size)],
            "ward": [wards[i * 5 % 7 % 4] for i in range(size)],
            "sick": [i % 3 == 0 for i in range(size)],
            "day": [date(2024, 1, 1) + timedelta(days=i * 17 % 366) for i in range(size)],
        }
    )


def people(size: int = 60) -> pa.Table:
    """One row of each person."""
    return pa.table(
        {
            "id": list(range(size)),
            "age": [i * 29 % 97 for i in range(size)],
            "employed": ["yes" if i % 3 else "no" for i in range(size)],
            "benefits": ["yes" if i % 6 == 0 else "no" for i in range(size)],
            "sick": [i % 4 == 1 for i in range(size)],
        }
    )


ROWS = {"census": census, "visits": visits, "people": people}


def opened(name: str, *, analyst: str | None = None, ledger: Any = None) -> Any:
    """The table of a schema, with a ledger of its own."""
    schema = SCHEMAS[name]
    return tn.protect(
        ROWS[schema["table"]["name"]](),
        schema=schema,
        ledger=tn.ledger.Memory() if ledger is None else ledger,
        analyst=analyst,
    )
