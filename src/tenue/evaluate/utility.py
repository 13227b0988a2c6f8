"""Utility of a masked table, and the information lost by generalisation.

Suppressed rows are not in the table. The holder may state how many there were; each of them then
counts as if generalised to the whole domain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..arguments import checked_call, whole
from ..text import percent, shortly
from .check import quasi_identifiers_of, schema_of
from .check_result import Printed, plain
from .one_table.cell_equality import shown
from .one_table.count import Groups, grouped
from .one_table.interval_values import Domain
from .risk import stated
from .rows import open_rows
from .two_tables.association import Association, association_of
from .two_tables.attributes import Attribute, paired
from .two_tables.distribution import Moved, moved, moved_as_json
from .two_tables.distribution_similarity import Propensity, propensity_of
from .two_tables.information_loss import CorrelationDifference, correlation_of, sse_of

_ROUNDING = 1e-12  # smaller distances are printed as 0


@checked_call
def discernibility(
    table: object,
    schema: object = None,
    quasi_identifiers: Iterable[str] | None = None,
    suppressed: int = 0,
) -> int:
    """The sum over all rows of the size of their equivalence class.

    From the number of rows, if all differ, to its square, if none do; smaller is better. The class
    of a suppressed row is the whole table.

    Parameters
        table: a data frame or a path of a CSV or Parquet file; rows of a class have the same texts
            as quasi-identifiers.
        schema, quasi_identifiers: which columns are quasi-identifiers.
        suppressed: the number of rows that were left out.

    Example
        >>> import pyarrow
        >>> town = pyarrow.table({"age": ["[20, 29]"] * 3 + ["[30, 39]"] * 2})
        >>> discernibility(town, quasi_identifiers=["age"])
        13

    Source
        Bayardo and Agrawal 2005.
    """
    sizes = _groups(table, schema, quasi_identifiers).sizes
    lost = whole(suppressed, "suppressed", least=0)
    return int((sizes.astype(object) ** 2).sum()) + lost * (int(sizes.sum()) + lost)


@checked_call
def average_class_size(
    table: object,
    schema: object = None,
    quasi_identifiers: Iterable[str] | None = None,
    k: int = 1,
    suppressed: int = 0,
) -> float:
    """The average size of an equivalence class, divided by k.

    At least 1, if every class has k rows or more; smaller is better.

    Parameters
        table, schema, quasi_identifiers, suppressed: as for `discernibility`.
        k: the required size of classes; 1 for the plain average.

    Example
        >>> import pyarrow
        >>> town = pyarrow.table({"age": ["[20, 29]"] * 3 + ["[30, 39]"] * 2})
        >>> average_class_size(town, quasi_identifiers=["age"], k=2)
        1.25

    Source
        LeFevre, DeWitt and Ramakrishnan 2006.
    """
    groups = _groups(table, schema, quasi_identifiers)
    rows = int(groups.sizes.sum()) + whole(suppressed, "suppressed", least=0)
    return float(Fraction(rows, groups.count * whole(k, "k", least=1)))


@checked_call
def ncp(table: object, schema: object, suppressed: int = 0) -> float:
    """The normalised certainty penalty: the share of its domain that a value covers, on average.

    From 0, if every quasi-identifier is a single value, to 1, if it may be anything; smaller is
    better. For an interval it is its width over that of the declared bounds; for a category the
    share of all declared categories that it covers, or 0 if it covers one. A suppressed row counts
    1.

    Parameters
        table: its quasi-identifiers are values as declared, or generalised as by `publish`.
        schema: the roles, bounds and taxonomies of its columns.
        suppressed: the number of rows that were left out.

    Example
        >>> import pyarrow
        >>> from tenue import Schema
        >>> schema = Schema.from_dict({
        ...     "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        ...     "columns": {"age": {"type": "number", "bounds": [0, 100],
        ...                         "role": "quasi-identifier"}}})
        >>> ncp(pyarrow.table({"age": ["[20, 30]", "40", "[0, 100]", "[20, 30]"]}), schema)
        0.3

    Source
        Xu, Wang, Pei, Wang, Shi and Fu 2006, all columns weighing alike.
    """
    declared, rows = stated(schema), open_rows(table)
    lost = whole(suppressed, "suppressed", least=0)
    known = quasi_identifiers_of(rows, declared)
    total, cells = Fraction(0), 0
    for name, column in rows.read(known).items():
        total += _penalty(column, Domain(declared.columns[name])) + lost
        cells += len(column) + lost
    return float(total / cells)


def _penalty(column: Any, domain: Domain) -> Fraction:
    """The sum over all rows; 1 for a missing value."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    texts = pc.cast(column, pa.large_string())
    total = Fraction(0)
    for counted in pc.value_counts(texts).to_pylist():
        each = Fraction(1) if counted["values"] is None else domain.penalty(counted["values"])
        total += each * counted["counts"]
    return total


