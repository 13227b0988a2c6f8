"""Whatever the table: k, l and t hold as `check` finds them, and every text is true of its row."""

from __future__ import annotations

import random
from collections import Counter
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.arguments import exact
from tenue.errors import Refused
from tenue.noise import Seeded
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.methods.contract import Method, Published
from tenue.publish.table.input_table import Original, read_original
from tenue.schema import Schema

TABLES, BATCHES = 500, 20

TREE = {
    "any": {
        "water": {"sail": ["dinghy", "yacht"], "surf": []},
        "snow": ["ski", "sled", "board"],
        "ball": [],
    }
}
SPORTS = ["dinghy", "yacht", "surf", "ski", "sled", "board", "ball"]
ABOVE = {
    "dinghy": "sail",
    "yacht": "sail",
    "sail": "water",
    "surf": "water",
    "ski": "snow",
    "sled": "snow",
    "board": "snow",
    "water": "any",
    "snow": "any",
    "ball": "any",
}
TOWNS = ["Bern", "Genf, Stadt", "Chur", "bern", "Thun"]
DAY = date(2000, 1, 1)
QUASI: dict[str, dict[str, Any]] = {
    "age": {"type": "number", "bounds": [0, 40]},
    "pay": {"type": "number", "bounds": [-10, 10], "grid": 0.5},
    "born": {"type": "date", "bounds": ["2000-01-01", "2001-12-31"]},
    "sport": {"type": "category", "taxonomy": TREE},
    "town": {"type": "category", "categories": TOWNS},
    "fit": {"type": "boolean"},
}
SECRET: dict[str, dict[str, Any]] = {
    "ill": {"type": "category", "categories": ["no", "flu", "cold"]},
    "debt": {"type": "number", "bounds": [0, 6]},
}


def value(name: str, rng: random.Random, narrow: bool) -> Any:
    few = rng.random() < 0.5 if narrow else False  # ties
    made = {
        "age": lambda: rng.choice([18, 30, 55]) if few else rng.randint(-3, 43),
        "pay": lambda: rng.choice([0.0, 2.5]) if few else rng.uniform(-11, 11),
        "born": lambda: DAY + timedelta(days=10 if few else rng.randint(0, 730)),
        "sport": lambda: "ski" if few else rng.choice(SPORTS),
        "town": lambda: "Bern" if few else rng.choice(TOWNS),
        "fit": lambda: rng.random() < 0.3,
        "ill": lambda: rng.choice(["no", "no", "no", "flu", "cold"]),
        "debt": lambda: rng.randint(0, 6),
    }
    return made[name]()


