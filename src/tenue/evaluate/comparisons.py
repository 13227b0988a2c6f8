"""Several releases of one table side by side, of any tools: which risks less, which keeps more.

Each is compared with the original as by `compare`; the figures that all have are in one table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..arguments import checked_call
from ..errors import refuse
from ..text import hanging, percent, shortly, text_table
from .check_result import Printed
from .compare import Comparison, compare
from .rows import open_rows
from .two_tables.association import strength
from .utility import Utility

HEAD = ("release", "rows", "k", "linked", "largest risk", "values", "associations", "shares")
MEANING = (
    "Linked: the share of records that an intruder finds by their quasi-identifiers (by all "
    "columns, if there are none). Values: how far values that changed moved, relative to their "
    "domain. Associations: the mean change over every two columns. Shares: the mean change of the "
    "distribution of a column (total variation). 0 is best everywhere. What is empty cannot be "
    "measured, because the rows of the release do not correspond to those of the original."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparisons(Printed):
    """Risk and utility of several releases of one table. Computed from the original: for the holder
    only.

    releases: each with its name, in the order given.
    """

    releases: Mapping[str, Comparison]

    def rows(self) -> list[list[str]]:
        """A line for each release, below the head; without figures that none has."""
        rows = [list(HEAD), *([name, *_figures(one)] for name, one in self.releases.items())]
        measured = [any(row[at] for row in rows[1:]) for at in range(len(HEAD))]
        return [[cell for cell, some in zip(row, measured, strict=True) if some] for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        return {
            "for": "the holder alone",
            "releases": {name: one.to_dict() for name, one in self.releases.items()},
        }

    def __str__(self) -> str:
        lines = [*text_table(self.rows(), left=1), "", hanging(MEANING)]
        for name, one in self.releases.items():
            lines += ["", name]
            lines += [hanging(f"WARNING: {text}", "  ") for text in one.warnings()]
            lines += [hanging(f"{title}: {text}", "  ") for title, text in one.verdict()]
            lines += [hanging(text, "  ") for text in one.notes]
        return "\n".join(lines)


def _figures(one: Comparison) -> list[str]:
    risk, utility = one.risk, one.utility
    linked, largest, moved = "", "", ""
    if risk is not None:
        known = risk.linkage_by_quasi_identifiers
        linked = percent(risk.record_linkage if known is None else known)
        largest = percent(risk.largest()[0])
    if isinstance(utility, Utility):
        moved = percent(utility.relative_error)
    shares = sum(column.histogram for column in utility.columns) / len(utility.columns)
    found = utility.association
    far = strength(found.mean) if found.pairs else ""
    k = "" if one.check is None else f"{one.check.k:,}"
    return [f"{one.rows:,}", k, linked, largest, moved, far, shortly(shares)]


@checked_call
def compare_several(
    original: object,
    releases: Mapping[str, object],
    schema: object = None,
    quasi_identifiers: Iterable[str] | None = None,
    confidential: Iterable[str] | None = None,
    related: bool | None = None,
) -> Comparisons:
    """Risk and utility of several releases of one table, of any tools, side by side.

    Parameters
        releases: the tables, by the names under which they are shown.
        original, schema, quasi_identifiers, confidential, related: as for `compare`; whether rows
            correspond is decided for each release.

    Example
        >>> town = [[30, 1], [31, 2], [40, 1], [41, 2]]
        >>> coarse = [[30, 1], [30, 2], [40, 1], [40, 2]]
        >>> found = compare_several(town, {"as it is": town, "coarse": coarse}, None, ["0"], ["1"])
        >>> [one.check.k for one in found.releases.values()]
        [1, 2]
    """
    if not isinstance(releases, Mapping) or not releases:
        raise refuse("evaluate.no-releases")
    known, secret = (
        names if names is None or isinstance(names, str) else list(names)
        for names in (quasi_identifiers, confidential)
    )
    truth = open_rows(original)  # once, for a stream cannot be read again
    truth = truth.cached(truth.names)
    return Comparisons(
        releases={
            str(name): compare(truth, table, schema, known, secret, related)
            for name, table in releases.items()
        }
    )
