"""The best strategy of every block, and its share of the price, without rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...noise.laplace_sum_tail import Reals
from ...privacy.loss import NOTHING, EpsilonDelta
from ..aggregates.strategy import SAME
from ..question import Aggregate, Question
from .grid import Atoms, Grid, atoms_of, with_outside
from .level import Level, Runs
from .marginals import Marginals, TableRows, TableStrategy, choose_marginals
from .measured_quantity import Block, Quantity, make_block, swap_of
from .range_strategies import Weighted, grouped, lines, sampled
from .required_quantities import Layout
from .strategy import AtomStrategy, PricedStrategy

_SMALLEST = 1e-300
_PARTS = 1 << 12
_MOST_COLUMNS = 7
_MOST_TABLES = 10


@dataclass(frozen=True)
class BlockSetting:
    """The price of all blocks, the neighbours, and the rows of a person.

    rows_public: whether the number of all rows is the same for all neighbours.
    """

    price: EpsilonDelta
    replace: bool
    rows_per_unit: int
    rows_public: bool = False


@dataclass(frozen=True, eq=False)
class _Judged:
    """A candidate with the sum of the errors of all rows at a price of 1, as multiples of those
    allowed, and the price that it needs so that none is above 1."""

    candidate: PricedStrategy
    total: float
    need: float


@dataclass(eq=False)
class BlockSearch:
    """The best blocks of a layout."""

    layout: Layout
    grid: Grid
    questions: Sequence[Question]
    setting: BlockSetting
    _known: dict[Quantity, tuple[Atoms | None, list[PricedStrategy]]] = field(default_factory=dict)

    def blocks(
        self, alone: Mapping[tuple[int, Aggregate], float], *, bounded: bool
    ) -> list[Block] | None:
        """One for each quantity; None if some quantity has no strategy.

        Parameters
            alone: the variance of each question's aggregates, asked alone.
            bounded: whether no answer may be worse than that.
        """
        layout, setting = self.layout, self.setting
        epsilon = float(setting.price.epsilon)
        chosen: dict[Quantity, _Judged] = {}
        for quantity, needs in layout.needs.items():
            scale = quantity.span * setting.rows_per_unit
            allowed = _smooth(layout.allowed(quantity, alone)) / scale**2
            part = epsilon * len({need.question for need in needs}) / len(layout.asked)
            judged = []
            for candidate in self._candidates(quantity, allowed * part**2, bounded):
                errors = _errors(candidate) * self._swap(candidate, quantity) ** 2 / allowed
                need = float(np.sqrt(errors.max(initial=0)))
                judged.append(_Judged(candidate, float(errors.sum()), need))
            if not judged:
                return None
            fitting = [one for one in judged if one.need <= part * SAME] if bounded else judged
            chosen[quantity] = min(fitting or judged, key=lambda one: float(f"{one.total:.6g}"))
        pairs = [(one.total, one.need) for one in chosen.values()]
        shares = _shares(pairs, epsilon, bounded=bounded)
        prices = [setting.price.part(int(share * _PARTS) / _PARTS) for share in shares[:-1]]
        prices.append(setting.price - sum(prices, start=NOTHING))
        return [
            make_block(
                *(quantity, layout.slices(quantity), one.candidate, price),
                replace=setting.replace,
                rows_per_unit=setting.rows_per_unit,
            )
            for (quantity, one), price in zip(chosen.items(), prices, strict=True)
        ]

    def _swap(self, one: PricedStrategy, quantity: Quantity) -> float:
        """The cost of replacing a row, relative to that of adding one."""
        if not self.setting.replace:
            return 1.0
        prices = [max(1, int(p * 2**14)) for p in one.prices]
        return float(swap_of(one.strategy, quantity, prices))

    def _candidates(
        self, quantity: Quantity, allowed: Reals, bounded: bool
    ) -> list[PricedStrategy]:
        # where replacing costs twice what adding does
        half = allowed / (4 if self.setting.replace else 1)
        sum_public = self.setting.rows_public and quantity.kind == "rows"
        tables = self._tables(quantity, half, bounded)
        candidates = [] if tables is None else [tables]
        if quantity not in self._known:
            self._known[quantity] = self._plain(quantity, half, sum_public)
        atoms, plain = self._known[quantity]
        if atoms is None:
            return candidates
        pairs = self.setting.replace and quantity.kind == "rows"
        of_questions = grouped(
            *(atoms.rows, self.layout.questions(quantity), allowed if pairs else half),
            bounded=bounded,
            replace=pairs,
            sum_public=sum_public,
            signed=quantity.kind == "total" and quantity.low < 0,
        )
        return [*candidates, *plain, *_priced(of_questions, atoms, sum_public)]

    def _plain(
        self, quantity: Quantity, allowed: Reals, sum_public: bool
    ) -> tuple[Atoms | None, list[PricedStrategy]]:
        """The atoms, and strategies that are the same whether or not some answer may be worse."""
        atoms = atoms_of(self.grid, self.questions, self.layout.slices(quantity))
        if atoms is None:
            return None, []
        if sum_public:
            atoms = with_outside(atoms, self.grid)
        found = [_leaves(atoms.many)]
        if atoms.line:
            found += lines(atoms.rows, allowed, sum_public=sum_public)
        return atoms, _priced(found, atoms, sum_public)

    def _tables(self, quantity: Quantity, allowed: Reals, bounded: bool) -> PricedStrategy | None:
        """Marginals, where every question is a table of the same rows by some of the columns."""
        grid, slices = self.grid, self.layout.slices(quantity)
        asked = [self.questions[one.question] for one in slices]
        orders = tuple(tuple(grid.index[key.column] for key in q.keys) for q in asked)
        sets = list(map(frozenset, orders))
        if not 2 <= len(grid.axes) <= _MOST_COLUMNS or not 2 <= len(set(sets)) <= _MOST_TABLES:
            return None
        same_rows = all(q.where == grid.where for q in asked)
        counted = any(one.present for one in slices)
        plain = all(len(axes) == len(order) for axes, order in zip(sets, orders, strict=True))
        whole = all(
            key.cells == grid.shape[grid.index[key.column]] - 1 for q in asked for key in q.keys
        )
        if not same_rows or counted or not plain or not whole:
            return None
        sizes = tuple(axis.key.cells - (not axis.may_miss) for axis in grid.axes)
        table = Marginals(sizes)
        rows = TableRows(table, orders, tuple(tuple(key.cells for key in q.keys) for q in asked))
        starts = rows.offsets[:-1]
        cells = np.diff(rows.offsets).astype(np.float64)
        prices = choose_marginals(
            table, sets, allowed[starts], cells / cells.sum(), bounded=bounded
        )
        total = sum(prices.values())
        strategy = TableStrategy("marginals", table, tuple(prices))
        labels = np.full(grid.shape, -1)
        labels[tuple(map(slice, sizes))] = np.arange(math.prod(sizes)).reshape(sizes)
        shares = tuple(p / total for p in prices.values())
        return PricedStrategy(strategy, shares, rows, labels.ravel())


def _smooth(variances: Reals) -> Reals:
    """Those of continuous Laplace noise of the same loss, by which strategies are compared: they
    fall with the square of the price however large it is."""
    loss = 2 * np.arcsinh(1 / np.sqrt(2 * np.maximum(variances, _SMALLEST)))
    return np.asarray(2 / loss**2)


def line_block(
    layout: Layout,
    grid: Grid,
    question: Question,
    declared: Callable[[int], Runs],
    setting: BlockSetting,
) -> Block:
    """The cells of a histogram, with the best strategy for declared sums of them.

    declared: these sums, over so many cells.
    """
    (quantity,) = layout.needs
    atoms = atoms_of(grid, [question], layout.slices(quantity))
    assert atoms is not None  # noqa: S101 - the cells of a histogram are at most its atoms
    target, public = declared(atoms.many), setting.rows_public
    if public:
        atoms = with_outside(atoms, grid)
        target = replace(target, atoms=atoms.many)
    found = [_leaves(atoms.many), *lines(target, np.ones(len(target)), sum_public=public)]
    candidates = _priced(found, replace(atoms, rows=sampled(target)), public)
    best = min(candidates, key=lambda one: float(_errors(one).mean()))
    return make_block(
        *(quantity, layout.slices(quantity), replace(best, rows=atoms.rows), setting.price),
        replace=setting.replace,
        rows_per_unit=setting.rows_per_unit,
    )


def _leaves(atoms: int) -> tuple[str, Weighted]:
    return "atoms", ((Level.leaves(atoms),), (1.0,))


def _errors(one: PricedStrategy) -> Reals:
    heights = one.strategy.heights
    noise = [2 * (h / p) ** 2 for h, p in zip(heights, one.prices, strict=True)]
    return one.strategy.estimator(noise).variances(one.rows)


def _shares(blocks: Sequence[tuple[float, float]], epsilon: float, *, bounded: bool) -> list[float]:
    """The shares of the price with the least Σ total/price², none below its need if possible."""
    totals = np.array([max(total, 1e-300) for total, _ in blocks])
    least = np.array([need for _, need in blocks]) / epsilon
    if not bounded or least.sum() >= 1:
        least = np.zeros(len(blocks))
    fixed = np.zeros(len(blocks), dtype=np.bool_)
    for _ in range(len(blocks) + 1):
        free = np.where(fixed, 0, np.cbrt(totals))
        left = 1 - least[fixed].sum()
        shares = np.where(fixed, least, left * free / max(free.sum(), 1e-300))
        low = (shares < least) & ~fixed
        if not low.any():
            break
        fixed |= low
    return [float(share) for share in shares / shares.sum()]


def _priced(
    found: Sequence[tuple[str, Weighted]], atoms: Atoms, sum_public: bool
) -> list[PricedStrategy]:
    return [
        PricedStrategy(AtomStrategy(name, levels, sum_public), prices, atoms.rows, atoms.labels)
        for name, (levels, prices) in found
    ]
