"""The best strategy for every block, and the share of the price that each gets, without rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...privacy.loss import EpsilonDelta
from ..question import Aggregate, Question
from .grid import Atoms, Grid, Slice, atoms_of, with_outside
from .level import Level, Reals, Runs
from .marginals import Marginals, TableRows, TableStrategy, choose_marginals
from .measured_quantity import Block, Quantity, make_block, swap_of
from .range_strategies import Weighted, grouped, lines, sampled
from .required_quantities import Layout
from .strategy import PricedStrategy, of_levels

SAME = 1 + 1e-6
"""Prices are whole billionths: two ways at the same price may differ by that little."""
_SMALLEST = 1e-300
_PARTS = 1 << 12
_MOST_COLUMNS = 7
_MOST_TABLES = 10


Known = dict[Quantity, tuple[Atoms | None, list[PricedStrategy]]]
"""The atoms of a layout's blocks, and their plain strategies."""


@dataclass(frozen=True)
class BlockSetting:
    """What decides the price: that of all blocks, how rows may change, how many a person has.

    rows_public: whether the number of all rows is the same for all neighbours.
    """

    price: EpsilonDelta
    replace: bool
    rows_per_unit: int
    rows_public: bool = False


@dataclass(frozen=True, eq=False)
class _Judged:
    """A candidate with the errors of all rows, in parts of what they may be, at a price of 1."""

    candidate: PricedStrategy
    errors: Reals

    @property
    def need(self) -> float:
        """The price at which no row is worse than it may be."""
        return float(np.sqrt(self.errors.max(initial=0)))

    @property
    def total(self) -> float:
        return float(self.errors.sum())


def blocks_for(
    layout: Layout,
    grid: Grid,
    questions: Sequence[Question],
    alone: Mapping[tuple[int, Aggregate], float],
    setting: BlockSetting,
    known: Known,
    *,
    bounded: bool,
) -> list[Block] | None:
    """The blocks of a layout at their best; None if some have no strategy.

    Parameters
        alone: the variance of each question's aggregates, asked alone.
        known: what was found for the same layout before; it is added to.
        bounded: whether no answer may be worse than that.
    """
    every = {need.question for needs in layout.needs.values() for need in needs}
    epsilon = float(setting.price.epsilon)
    chosen: dict[Quantity, _Judged] = {}
    for quantity, needs in layout.needs.items():
        scale = quantity.span * setting.rows_per_unit
        allowed = _smooth(layout.allowed(quantity, alone)) / scale**2
        part = epsilon * len({need.question for need in needs}) / len(every)
        judged = [
            _Judged(one, _errors(one) * _swap(one, quantity, setting) ** 2 / allowed)
            for one in _candidates(
                layout, quantity, grid, questions, allowed * part**2, bounded, setting, known
            )
        ]
        if not judged:
            return None
        fitting = [one for one in judged if one.need <= part * SAME] if bounded else judged
        chosen[quantity] = min(fitting or judged, key=lambda one: float(f"{one.total:.6g}"))
    shares = _shares([(one.total, one.need) for one in chosen.values()], epsilon, bounded=bounded)
    left, made = setting.price, []
    for place, (quantity, one) in enumerate(chosen.items()):
        part = int(shares[place] * _PARTS) / _PARTS
        price = left if place == len(chosen) - 1 else setting.price.part(part)
        left -= price
        made.append(
            make_block(
                quantity,
                layout.slices(quantity),
                one.candidate,
                price,
                replace=setting.replace,
                rows_per_unit=setting.rows_per_unit,
            )
        )
    return made


def _swap(one: PricedStrategy, quantity: Quantity, setting: BlockSetting) -> float:
    """How much more it costs to replace a row than to add one."""
    if not setting.replace:
        return 1.0
    return float(swap_of(one.strategy, quantity, [max(1, int(p * 2**14)) for p in one.prices]))


