"""The values near some ranks, by DuckDB: few of them are counted, and none is sorted.

Score and windows are those of `request.Window`. With x(1) ≤ … ≤ x(n) the values of a cell in order,
a value v is in a window just if x(p) ≤ v ≤ x(q), where p = floor((a·n + c2 − reach)/b) + 1 and
q = ceil((a·n + c1 + reach)/b): C(v) ≥ p means x(p) ≤ v, and L(v) < q means v ≤ x(q).

One cell takes three scans: how many values there are; the values at the ranks p and q, selected
without sorting; and how often each value between them occurs, all others being lumped together in
gaps. The counts then prove that no rank from p to q lies in a gap. If one does, as it might if the
source changed between two scans, everything is counted. Several cells are counted in full: one
group for each cell and value, then running sums; so are the chosen rows of people with limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ...errors import refuse
from ...schema import Bounded, Column
from ..contract import Profile, Profiles
from ..duckdb.bench import Bench
from ..people.crowd import Crowd, crowd
from ..request import All, People, RankRequest, Window, Within
from .cell import cell
from .logical import Held, Logical, unfit
from .predicate import truth
from .statement import chosen_rows, group_by
from .steps import double
from .whole import integer

if TYPE_CHECKING:
    import pyarrow


Run = Callable[[str], Sequence[tuple[Any, ...]]]
"""The rows of a SELECT."""

_UNIT = 2**40  # the parts of a rank that the full count's windows are cut to, always outwards


def check_windows(windows: Iterable[Window]) -> None:
    """Refuses windows that are none: 0 ≤ a ≤ b and 1 ≤ b."""
    for window in windows:
        if not (0 <= window.a <= window.b and window.b >= 1):
            raise refuse("engine.window-of-ranks-has-no-rank-its")


def profiles(
    request: RankRequest,
    source: str,
    held: Mapping[str, Held],
    declared: Mapping[str, Column],
    run: Run,
) -> Profiles:
    """The profile of every cell with rows that have the column; just the values in the windows.

    `request.people` is not looked at: see `profiles_of_people`.
    """
    check_windows(request.windows)
    if not request.keys:
        logical = Logical(source, held, declared)
        values = _values(request, logical)
        ((rows,),) = run(f"SELECT COUNT(v) FROM ({values})")  # noqa: S608
        found = _between(values, int(rows), request.windows, run) if rows else None
        if found is not None:
            return {(): found}
    return profiles_in_full(request, source, held, declared, run)


def profiles_in_full(
    request: RankRequest,
    source: str,
    held: Mapping[str, Held],
    declared: Mapping[str, Column],
    run: Run,
) -> Profiles:
    """The same, by counting every value of every cell."""
    check_windows(request.windows)
    values = _values(request, Logical(source, held, declared))
    return _met_by_cell(request, _counted(values, len(request.keys)), run)


def profiles_of_people(
    request: RankRequest,
    people: People,
    source: str,
    held: Mapping[str, Held],
    declared: Mapping[str, Column],
    choose: Callable[[Crowd], Iterable[pyarrow.Table]],
    bench: Bench,
) -> Profiles:
    """The same, of the rows that `choose` chooses."""
    check_windows(request.windows)
    logical = Logical(source, held, declared)
    column = _ordered(request, logical)
    # a row without the column has no rank, and must not use up its unit's limit
    there = Within(column.name, None, None)
    where = there if request.where is None else All((request.where, there))
    rows = crowd(people, logical, where=where, keys=request.keys, columns=[column.name])
    values = f"SELECT *, {logical.value(column.name)} AS v FROM {chosen_rows(rows)}"  # noqa: S608
    for table in choose(rows):
        bench.gather(table, _counted(values, len(request.keys)))
    keys = [f"k{i}" for i in range(len(request.keys))]
    sql = f"SELECT {', '.join([*keys, 'v'])}, SUM(c) AS c FROM gathered"  # noqa: S608
    return _met_by_cell(request, sql + group_by(len(keys) + 1), bench.gathered)


def _counted(values: str, keys: int) -> str:
    """How often (c) each value v occurs in each cell."""
    names = [*(f"k{i}" for i in range(keys)), "v"]
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    sql = f"SELECT {', '.join(names)}, COUNT(*) AS c FROM ({values}) WHERE {there}"  # noqa: S608
    return sql + group_by(len(names))


def _met_by_cell(request: RankRequest, counted: str, run: Run) -> Profiles:
    keys = [f"k{i}" for i in range(len(request.keys))]
    within = f"PARTITION BY {', '.join(keys)}" if keys else ""
    running = f"SUM(c) OVER ({within} ORDER BY v ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    sql = f"SELECT *, {running} - c AS l, SUM(c) OVER ({within}) AS n FROM ({counted})"  # noqa: S608
    # the least value of each cell is always told, and with it how many rows there are
    near = " OR ".join(["l = 0", *map(_near, request.windows)])
    order = ", ".join([*keys, "v"])
    sql = f"SELECT {', '.join([*keys, 'v', 'l', 'c', 'n'])} FROM ({sql}) WHERE {near}"  # noqa: S608
    found: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
    rows: dict[tuple[int, ...], int] = {}
    for row in run(f"{sql} ORDER BY {order}"):
        *key, value, below, count, total = map(int, row)
        found.setdefault(tuple(key), []).append((value, below, count))
        rows[tuple(key)] = total
    return {key: _profile(rows[key], values, request.windows) for key, values in found.items()}


def _ordered(request: RankRequest, logical: Logical) -> Column:
    column = logical.column(request.column)
    if not isinstance(column, Bounded):
        raise unfit(column, "has no order")
    return column


def _values(request: RankRequest, logical: Logical) -> str:
    """The SELECT of each row's cell k0, k1, … and steps v."""
    value = logical.value(_ordered(request, logical).name)
    cells = [cell(key, logical) for key in request.keys]
    where = "" if request.where is None else f" WHERE {truth(request.where, logical)}"
    outputs = [f"{cell} AS k{i}" for i, cell in enumerate(cells)] + [f"{value} AS v"]
    return f"SELECT {', '.join(outputs)} FROM ({logical.write()}){where}"  # noqa: S608


