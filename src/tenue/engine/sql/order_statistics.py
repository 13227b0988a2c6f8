"""The values near some ranks: few of them are counted, and none is sorted.

The domain of a column is divided into few buckets of equal width. The counts of a cell's buckets
tell which of them a window can reach. Only in these every value is counted; the values of any other
bucket are counted together, as its first. All of it is one statement, which contains no number from
the rows, and its result is as large as the windows, however many rows there are.

Score and windows are those of `request.Window`. With x(1) ≤ … ≤ x(n) the values of a cell in order,
a value v is in a window exactly if x(p) ≤ v ≤ x(q), where p = floor((a·n + c2 − reach)/b) + 1 and
q = ceil((a·n + c1 + reach)/b): C(v) ≥ p means x(p) ≤ v, and L(v) < q means v ≤ x(q).

One cell takes three scans: how many values there are; the values at the ranks p and q, selected
without sorting; and how often each value between them occurs, all others being lumped together in
gaps. The counts then prove that no rank from p to q lies in a gap. If one does, as it might if the
source changed between two scans, everything is counted. Several cells are counted in full: one
group for each cell and value, then running sums; so are the rows chosen by contribution limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

from ...errors import refuse
from ..contract import Profile, Profiles
from ..request import RankRequest, Window
from .dialect import Dialect
from .grid_values import first_step, last_step
from .int_expr import Whole, integer
from .logical_table import Logical, Stored, logical_table, truth
from .statement import cell, group_by

_MOST = 2**12  # buckets of a cell
_UNIT = 2**40  # the windows of the full count are rounded, outwards, to such parts of a rank

Run = Callable[[str], Sequence[tuple[Any, ...]]]
"""The rows of a SELECT."""


def near_counts(values: str, keys: int, ends: tuple[int, int], near: str, dialect: Dialect) -> str:
    """The SELECT of k0, k1, …, v and how often (c) the value, or any of its bucket, occurs.

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


def check_windows(windows: Iterable[Window]) -> None:
    """Refuses windows unless 0 ≤ a ≤ b and 1 ≤ b."""
    for window in windows:
        if not (0 <= window.a <= window.b and window.b >= 1):
            raise refuse("engine.invalid-rank-window")


def profiles(request: RankRequest, table: Stored, run: Run) -> Profiles:
    """The profile of every cell with rows that have the column; only the values in the windows.

    `request.people` is ignored: see `engine/contribution_bounds/measure.py`.
    """
    check_windows(request.windows)
    if not request.keys and not table.dialect.scattered:
        values = table.dialect.nested(_values(request, logical_table(request, table)))
        measured = _logged if table.dialect.logged else _between
        profile = measured(values, request.windows, table.dialect, run)
        if profile is not None:
            return {(): profile}
    return profiles_in_full(request, table, run)


def profiles_in_full(request: RankRequest, table: Stored, run: Run) -> Profiles:
    """The same, by counting every value of every cell."""
    check_windows(request.windows)
    logical, dialect = logical_table(request, table), table.dialect
    column = logical.bounded(request.column, "has no order")
    values = dialect.nested(_values(request, logical))
    counts = counted_near(request, values, (first_step(column), last_step(column)), dialect)
    return met_by_cell(request, counts, dialect, run)


def counted(values: str, keys: int) -> str:
    """How often (c) each value v occurs in each cell; `values` stands after FROM."""
    names = [*(f"k{i}" for i in range(keys)), "v"]
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    sql = f"SELECT {', '.join(names)}, COUNT(*) AS c FROM {values} WHERE {there}"  # noqa: S608
    return sql + group_by(len(names))


