"""Which cells to suppress so that every combination that remains is shared by at least k units.

A suppressed cell is missing, and missing is a value of its own: two rows share a combination only
if the same cells are missing in both. Finding the fewest cells is NP-hard (Meyerson and Williams
2004). Here rows are covered greedily by combinations, those of the lowest price for each row first,
and then some combinations at a time are dissolved and covered again, as long as cells are saved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Fault
from ...noise.samplers import uniform
from ...noise.source import Source

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]

_COLUMNS = 10
"""Up to so many columns, every set of columns is tried."""
_SETS = 512
_SAMPLE, _BESIDE = 256, 4096
_ENTRIES = 1 << 21
"""So many combinations are priced at once."""
_LENDERS = 4096
_GROWTH = 1.25
_TRIES, _FEW = 150, 8
_EFFORT = 1 << 22
_NEAREST = 12
_STEPS = 64
_INFINITE = np.inf


def fewest_cells(
    codes: Sequence[Numbers],
    k: int,
    source: Source,
    weights: Sequence[int] | None = None,
    persons: Numbers | None = None,
) -> Flags:
    """The cells to suppress, a row for each column; few, but not always the fewest.

    Guarantee
        With these cells missing, every combination of values and missing cells is shared by at
        least k units. Nothing is suppressed in a table in which that holds already.

    Parameters
        codes: for each column, the value of each row as a number; -1 where it is missing.
        weights: how many cells a suppressed cell of each column counts for; 1 by default.
        persons: the person of each row, numbered from 0; None if each row is a unit.

    Example
        >>> from tenue.noise.source import SYSTEM
        >>> town, age = np.array([1, 1, 1, 1, 2]), np.array([30, 30, 40, 40, 40])
        >>> fewest_cells([town, age], 2, SYSTEM).astype(int).tolist()
        [[0, 0, 1, 1, 1], [0, 0, 0, 0, 0]]
    """
    units = len(codes[0]) if persons is None else np.unique(persons).size
    if units < k:
        raise Fault("a table with fewer than k units cannot be covered")
    search = _Cover(np.stack(codes, axis=1), k, source, weights, persons)
    search.begin()
    search.improve()
    return search.hidden.T


class _Entries(NamedTuple):
    """Rows that a combination would cover, sorted by combination.

    combination: numbered from 0; keys: its key; each row occurs once in a combination.
    """

    rows: Numbers
    sets: Numbers
    costs: Numbers
    combination: Numbers
    keys: Keys

    @property
    def starts(self) -> Numbers:
        return np.searchsorted(self.combination, np.arange(self.keys.size + 1))


class _Lent(NamedTuple):
    """Rows that classes of more than k rows can spare for a combination."""

    rows: Numbers
    sets: Numbers


class _Cover:
    """Rows, the cells hidden in each, and the key of the combination that is left of it."""

    def __init__(
        self,
        codes: Numbers,
        k: int,
        source: Source,
        weights: Sequence[int] | None,
        persons: Numbers | None,
    ) -> None:
        rows, columns = codes.shape
        self._k, self._source, self._persons = k, source, persons
        self._codes = codes
        weight = np.array([1] * columns if weights is None else weights, np.int64)
        self._weight = np.where(codes >= 0, weight, 0)
        salts = _mixed(np.arange(columns, dtype=np.uint64)) << np.uint64(1)
        parts = _mixed(salts + (codes + 1).astype(np.uint64))
        self._plain: Keys = parts.sum(axis=1, dtype=np.uint64)
        self._less: Keys = _mixed(salts) - parts
        self.hidden: Flags = np.zeros((rows, columns), np.bool_)
        self._key = self._plain.copy()
        self._cost = np.zeros(rows, np.int64)
        self._open = np.zeros(rows, np.bool_)
        self._sets: Flags = np.zeros((0, columns), np.bool_)
        self._vary = False

    # -- the two phases ----------------------------------------------------------------------------

    def begin(self) -> None:
        """Covers all rows, greedily."""
        labels = np.unique(self._key, return_inverse=True)[1].reshape(-1)
        rows = np.arange(labels.size)
        self._open = (self._units(labels, rows) < self._k)[labels]
        self._sets = self._sets_to_try()
        self._fill()

    def improve(self) -> None:
        """Dissolves some classes at a time, and keeps what is cheaper."""
        rows, sets = self._key.size, len(self._sets)
        self._vary = True
        work = rows + min(rows, _LENDERS) * sets
        for _ in range(min(_TRIES, max(_FEW, _EFFORT // work))):
            dear = np.flatnonzero(self._cost)
            if dear.size == 0:
                return
            before = self._cost.sum()
            state = self._key.copy(), self.hidden.copy(), self._cost.copy()
            opened = np.isin(self._key, self._keys_near(dear))
            if opened.sum() * sets > _ENTRIES:
                continue
            self._open = opened
            self.hidden[opened] = False
            self._fill()
            if self._cost.sum() > before:
                self._key, self.hidden, self._cost = state

    def _keys_near(self, dear: Numbers) -> Keys:
        """The classes of a row drawn at random and of some rows that resemble it."""
        row = int(dear[self._drawn(dear.size)])
        keys, first = np.unique(self._key, return_index=True)
        shown = np.where(self.hidden[first], -1, self._codes[first])
        apart = ((shown != self._codes[row]) * self._weight[row]).sum(axis=1)
        near = keys[np.argsort(apart, kind="stable")[:_NEAREST]]
        chosen = [near[self._drawn(near.size)] for _ in range(1 + self._drawn(3))]
        return np.array([self._key[row], *chosen], np.uint64)

    def _drawn(self, below: int) -> int:
        return int(uniform(below, 1, self._source)[0])

    def _sets_to_try(self) -> Flags:
        """Sets of columns to suppress: all, or small ones and those by which rows differ."""
        columns = self.hidden.shape[1]
        if columns <= _COLUMNS:
            every = np.arange(1, 1 << columns)[:, None]
            return np.asarray((every >> np.arange(columns)) & 1, np.bool_)
        found: dict[frozenset[int], int] = {frozenset(range(columns)): 0}
        for size in range(1, columns):
            more = [frozenset(one) for one in combinations(range(columns), size)]
            if len(found) + len(more) > _SETS // 2:
                break
            found.update(dict.fromkeys(more, 0))
        seen: dict[frozenset[int], int] = {}
        others = self._codes[:_BESIDE]
        for row in np.flatnonzero(self._open)[:_SAMPLE]:
            differs = others != self._codes[row]
            order = np.argsort(differs @ self._weight[row], kind="stable")[: self._k + 1]
            for union in np.logical_or.accumulate(differs[order]):
                one = frozenset(np.flatnonzero(union).tolist())
                seen[one] = seen.get(one, 0) + 1
        usual = sorted(filter(None, seen), key=lambda one: -seen[one])
        found.update(dict.fromkeys(usual[: _SETS - len(found)], 0))
        sets = np.zeros((len(found), columns), np.bool_)
        for i, one in enumerate(found):
            sets[i, list(one)] = True
        return sets

    # -- covering what is open ---------------------------------------------------------------------

    def _fill(self) -> None:
        """Covers the open rows."""
        limit = 0.0
        while self._open.any():
            width = max(1, _ENTRIES // int(self._open.sum()))
            exact = width >= len(self._sets)
            covered, least = 0, _INFINITE
            for begin in range(0, len(self._sets), width):
                some = np.arange(begin, min(begin + width, len(self._sets)))
                done, price = self._cover(some, None if exact else limit)
                covered, least = covered + done, min(least, price)
            if covered == 0:
                if least == _INFINITE:
                    break
                limit = max(least, limit * _GROWTH)
        for row in np.flatnonzero(self._open):
            self._widen(int(row))
        self._reveal()

    def _reveal(self) -> None:
        """Shows the cells of a column again in classes whose rows have one value of it."""
        order = np.argsort(self._key, kind="stable")
        keys = self._key[order]
        begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        low, high = (
            found.reduceat(self._codes[order], begins) for found in (np.minimum, np.maximum)
        )
        sizes = np.diff(begins, append=keys.size)
        alike = np.repeat(low == high, sizes, axis=0) & self.hidden[order]
        rows = order[alike.any(axis=1)]
        self.hidden[order] &= ~alike
        self._set(rows)

    def _cover(self, some: Numbers, limit: float | None) -> tuple[int, float]:
        """Covers rows by combinations of a price up to the limit, or of the least price.

        Returns how many rows were covered, and the least price among the others.
        """
        rows = np.flatnonzero(self._open)
        if rows.size == 0:
            return 0, _INFINITE
        entries = self._entries(rows, some)
        starts = entries.starts
        times = np.diff(starts)
        units = self._units(entries.combination, entries.rows)
        known = np.isin(entries.keys, self._key[~self._open])
        own = np.add.reduceat(entries.costs, starts[:-1])
        full = known | (units >= self._k)
        price = np.where(full, own / times, _INFINITE)
        lent = self._lenders(entries, np.flatnonzero(~full), units, some)
        for one, (_, extra) in lent.items():
            price[one] = (own[one] + extra) / times[one]
        if self._vary:
            price = price * (_STEPS + uniform(_STEPS, price.size, self._source)) / _STEPS
        most = float(price.min()) if limit is None else limit
        covered, sizes = 0, Counter(self._key[~self._open].tolist()) if lent else Counter()
        order = np.flatnonzero(price <= most)
        later = float(price[price > most].min(initial=_INFINITE))
        for one in order[np.lexsort((-times[order], price[order]))]:
            part = slice(starts[one], starts[one + 1])
            still = self._open[entries.rows[part]]
            mine, sets = entries.rows[part][still], entries.sets[part][still]
            if mine.size == 0:
                continue
            if not known[one] and self._count(mine) < self._k:
                spared = lent[one][0] if one in lent and still.all() else None
                if spared is None or not self._lend(spared.rows, sizes):
                    later = min(later, float(price[one]))
                    continue
                self._place(*spared)
            self._place(mine, sets)
            covered += mine.size
        return covered, later

    def _entries(self, rows: Numbers, some: Numbers) -> _Entries:
        sets = self._sets[some]
        keys = self._keys_under(rows, sets).reshape(-1)
        costs = (self._weight[rows] @ sets.T.astype(np.int64)).reshape(-1)
        which = np.repeat(np.arange(rows.size), some.size)
        order = np.lexsort((which, keys))
        keys, which = keys[order], which[order]
        # a set with a column that is missing already gives the same combination twice
        first = np.append(True, (keys[1:] != keys[:-1]) | (which[1:] != which[:-1]))
        keys, which, order = keys[first], which[first], order[first]
        new = np.append(True, keys[1:] != keys[:-1])
        return _Entries(
            rows[which], some[order % some.size], costs[order], np.cumsum(new) - 1, keys[new]
        )

    def _keys_under(self, rows: Numbers, sets: Flags) -> Keys:
        found: Keys = self._plain[rows][:, None] + self._less[rows] @ sets.T.astype(np.uint64)
        return found

    def _lenders(
        self, entries: _Entries, short: Numbers, units: Numbers, some: Numbers
    ) -> dict[int, tuple[_Lent, float]]:
        """For combinations that lack rows, those that others can spare, and what that costs."""
        if self._persons is not None or short.size == 0:
            return {}
        pool = self._spare()[: max(1, min(_LENDERS, _ENTRIES // some.size))]
        if pool.size == 0:
            return {}
        sets = self._sets[some]
        keys = self._keys_under(pool, sets).reshape(-1)
        wanted = entries.keys[short]
        place = np.minimum(np.searchsorted(wanted, keys), wanted.size - 1)
        fits = np.flatnonzero(wanted[place] == keys)
        if fits.size == 0:
            return {}
        costs = (self._weight[pool] @ sets.T.astype(np.int64)).reshape(-1)[fits]
        extra = costs - self._cost[pool[fits // some.size]]
        target = short[place[fits]]
        order = np.lexsort((extra, target))
        target, fits, extra = target[order], fits[order], extra[order]
        found: dict[int, tuple[_Lent, float]] = {}
        begins = np.flatnonzero(np.append(True, target[1:] != target[:-1]))
        for begin, end in zip(begins, np.append(begins[1:], target.size), strict=True):
            one = int(target[begin])
            places, first = np.unique(fits[begin:end] // some.size, return_index=True)
            first = np.sort(first)[: self._k - int(units[one])] + begin
            if first.size == self._k - units[one] and places.size >= first.size:
                lent = _Lent(pool[fits[first] // some.size], some[fits[first] % some.size])
                found[one] = lent, float(extra[first].sum())
        return found

    def _spare(self) -> Numbers:
        """Rows that can leave their classes, all of them together."""
        rows = np.flatnonzero(~self._open)
        rows = rows[np.argsort(self._key[rows], kind="stable")]
        keys = self._key[rows]
        begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: keys.size])
        sizes = np.diff(begins, append=keys.size)
        rank = np.arange(keys.size) - np.repeat(begins, sizes)
        some = rank < np.minimum(np.repeat(sizes, sizes) - self._k, self._k)
        return np.sort(rows[some])

    def _lend(self, rows: Numbers, sizes: Counter[int]) -> bool:
        """Takes rows out of their classes, if these keep k rows; others may have left before.

        Parameters
            sizes: how many rows each class had, less those that it lent.
        """
        leaving = Counter(self._key[rows].tolist())
        if any(sizes[key] - many < self._k for key, many in leaving.items()):
            return False
        for key, many in leaving.items():
            sizes[key] -= many
        return True

    def _place(self, rows: Numbers, sets: Numbers) -> None:
        hidden = self._sets[sets]
        self.hidden[rows] = hidden & (self._codes[rows] >= 0)
        self._set(rows)

    def _set(self, rows: Numbers) -> None:
        hidden = self.hidden[rows]
        less = np.where(hidden, self._less[rows], np.uint64(0))
        self._key[rows] = self._plain[rows] + less.sum(axis=1, dtype=np.uint64)
        self._cost[rows] = (hidden * self._weight[rows]).sum(axis=1)
        self._open[rows] = False

    def _widen(self, row: int) -> None:
        """Adds a row to the class whose members must then lose the fewest cells."""
        rows = np.flatnonzero(~self._open)
        if rows.size == 0:  # fewer rows are open than k, so others are covered
            raise Fault("no class is left to widen")
        _, first, labels, sizes = np.unique(
            self._key[rows], return_index=True, return_inverse=True, return_counts=True
        )
        shown = np.where(self.hidden[rows[first]], -1, self._codes[rows[first]])
        apart = shown != self._codes[row]
        member = np.max(self._weight, axis=0)
        own = (apart * self._weight[row]).sum(axis=1)
        theirs = ((apart & (shown >= 0)) * member).sum(axis=1) * sizes
        best = int(np.argmin(own + theirs))
        together = np.append(rows[labels.reshape(-1) == best], row)
        self.hidden[together] |= apart[best]
        self.hidden[together] &= self._codes[together] >= 0
        self._set(together)

    # -- counting ----------------------------------------------------------------------------------

    def _units(self, labels: Numbers, rows: Numbers) -> Numbers:
        """How many units each label has."""
        if self._persons is None:
            return np.bincount(labels)
        pairs = np.unique(np.stack([labels, self._persons[rows]]), axis=1)
        return np.bincount(pairs[0])

    def _count(self, rows: Numbers) -> int:
        return int(rows.size if self._persons is None else np.unique(self._persons[rows]).size)


def _mixed(numbers: Any) -> Keys:
    """64 bits that look random, for each whole number (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        found = numbers + np.uint64(0x9E3779B97F4A7C15)
        found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(found ^ (found >> np.uint64(31)), np.uint64)
