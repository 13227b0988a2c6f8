"""Was it safe: what an intruder can do with a masked table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any

from ..errors import refuse
from ..number import checked_call
from ..schema import Table
from ..screen.number import named, percent
from .check import check_groups, schema_of
from .group.dependence import Determined
from .pair.attributes import Attribute, Nominal, paired
from .pair.disclosure import disclosure
from .pair.linkage import linked_share
from .pair.loss import numbers_among, within_of
from .pair.rematch import Rematched
from .rows import open_rows
from .verdict import Check


@dataclass(frozen=True, kw_only=True, repr=False)
class Risk:
    """What an intruder can do with a masked table. Computed from the original: for the holder only.

    check: k, l and t of the masked table.
    record_linkage: the expected share of records linked rightly by an intruder who has the whole
        original, all columns: 0 (safe) to 1.
    linkage_by_quasi_identifiers: the same for one who has the quasi-identifiers only; None if the
        masked table has none of them.
    within_1_percent, within_5_percent: the share of confidential numbers that lie so close to the
        truth, record by record; None without such a column.
    unchanged: the share of confidential values of any type that are the truth; None likewise.
    own_values: for each confidential column, the share of rows that show their own true value.
    rematched: for each confidential column of a release with groups, how much of it an intruder
        puts back who has everybody's quasi-identifiers, knows the groups, and learns from the
        release how columns relate; a lower bound.
    in_all_groups: where each column was swapped in groups of its own, the mean of 1/n over units, n
        of which share all groups; None otherwise.
    determined: the columns that were changed and follow from columns that were not.
    recomputed: the columns that were not changed and follow from quasi-identifiers that were:
        whoever knows these finds the row.
    rows_tried: how many records these shares were measured on, and how many originals the intruder
        looked among; fewer than the table has if it is large. k, l and t are of all rows.
    """

    check: Check | None
    record_linkage: float
    linkage_by_quasi_identifiers: float | None
    within_1_percent: float | None
    within_5_percent: float | None
    unchanged: float | None
    own_values: Mapping[str, float]
    rows_tried: int
    rematched: Mapping[str, Rematched] = field(default_factory=lambda: MappingProxyType({}))
    in_all_groups: float | None = None
    determined: tuple[Determined, ...] = ()
    recomputed: tuple[Determined, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        facts = {part.name: getattr(self, part.name) for part in fields(self)}
        found = None if self.check is None else self.check.to_dict()
        restored = {name: asdict(one) for name, one in self.rematched.items()}
        own = dict(self.own_values)
        told = {name: [asdict(one) for one in facts[name]] for name in ("determined", "recomputed")}
        return {**facts, "check": found, "own_values": own, "rematched": restored, **told}

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict())

    def warnings(self) -> list[str]:
        """What undoes the protection of some column."""
        return [
            f"{one}, and what tells it leaves unchanged: whoever reads the release knows it, "
            f"whatever was done to it. Protect {named(one.by)} likewise, or leave that out."
            for one in self.determined
        ] + [
            f"{one}, and leaves unchanged: whoever knows {named(one.by)} of a person knows it, and "
            f"can look for the row by it, whatever k is. Make `{one.name}` a quasi-identifier too, "
            "or leave it out."
            for one in self.recomputed
        ]

    def sentences(self) -> list[str]:
        """What was found, but for k, l and t."""
        lines = [
            "An intruder who has the original table, all columns, links "
            f"{percent(self.record_linkage)} of the records rightly."
        ]
        if self.linkage_by_quasi_identifiers is not None:
            lines.append(
                "One who has its quasi-identifiers only links "
                f"{percent(self.linkage_by_quasi_identifiers)}."
            )
        if self.within_1_percent is not None and self.within_5_percent is not None:
            lines.append(
                f"Confidential numbers: {percent(self.within_1_percent)} lie within 1 % of the "
                f"truth, {percent(self.within_5_percent)} within 5 %."
            )
        lines += [
            f"`{name}`: {percent(share)} of the rows show their own true value."
            for name, share in self.own_values.items()
        ]
        lines += [
            f"`{name}`: an intruder who learns from the release how it relates to {found.by} puts "
            f"{percent(found.records)} of the values back to their own records; blindly it were "
            f"{percent(found.records_blind)}. True values: {percent(found.values)}, blindly "
            f"{percent(found.values_blind)}."
            for name, found in self.rematched.items()
        ]
        if self.in_all_groups is not None:
            lines.append(
                "Whoever knows all records but not whose they are tells, by the groups of all "
                f"columns together, {percent(self.in_all_groups)} of them on average."
            )
        if self.check is not None and self.check.rows > self.rows_tried:
            lines.append(
                f"These shares were measured on {self.rows_tried:,} of {self.check.rows:,} rows, "
                "drawn at random. Among fewer originals an intruder links more easily, so they "
                "are on the safe side but for chance."
            )
        return lines

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [*(f"WARNING: {text}" for text in self.warnings()), *self.sentences()]
        if self.check is not None:
            lines += ["", str(self.check)]
        return "\n".join(lines)


@checked_call
def risk(original: object, masked: object, schema: object) -> Risk:
    """What an intruder can do with a masked table whose row i is the original's row i.

    Distances are those of equation 6.7: every column divided by the width of its declared domain.

    Parameters
        original, masked: tables in which row i is the same record.
        schema: roles, domains and taxonomies.

    Source
        Thesis, sections 2.8, 6.3.4 and 6.4.2.
    """
    declared = stated(schema)
    shown = open_rows(masked)  # once, for a stream cannot be read again
    attributes = paired(original, shown, None, declared)
    known = [column.name for column in declared.quasi_identifiers]
    secret = [column.name for column in declared.confidential]
    some = bool(_named(attributes, known))
    return risk_of(attributes, known, secret, check_groups(shown, declared) if some else None)


def risk_of(
    attributes: list[Attribute],
    quasi_identifiers: Iterable[str],
    confidential: Iterable[str],
    check: Check | None,
) -> Risk:
    """The same, of attributes that were read.

    Parameters
        quasi_identifiers, confidential: the names of columns; those that are not there are left
            out.
        check: k, l and t of the masked table; None without quasi-identifiers.
    """
    known, secret = _named(attributes, quasi_identifiers), _named(attributes, confidential)
    numbers = numbers_among(secret)
    told = disclosure(attributes, [attribute.name for attribute in known])
    return Risk(
        check=check,
        record_linkage=_linkage(attributes),
        linkage_by_quasi_identifiers=_linkage(known) if known else None,
        within_1_percent=within_of(numbers, 1) if numbers else None,
        within_5_percent=within_of(numbers, 5) if numbers else None,
        unchanged=_unchanged(secret) if secret else None,
        own_values=MappingProxyType({one.name: _unchanged([one]) for one in secret}),
        rows_tried=int(attributes[0].original.size),
        determined=told.determined,
        recomputed=told.recomputed,
    )


def stated(schema: object) -> Table:
    """The schema, refused if there is none."""
    found = schema_of(schema)
    if found is None:
        raise refuse("evaluate.evaluation-without-schema")
    return found


def _linkage(attributes: list[Attribute]) -> float:
    return float(linked_share(attributes, [a.reach for a in attributes]))


def _named(attributes: list[Attribute], names: Iterable[str]) -> list[Attribute]:
    wanted = {name.lower() for name in names}
    return [attribute for attribute in attributes if attribute.name.lower() in wanted]


def _unchanged(attributes: list[Attribute]) -> float:
    same = total = 0
    for attribute in attributes:
        if isinstance(attribute, Nominal):
            present = attribute.original >= 0
        else:
            present = attribute.original == attribute.original  # NaN is not itself
        same += int((attribute.original == attribute.masked)[present].sum())
        total += int(present.sum())
    return same / total if total else 0.0
