"""Missing values of a private table stay missing: a value of their domain, unless the schema
declares which value replaces them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.ledger import Memory
from tenue.publish.synthetic.plan import WAYS

ROWS = 4000
SHARE = 0.1
NUMBERS = {
    "delay": {"type": "number", "bounds": [-60, 1500]},
    "day": {"type": "date", "bounds": ["2013-01-01", "2013-12-31"]},
    "at": {"type": "datetime", "bounds": ["2013-01-01T00:00:00", "2013-01-02T00:00:00"]},
}
OTHERS = {
    "gate": {"type": "category", "categories": ["a", "b", "c"]},
    "late": {"type": "boolean"},
}


def described(columns: dict[str, Any], **missing: Any) -> dict[str, Any]:
    return {
        "table": {"name": "flights", "unit": "record", "neighbours": "replace"},
        "columns": {
            name: {**column, **({"missing": missing[name]} if name in missing else {})}
            for name, column in columns.items()
        },
        "budget": {"total": 1000},
    }


def flights(*, blank: bool = True) -> pa.Table:
    rng = np.random.default_rng(1)
    delay = np.round(rng.exponential(20, ROWS))
    day = np.datetime64("2013-06-01") + rng.integers(0, 10, ROWS)
    at = np.datetime64("2013-01-01T06:00:00") + rng.integers(0, 999, ROWS)
    columns = {
        "delay": pa.array(delay),
        "day": pa.array(day),
        "at": pa.array(at),
        "gate": pa.array(rng.choice(["a", "b"], ROWS)),
        "late": pa.array(delay > 30),
    }
    if not blank:
        return pa.table(columns)
    gone = {name: rng.uniform(size=ROWS) < SHARE for name in columns}
    return pa.table(
        {
            name: pa.array(one.to_pylist(), one.type, mask=gone[name])
            for name, one in columns.items()
        }
    )


def publish(rows: pa.Table, schema: dict[str, Any], **given: Any) -> Any:
    options = {"epsilon": 40, "ledger": Memory(), **given}
    return tn.publish(rows, schema=schema, method="private", **options)


CASES = [(by, NUMBERS if by == "copula" else NUMBERS | OTHERS) for by in WAYS if by != "tree"]
CASES += [("tree", {"delay": NUMBERS["delay"], **OTHERS}), ("auto", NUMBERS | OTHERS)]
CASES += [(by, {"delay": NUMBERS["delay"]}) for by in ("auto", "tree", "columns")]
CASES += [("two-stage", {name: NUMBERS[name] for name in ("delay", "day")})]


@pytest.mark.parametrize(("by", "columns"), CASES, ids=[f"{by}-{len(c)}" for by, c in CASES])
def test_missing_values_stay_missing_where_nothing_is_declared(
    by: str, columns: dict[str, Any]
) -> None:
    rows = flights().select(list(columns))
    table = publish(rows, described(columns), by=by).table
    for name in columns:
        share = table.column(name).null_count / ROWS
        assert abs(share - SHARE) < 0.05, name
    if "delay" in columns and by != "microaggregation":
        true, made = (one.column("delay").drop_null().to_numpy() for one in (rows, table))
        assert abs(made.mean() - true.mean()) < 8