def _smooth(variances: Reals) -> Reals:
    """Those of continuous Laplace noise of the same loss: strategies are compared by these, which
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
    """The cells of a histogram, released in the way that is best for what is added up from them.

    declared: that, over so many cells.
    """
    ((quantity, _),) = layout.needs.items()
    slices = layout.slices(quantity)
    atoms = atoms_of(grid, [question], slices)
    assert atoms is not None  # noqa: S101 - the cells of a histogram are at most its atoms
    target, known = declared(atoms.many), setting.rows_public
    if known:
        atoms = with_outside(atoms, grid)
        target = Runs(atoms.many, target.offsets, target.first, target.last)
    leaves: Weighted = (Level.leaves(atoms.many),), (1.0,)
    ways = [("atoms", leaves), *lines(target, np.ones(len(target)), sum_public=known)]
    some = sampled(target)
    judged = []
    for name, (levels, prices) in ways:
        one = of_levels(name, levels, prices, some, atoms.labels, sum_public=known)
        judged.append((float(_errors(one).mean()), replace(one, rows=atoms.rows)))
    best = min(judged, key=lambda pair: pair[0])[1]
    return make_block(
        *(quantity, slices, best, setting.price),
        replace=setting.replace,
        rows_per_unit=setting.rows_per_unit,
    )


def _errors(one: PricedStrategy) -> Reals:
    heights = one.strategy.heights
    noise = [2 * (h / p) ** 2 for h, p in zip(heights, one.prices, strict=True)]
    return one.strategy.estimator(noise).variances(one.rows)


def _shares(blocks: Sequence[tuple[float, float]], epsilon: float, *, bounded: bool) -> list[float]:
    """The parts of the price with the least Σ total/price², none below its need if that fits."""
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


def _candidates(
    layout: Layout,
    quantity: Quantity,
    grid: Grid,
    questions: Sequence[Question],
    allowed: Reals,
    bounded: bool,
    setting: BlockSetting,
    known: Known,
) -> list[PricedStrategy]:
    slices = layout.slices(quantity)
    found = []
    half = allowed / (4 if setting.replace else 1)  # where replacing costs twice what adding does
    sum_public = setting.rows_public and quantity.kind == "rows"
    tables = _tables(grid, questions, layout, quantity, half, bounded)
    if tables is not None:
        found.append(tables)
    if quantity not in known:
        known[quantity] = _plain(grid, questions, slices, half, sum_public)
    atoms, plain = known[quantity]
    if atoms is None:
        return found
    rows, labels = atoms.rows, atoms.labels
    found += plain
    of = layout.questions(quantity)
    pairs = setting.replace and quantity.kind == "rows"
    bars = allowed if pairs else half
    signed = quantity.kind == "total" and quantity.low < 0
    for name, (levels, prices) in grouped(
        *(rows, of, bars),
        bounded=bounded,
        replace=pairs,
        sum_public=sum_public,
        signed=signed,
    ):
        found.append(of_levels(name, levels, prices, rows, labels, sum_public=sum_public))
    return found


def _plain(
    grid: Grid,
    questions: Sequence[Question],
    slices: Sequence[Slice],
    allowed: Reals,
    sum_public: bool,
) -> tuple[Atoms | None, list[PricedStrategy]]:
    """The atoms, and strategies that are the same whether or not some answer may be worse."""
    atoms = atoms_of(grid, questions, slices)
    if atoms is None:
        return None, []
    if sum_public:
        atoms = with_outside(atoms, grid)
    ways: list[tuple[str, Weighted]] = [("atoms", ((Level.leaves(atoms.many),), (1.0,)))]
    if atoms.line:
        ways += lines(atoms.rows, allowed, sum_public=sum_public)
    return atoms, [
        of_levels(name, *way, atoms.rows, atoms.labels, sum_public=sum_public) for name, way in ways
    ]


def _tables(
    grid: Grid,
    questions: Sequence[Question],
    layout: Layout,
    quantity: Quantity,
    allowed: Reals,
    bounded: bool,
) -> PricedStrategy | None:
    """Marginals, where every question is a table of the same rows by some of the columns."""
    slices = layout.slices(quantity)
    asked = [questions[one.question] for one in slices]
    columns = len(grid.axes)
    sets = [frozenset(grid.axis(key.column) for key in q.keys) for q in asked]
    if not 2 <= columns <= _MOST_COLUMNS or len(set(sets)) > _MOST_TABLES or len(set(sets)) < 2:
        return None
    plain = all(
        q.where == grid.where and len(s) == len(q.keys) and not one.present
        for q, s, one in zip(asked, sets, slices, strict=True)
    )
    whole = all(key.cells == grid.shape[grid.axis(key.column)] - 1 for q in asked for key in q.keys)
    if not plain or not whole:
        return None
    sizes = tuple(axis.key.cells - (not axis.may_miss) for axis in grid.axes)
    table = Marginals(sizes)
    orders = tuple(tuple(grid.axis(key.column) for key in q.keys) for q in asked)
    rows = TableRows(table, orders, tuple(tuple(key.cells for key in q.keys) for q in asked))
    starts = rows.offsets[:-1]
    cells = np.diff(rows.offsets).astype(np.float64)
    prices = choose_marginals(table, sets, allowed[starts], cells / cells.sum(), bounded=bounded)
    total = sum(prices.values())
    strategy = TableStrategy("marginals", table, tuple(prices))
    every = np.full(grid.cells, -1)
    kept = every.reshape(grid.shape)[tuple(map(slice, sizes))]
    kept[...] = np.arange(kept.size).reshape(kept.shape)
    return PricedStrategy(strategy, tuple(p / total for p in prices.values()), rows, every)
