"""What `tn.publish(method="t-close")` makes of a list of numbers, and how close groups are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...evaluate import check
from ...microdata.release import publish

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
