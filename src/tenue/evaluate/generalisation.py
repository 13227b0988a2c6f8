"""What generalising a table lost: three measures, all of the published table alone.

Rows that were suppressed are not in it. How many there were is for the holder, who may say so; each
of them then counts as if it had been generalised to everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from ..number import checked_call, whole
from .check import quasi_identifiers_of, schema_of
from .group.count import Groups, grouped
from .group.recoded import Domain
from .group.spelling import shown
from .risk import stated
from .rows import open_rows


@checked_call
def discernibility(
    table: object,
    schema: object = None,
    quasi_identifiers: Iterable[str] | None = None,
    suppressed: int = 0,
) -> int:
    """With how many rows every row may be confused, itself included, summed over all rows.

    From the number of rows, where all differ, to its square, where none do; smaller is better. A
    suppressed row may be confused with every row.

    Parameters
        table: a data frame or a path of a CSV or Parquet file; rows are alike if their
            quasi-identifiers look the same.
        schema, quasi_identifiers: which columns are quasi-identifiers.
        suppressed: how many rows were left out of it.

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
    """How many rows there are for each combination of quasi-identifiers, over k.

    From 1, where every class has k rows, up; smaller is better.

    Parameters
        table, schema, quasi_identifiers, suppressed: as for `discernibility`.
        k: what the classes had to have at least; 1 for the plain average.

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
    """The normalised certainty penalty: which part of its domain a value may be, on average.

    From 0, where every quasi-identifier is one value, to 1, where it may be anything; smaller is
    better. Of an interval it is its width over that of the declared bounds; of a category the share
    of all declared categories that it covers, or 0 if that is one. A suppressed row counts 1.

    Parameters
        table: its quasi-identifiers are values as declared, or recoded as `publish` writes them.
        schema: the roles, bounds and taxonomies of its columns.
        suppressed: how many rows were left out of it.

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
    """The sum over all rows; of a blank nothing is known."""
    import pyarrow
    import pyarrow.compute as pc

    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    texts = pc.cast(column, pyarrow.large_string())
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
