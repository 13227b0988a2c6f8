"""Small tables that hang together: what each step costs, exactly, and that relations are kept."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

import tenue as tn
from private_laws import (
    ROUNDING,
    Exposed,
    for_one_cell,
    without_noise_where_empty,
    worst_loss,
)
from tenue.mechanism.choose.exponential import Exponential
from tenue.microdata.private.column import Margin
from tenue.microdata.private.counts import noisy
from tenue.microdata.private.domain import Domain, Places
from tenue.microdata.private.joint import network
from tenue.microdata.private.joint.conditional import Family, counted, independent
from tenue.microdata.private.joint.network import Network, _Groupings
from tenue.noise.source import Seeded
from tenue.schema import Schema

TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}


def domain(*sizes: int) -> Domain:
    columns = {
        f"c{j}": {"type": "category", "categories": [f"v{i}" for i in range(size)]}
        for j, size in enumerate(sizes)
    }
    return Domain.of(Schema.from_dict({"table": TABLE, "columns": columns}))


def margins_of(places: Places, sizes: tuple[int, ...]) -> list[Margin]:
    counts = [np.bincount(places[:, j], minlength=size) + 1.0 for j, size in enumerate(sizes)]
    return [Margin(np.arange(c.size + 1), c / c.sum()) for c in counts]


def neighbours(sizes: tuple[int, ...], rows: int, seed: int) -> Iterator[tuple[Places, Places]]:
    """Random tables, each with every table in which its first record is another one."""
    rng = np.random.default_rng(seed)
    for _ in range(30):
        places = np.stack([rng.integers(0, size, rows) for size in sizes], axis=1)
        for record in itertools.product(*map(range, sizes)):
            other = places.copy()
            other[0] = record
            yield places, other


def families(columns: int) -> list[Family]:
    """Every family whose parents are among the first columns."""
    return [
        Family(child, parents)
        for child in range(1, columns)
        for many in (1, 2)
        for parents in itertools.combinations(range(child), many)
    ]


def way(sizes: tuple[int, ...], rows: int, epsilon: Fraction = Fraction(1)) -> Network:
    return Network.planned(domain(*sizes), rows, epsilon)


SIZES = (3, 2, 3)


def most_moved(score: Callable[[Network, Family, _Groupings, Places, Places], int]) -> int:
    """The most that one record moves the score of a family, over many tables and releases."""
    found = 0
    for seed in range(4):
        for places, other in neighbours(SIZES, 5, seed):
            net = way(SIZES, 5, Fraction(50))
            released = np.random.default_rng(seed).integers(0, 2, (5, 3))
            groups = _Groupings(net.domain, margins_of(released, SIZES))
            for family in families(3):
                one, two = (
                    score(net, family, groups, table, released) for table in (places, other)
                )
                found = max(found, abs(one - two))
    return found


def scored(net: Network, family: Family, groups: _Groupings, rows: Places, made: Places) -> int:
    true = counted(net.grouping(family, groups), family, rows)
    return net.score(family, groups, true, made)


def test_one_record_moves_a_score_by_two() -> None:
    assert most_moved(scored) == 2


def test_true_counts_of_the_parents_would_move_it_further() -> None:
    def mutant(net: Network, family: Family, groups: _Groupings, true: Places, made: Places) -> int:
        parts = net.grouping(family, groups)
        expected = independent(parts, family, true, net.rows)
        return int(np.abs(counted(parts, family, true) - expected).sum())

    assert most_moved(mutant) > 2


def losses(net: Network, places: Places, other: Places, made: Places, groups: _Groupings) -> float:
    """The loss of the worst choice and the worst table of each step, for one release so far."""
    total = 0.0
    for child in range(1, len(net.domain.axes)):
        step = [family for family in families(child + 1) if family.child == child]
        rule = Exponential(len(step), net.choice_epsilon, 2)
        laws = []
        for table in (places, other):
            scores = [scored(net, family, groups, table, made) for family in step]
            weight = np.zeros(len(step))
            for behind, which in rule.classes(scores).items():
                weight[which] = math.exp(-float(rule.fall) * behind)
            laws.append(weight / weight.sum())
        chosen = float(np.abs(np.log(laws[0] / laws[1])).max())
        tables = [
            [counted(net.grouping(family, groups), family, t) for t in (places, other)]
            for family in step
        ]
        rate = float(net.table_epsilon) / 2  # the rate of discrete Laplace for a move of 2
        total += chosen + max(rate * float(np.abs(a - b).sum()) for a, b in tables)
    return total


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(10)])
def test_choices_and_tables_keep_within_their_part(epsilon: Fraction) -> None:
    worst = 0.0
    for places, other in neighbours(SIZES, 6, 7):
        net = way(SIZES, 6, epsilon)
        made = np.random.default_rng(1).integers(0, 2, (6, 3))
        groups = _Groupings(net.domain, margins_of(made, SIZES))
        worst = max(worst, losses(net, places, other, made, groups))
    part = float(epsilon * (1 - network.COLUMNS))
    assert 0.7 * part < worst <= part * (1 + 1e-9)


@pytest.mark.parametrize(("rows", "part"), [(29_999, "0.55"), (30_000, "0.72")])
def test_all_parts_sum_to_epsilon(rows: int, part: str) -> None:
    net = way((2, 2, 2), rows, Fraction(1))
    assert net.columns_epsilon == Fraction(part)
    assert net.columns_epsilon + net.steps * (net.choice_epsilon + net.table_epsilon) == 1


def test_groups_read_from_rows_would_move_a_table_further() -> None:
    def moved(groups_of: Callable[[Places], _Groupings]) -> float:
        found = 0.0
        for places, other in neighbours((6, 6), 8, 3):
            tables = []
            for table in (places, other):
                parts = groups_of(table).of((1, 0), 9)
                tables.append(counted(parts, Family(1, (0,)), table))
            if tables[0].shape != tables[1].shape:
                return math.inf
            found = max(found, float(np.abs(tables[0] - tables[1]).sum()))
        return found

    released = margins_of(np.zeros((8, 2), np.int64), (6, 6))
    assert moved(lambda _: _Groupings(domain(6, 6), released)) == 2
    assert moved(lambda rows: _Groupings(domain(6, 6), margins_of(rows, (6, 6)))) > 2


def test_empty_cells_get_noise_like_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []

    def watched(counts, epsilon, source, moved=2):  # type: ignore[no-untyped-def]
        drawn = noisy(counts, epsilon, source, moved)
        seen.append(np.stack([counts, drawn]))
        return drawn

    monkeypatch.setattr(network, "noisy", watched)
    way((8, 8), 2000).draw(np.zeros((2000, 2), np.int64), Seeded(2))
    ((true, drawn),) = seen
    empty = true == 0
    assert empty.sum() == true.size - 1
    assert (drawn[empty] != 0).mean() > 0.8  # a mutant that skips them gives 0 for each


@pytest.mark.parametrize(("sizes", "rows"), [((2, 2), 4), ((2, 3), 3), ((2, 2, 2), 2)])
def test_a_whole_release_keeps_within_epsilon(
    sizes: tuple[int, ...], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = way(sizes, rows, Fraction(10))
    assert 9 < worst_loss(net, sizes, monkeypatch) <= 10 + ROUNDING


def test_a_whole_release_with_noise_for_one_cell_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "noisy", for_one_cell)
    net = way((2, 2), 3, Fraction(10))
    assert worst_loss(net, (2, 2), monkeypatch) > 10


def test_a_whole_release_without_noise_in_empty_cells_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(network, "noisy", without_noise_where_empty)
    with pytest.raises(Exposed):
        worst_loss(way((2, 2), 3, Fraction(10)), (2, 2), monkeypatch)


def test_relations_are_kept() -> None:
    rng = np.random.default_rng(4)
    a = rng.integers(0, 4, 20_000)
    b = np.where(rng.uniform(size=a.size) < 0.9, a, rng.integers(0, 4, a.size))
    c = (a + b) % 3
    places = np.stack([a, b, c, rng.integers(0, 2, a.size)], axis=1)
    made = way((4, 4, 3, 2), a.size).draw(places, Seeded(5))
    assert made.shape == places.shape
    assert (made[:, 0] == made[:, 1]).mean() == pytest.approx((a == b).mean(), abs=0.03)
    assert ((made[:, 0] + made[:, 1]) % 3 == made[:, 2]).mean() > 0.9


def test_columns_keep_their_own_distribution() -> None:
    rng = np.random.default_rng(4)
    places = np.stack(
        [rng.choice(5, 10_000, p=[0.5, 0.2, 0.1, 0.1, 0.1]) for _ in range(3)], axis=1
    )
    made = way((5, 5, 5), 10_000).draw(places, Seeded(5))
    for j in range(3):
        shares = [np.bincount(t[:, j], minlength=5) / 10_000 for t in (places, made)]
        assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.02


def test_the_parts_of_the_budget_sum_to_it() -> None:
    net = way(SIZES, 1000, Fraction(3, 10))
    spent = net.steps * (net.table_epsilon + net.choice_epsilon) + net.epsilon * network.COLUMNS
    assert spent == Fraction(3, 10)


def test_one_column_is_refused() -> None:
    with pytest.raises(tn.errors.NotPromised):
        way((3,), 100)
