"""Published tables, what is told of them, and the numbers of `tn.evaluate` and `tn.microdata`."""

from __future__ import annotations

import functools
import json
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import tenue as tn
from golden.answers import certificate
from golden.kit import Case, Theme, digest, entropy, folder, lines, outcome, parsed, plain
from golden.tables import JOBS

COLUMNS: dict[str, dict[str, Any]] = {
    "name": {"type": "identifier"},
    "age": {"type": "number", "bounds": [0, 120], "role": "quasi-identifier"},
    "job": {"type": "category", "taxonomy": JOBS, "role": "quasi-identifier"},
    "since": {
        "type": "date",
        "bounds": ["2000-01-01", "2020-12-31"],
        "role": "quasi-identifier",
    },
    "income": {"type": "number", "bounds": [0, 1000], "grid": 0.01, "role": "confidential"},
    "tax": {"type": "number", "bounds": [0, 300], "role": "confidential"},
    "ill": {"type": "category", "categories": ["no", "flu", "cold"], "role": "confidential"},
    "note": {"type": "category", "categories": ["=1+1", "plain", "-2"], "role": "other"},
}
_JOBS = ["clerk", "writer", "farmer", "miner"]


def declared(unit: str = "record", **changes: dict[str, Any] | None) -> dict[str, Any]:
    """The schema with some keys of some columns changed; None removes a column."""
    table: dict[str, Any] = {"name": "people", "unit": unit, "neighbours": "replace"}
    if unit != "record":
        table["rows_per_unit"] = 9
    return {
        "table": table,
        "columns": {
            name: {**column, **(changes.get(name) or {})}
            for name, column in COLUMNS.items()
            if name not in changes or changes[name] is not None
        },
    }


