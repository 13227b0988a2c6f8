"""A small table, its schema and a session, for tests of this room."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import tenue as tn
from tenue.ask.question import Question
from tenue.ask.session import Session
from tenue.ask.sql.parse import parse
from tenue.ask.workload.plan import Workload, plan_workload
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

_PLACES = np.arange(600)
TABLE = pd.DataFrame(
    {
        "x": _PLACES * 7 % 40,
        "y": [None if n % 11 == 0 else n % 9 - 3 for n in range(600)],
        "pay": _PLACES % 50,
        "c": np.array(["a", "b", "d"])[_PLACES % 3],
        "born": pd.Timestamp("2020-01-10") + pd.to_timedelta(_PLACES % 300, unit="D"),
        "who": _PLACES // 2,
    }
)

ONE = EpsilonDelta.of(1)


def schema(neighbours: str = "add-or-remove", rows_per_unit: int | None = None) -> Schema:
    table: dict[str, Any] = {"name": "t", "unit": "record", "neighbours": neighbours}
    if rows_per_unit is not None:
        table |= {"unit": "who", "rows_per_unit": rows_per_unit}
    return Schema.from_dict(
        {
            "table": table,
            "columns": {
                "x": {"type": "number", "bounds": [0, 39], "missing": 0},
                "y": {"type": "number", "bounds": [-3, 5]},
                "pay": {"type": "number", "bounds": [0, 50], "missing": 0},
                "c": {"type": "category", "categories": ["a", "b", "d"], "missing": "a"},
                "born": {"type": "date", "bounds": ["2020-01-10", "2021-03-05"]},
                "who": {"type": "identifier"},
            },
            "budget": {"total": 10_000},
        }
    )


def session(neighbours: str = "add-or-remove", rows_per_unit: int | None = None) -> Session:
    described = schema(neighbours, rows_per_unit)
    return tn.protect(TABLE, schema=described, ledger=tn.ledger.Memory())


def asked(*texts: str, described: Schema | None = None) -> list[Question]:
    return [parse(text, described or schema()) for text in texts]


def planned(
    *texts: str,
    minimise: object = "variance",
    price: EpsilonDelta = ONE,
    described: Schema | None = None,
) -> Workload:
    given = described or schema()
    return plan_workload(asked(*texts, described=given), texts, given, price, minimise)


def thresholds(many: int = 30) -> list[str]:
    return [f"SELECT COUNT(*) FROM t WHERE x < {k}" for k in range(1, many + 1)]  # noqa: S608
