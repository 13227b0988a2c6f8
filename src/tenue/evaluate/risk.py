"""Re-identification and attribute disclosure in a masked table, balanced against its loss.

A total that is released unchanged reveals a masked part of it, if the other parts are released too.
And an intruder who knows quasi-identifiers knows their total, and finds the row by it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from ..arguments import Number, checked_call, exact
from ..errors import refuse
from ..schema import Table
from ..text import named, percent
from .check import check_groups, schema_of
from .check_result import Check, Printed
from .factorize import Codes
from .one_table.functional_dependence import Determined, Seen, determined
from .rows import open_rows
from .two_tables.attributes import Attribute, Names, Nominal, Numeric, divisors, paired
from .two_tables.information_loss import numbers_among, sse_of, within_of
from .two_tables.linkage import linked_share
from .two_tables.swap_reidentification import Rematched


def disclosure(
    attributes: list[Attribute], known: Collection[str]
) -> tuple[tuple[Determined, ...], tuple[Determined, ...]]:
    """The changed columns whose original values follow from unchanged ones, and the unchanged ones
    that follow from original values of changed quasi-identifiers.

    Parameters
        attributes: all columns of both tables, of any role.
        known: the names of the quasi-identifiers.
    """
    before = {attribute.name: _seen(attribute) for attribute in attributes}
    changed = [
        one.name
        for one in attributes
        if not np.array_equal(one.original, one.masked, equal_nan=isinstance(one, Numeric))
    ]
    kept = [name for name in before if name not in changed]
    revealed = determined([before[name] for name in changed], [before[name] for name in kept])
    recomputed: list[Determined] = []
    if set(known).intersection(changed):
        hidden = [before[name] for name in before if name in known]
        recomputed = determined([before[name] for name in kept if name not in known], hidden)
    return tuple(revealed), tuple(recomputed)


def _seen(attribute: Attribute) -> Seen:
    if not isinstance(attribute, Numeric):
        return Seen(attribute.name, Codes(attribute.original, attribute.count))
    values, codes = np.unique(attribute.original, return_inverse=True)
    codes = codes.astype(np.int64).reshape(-1)
    present = int(np.isnan(values).argmax()) if np.isnan(values).any() else values.size
    codes[codes >= present] = -1
    return Seen(attribute.name, Codes(codes, present), attribute.original)


_MOST_KEPT = 0.5
"""Beyond this share of true values, trusting the release is right more often than not."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Risk(Printed):
    """Disclosure risk of a masked table. Computed from the original: for the holder only.

    check: k, l and t of the masked table.
    record_linkage: the expected share of records that an intruder with the whole original, all
        columns, links correctly: 0 (safe) to 1.
    linkage_by_quasi_identifiers: the same for an intruder with the quasi-identifiers only; None if
        the masked table has none of them.
    within_1_percent, within_5_percent: the share of confidential numbers so close to the true value
        of the record; None without such a column.
    unchanged: the share of confidential values of any type that are true; None likewise.
    own_values: for each confidential column, the share of rows with the record's true value.
    rematched: for each confidential column of a release with groups, the share of values correctly
        reassigned by an intruder who has everybody's quasi-identifiers, knows the groups, and
        learns from the release how columns relate; a lower bound.
    in_all_groups: if each column was swapped in groups of its own, the mean over units of 1/n,
        where n units share all groups; None otherwise.
    determined: the changed columns that follow from unchanged ones.
    recomputed: the unchanged columns that follow from changed quasi-identifiers, so that an
        intruder who knows these finds the row.
    rows_tried: the number of records these shares were measured on, and of originals the intruder
        searched; fewer than all in a large table. k, l and t are of all rows.
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
        return vars(self) | {
            "check": None if self.check is None else self.check.to_dict(),
            "own_values": dict(self.own_values),
            "rematched": {name: asdict(one) for name, one in self.rematched.items()},
            "determined": [asdict(one) for one in self.determined],
            "recomputed": [asdict(one) for one in self.recomputed],
        }

    def warnings(self) -> list[str]:
        """What defeats the protection of some column."""
        return [
            f"{one}, released unchanged: the release reveals `{one.name}`, however it was "
            f"protected. Protect {named(one.by)} likewise, or leave that out."
            for one in self.determined
        ] + [
            f"{one}, and is released unchanged: an intruder who knows {named(one.by)} of a person "
            f"can find the row by it, whatever k is. Make `{one.name}` a quasi-identifier too, or "
            "leave it out."
            for one in self.recomputed
        ]

    def largest(self) -> tuple[float, str]:
        """The largest risk that was measured: its share, and what it is the share of.

        An intruder who knows the whole original learns nothing by linking, and where values are not
        swapped all of them are true: there the intruder who knows quasi-identifiers counts. That
        swapped rows keep their true value counts from one half on: below that, most of what an
        intruder believes of it is wrong.
        """
        who, found = "an intruder who knows", []
        check, share = self.check, self.linkage_by_quasi_identifiers
        swapped = check is not None and check.swapped
        if swapped or share is None:
            text = f"{who} the whole original links {percent(self.record_linkage)} of the records"
            found.append((self.record_linkage, text))
        if share is not None:
            text = f"{who} the quasi-identifiers links {percent(share)} of the records"
            found.append((share, text))
        if self.in_all_groups is not None:
            text = f"the groups of all columns find {percent(self.in_all_groups)} of the records"
            found.append((self.in_all_groups, text))
        for name, own in self.own_values.items() if swapped else ():
            if own > _MOST_KEPT:
                found.append((own, f"{percent(own)} of the rows have the true value of `{name}`"))
        for name, one in self.rematched.items():
            text = f"{who} how columns relate reassigns {percent(one.records)} of `{name}`"
            found.append((one.records, text))
        if check is not None and check.homogeneous_share and not (check.swapped or check.drawn):
            alone = check.homogeneous_share
            text = f"{percent(alone)} of the rows are in groups that disclose a confidential value"
            found.append((alone, text))
        return max(found, key=lambda one: one[0])

    def sentences(self) -> list[str]:
        """The results, without k, l and t."""
        lines = [
            "An intruder with the original table, all columns, correctly links "
            f"{percent(self.record_linkage)} of the records."
        ]
        if self.linkage_by_quasi_identifiers is not None:
            share = percent(self.linkage_by_quasi_identifiers)
            lines.append(f"An intruder with its quasi-identifiers only links {share}.")
        if self.within_1_percent is not None and self.within_5_percent is not None:
            lines.append(
                f"Confidential numbers: {percent(self.within_1_percent)} lie within 1 % of the "
                f"truth, {percent(self.within_5_percent)} within 5 %."
            )
        lines += [
            f"`{name}`: {percent(share)} of the rows have the true value of their record."
            for name, share in self.own_values.items()
        ]
        lines += [
            f"`{name}`: an intruder who learns from the release how it relates to {found.by} "
            f"correctly reassigns {percent(found.records)} of the values; random guessing would "
            f"reach {percent(found.records_blind)}. They learn {percent(found.values)} of the true "
            f"values; random guessing would reach {percent(found.values_blind)}."
            for name, found in self.rematched.items()
        ]
        if self.in_all_groups is not None:
            lines.append(
                "An intruder who knows all records but not whose they are identifies, by the "
                f"groups of all columns together, {percent(self.in_all_groups)} of them on average."
            )
        if self.check is not None and self.check.rows > self.rows_tried:
            lines.append(
                f"These shares were measured on {self.rows_tried:,} of {self.check.rows:,} rows, "
                "drawn at random. Linking is easier among fewer originals, so they overstate the "
                "risk, except by chance."
            )
        return lines

    def __str__(self) -> str:
        lines = [*(f"WARNING: {text}" for text in self.warnings()), *self.sentences()]
        if self.check is not None:
            lines += ["", str(self.check)]
        return "\n".join(lines)


@checked_call
def risk(original: object, masked: object, schema: object) -> Risk:
    """Disclosure risk of a masked table.

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
    """The same, of attributes.

    Parameters
        quasi_identifiers, confidential: the names of columns; absent ones are left out.
        check: k, l and t of the masked table; None without quasi-identifiers.
    """
    known, secret = _named(attributes, quasi_identifiers), _named(attributes, confidential)
    numbers = numbers_among(secret)
    revealed, recomputed = disclosure(attributes, [attribute.name for attribute in known])
    return Risk(
        check=check,
        record_linkage=_linkage(attributes),
        linkage_by_quasi_identifiers=_linkage(known) if known else None,
        within_1_percent=within_of(numbers, 1) if numbers else None,
        within_5_percent=within_of(numbers, 5) if numbers else None,
        unchanged=_unchanged(secret) if secret else None,
        own_values=MappingProxyType({one.name: _unchanged([one]) for one in secret}),
        rows_tried=int(attributes[0].original.size),
        determined=revealed,
        recomputed=recomputed,
    )