def _groups(table: object, schema: object, quasi_identifiers: Iterable[str] | None) -> Groups:
    declared, rows = schema_of(schema), open_rows(table)
    read = rows.read(quasi_identifiers_of(rows, declared, quasi_identifiers))
    columns = [shown(name, column).codes for name, column in read.items()]
    return grouped(columns, len(next(iter(read.values()))))


@dataclass(frozen=True, kw_only=True, repr=False)
class Utility(Printed):
    """How masking changed a table. Computed from the original: for the holder only.

    For a release the original is the table as the schema reads it: values on their grid and between
    their bounds, without the rows that were left out. Changes by reading are not in these figures;
    the release's history counts them.

    sse: the sum of squared errors in raw units, 0 is best; by column in `sse_by_column`.
    relative_error: the root mean squared error, every column divided by the width of its domain,
        over the columns that changed: 0 is best, 1 as bad as if all values had moved from one end
        to the other; by column, including unchanged ones, in `relative_by_column`.
    correlation: how far correlations moved; None with fewer than two columns of numbers.
    association: how far the association of every two columns moved, whatever their types.
    columns: how far the distribution of each column moved.
    propensity: how well masked and original rows can be distinguished.
    """

    sse: float
    sse_by_column: tuple[tuple[str, float], ...]
    relative_error: float
    relative_by_column: tuple[tuple[str, float], ...]
    correlation: CorrelationDifference | None
    association: Association
    columns: tuple[Moved, ...]
    propensity: Propensity

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them; infinity as "inf"."""
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
            "association": self.association.to_dict(),
            "columns": list(map(moved_as_json, self.columns)),
            "propensity": asdict(self.propensity),
        }

    @property
    def in_short(self) -> str:
        """The loss in one sentence."""
        moved = f"changed columns moved by {percent(self.relative_error)} of their domain"
        return "; ".join([moved, *self.association.brief])

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
            f"A model that distinguishes masked from original rows scores "
            f"{shortly(self.propensity.score, 4)}; 0 if it never does, 0.25 if it always does."
        )
        width = max(len("column"), *(len(column.name) for column in self.columns))
        lines += [
            "",
            f"{'column':<{width}}  {'values':>9} {'mean':>9} {'variance':>9} {'quantiles':>9} "
            f"{'shares':>9}",
        ]
        for column, (_, values) in zip(self.columns, self.relative_by_column, strict=True):
            cells = (values, column.mean, column.variance, column.quantiles, column.histogram)
            shown = ("" if c is None else shortly(c if abs(c) > _ROUNDING else 0, 4) for c in cells)
            lines.append(f"{column.name:<{width}}  " + " ".join(f"{cell:>9}" for cell in shown))
        lines.append("Changes, 0 is none: values and quantiles over the width of the domain, mean")
        lines.append("and variance over themselves, shares by total variation.")
        if self.association.pairs:
            lines += ["", str(self.association)]
        return "\n".join(lines)


@checked_call
def utility(original: object, masked: object, schema: object) -> Utility:
    """How masking changed a table.

    Parameters
        original, masked: tables in which row i is the same record.
        schema: domains and taxonomies; identifiers and undeclared columns are left out.

    Source
        Thesis, sections 3.4 and 6.4.
    """
    return utility_of(paired(original, masked, None, stated(schema)))


def utility_of(attributes: list[Attribute]) -> Utility:
    """The same, of attributes."""
    errors = tuple((attribute.name, sse_of(attribute)) for attribute in attributes)
    rows = attributes[0].original.size
    relative = tuple(
        (attribute.name, math.sqrt(error / rows) / attribute.reach)
        for (_, error), attribute in zip(errors, attributes, strict=True)
    )
    changed = [value for _, value in relative if value > 0]
    correlation = correlation_of(attributes)
    return Utility(
        sse=sum(error for _, error in errors),
        sse_by_column=errors,
        relative_error=math.sqrt(sum(value**2 for value in changed) / max(len(changed), 1)),
        relative_by_column=relative,
        correlation=correlation,
        association=association_of(attributes, correlation),
        columns=tuple(map(moved, attributes)),
        propensity=propensity_of(attributes),
    )