def drawn(seed: int) -> tuple[pa.Table, Schema, dict[str, Any]]:
    """A table, its schema, and what is asked of the method."""
    rng = random.Random(seed)
    quasi = sorted(rng.sample(sorted(QUASI), rng.randint(1, 4)))
    persons = rng.random() < 0.4
    rows = rng.randint(20, 150)
    columns: dict[str, dict[str, Any]] = {"name": {"type": "identifier"}}
    for name in quasi:
        columns[name] = {**QUASI[name], "role": "quasi-identifier"}
        if name == "age" and rng.random() < 0.5:
            columns[name]["missing"] = 7
    for name, declared in SECRET.items():
        columns[name] = {**declared, "role": "confidential"}
    table: dict[str, Any] = {"name": "t", "unit": "record", "neighbours": "replace"}
    if persons:
        table |= {"unit": "name", "rows_per_unit": 99}
    narrow, blank = rng.random() < 0.5, rng.choice([0, 0, 0.05])
    held: dict[str, list[Any]] = {
        name: [None if rng.random() < blank else value(name, rng, narrow) for _ in range(rows)]
        for name in (*quasi, *SECRET)
    }
    whose = [rng.randint(0, rows // 2) for _ in range(rows)] if persons else list(range(rows))
    asked: dict[str, Any] = {"k": rng.choice([2, 3, 5]), "by": rng.choice(list(FORMS))}
    if rng.random() < 0.4:
        asked["l"] = 2
    if rng.random() < 0.4:
        asked["t"] = rng.choice([0.15, 0.3, 0.5])
    if rng.random() < 0.5:
        asked["suppress"] = rng.choice([0.05, 0.2])
    if asked["by"] == "full-domain":
        asked["minimise"] = rng.choice(["ncp", "discernibility", "average-class-size"])
    types = {"pay": pa.float64(), "born": pa.date32(), "fit": pa.bool_()}
    made = {name: pa.array(held[name], types.get(name)) for name in held}
    described = Schema.from_dict({"table": table, "columns": columns})
    return pa.table({"name": [f"p{one}" for one in whose], **made}), described, asked


FORMS = ("multidimensional", "full-domain")


def texts(made: Published, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    columns = [made.cells[name].to_arrow().to_pylist() for name in names]
    return list(zip(*columns, strict=True))


def is_true(text: str, cell: Any, name: str) -> bool:
    """Whether a text holds of the value beside it, read without the code that wrote it."""
    if text == "*":
        return name in ("town", "fit")
    if name in ("age", "pay"):
        low, high = map(float, text[1:-1].split(", "))
        return low <= cell <= high
    if name == "born":
        low, high = text[1:-1].split(", ")  # type: ignore[assignment]
        return str(low) <= cell.isoformat() <= str(high)
    if name == "sport":
        above = [cell]
        while above[-1] in ABOVE:
            above.append(ABOVE[above[-1]])
        return text in above
    if name == "town":
        return cell.lower() in text.lower()
    return text == str(cell).lower()


def with_persons(made: Published, original: Original, schema: Schema) -> pa.Table:
    columns = {name: cells.to_arrow() for name, cells in made.cells.items()}
    persons = made.of(original).persons
    if persons is not None:
        columns["name"] = pa.array([f"p{one}" for one in persons.tolist()])
    return pa.table(columns)


def holds(table: pa.Table, schema: Schema, asked: dict[str, Any]) -> bool:
    found = tn.evaluate.check(table, schema)
    far = max(one.exact_t for one in found.confidential)
    return (
        found.k >= asked["k"]
        and (found.l or 0) >= asked.get("l", 1)
        and far <= exact(asked.get("t", 1), "t")
    )


@pytest.mark.parametrize(
    "batch",
    [pytest.param(batch, marks=pytest.mark.slow if batch > 5 else ()) for batch in range(BATCHES)],
)
def test_k_l_and_t_hold_and_every_text_is_true(batch: int) -> None:
    published, refused = 0, []
    for seed in range(batch, TABLES, BATCHES):
        table, schema, asked = drawn(seed)
        way = chosen_method(schema, "generalise", **asked)
        try:
            read = read_original(table, schema)
            original = way.prepare(read, Seeded(seed))
            made = way.publish(original, Seeded(seed))
        except Refused as refusal:
            refused.append(refusal.code)
            continue
        published += 1
        assert holds(with_persons(made, original, schema), schema, asked), (seed, asked)
        beside = made.of(original)
        lost = original.size - beside.size
        assert lost <= asked.get("suppress", 0) * original.size
        for name in way.quasi:
            cells = beside.cells[name].to_arrow().to_pylist()
            written = made.cells[name].to_arrow().to_pylist()
            assert all(is_true(t, c, name) for t, c in zip(written, cells, strict=True)), name
        other = way.publish(way.prepare(read, Seeded(seed + 1)), Seeded(seed + 1))
        assert Counter(texts(made, way.quasi)) == Counter(texts(other, way.quasi))
        _check_blind(way, original, made, seed)
    assert set(refused) <= {"unreachable", "invalid-table"}  # l, k; a column of one value
    assert published > 0.8 * TABLES / BATCHES


def _check_blind(way: Method, original: Original, made: Published, seed: int) -> None:
    """Without l and t, other confidential values change nothing."""
    if getattr(way, "l", None) is not None or getattr(way, "t", None) is not None:
        return
    turned = np.roll(np.arange(original.size), 1 + seed % 7)
    cells = {
        name: cells.take(turned) if name in way.confidential else cells
        for name, cells in original.cells.items()
    }
    other = way.publish(Original(cells, original.persons, original.size), Seeded(seed))
    assert texts(made, way.quasi) == texts(other, way.quasi)