def stated(schema: object) -> Table:
    """The schema, which is required."""
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


@dataclass(frozen=True, kw_only=True)
class Score:
    """A masked table compared with a baseline; above 1 it is better.

    sse_factor: the square root of the baseline's squared error over this one's.
    rl_factor: the baseline's record linkage over this one's.
    """

    sse_factor: float
    rl_factor: float

    @property
    def value(self) -> float:
        """The product of both factors. (The thesis writes a ratio and prints the product.)

        Infinite if only one factor is; NaN if one factor is infinite and the other 0.
        """
        return self.sse_factor * self.rl_factor

    @classmethod
    def of(
        cls,
        *,
        sse: Number,
        record_linkage: Number,
        baseline_sse: Number,
        baseline_record_linkage: Number,
    ) -> Score:
        """The score of given figures; linkages both as shares or both in percent.

        Example
            >>> Score.of(sse=4, record_linkage=0.1, baseline_sse=1, baseline_record_linkage=0.4)
            Score(sse_factor=0.5, rl_factor=4.0)
        """
        loss_before, loss = _amount(baseline_sse, "baseline_sse"), _amount(sse, "sse")
        risk_before = _amount(baseline_record_linkage, "baseline_record_linkage")
        risk = _amount(record_linkage, "record_linkage")
        sse_factor = math.sqrt(_quotient(loss_before, loss))
        return cls(sse_factor=sse_factor, rl_factor=_quotient(risk_before, risk))


