"""Tables 7.2 to 7.6: a medical table made anonymous, and what the chapter gets wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tenue.evaluate import check
from tenue.publish.publish import publish

from .cell import Cell, beside, claimed, met, refuted
from .data import Data
from .exhibit import erratum, table

Counts = NDArray[np.int64]


def as_table(columns: dict[str, list[Any]]) -> Any:
    import pyarrow

    return pyarrow.table(columns)


def ratio(groups: Sequence[int], buckets: Sequence[int]) -> float:
    """The distance of Definition 15: the largest quotient of shares, of group and table."""
    table = as_table({"group": list(groups), "bucket": [str(one) for one in buckets]})
    found = check(table, quasi_identifiers=["group"], confidential=["bucket"])
    exact = found.confidential[0].exact_t_ratio
    return math.inf if exact is None else float(exact)


class Close(NamedTuple):
    """A release of numbers: the group and the bucket of each record, both numbered from 0."""

    groups: list[int]
    buckets: list[int]

    @property
    def sizes(self) -> list[int]:
        """How many records each bucket has, in the order of values."""
        return self.counts.sum(axis=0).tolist()  # type: ignore[no-any-return]

    @property
    def counts(self) -> Counts:
        """A row for each group, a column for each bucket."""
        made = np.zeros((max(self.groups) + 1, max(self.buckets) + 1), np.int64)
        np.add.at(made, (self.groups, self.buckets), 1)
        return made

    @property
    def ratio(self) -> float:
        return ratio(self.groups, self.buckets)


def released(values: Sequence[int], t: Fraction | int, k: int) -> Close:
    """Published t-close with groups of k; each record has a different quasi-identifier."""
    many = len(values)
    head = {"name": "values", "unit": "record", "neighbours": "replace"}
    columns = {
        "place": {"type": "number", "bounds": [0, many], "role": "quasi-identifier"},
        "value": {"type": "number", "bounds": [0, many + 1], "role": "confidential"},
    }
    release = publish(
        as_table({"place": list(range(many)), "value": list(values)}),
        schema={"table": head, "columns": columns},
        method="t-close",
        t=str(t),
        k=k,
        ledger=False,
    )
    shown = release.tables["confidential"].to_pydict()
    ends = sorted(set(shown["value"]), key=_low)
    return Close([group - 1 for group in shown["group"]], [ends.index(b) for b in shown["value"]])


def _low(interval: str) -> float:
    return float(interval[1:].partition(",")[0])


# -- Tables 7.2 to 7.6: a medical table made anonymous, and groups that are close ------------------

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


TABLES = (
    table("7.2", "A medical table", "Table 7.2", original),
    table("7.3", "The same, 3-anonymous by generalisation", "Table 7.3", generalised),
    table("7.4", "The same by Anatomy", "Table 7.4", anatomy),
    table("7.5", "4-anonymous and 1.5-close", "Table 7.5", close),
    table("7.6", "Shares that use t up", "Table 7.6", masses),
)


# -- What chapter 7 gets wrong, each with a check that runs ----------------------------------------


def ceiling(_: Data) -> list[Cell]:
    """Bucket ends ⌈iN/(t+1) + ½⌉: six values in three buckets become 3, 2 and 1."""
    cells = []
    for units, t in ((6, 2), (10, 4), (12, 2)):
        ends = [math.ceil(Fraction(i * units, t + 1) + Fraction(1, 2)) for i in range(t + 1)]
        printed = np.diff([0, *ends[1:], units]).tolist()
        ours = released(range(1, units + 1), t, units).sizes
        cells += [
            refuted(
                f"{units} values, t = {t}",
                "sizes, as printed",
                "equal mass",
                ", ".join(map(str, printed)),
                fails=max(printed) - min(printed) > 1,
                because="The ceiling after adding a half moves every end too far; it is the floor.",
            ),
            claimed(
                f"{units} values, t = {t}",
                "sizes, corrected",
                "equal mass",
                ", ".join(map(str, ours)),
                holds=max(ours) - min(ours) <= 1,
            ),
        ]
    return cells


def recipe(buckets: list[int], t: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Section 7.2.2: the least of every other bucket, the rest of the emphasised one."""
    units, many = sum(buckets), len(buckets)
    rows = []
    ends = [math.ceil(Fraction(i * units, many)) for i in range(many + 1)]
    for i, size in enumerate(b - a for a, b in pairwise(ends)):
        row = [math.ceil(Fraction(size * bucket, units * t)) for bucket in buckets]
        row[i] = size - sum(row) + row[i]
        rows.append(row)
    return np.array(rows)


def sums(_: Data) -> list[Cell]:
    ours = released(range(1, 20), 2, 6)
    buckets = ours.sizes
    printed = recipe(buckets, 2).sum(axis=0).tolist()
    made = len(released([1] * 5 + [2] * 4, Fraction(3, 2), 3).counts)
    row, wanted = "19 records, t = 2", ", ".join(map(str, buckets))
    return [
        refuted(
            row,
            "records of each bucket",
            wanted,
            ", ".join(map(str, printed)),
            fails=printed != buckets,
            because="The recipe fills each group by itself; buckets then give too many or too few "
            "records.",
        ),
        claimed(
            row,
            "t of the three groups of Tenue",
            "at most 2",
            ours.ratio,
            holds=ours.ratio <= 2 and len(ours.counts) == 3,
        ),
        refuted(
            "buckets of 5 and 4, t = 1.5",
            "three groups of 3",
            "always possible",
            f"{made} groups",
            fails=made < 3,
            because="No whole counts satisfy all rows and columns. Fewer groups do; one always "
            "does.",
        ),
    ]


def last_member(_: Data) -> list[Cell]:
    """e^ε-closeness is not ε-differential privacy for whoever knows the others of a group."""
    cells = []
    for k in (6, 30):
        release = released(range(1, 3 * k + 1), 2, k)
        group = release.counts[0].tolist()
        cells += [
            refuted(
                f"t = 2, a group of {k}",
                "P(right), all others known",
                "at most 2 · 1/3",
                _told(group),
                fails=_told(group) > 2 / 3,
                because="The link to differential privacy holds for an intruder who knows the "
                "marginal distribution only. Whoever knows k − 1 members learns the last.",
            ),
            beside(f"t = 2, a group of {k}", "P(right), none known", max(group) / k, right=2 / 3),
        ]
    return cells


def _told(group: list[int]) -> float:
    """How often the published counts of a group less all other members leave the right bucket."""
    right = 0
    for own, many in enumerate(group):
        others = [count - (bucket == own) for bucket, count in enumerate(group)]
        left = [count - known for count, known in zip(group, others, strict=True)]
        right += many * (left.index(max(left)) == own)
    return right / sum(group)


ERRATA = (
    erratum("err.ceiling", "Bucket ends are floors", "section 7.2.2", ceiling),
    erratum("err.sums", "The recipe does not add up", "section 7.2.2", sums),
    erratum(
        "err.last", "Close is not private for who knows the others", "section 7.3", last_member
    ),
)
