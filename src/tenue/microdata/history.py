"""What was done to a table on its way, with facts from its rows: for the holder alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .method.method import Method
from .partition.grow import single_valued
from .protect import EVERY, Protected, places
from .table.original import Original


@dataclass(frozen=True)
class Step:
    """One thing that was done to the table on its way."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


def history_of(
    read: Original, original: Original, left_out: int, way: Method, safe: Protected
) -> tuple[Step, ...]:
    """The steps from the table as it was read to the table as it leaves.

    Homogeneous groups, which tell the one value that all their members have, are always counted.
    """
    steps = [Step("read", f"{read.size} rows, {len(read.cells)} columns that are no identifiers")]
    for name, many in read.beyond.items():
        if many:
            values = "1 value" if many == 1 else f"{many} values"
            text = f"{values} of `{name}` beyond the declared bounds became the nearest bound"
            steps.append(Step("clamped", text))
    if left_out:
        names = ", ".join(way.compared)
        steps.append(Step("left out", f"{left_out} rows with a missing value in {names}"))
    for name, labels in safe.groups.items():
        if original.persons is not None:
            labels = labels[np.unique(original.persons, return_index=True)[1]]
        sizes = np.bincount(labels)
        of = f" of {name}" if name and way.by != "quasi-identifiers" else ""
        text = f"{sizes.size} groups{of}, {sizes.min()} to {sizes.max()} units in each"
        steps.append(Step("partition", text))
        if way.by == "quasi-identifiers":
            break
    for name in way.confidential:
        labels = safe.groups[name if name in safe.groups else EVERY]
        alone = single_valued(places(original.cells[name]), labels, original.persons)
        groups = int(labels.max()) + 1
        steps.append(Step("homogeneous", f"{alone} of {groups} groups have one `{name}` only"))
    changed = way.quasi if way.name == "microaggregate" else way.confidential
    steps.append(Step("publish", f"{way.name} by {way.by}: {', '.join(changed)}"))
    steps.extend(Step("insisted on", word) for word in sorted(way.override))
    return tuple(steps)