@checked_call
def score(
    original: object,
    masked: object,
    baseline: object,
    columns: Names = None,
    scale: object = None,
    schema: object = None,
) -> Score:
    """Compares a masked table with a baseline, by squared error and record linkage together.

    Parameters
        original, masked, baseline: tables in which row i is the same record.
        columns, scale, schema: as for `record_linkage`; the squared error is in raw units.

    Source
        Thesis, section 6.4.2, whose tables print the product.
    """
    truth = open_rows(original)  # once, for a stream cannot be read again
    measured = []
    for table in (masked, baseline):
        attributes = paired(truth, table, columns, schema_of(schema))
        share = linked_share(attributes, divisors(attributes, scale))
        measured.append((sum(map(sse_of, attributes)), share))
    (loss, risk), (baseline_loss, baseline_risk) = measured
    return Score.of(
        sse=loss,
        record_linkage=risk,
        baseline_sse=baseline_loss,
        baseline_record_linkage=baseline_risk,
    )


def _amount(value: object, name: str) -> float:
    amount = float(exact(value, name))
    if amount < 0:
        raise refuse("evaluate.negative-measure", name=name, value=value)
    return amount


def _quotient(above: float, below: float) -> float:
    if below == 0:
        return 1.0 if above == 0 else math.inf
    return above / below
