"""Every small table of one schema, its neighbours, and the laws a session really draws from."""

from __future__ import annotations

import atexit
import itertools
import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any
from unittest import mock

import pandas as pd

import tenue as tn
from tenue.engine.open import open_engine
from tenue.mechanism.refinement.update_factors import power_above

Row = tuple[int, int | None, str]
"""A person, a number that may be missing, and a group."""

Rows = tuple[Row, ...]

ROWS: list[Row] = [
    (1, 0, "a"),
    (1, 3, "a"),
    (1, 3, "b"),
    (1, None, "b"),
    (2, 0, "b"),
    (2, 3, "a"),
    (2, 3, "c"),
]
TABLES: list[Rows] = [
    rows for size in range(3) for rows in itertools.combinations_with_replacement(ROWS, size)
]


class _Kept:
    """An engine that stays open for the next session about the same rows."""

    def __init__(self, engine: Any) -> None:
        self.measure, self.ranks, self.look_up = engine.measure, engine.ranks, engine.look_up
        self.column_steps, self.validate, self.files = engine.column_steps, engine.validate, None
        self.excess = engine.excess
        atexit.register(engine.close)

    def close(self) -> None:
        pass


_engines: dict[Rows, _Kept] = {}


def session(rows: Rows, neighbours: str, **sections: Any) -> Any:
    """A session of its own ledger about the rows."""
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    frame = pd.DataFrame(
        {
            "id": pd.array(columns[0], dtype="Int64"),
            "x": pd.array(columns[1], dtype="Int64"),
            "g": pd.array(columns[2], dtype="string"),
        }
    )
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": neighbours},
        "columns": {
            "id": {"type": "identifier"},
            "x": {"type": "number", "bounds": [0, 3]},
            "g": {"type": "category", "categories": ["a", "b", "c"]},
        },
        "budget": {"total": 1000, "delta": 0.5},
    }

    def opened(source: Any, described: Any, folder: Any = None) -> Any:
        if rows not in _engines:
            _engines[rows] = _Kept(open_engine(source, described))
        return _engines[rows]

    with mock.patch("tenue.ask.dataset.open_engine", opened):
        return tn.protect(frame, schema={**schema, **sections}, ledger=tn.ledger.Memory())


def neighbouring(neighbours: str) -> Iterator[tuple[Rows, Rows]]:
    """All pairs of tables that differ in one record."""
    for one, two in itertools.product(TABLES, TABLES):
        less, more = Counter(one) - Counter(two), Counter(two) - Counter(one)
        if neighbours == "replace":
            if len(one) == len(two) and less.total() == more.total() == 1:
                yield one, two
        elif less.total() + more.total() == 1:
            yield one, two


def masses(law: Any) -> dict[Any, Fraction]:
    """The exact probability of every answer."""
    return dict(law.masses)


def largest_ratio(one: dict[Any, Fraction], two: dict[Any, Fraction]) -> Fraction:
    """Either way, over every answer."""
    assert one.keys() == two.keys()
    return max(max(one[v] / two[v], two[v] / one[v]) for v in one if one[v] or two[v])


def divergence(one: dict[Any, Fraction], two: dict[Any, Fraction], epsilon: Fraction) -> Fraction:
    """The hockey-stick divergence, either way."""
    power = power_above(epsilon)
    ways = ((one, two), (two, one))
    return max(
        sum((max(Fraction(0), p[v] - power * q[v]) for v in p), Fraction(0)) for p, q in ways
    )


def unsealed(answer: Any, data: Any) -> dict[str, Any]:
    """The certificate but for the seal of its schema, which every ledger makes with its own key."""
    told: dict[str, Any] = json.loads(answer.certificate.to_json())
    assert told.pop("schema_hash") == data.ledger.seal(data.schema.digest)
    return told