def met_by_cell(request: RankRequest, counts: str, dialect: Dialect, run: Run) -> Profiles:
    """The profiles, from what `counted` counts."""
    keys = [f"k{i}" for i in range(len(request.keys))]
    sql = running(counts, keys, "v", dialect)
    near = _reached(request, dialect)
    order, outputs = ", ".join([*keys, "v"]), ", ".join([*keys, "v", "l", "c", "n"])
    sql = f"SELECT {outputs} FROM {dialect.nested(sql)} WHERE {near}"  # noqa: S608
    found: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
    rows: dict[tuple[int, ...], int] = {}
    for row in run(f"{sql} ORDER BY {order}"):
        *key, value, below, count, total = map(int, row)
        found.setdefault(tuple(key), []).append((value, below, count))
        rows[tuple(key)] = total
    return {key: _profile(rows[key], values, request.windows) for key, values in found.items()}


def _reached(request: RankRequest, dialect: Dialect) -> str:
    """The SQL of values that may be in a window; the least value of each cell, which has the number
    of rows beside it, is always included."""
    return " OR ".join(["l = 0", *(_near(window, dialect) for window in request.windows)])


def counted_near(request: RankRequest, values: str, ends: tuple[int, int], dialect: Dialect) -> str:
    """The counts of `counted` that `met_by_cell` needs: no v is beyond the ends."""
    if not dialect.scattered:
        return counted(values, len(request.keys))
    return near_counts(values, len(request.keys), ends, _reached(request, dialect), dialect)


def _values(request: RankRequest, logical: Logical) -> str:
    """The SELECT of each row's cell k0, k1, … and steps v."""
    value = logical.value(logical.bounded(request.column, "has no order").name)
    cells = [cell(key, logical) for key in request.keys]
    where = None if request.where is None else truth(request.where, logical)
    outputs = [f"{cell} AS k{i}" for i, cell in enumerate(cells)] + [f"{value} AS v"]
    return logical.select(outputs, where)


