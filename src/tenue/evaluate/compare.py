"""A release made anywhere beside its original: risk and utility in one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..number import checked_call, flag
from ..screen.number import many
from .check import check, schema_of
from .pair.attributes import paired
from .pair.likeness import Likeness, likeness_of
from .pair.marginal import Marginal, marginals
from .risk import Risk, risk_of
from .rows import open_rows
from .utility import Utility, utility_of

ROW_BY_ROW = "Row i of both tables is held to be the same record."
SHUFFLED = (
    "The certificate beside the release is one of Tenue, whose releases have their rows in random "
    "order: row i is not the same record in both, and figures row by row mean nothing. Compare the "
    "tables as wholes (related=False, --unrelated)."
)
WIDTHS = "Without a schema, distances are over the range of the values that occur."


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison:
    """What a release risks and what it is worth. Computed from the original: for the holder only.

    rows, columns: of the release.
    risk: what an intruder can do; None where rows have nothing to do with each other.
    utility: row by row, or of both tables as wholes.
    released, compared: how columns are distributed: of the release by itself, and beside the
        original.
    notes: how it was measured.
    """

    rows: int
    columns: tuple[str, ...]
    risk: Risk | None
    utility: Utility | Likeness
    released: tuple[Marginal, ...]
    compared: tuple[Marginal, ...]
    notes: tuple[str, ...]

    def warnings(self) -> list[str]:
        """What undoes the protection of some column."""
        if self.risk is None:
            return []
        check = self.risk.check
        found = [] if check is None else list(check.warnings)
        shuffled = [SHUFFLED] if check is not None and check.certificate_fits else []
        return [*shuffled, *found, *self.risk.warnings()]

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        return {
            "rows": self.rows,
            "columns": list(self.columns),
            "risk": None if self.risk is None else json.loads(self.risk.to_json()),
            "utility": json.loads(self.utility.to_json()),
            "warnings": self.warnings(),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict())

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        parts = [f"{many(self.rows, 'row')}, {many(len(self.columns), 'column')} compared"]
        parts += [f"WARNING: {text}" for text in self.warnings()]
        if self.risk is not None:
            parts += ["Risk", *("\n".join(self.risk.sentences()), str(self.risk.check or ""))]
        parts += ["Utility", str(self.utility), *self.notes]
        return "\n\n".join(parts)


@checked_call
def compare(
    original: object,
    released: object,
    schema: object = None,
    quasi_identifiers: Iterable[str] | None = None,
    confidential: Iterable[str] | None = None,
    related: bool = True,
) -> Comparison:
    """What a release risks and what it is worth, whoever made it: sdcMicro, ARX, a script.

    Parameters
        original, released: tables; unless `related` is false, row i of both is the same record.
        schema: roles, domains and taxonomies; or else
        quasi_identifiers, confidential: columns; without any, no k, l and t are measured.
        related: whether rows belong together. If not, the tables are compared as wholes, and no
            record can be linked.

    Example
        >>> town = [[30, 1], [31, 2], [40, 1], [41, 2]]
        >>> coarse = [[30, 1], [30, 2], [40, 1], [40, 2]]
        >>> found = compare(town, coarse, quasi_identifiers=["0"], confidential=["1"])
        >>> found.risk.check.k, found.risk.linkage_by_quasi_identifiers
        (2, 0.5)
    """
    declared = schema_of(schema)
    before, after = (open_rows(table) for table in (original, released))
    before, after = before.held(before.names), after.held(after.names)
    attributes = paired(before, after, None, declared)
    known = _names(quasi_identifiers, declared, "quasi_identifiers")
    secret = _names(confidential, declared, "confidential")
    notes = () if declared is not None else (WIDTHS,)
    risk, loss = None, None
    if flag(related, "related"):
        shown = [name for name in known if after.find(name) is not None]
        found = None
        if shown:
            there = [name for name in secret if after.find(name) is not None]
            given = (quasi_identifiers, confidential)
            if declared is None or given != (None, None):
                found = check(released, schema, quasi_identifiers=shown, confidential=there)
            else:
                found = check(released, schema)
        risk, loss = risk_of(attributes, known, secret, found), utility_of(attributes)
        notes = (ROW_BY_ROW, *notes)
    return Comparison(
        rows=int(attributes[0].masked.size),
        columns=tuple(attribute.name for attribute in attributes),
        risk=risk,
        utility=likeness_of(attributes) if loss is None else loss,
        released=marginals(None, after, declared),
        compared=marginals(before, after, declared),
        notes=notes,
    )


def _names(given: Iterable[str] | None, schema: Any, role: str) -> list[str]:
    if given is not None:
        return [given] if isinstance(given, str) else list(given)
    return [] if schema is None else [column.name for column in getattr(schema, role)]
