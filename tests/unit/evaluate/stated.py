"""Schemas and tables that several tests of this room use."""

from __future__ import annotations

from typing import Any

import tenue as tn


def schema(columns: dict[str, dict[str, Any]], **table: Any) -> tn.Schema:
    head = {"name": "people", "unit": "record", "neighbours": "replace", **table}
    return tn.Schema.from_dict({"table": head, "columns": columns})


AGE = {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"}
TOWN = {"type": "category", "categories": ["north", "south"], "role": "quasi-identifier"}
ILL = {"type": "category", "categories": ["flu", "cold", "none"], "role": "confidential"}
PAY = {"type": "number", "bounds": [0, 1000], "role": "confidential"}
NAME = {"type": "identifier", "role": "identifier"}


def people() -> tn.Schema:
    return schema({"name": NAME, "age": AGE, "town": TOWN, "ill": ILL, "pay": PAY})


ROWS: dict[str, list[Any]] = {
    "age": [30, 30, 30, 40, 40, 40, 40],
    "town": ["north", "north", "north", "south", "south", "south", "south"],
    "ill": ["flu", "flu", "cold", "none", "none", "none", "none"],
    "pay": [100, 200, 300, 100, 200, 300, 400],
}