def _near(window: Window, dialect: Dialect) -> str:
    """The SQL of values in the window, and maybe some next to it, whatever size its numbers have.

    a·n + c < b·L is compared after division by b, in parts of a rank, rounded so that the window
    grows. Numbers beyond every rank are clamped.
    """
    low = _clamped((window.c2 - window.reach) // window.b)
    high = _clamped(-((-window.c1 - window.reach) // window.b))
    slow, fast = window.a * _UNIT // window.b, -(-window.a * _UNIT // window.b)

    def side(rank: str, sign: str, part: int, added: int) -> str:
        line = f"CAST({part} AS {dialect.huge}) * n + CAST({added * _UNIT} AS {dialect.huge})"
        return f"CAST({rank} AS {dialect.huge}) * {_UNIT} {sign} {line}"

    return f"({side('l', '<', fast, high)} AND {side('(l + c)', '>', slow, low)})"


def _clamped(rank: int) -> int:
    return max(-(2**62), min(rank, 2**62))


def _ends(window: Window, rows: int) -> tuple[int, int] | None:
    """The ranks p and q of the window, from 1 to `rows`; None if it holds no value."""
    first = (window.a * rows + window.c2 - window.reach) // window.b + 1
    last = -((-window.a * rows - window.c1 - window.reach) // window.b)
    if window.reach <= 0 or first > rows or last < 1:
        return None
    return max(first, 1), min(last, rows)


def _ranks(windows: Iterable[Window], rows: int) -> list[tuple[int, int]]:
    return [ends for window in windows if (ends := _ends(window, rows)) is not None]


def _met(ends: Iterable[tuple[int, int]], below: int, count: int) -> bool:
    """Whether values after `below` smaller ones, `count` together, may be in a window."""
    return any(below < last and below + count >= first for first, last in ends)


def _profile(
    rows: int, values: Iterable[tuple[int, int, int]], windows: Iterable[Window]
) -> Profile:
    ends = _ranks(windows, rows)
    return Profile(rows, tuple(value for value in values if _met(ends, value[1], value[2])))


def _between(values: str, windows: Sequence[Window], dialect: Dialect, run: Run) -> Profile | None:
    """The profile of one cell; None if it has no rows, or if the counts prove insufficient."""
    ((count,),) = run(f"SELECT COUNT(v) FROM {values}")  # noqa: S608
    rows = int(count)
    if not rows:
        return None
    spans = _spans(values, _ranks(windows, rows), rows, dialect, run)
    if not spans:
        return Profile(rows, ())
    gaps, cases = set(), []
    for low, high in spans:
        cases += [f"WHEN v < {integer(low)} THEN {integer(low - 1)}"]
        cases += [f"WHEN v <= {integer(high)} THEN v"]
        gaps |= {low - 1, high + 1}
    lumped = f"CASE {' '.join(cases)} ELSE {integer(spans[-1][1] + 1)} END"
    if len(spans) == 1:
        lumped = dialect.nearest("v", *(integer(gap) for gap in sorted(gaps)))
    sql = f"SELECT {lumped} AS g, COUNT(*) FROM {values} WHERE v IS NOT NULL GROUP BY 1"  # noqa: S608
    counts = sorted((int(value), int(count)) for value, count in run(sql))
    smaller = [0, *accumulate(count for _, count in counts)]
    met = [(value, below, count) for (value, count), below in zip(counts, smaller, strict=False)]
    ends = _ranks(windows, smaller[-1])
    if any(_met(ends, below, count) for value, below, count in met if value in gaps):
        return None
    exact = [entry for entry in met if entry[0] not in gaps]
    return _profile(smaller[-1], exact, windows) if counts else None


def _logged(values: str, windows: Sequence[Window], dialect: Dialect, run: Run) -> Profile | None:
    """The same in one statement for each window, which contains no number from the rows."""
    rows, found = 0, set()
    for window in windows:
        counts = sorted(tuple(map(int, row)) for row in run(_lumped(values, window, dialect)))
        rows = sum(count for _, count, _, _ in counts)
        ends, smaller = _ranks([window], rows), 0
        for value, count, low, high in counts:
            if low <= value <= high:
                found.add((value, smaller, count))
            elif _met(ends, smaller, count):
                return None
            smaller += count
    return _profile(rows, sorted(found), windows) if rows else None


def _lumped(values: str, window: Window, dialect: Dialect) -> str:
    """How often each value in a window occurs; all others are lumped together beside it.

    The ends are a rank farther than necessary, for they are computed in doubles.
    """
    present = f"SELECT NULLIF(COUNT(v), 0) AS n FROM {values}"  # noqa: S608
    ranks = (window.c2 - window.reach, -1.5), (window.c1 + window.reach, 1.5)
    places = []
    for rank, farther in ranks:
        away = dialect.number(float(_clamped(rank // window.b)) + farther)
        place = f"{dialect.number(window.a / window.b)} + {away} / (SELECT n FROM present)"  # noqa: S608
        places.append(dialect.nearest(place, dialect.number(0.0), dialect.number(1.0)))
    ends = f"SELECT {dialect.quantiles('v', places)} AS e FROM {values}"  # noqa: S608
    low, high = (f"(SELECT e[{i}] FROM ends)" for i in (1, 2))  # noqa: S608
    near = dialect.nearest("v", f"{low} - 1", f"{high} + 1")
    return (
        f"WITH present AS MATERIALIZED ({present}), ends AS MATERIALIZED ({ends}) "  # noqa: S608
        f"SELECT {near} AS g, COUNT(*), {low}, {high} FROM {values} WHERE v IS NOT NULL GROUP BY 1"
    )


def _spans(
    values: str, ends: Sequence[tuple[int, int]], rows: int, dialect: Dialect, run: Run
) -> list[tuple[int, int]]:
    """The values at both ends of each window, in order; windows that touch are one."""
    if not ends:
        return []
    # half a rank lower, so that rounding cannot reach another one
    places = [(2 * rank - 1) / (2 * rows) for pair in ends for rank in pair]
    written = [dialect.number(place) for place in places]
    ((found,),) = run(f"SELECT {dialect.quantiles('v', written)} FROM {values}")  # noqa: S608
    spans: list[tuple[int, int]] = []
    for low, high in sorted(map(sorted, zip(found[::2], found[1::2], strict=True))):
        if spans and low <= spans[-1][1] + 2:  # every gap has a number of its own
            spans[-1] = spans[-1][0], max(high, spans[-1][1])
        else:
            spans.append((low, high))
    return spans
