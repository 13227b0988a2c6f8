"""How often values near some ranks occur, where rows lie on many machines: nothing is sorted whole.

The domain of a column is cut into few buckets of equal width. How many values each bucket of a cell
holds says which of them a window can reach. Only in these every value is counted; the values of any
other bucket are counted together, as its first. All of it is one statement, in which no number from
the rows stands, and what comes out is as large as the windows, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from .dialect import Dialect
from .whole import Whole

_MOST = 2**12  # buckets of a cell


def near_counts(values: str, keys: int, ends: tuple[int, int], near: str, dialect: Dialect) -> str:
    """The SELECT of k0, k1, …, v and how often (c) it occurs, or those of its bucket.

    Parameters
        values: the SELECT of k0, k1, … and v, as it stands after FROM.
        ends: no v is below the first or above the last.
        near: true of buckets that a window can reach, given how many values are smaller (l), how
            many are in it (c) and how many are in the cell (n).
    """
    names = [f"k{i}" for i in range(keys)]
    width = 1 << max((ends[1] - ends[0]).bit_length() - _MOST.bit_length() + 1, 0)
    bucket = Whole("v", *ends, dialect).floor_divide(width).sql
    there = " AND ".join(f"{name} IS NOT NULL" for name in [*names, "v"])
    listed = ", ".join([*names, "v"])
    if width == 1:
        counted = f"SELECT {listed}, COUNT(*) AS c FROM {values} WHERE {there}"  # noqa: S608
        return f"{counted} GROUP BY {listed}"
    rows = f"SELECT {listed}, {bucket} AS b FROM {values} WHERE {there}"  # noqa: S608
    by = ", ".join([*names, "b"])
    buckets = f"SELECT {by}, COUNT(*) AS c FROM {dialect.nested(rows)} GROUP BY {by}"  # noqa: S608
    ranked = running(buckets, names, "b", dialect)
    reached = f"SELECT {by} FROM {dialect.nested(ranked)} WHERE {near}"  # noqa: S608
    same = " AND ".join(f"r.{name} = s.{name}" for name in [*names, "b"])
    first = Whole("r.b", ends[0] // width, ends[1] // width, dialect).times(width).sql
    value = f"CASE WHEN s.b IS NULL THEN {first} ELSE r.v END AS v"
    whose = ", ".join([*(f"r.{name} AS {name}" for name in names), value])
    both = f"({rows}) AS r LEFT JOIN ({reached}) AS s ON {same}"
    joined = f"SELECT /*+ BROADCAST(s) */ {whose} FROM {both}"  # noqa: S608
    return f"SELECT {listed}, COUNT(*) AS c FROM {dialect.nested(joined)} GROUP BY {listed}"  # noqa: S608


def running(counts: str, keys: Sequence[str], by: str, dialect: Dialect) -> str:
    """The SELECT of counts, how many are smaller in the cell (l), and how many it has (n)."""
    within = f"PARTITION BY {', '.join(keys)}" if keys else ""
    before = (
        f"SUM(c) OVER ({within} ORDER BY {by} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    )
    n = f"SUM(c) OVER ({within}) AS n"
    return f"SELECT *, {before} - c AS l, {n} FROM {dialect.nested(counts)}"  # noqa: S608
