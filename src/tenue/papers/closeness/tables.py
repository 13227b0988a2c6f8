"""Tables 7.2 to 7.6: a medical table made anonymous, and groups that are close."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ...evaluate import check
from ...microdata.release import publish
from ..cell import Cell, beside, claimed, met
from ..data import Data
from ..exhibit import table
from .release import as_table, ratio, released

PATIENTS = (
    ("asian", "1964-09-27", "female", "hypertension"),
    ("asian", "1961-05-08", "female", "obesity"),
    ("asian", "1964-04-18", "male", "chest pain"),
    ("black", "1963-03-13", "male", "hypertension"),
    ("black", "1963-03-18", "male", "shortness of breath"),
    ("black", "1964-09-07", "female", "obesity"),
    ("white", "1961-05-14", "male", "chest pain"),
    ("white", "1963-05-08", "male", "obesity"),
    ("white", "1961-09-15", "female", "shortness of breath"),
)
"""Table 7.2: ethnicity, date of birth, sex, problem."""
NAMES = ("ethnicity", "birth", "sex", "problem")
KNOWN = list(NAMES[:3])


def patients() -> dict[str, list[Any]]:
    return {
        name: list(column) for name, column in zip(NAMES, zip(*PATIENTS, strict=True), strict=True)
    }


def original(_: Data) -> list[Cell]:
    found = check(as_table(patients()), quasi_identifiers=KNOWN, confidential=["problem"])
    return [
        met("records", "number", "9", len(PATIENTS), right=9),
        claimed(
            "ethnicity, birth and sex",
            "k",
            "de-identified only",
            found.k,
            holds=found.k == 1,
            remark="Removing names leaves everybody alone in a group.",
        ),
    ]


def generalised(_: Data) -> list[Cell]:
    columns = patients()
    columns["birth"], columns["sex"] = ["[61,64]"] * 9, ["-"] * 9
    found = check(as_table(columns), quasi_identifiers=KNOWN, confidential=["problem"])
    return [
        met("k", "3-anonymous", "3", found.k, right=3),
        beside("l", "different problems in a group, least", float(found.l or 0)),
    ]


@cache
def schema() -> dict[str, Any]:
    problems = sorted({row[3] for row in PATIENTS})
    return {
        "table": {"name": "patients", "unit": "record", "neighbours": "replace"},
        "columns": {
            "ethnicity": {
                "type": "category",
                "categories": ["asian", "black", "white"],
                "role": "quasi-identifier",
            },
            "birth": {
                "type": "date",
                "bounds": ["1960-01-01", "1965-12-31"],
                "role": "quasi-identifier",
            },
            "sex": {
                "type": "category",
                "categories": ["female", "male"],
                "role": "quasi-identifier",
            },
            "problem": {"type": "category", "categories": problems, "role": "confidential"},
        },
    }


def anatomy(_: Data) -> list[Cell]:
    """The printed groups, and those that Tenue forms."""
    columns = patients()
    groups = [{"asian": 1, "black": 2, "white": 3}[name] for name in columns["ethnicity"]]
    linked = check(
        as_table({"id": groups, "problem": columns["problem"]}),
        quasi_identifiers=["id"],
        confidential=["problem"],
    )
    release = publish(
        as_table(typed(columns)), schema=schema(), method="anatomy", k=3, ledger=False
    )
    tables = {name: one.to_pydict() for name, one in release.tables.items()}
    known, secret = tables["quasi_identifiers"], tables["confidential"]
    sizes = [known["group"].count(group) for group in set(known["group"])]
    true = sorted(map(str, secret["problem"])) == sorted(columns["problem"])
    return [
        met("printed tables", "k", "3", linked.k, right=3),
        claimed(
            "printed tables",
            "problems in a group, least",
            "kept as they are",
            float(linked.l or 0),
            holds=linked.l == 3,
        ),
        claimed(
            "publish(method='anatomy')",
            "smallest group",
            "at least 3",
            float(min(sizes)),
            holds=sizes == [3, 3, 3],
        ),
        claimed(
            "publish(method='anatomy')",
            "both tables",
            "no value is altered",
            "true" if true else "altered",
            holds=true and sorted(known["sex"]) == sorted(columns["sex"]),
        ),
    ]


def typed(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """With dates instead of their texts."""
    from datetime import date

    return columns | {"birth": [date.fromisoformat(text) for text in columns["birth"]]}


GROUPS = np.array([2, 1, 1, 3, 2, 3, 1, 2, 3, 3, 1, 2]) - 1
"""Table 7.5: the group of each of twelve records, in the order of their values."""
BUCKETS = np.repeat([0, 1, 2], 4)


def close(_: Data) -> list[Cell]:
    counts = np.zeros((3, 3), np.int64)
    np.add.at(counts, (GROUPS, BUCKETS), 1)
    ours = released(range(1, 13), Fraction(3, 2), 4)
    sizes = ours.counts.sum(axis=1).tolist()
    return [
        met("t", "printed groups", "1.5", ratio(GROUPS.tolist(), BUCKETS.tolist()), right="1.5"),
        met("k", "printed groups", "4", int(counts.sum(axis=1).min()), right=4),
        claimed(
            "B1, B2, B3 in P1",
            "counts",
            "2, 1, 1",
            ", ".join(map(str, counts[0])),
            holds=counts[0].tolist() == [2, 1, 1],
        ),
        claimed(
            "publish(method='t-close')",
            "sizes of groups",
            "at least 4",
            ", ".join(map(str, sizes)),
            holds=sizes == [4, 4, 4],
        ),
        claimed(
            "publish(method='t-close')", "t", "at most 1.5", ours.ratio, holds=ours.ratio <= 1.5
        ),
        beside("publish(method='t-close')", "buckets, ⌊t⌋ + 1", float(len(ours.sizes)), right=2),
    ]


def masses(_: Data) -> list[Cell]:
    """Theory: 1/(t+1) everywhere, t/(t+1) and 1/(t(t+1)) in a group; published so."""
    cells = []
    for t in (2, 3, 4):
        many = t + 1
        release = released(range(1, t * many * many + 1), t, t * many)
        counts = release.counts
        shares = counts / counts.sum(axis=1, keepdims=True)
        facts = (
            ("the emphasised", f"{t}/{many}", float(shares.max()), Fraction(t, many)),
            ("any other", f"1/{t * many}", float(shares.min()), Fraction(1, t * many)),
        )
        cells += [
            claimed(
                f"t = {t}",
                f"share of {name} bucket",
                says,
                ours,
                holds=math.isclose(ours, right, rel_tol=1e-12),
            )
            for name, says, ours, right in facts
        ]
        cells.append(met(f"t = {t}", "closeness", str(t), release.ratio, right=t))
        cells.append(met(f"t = {t}", "buckets", str(many), len(release.sizes), right=many))
    return cells


EXHIBITS = (
    table("7.2", "A medical table", "Table 7.2", original),
    table("7.3", "The same, 3-anonymous by generalisation", "Table 7.3", generalised),
    table("7.4", "The same by Anatomy", "Table 7.4", anatomy),
    table("7.5", "4-anonymous and 1.5-close", "Table 7.5", close),
    table("7.6", "Shares that use t up", "Table 7.6", masses),
)
