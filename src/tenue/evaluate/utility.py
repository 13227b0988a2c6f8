"""Was it worth it: what a masked table is still good for."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from ..number import checked_call
from ..screen.number import percent, shortly
from .pair.attributes import Attribute, paired
from .pair.correlation import CorrelationDifference, correlation_of
from .pair.distribution import Moved, moved
from .pair.loss import sse_of
from .pair.propensity import Propensity, propensity_of
from .risk import stated
from .verdict import plain

_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, repr=False)
class Utility:
    """What masking did to a table. Computed from the original: for the holder only.

    In a release the original is the table as the schema reads it: values on their grid and between
    their bounds, without the rows that were left out. What reading alone changed is not in these
    figures; the release's history counts it.

    sse: the sum of squared errors in raw units, 0 is best; by column in `sse_by_column`.
    relative_error: the root of the mean squared error, every column divided by the width of its
        domain, over the columns that changed: 0 is best, 1 as bad as if all values had gone from
        one end to the other; by column, the unchanged ones too, in `relative_by_column`.
    correlation: how far correlations moved; None with fewer than two columns of numbers.
    columns: how far the distribution of each column moved.
    propensity: how well masked rows are told from original ones.
    """

    sse: float
    sse_by_column: tuple[tuple[str, float], ...]
    relative_error: float
    relative_by_column: tuple[tuple[str, float], ...]
    correlation: CorrelationDifference | None
    columns: tuple[Moved, ...]
    propensity: Propensity

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them; "inf" for what is infinite."""
        correlation = self.correlation
        return {
            "sse": plain(self.sse),
            "sse_by_column": {name: plain(value) for name, value in self.sse_by_column},
            "relative_error": plain(self.relative_error),
            "relative_by_column": {name: plain(value) for name, value in self.relative_by_column},
            "correlation": None
            if correlation is None
            else {
                "mean": correlation.mean,
                "sd": correlation.sd,
                "pairs": [
                    {"columns": list(names), "original": before, "masked": after}
                    for names, (before, after) in correlation.pairs.items()
                ],
            },
            "columns": [
                {name: plain(value) for name, value in asdict(column).items()}
                for column in self.columns
            ],
            "propensity": asdict(self.propensity),
        }

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict())

    def __repr__(self) -> str:
        return str(self)

    @property
    def in_short(self) -> str:
        """The loss in one sentence."""
        return f"Changed columns moved by {percent(self.relative_error)} of their domain."

    def __str__(self) -> str:
        kept = [name for name, moved in self.relative_by_column if moved == 0]
        lines = ["No value changed."]
        if len(kept) < len(self.columns):
            lines = [
                f"Values that may change moved by {percent(self.relative_error)} of the width of "
                "their domain (root mean square). By column: "
                + ", ".join(
                    f"{name} {percent(moved)}" for name, moved in self.relative_by_column if moved
                )
                + "."
            ]
            if kept:
                lines.append(f"Unchanged: {', '.join(kept)}.")
        if self.correlation is not None:
            lines.append(
                f"Correlations moved by {shortly(self.correlation.mean, 4)} on average "
                f"(standard deviation {shortly(self.correlation.sd, 4)})."
            )
        lines.append(
            f"A model that tries to tell masked rows from original ones scores "
            f"{shortly(self.propensity.score, 4)}; 0 if it cannot, 0.25 if it always can."
        )
        width = max(len("column"), *(len(column.name) for column in self.columns))
        lines += [
            "",
            f"{'column':<{width}}  {'values':>9} {'mean':>9} {'variance':>9} {'quantiles':>9} "
            f"{'shares':>9}",
        ]
        for column, (_, values) in zip(self.columns, self.relative_by_column, strict=True):
            cells = (values, column.mean, column.variance, column.quantiles, column.histogram)
            shown = " ".join(f"{'' if cell is None else _seen(cell):>9}" for cell in cells)
            lines.append(f"{column.name:<{width}}  {shown}")
        lines.append("How far each moved, 0 is not at all: values and quantiles over the width of")
        lines.append("the domain, mean and variance over themselves, shares by total variation.")
        return "\n".join(lines)


def _seen(distance: float) -> str:
    """A distance as people read it: what only rounding left is nothing."""
    return shortly(distance if abs(distance) > _ROUNDING else 0, 4)


@checked_call
def utility(original: object, masked: object, schema: object) -> Utility:
    """What masking did to a table whose masked row i is the original's row i.

    Parameters
        original, masked: tables in which row i is the same record.
        schema: domains and taxonomies; identifiers and undeclared columns are left out.

    Source
        Thesis, sections 3.4 and 6.4.
    """
    return utility_of(paired(original, masked, None, stated(schema)))


def utility_of(attributes: list[Attribute]) -> Utility:
    """The same, of attributes that were read."""
    errors = tuple((attribute.name, sse_of(attribute)) for attribute in attributes)
    rows = attributes[0].original.size
    relative = tuple(
        (attribute.name, math.sqrt(error / rows) / attribute.reach)
        for (_, error), attribute in zip(errors, attributes, strict=True)
    )
    changed = [value for _, value in relative if value > 0]
    return Utility(
        sse=sum(error for _, error in errors),
        sse_by_column=errors,
        relative_error=math.sqrt(sum(value**2 for value in changed) / max(len(changed), 1)),
        relative_by_column=relative,
        correlation=correlation_of(attributes),
        columns=tuple(map(moved, attributes)),
        propensity=propensity_of(attributes),
    )
