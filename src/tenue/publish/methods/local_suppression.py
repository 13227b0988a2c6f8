"""Local suppression: cells of quasi-identifiers are left out, as few as a good search finds.

A suppressed cell is missing, and missing is a value of its own, as for `check`: k rows with the
same values have the same cells missing. A reader who takes a missing cell for "any value" counts
more rows than that, but an intruder sees which cells are missing: a row that alone lacks a cell
would be unique. So an original value that is missing is a value too, and no row is left out for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ...arguments import whole
from ...errors import Refused, nearest, refuse
from ...noise.source import Source
from ...privacy import KAnonymity
from ...schema import Schema
from ...text import many, named, percent
from ..assessment import Assessment, Step
from ..partition.fewest_cells import fewest_cells
from ..table.cells import Numbers
from ..table.input_table import Original
from .contract import Published
from .groups import DISCLOSED, EVERY, NOT_PRIVACY, TWICE, Grouped, GroupWay
from .microaggregate import AS_THEY_ARE
from .permuted_columns import within_classes

MOST_WEIGHT = 1000

OWN_VALUE = (
    "It does not hold for a reader who takes a missing cell for any value: missing is a value of "
    "its own here, as for `check`."
)
RARE = (
    "It does not hide why a cell is missing: mostly because its combination was rare. An intruder "
    "who knows the method, or a person's true values, may conclude that the person is rare, and "
    "which of the values that other rows show the missing ones are not."
)
FILLED = (
    "It does not survive filling in: if missing values of {names} are replaced by the value that "
    "the schema declares for them, the combinations are others."
)


@dataclass(frozen=True, kw_only=True)
class LocalSuppression(Grouped):
    """Every combination of quasi-identifiers, missing cells included, is shared by at least k
    units.

    importance: how many cells a suppressed cell of a column counts for, where it is not 1.

    Source
        Meyerson and Williams 2004; Templ, Kowarik and Meindl 2015 (sdcMicro).
    """

    name = "local-suppression"
    step = "suppress"
    ways: ClassVar[dict[str, GroupWay]] = {
        "cells": GroupWay(
            "local suppression: as few cells as a search finds, not always the fewest",
            "Meyerson and Williams 2004; Templ, Kowarik and Meindl 2015",
        )
    }

    importance: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(  # type: ignore[override]  # it forms groups in one way, for k alone
        cls,
        schema: Schema,
        override: object,
        *,
        k: int,
        importance: Mapping[str, int] | None = None,
    ) -> Self:
        made = super().read(schema, override, k=k)
        return replace(made, importance={} if importance is None else made.weights_of(importance))

    def weights_of(self, importance: object) -> dict[str, int]:
        """The stated importance by column; refused for other columns."""
        if not isinstance(importance, Mapping):
            raise refuse("publish.importance-not-a-mapping", type=type(importance).__name__)
        known = {name.lower(): name for name in self.quasi}
        found = {}
        for given, weight in importance.items():
            name = known.get(str(given).lower())
            if name is None or name in found:
                near = nearest(str(given), self.quasi)
                raise refuse("publish.importance-column-unknown", column=given, nearest=near)
            found[name] = whole(weight, f"importance[{name}]", least=1)
            if found[name] > MOST_WEIGHT:
                raise refuse("publish.importance-too-large", column=name, most=MOST_WEIGHT)
        return found

    @property
    def label(self) -> str:
        return self.name

    @property
    def compared(self) -> tuple[str, ...]:
        return ()

    @property
    def changed(self) -> tuple[str, ...]:
        return self.quasi

    # -- the table ---------------------------------------------------------------------------------

    def publish(self, original: Original, source: Source) -> Published:
        columns = [original.cells[name] for name in self.quasi]
        codes = [np.where(one.present, one.numbers - one.first, -1) for one in columns]
        weights = [self.importance.get(name, 1) for name in self.quasi]
        hidden = fewest_cells(codes, self.least, source, weights, original.persons)
        shown = {
            one.name: replace(one, present=one.present & ~gone)
            for one, gone in zip(columns, hidden, strict=True)
        }
        left = np.where(hidden, -1, np.stack(codes))
        labels = np.unique(left, axis=1, return_inverse=True)[1].reshape(-1)
        groups = dict.fromkeys(self.confidential, labels)
        self.check_homogeneous(original, groups)
        return Published(
            {**original.cells, **shown}, {EVERY: labels}, steps=(self._suppressed(hidden),)
        )

    def _homogeneous(self, name: str) -> Refused:
        way_out = 'Use method="generalise" with l=2'
        return refuse("publish.sensitive-homogeneous-groups", column=name, way_out=way_out)

    def _suppressed(self, hidden: Any) -> Step:
        each = ", ".join(
            f"{name} {times:,}"
            for name, times in zip(self.quasi, hidden.sum(axis=1).tolist(), strict=True)
        )
        cells, rows = int(hidden.sum()), int(hidden.any(axis=0).sum())
        share = percent(cells / hidden.size)
        return Step("suppressed", f"{many(cells, 'cell')} ({share}) in {many(rows, 'row')}: {each}")

    def verify(self, table: Any, persons: Numbers | None) -> None:
        self.measure_again(table, persons)

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        found = super().assess(before, after, source, original, made)
        return within_classes(self, found, original, made, source)

    # -- the certificate ---------------------------------------------------------------------------

    @property
    def promise(self) -> KAnonymity:
        return KAnonymity(self.least)

    @property
    def parameters(self) -> dict[str, str]:
        found = {name: value for name, value in super().parameters.items() if name != "by"}
        if self.importance:
            each = (f"{name}: {weight}" for name, weight in self.importance.items())
            found["importance"] = ", ".join(each)
        return found

    @property
    def limits(self) -> list[str]:
        limits = [NOT_PRIVACY, TWICE, DISCLOSED, OWN_VALUE, RARE]
        filled = [name for name in self.quasi if self.schema.columns[name].missing is not None]
        if filled:
            limits.append(FILLED.format(names=named(filled)))
        return [*limits, AS_THEY_ARE]