def _near(window: Window) -> str:
    """The SQL of values in the window, and maybe some next to it, whatever size its numbers have.

    a·n + c < b·L is compared after division by b, in parts of a rank, rounded so that the window
    grows. Numbers beyond every rank are cut.
    """
    low = _cut((window.c2 - window.reach) // window.b)
    high = _cut(-((-window.c1 - window.reach) // window.b))
    slow, fast = window.a * _UNIT // window.b, -(-window.a * _UNIT // window.b)

    def side(rank: str, sign: str, part: int, added: int) -> str:
        line = f"CAST({part} AS HUGEINT) * n + CAST({added * _UNIT} AS HUGEINT)"
        return f"CAST({rank} AS HUGEINT) * {_UNIT} {sign} {line}"

    return f"({side('l', '<', fast, high)} AND {side('(l + c)', '>', slow, low)})"


def _cut(rank: int) -> int:
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


def _between(values: str, rows: int, windows: Sequence[Window], run: Run) -> Profile | None:
    """The profile of one cell of so many rows; None if what was found proves to be too little."""
    spans = _spans(values, _ranks(windows, rows), rows, run)
    gaps, cases = set(), []
    for low, high in spans:
        cases += [f"WHEN v < {integer(low)} THEN {integer(low - 1)}"]
        cases += [f"WHEN v <= {integer(high)} THEN v"]
        gaps |= {low - 1, high + 1}
    lumped = f"CASE {' '.join(cases)} ELSE {integer(spans[-1][1] + 1)} END" if spans else "0"
    sql = f"SELECT {lumped} AS g, COUNT(*) FROM ({values}) WHERE v IS NOT NULL GROUP BY 1"  # noqa: S608
    counted = sorted((int(value), int(count)) for value, count in run(sql))
    smaller = [0, *accumulate(count for _, count in counted)]
    met = [(value, below, count) for (value, count), below in zip(counted, smaller, strict=False)]
    ends = _ranks(windows, smaller[-1])
    if any(_met(ends, below, count) for value, below, count in met if value in gaps or not spans):
        return None
    exact = [entry for entry in met if spans and entry[0] not in gaps]
    return _profile(smaller[-1], exact, windows) if counted else None


def _spans(
    values: str, ends: Sequence[tuple[int, int]], rows: int, run: Run
) -> list[tuple[int, int]]:
    """The values at both ends of each window, in order; windows that touch are one."""
    if not ends:
        return []
    # half a rank lower, so that rounding cannot reach another one
    places = ", ".join(double((2 * rank - 1) / (2 * rows)) for pair in ends for rank in pair)
    ((found,),) = run(f"SELECT quantile_disc(v, [{places}]) FROM ({values})")  # noqa: S608
    spans: list[tuple[int, int]] = []
    for low, high in sorted(map(sorted, zip(found[::2], found[1::2], strict=True))):
        if spans and low <= spans[-1][1] + 2:  # every gap has a number of its own
            spans[-1] = spans[-1][0], max(high, spans[-1][1])
        else:
            spans.append((low, high))
    return spans