def people(size: int = 60, persons: int | None = None) -> pa.Table:
    """Made-up rows, of so many persons, each with confidential values of their own."""
    n = persons or size
    return pa.table(
        {
            "name": [f"person {i % n}" for i in range(size)],
            "age": [18 + i * i * 7 % 77 for i in range(size)],
            "job": [_JOBS[i * 5 % 11 % 4] for i in range(size)],
            "since": [date(2000, 1, 1) + timedelta(days=i * 1013 % 7_300) for i in range(size)],
            "income": [(i % n * 7919 % 100_000) / 100 for i in range(size)],
            "tax": [i % n * 7919 % 30_000 // 100 for i in range(size)],
            "ill": [["no", "flu", "no", "cold"][i % n * 3 % 7 % 4] for i in range(size)],
            "note": [["=1+1", "plain", "-2"][i % 3] for i in range(size)],
            "undeclared": list(range(size)),
        }
    )


PUBLISHED: dict[str, dict[str, Any]] = {
    "microaggregate, k=3": {"method": "microaggregate", "k": 3},
    "microaggregate, mdav, k=5": {"method": "microaggregate", "k": 5, "by": "mdav"},
    "microaggregate, v-mdav, k=4": {"method": "microaggregate", "k": 4, "by": "v-mdav"},
    "microaggregate, v-mdav, gamma": {
        "method": "microaggregate",
        "k": 3,
        "by": "v-mdav",
        "gamma": "1.1",
    },
    "microaggregate, l=3": {"method": "microaggregate", "k": 3, "l": 3},
    "microaggregate, t=0.3": {"method": "microaggregate", "k": 3, "t": 0.3},
    "microaggregate, l=2, t=0.4": {"method": "microaggregate", "k": 3, "l": 2, "t": "0.4"},
    "generalise, k=4": {"method": "generalise", "k": 4},
    "generalise, l=2, t=0.4, suppress": {
        "method": "generalise",
        "k": 3,
        "l": 2,
        "t": "0.4",
        "suppress": 0.1,
    },
    "generalise, full-domain": {
        "method": "generalise",
        "by": "full-domain",
        "k": 4,
        "suppress": 0.1,
        "widths": {"age": [20, 40]},
    },
    "swap, k=4": {"method": "swap", "k": 4},
    "swap, quasi-identifiers, k=10": {"method": "swap", "k": 10, "by": "quasi-identifiers"},
    "swap, each-confidential, k=5": {"method": "swap", "k": 5, "by": "each-confidential"},
    "swap, other-attributes, k=5": {"method": "swap", "k": 5, "by": "other-attributes"},
    "swap, each-confidential, several k": {
        "method": "swap",
        "k": {"income": 4, "tax": 6, "ill": 5},
        "by": "each-confidential",
    },
    "swap, other-attributes, several k": {
        "method": "swap",
        "k": {"income": 4, "tax": 6, "ill": 5},
        "by": "other-attributes",
    },
}


def table(given: Any) -> dict[str, list[Any]]:
    """The cells of an Arrow table or data frame."""
    found = given if isinstance(given, pa.Table) else pa.Table.from_pandas(given)
    return {name: plain(column) for name, column in found.to_pydict().items()}


def release(made: Any) -> dict[str, Any]:
    """All that a release tells."""
    return {
        "types": ", ".join(f"{field.name}: {field.type}" for field in made.table.schema),
        "table": {name: " ".join(map(str, cells)) for name, cells in table(made.table).items()},
        "certificate": certificate(made.certificate),
        "risk": parsed(made.risk.to_json()),
        "risk in words": list(made.risk.sentences()),
        "risk text": lines(str(made.risk)),
        "utility": parsed(made.utility.to_json()),
        "utility text": lines(str(made.utility)),
        "history": [[step.name, step.text] for step in made.history],
        "text": lines(str(made)),
        "repr": repr(made) == str(made),
        "report": lines(made.report()),
        "html": digest(made._repr_html_()),
        "rows": made.rows,
        "columns": made.columns,
    }


SHOWN = {"swap, each-confidential, k=5"}
"""Releases that are recorded in every rendering; others by their table and what was measured."""


def measured(made: Any) -> dict[str, Any]:
    """The table of a release, its promise, and its risk and utility in words."""
    return {
        "table": {name: " ".join(map(str, cells)) for name, cells in table(made.table).items()},
        "promise": str(made.certificate.promise),
        "does not promise": made.certificate.does_not_promise,
        "risk": list(made.risk.sentences()),
        "utility": lines(str(made.utility)),
        "history": [f"{step.name}: {step.text}" for step in made.history],
    }


def published(
    source: Any = None,
    schema: dict[str, Any] | None = None,
    seed: int = 0,
    shown: bool = False,
    **options: Any,
) -> Any:
    """A release, or why there is none."""

    def publish() -> Any:
        told: list[str] = []
        with entropy(seed):
            made = tn.publish(
                people() if source is None else source,
                schema=declared() if schema is None else schema,
                progress=told.append,
                **options,
            )
        return {**release(made), "progress": told} if shown else measured(made)

    return outcome(publish)


def _saved(kind: str | None) -> Any:
    with entropy():
        made = tn.publish(people(), schema=declared(), method="swap", k=5)
    with folder() as place:
        manifest = made.save(place / "out", kind=kind)
        again = outcome(lambda: made.save(place / "out", kind=kind))
        found = {
            "manifest": manifest,
            "again": again,
            "replaced": made.save(place / "out", kind=kind, replace=True) == manifest,
            "files": sorted(file.name for file in (place / "out").iterdir()),
            "manifest file": json.loads((place / "out" / "manifest.json").read_text()) == manifest,
            "certificate": (place / "out" / "certificate.json").read_text()
            == made.certificate.to_json(),
            "table": _file(place / "out"),
        }
        return _without_version(found)


def _without_version(found: dict[str, Any]) -> dict[str, Any]:
    """Hashes of files that name the version, or that a library lays out, say nothing."""
    text = json.dumps(plain(found))
    for digest_ in set(re.findall(r"[0-9a-f]{64}", text)):
        text = text.replace(digest_, "<digest>")
    result = json.loads(text)
    assert isinstance(result, dict)
    return result


def _file(place: Path) -> Any:
    csv = place / "table.csv"
    if csv.exists():
        return csv.read_text().split("\n")
    (file,) = place.glob("*.parquet")
    read = pq.read_table(file)
    cells = {name: " ".join(map(str, column)) for name, column in table(read).items()}
    return {"schema": str(read.schema), "cells": cells}


def _registered() -> Any:
    ledger = tn.ledger.Memory()
    told = []
    for options in (
        {"k": 4},
        {"k": 4},
        {"k": 5, "override": "second-release"},
        {"k": 5, "override": ("second-release", "homogeneous-groups")},
    ):

        def publish(options: dict[str, Any] = options) -> Any:
            with entropy():
                made = tn.publish(
                    people(), schema=declared(), method="swap", ledger=ledger, **options
                )
            assert made.table is not None  # it leaves
            return lines(str(made.certificate)) if len(told) == 3 else "published"

        told.append(outcome(publish))
    balance = ledger.balance("people")
    return {
        "told": told,
        "releases": balance.releases,
        "text": lines(str(balance)),
        "entries": [entry.kind for entry in ledger.entries()],
        "verified": bool(ledger.verify()),
    }


def _kinds() -> dict[str, Any]:
    """The kind of table that comes in comes out."""
    rows = people(30)
    made = {}
    for kind, source in {
        "arrow": rows,
        "pandas": rows.to_pandas(),
        "polars": pl.from_arrow(rows),
    }.items():
        with entropy():
            found = tn.publish(source, schema=declared(), method="swap", k=5)
        made[kind] = [
            type(found.table).__name__,
            # pandas named its type of texts object before version 3
            re.sub(r"(?m)^(job|ill|note)( *)object$", r"\1\2   str", str(found.table.dtypes))
            if kind != "arrow"
            else "",
        ]
    return made


# -- numbers about two tables ----------------------------------------------------------------------


@functools.cache
def _pair() -> tuple[pa.Table, pa.Table, Any]:
    rows = people(48)
    columns = [name for name in COLUMNS if name != "name"]
    original = rows.select(columns)
    turned = {name: _turned(original[name].to_pylist(), i) for i, name in enumerate(columns)}
    return original, pa.table(turned), tn.Schema.from_dict(declared())


def _turned(values: list[Any], by: int) -> list[Any]:
    """Values moved by a few places inside blocks of six."""
    found: list[Any] = []
    for start in range(0, len(values), 6):
        block = values[start : start + 6]
        found += block[by % 6 :] + block[: by % 6]
    return found


def _evaluated() -> dict[str, Case]:
    E = tn.evaluate
    truth = [[i * 37 % 101, i * i % 53, (i * 7 % 11) / 4] for i in range(40)]
    shown = [[a + a % 3 - 1, b, c + (a % 2) / 2] for a, b, c in truth]
    worse = [[a - a % 10, b - b % 10, 0.0] for a, b, c in truth]

    def numbers(call: Any) -> Case:
        return lambda: outcome(call)

    def fields(found: Any) -> dict[str, Any]:
        return {name: getattr(found, name) for name in type(found).__dataclass_fields__}

    def moved(found: Any) -> list[Any]:
        return [fields(one) for one in found]

    def all_checked(**options: Any) -> Any:
        found = E.check(people(), **options)
        return {
            "json": parsed(found.to_json()),
            "text": lines(str(found)),
            "html": digest(found._repr_html_()) if hasattr(found, "_repr_html_") else None,
            "l": found.l,
            "t": found.t,
            "l_entropy": found.l_entropy,
            "t_ratio": found.t_ratio,
            "exact": [[c.name, c.exact_t, c.exact_t_ratio] for c in found.confidential],
        }

    pair = _pair
    return {
        "check, schema": numbers(lambda: all_checked(schema=tn.Schema.from_dict(declared()))),
        "check, unit": numbers(
            lambda: all_checked(schema=tn.Schema.from_dict(declared()), unit="name")
        ),
        "check, named": numbers(
            lambda: all_checked(quasi_identifiers=["job"], confidential=["ill", "tax"])
        ),
        "check, one": numbers(
            lambda: all_checked(quasi_identifiers=["job", "note"], confidential=["income"])
        ),
        "sse": numbers(lambda: [E.sse(truth, shown), E.sse(truth, worse)]),
        "sse, table": numbers(lambda: E.sse(*pair()[:2], schema=pair()[2])),
        "sse, columns": numbers(lambda: E.sse(*pair()[:2], columns=["age", "tax"])),
        "record linkage": numbers(
            lambda: [E.record_linkage(truth, shown), E.record_linkage(truth, worse)]
        ),
        "record linkage, scale": numbers(
            lambda: E.record_linkage(truth, worse, scale=[100, 50, 2])
        ),
        "record linkage, table": numbers(lambda: E.record_linkage(*pair()[:2], schema=pair()[2])),
        "within": numbers(lambda: [E.within(truth, shown, p) for p in (0, 1, 5, 50)]),
        "score": numbers(lambda: fields(E.score(truth, shown, worse))),
        "score, value": numbers(lambda: E.score(truth, shown, worse).value),
        "score of": numbers(
            lambda: (
                E.Score.of(
                    sse=4, record_linkage=0.1, baseline_sse=1, baseline_record_linkage=0.4
                ).value
            )
        ),
        "correlation": numbers(lambda: fields(E.correlation_difference(truth, shown))),
        "correlation, table": numbers(
            lambda: fields(E.correlation_difference(*pair()[:2], columns=["age", "tax", "income"]))
        ),
        "distributions": numbers(lambda: moved(E.distributions(truth, worse))),
        "distributions, bins": numbers(lambda: moved(E.distributions(truth, worse, bins=5))),
        "distributions, table": numbers(
            lambda: moved(E.distributions(*pair()[:2], schema=pair()[2]))
        ),
        "propensity": numbers(lambda: fields(E.propensity(truth, worse))),
        "propensity, table": numbers(lambda: fields(E.propensity(*pair()[:2]))),
        "risk": numbers(lambda: parsed(E.risk(*pair()).to_json())),
        "risk, text": numbers(lambda: lines(str(E.risk(*pair())))),
        "utility": numbers(lambda: parsed(E.utility(*pair()).to_json())),
        "utility, text": numbers(lambda: lines(str(E.utility(*pair())))),
    }


# -- groups ----------------------------------------------------------------------------------------


def _points(size: int, width: int) -> list[list[int]]:
    return [[(i * i * (j + 3) + 17 * i) % (101 + j) for j in range(width)] for i in range(size)]


def _partitions() -> dict[str, Case]:
    M = tn.microdata
    cases: dict[str, Case] = {}

    def labels(call: Any) -> Case:
        def case() -> Any:
            found = call()
            return {
                "labels": " ".join(map(str, found.labels.tolist())),
                "sizes": found.sizes.tolist(),
                "type": str(found.labels.dtype),
            }

        return lambda: outcome(case)

    for size, width, k in ((7, 1, 2), (30, 2, 5), (101, 3, 2), (400, 4, 5)):
        points = _points(size, width)
        name = f"{size} rows, {width} columns, k={k}"
        cases[f"mdav, {name}"] = labels(lambda points=points, k=k: M.mdav(points, k))
        cases[f"v-mdav, {name}"] = labels(lambda points=points, k=k: M.v_mdav(points, k))
        cases[f"v-mdav, gamma 1.1, {name}"] = labels(
            lambda points=points, k=k: M.v_mdav(points, k, 1.1)
        )
        column = [p[0] for p in points]
        cases[f"individual ranking, {name}"] = labels(
            lambda column=column, k=k: M.individual_ranking(column, k)
        )
        cases[f"individual ranking, optimal, {name}"] = labels(
            lambda column=column, k=k: M.individual_ranking(column, k, method="optimal")
        )
    cases["mdav, scale"] = labels(lambda: M.mdav(_points(50, 2), 3, scale=[1, 10]))
    cases["mdav, all equal"] = labels(lambda: M.mdav([[1, 1]] * 10, 3))
    cases["mdav, array"] = labels(lambda: M.mdav(np.array(_points(20, 2), dtype=float) / 8, 4))
    cases["mdav, records"] = labels(
        lambda: M.mdav(
            M.records(people(), tn.Schema.from_dict(declared()), ["age", "job", "since"]), 4
        )
    )
    cases["v-mdav, records"] = labels(
        lambda: M.v_mdav(
            M.records(people(), tn.Schema.from_dict(declared()), ["age", "job", "since"]), 4
        )
    )
    cases["records"] = lambda: (
        M.records(people(12), tn.Schema.from_dict(declared()), ["age", "job", "since"]).coordinates
    )
    cases["partition"] = lambda: [
        M.Partition(np.array([0, 1, 0, 1, 1])).sizes.tolist(),
        [g.tolist() for g in M.Partition(np.array([0, 1, 0, 1, 1])).groups()],
    ]
    return cases


def _cases() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for name, options in PUBLISHED.items():
        cases[f"publish: {name}"] = lambda name=name, options=options: published(
            shown=name in SHOWN, **options
        )
    for name in ("microaggregate, k=3", "microaggregate, l=3", "swap, k=4"):
        cases[f"publish persons: {name}"] = lambda name=name: published(
            people(90, 30), declared("name"), **PUBLISHED[name]
        )
    sensitive = declared(ill={"sensitive": True})
    for name in ("microaggregate, k=3", "microaggregate, l=3", "swap, k=4"):
        cases[f"publish sensitive: {name}"] = lambda name=name: published(
            None, sensitive, **PUBLISHED[name]
        )
    cases["publish sensitive: override"] = lambda: published(
        None, sensitive, method="microaggregate", k=3, override="homogeneous-groups"
    )
    numbers = declared(ill={"role": "other"})
    for k in (5, {"income": 4, "tax": 6}):
        for by in ("each-confidential", "other-attributes"):
            cases[f"publish numbers: swap, {by}, {k}"] = lambda k=k, by=by: published(
                None, numbers, method="swap", k=k, by=by
            )
    cases["publish: other entropy"] = lambda: published(None, None, 9, method="swap", k=4)
    cases["saved, csv"] = lambda: _saved("csv")
    cases["saved, parquet"] = lambda: _saved("parquet")
    cases["saved, by itself"] = lambda: _saved(None)
    cases["registered"] = _registered
    cases["kinds of tables"] = _kinds
    cases |= {f"evaluate: {name}": case for name, case in _evaluated().items()}
    cases |= {f"groups: {name}": case for name, case in _partitions().items()}
    return cases


THEME = Theme("releases", _cases(), exact=False)
__all__ = ["THEME", "declared", "people"]
