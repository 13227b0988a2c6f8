"""At most so many rows, and so many cells, of each unit, in DuckDB's SQL.

Guarantee
    As `request.People`: what is kept of a unit depends on the multiset of its own rows, the request
    and the seed.

Equal rows are numbered, which takes a sort; then rows are sorted by unit and by a hash of contents
and number that is keyed with the seed, so that each row is as likely as any other; a row is kept
unless the row `limit` places before it is of the same unit. Sorting everybody and looking back was
the fastest exact way tried in DuckDB: every window for each unit, or aggregate of the n least
values, took longer. Rows with the same hash are sorted by contents and number.

Looking back takes rows in the order in which the sort hands them on. That order is checked at every
row, and the statement fails if it is another: a wrong row is never kept in silence.

The choice is random because of the seed; that the limits hold is certain, whatever the hash.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InvalidArgument
from ..number import whole
from .logical import Logical
from .predicate import truth
from .request import People, Predicate

__all__ = ["everybody", "kept"]

_WORD = 2**64
_FAR = 2**62
_CELLS_SALT = 0x9E3779B97F4A7C15  # so that cells and rows are chosen by different keys


def everybody(
    people: People,
    logical: Logical,
    *,
    where: Predicate | None,
    cells: Sequence[str],
    values: Sequence[str],
) -> str:
    """The SELECT of the rows that are somebody's and in a cell: u, k0, k1, …, and `values`.

    Parameters
        people: the unit; its limits are checked, and not applied.
        logical: the table, which knows the names in `cells` and `values`.
        where: which rows there are at all.
        cells: the SQL of each key's cell.
        values: names of what is measured.
    """
    _limits(people)
    outputs = [f"{logical.unit(people.unit)} AS u"]
    outputs += [f"{cell} AS k{i}" for i, cell in enumerate(cells)]
    there = " AND ".join(["u IS NOT NULL", *(f"k{i} IS NOT NULL" for i in range(len(cells)))])
    filtered = "" if where is None else f" WHERE {truth(where, logical)}"
    chosen = ", ".join([*outputs, *dict.fromkeys(values)])
    sql = f"SELECT {chosen} FROM ({logical.write()}){filtered}"  # noqa: S608
    return f"SELECT * FROM ({sql}) WHERE {there}"  # noqa: S608


def kept(
    people: People,
    logical: Logical,
    *,
    where: Predicate | None,
    cells: Sequence[str],
    values: Sequence[str],
) -> str:
    """Those of the rows of `everybody` that are kept.

    The parameters are those of `everybody`.
    """
    rows, groups, seed = _limits(people)
    keys = [f"k{i}" for i in range(len(cells))]
    names = ["u", *keys, *dict.fromkeys(values)]
    sql = everybody(people, logical, where=where, cells=cells, values=values)
    if keys and groups is not None:
        sql = _few_cells(sql, names, keys, groups, seed ^ _CELLS_SALT)
    return _few_rows(sql, names, rows, seed)


def _limits(people: People) -> tuple[int, int | None, int]:
    rows = min(whole(people.rows, "rows", least=1), _FAR)
    groups = None
    if people.groups is not None:
        groups = min(whole(people.groups, "groups", least=1), _FAR)
    seed = whole(people.seed, "seed")
    if seed >= _WORD:
        raise InvalidArgument(
            "`seed` has more than 64 bits",
            "`seed` must be a whole number below 2^64",
            "Draw 64 bits from the source of randomness",
        )
    return rows, groups, seed


def _few_rows(sql: str, names: Sequence[str], limit: int, seed: int) -> str:
    sql = _sorted(
        _numbered(sql, names), [*names, "copy"], seed, [f"lag(u, {limit}) OVER () AS far"]
    )
    return f"SELECT {', '.join(names)} FROM ({sql}) WHERE {_checked('far IS DISTINCT FROM u')}"  # noqa: S608


def _numbered(sql: str, names: Sequence[str]) -> str:
    """The rows with a `copy` that counts those that are equal: 0, 1, 2, …"""
    order = ", ".join(f"{name} ASC NULLS LAST" for name in names)
    other = " OR ".join(f"lag({name}, 1) OVER () IS DISTINCT FROM {name}" for name in names)
    sql = f"SELECT * FROM ({sql}) ORDER BY {order}"  # noqa: S608
    sql = f"SELECT *, row_number() OVER () AS place, ({other}) AS fresh FROM ({sql})"  # noqa: S608
    running = "OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    start = f"MAX(CASE WHEN fresh THEN place END) {running}"
    return f"SELECT {', '.join(names)}, place - {start} AS copy FROM ({sql})"  # noqa: S608


def _few_cells(sql: str, names: Sequence[str], keys: Sequence[str], limit: int, seed: int) -> str:
    sql = _sorted(sql, ["u", *keys], seed, [f"lag({key}, 1) OVER () AS old_{key}" for key in keys])
    other = " OR ".join(f"old_{key} IS DISTINCT FROM {key}" for key in keys)
    running = "OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    sql = f"SELECT *, old_u IS DISTINCT FROM u AS new FROM ({sql}) WHERE {_checked('TRUE')}"  # noqa: S608
    # cells met so far, and those met when the unit began: both only ever grow
    sql = f"SELECT *, COUNT(CASE WHEN new OR {other} THEN 1 END) {running} AS met FROM ({sql})"  # noqa: S608
    sql = f"SELECT *, MAX(CASE WHEN new THEN met END) {running} AS start FROM ({sql})"  # noqa: S608
    return f"SELECT {', '.join(names)} FROM ({sql}) WHERE met - start < {limit}"  # noqa: S608


def _sorted(sql: str, names: Sequence[str], seed: int, looking: Sequence[str]) -> str:
    """The rows by unit, then by the keyed hash of `names`, then by `names`."""
    hashed = f"hash(xor(hash({', '.join(names)}), CAST({seed} AS UBIGINT)))"
    order = ", ".join(f"{name} ASC NULLS LAST" for name in ["u", "h", *names[1:]])
    sql = f"SELECT *, {hashed} AS h FROM ({sql})"  # noqa: S608
    sql = f"SELECT * FROM ({sql}) ORDER BY {order}"  # noqa: S608
    back = ["lag(u, 1) OVER () AS old_u", "lag(h, 1) OVER () AS old_h", *looking]
    return f"SELECT *, {', '.join(back)} FROM ({sql})"  # noqa: S608


def _checked(condition: str) -> str:
    """The condition; a failure if the row does not follow the one before in order."""
    right = "old_u IS NULL OR old_u < u OR (old_u = u AND old_h <= h)"
    return f"CASE WHEN {right} THEN {condition} ELSE error('order') END"
