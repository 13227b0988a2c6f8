"""Columns that depend on each other: a copula, a network."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import tenue as tn
from private_laws import (
    ROUNDING,
    Exposed,
    categories,
    for_one_cell,
    numbers,
    without_noise_where_empty,
    worst_loss,
)
from tenue.engine.passes.in_memory import InMemory
from tenue.mechanism.exponential_mechanism import Exponential
from tenue.noise.source import Seeded
from tenue.publish.synthetic import bayes_network, copula, synthesis
from tenue.publish.synthetic.bayes_network import (
    Conditional,
    Family,
    Network,
    _Groupings,
    counted,
    independent,
)
from tenue.publish.synthetic.binning import Binning
from tenue.publish.synthetic.copula import Copula, balances, correlated, likely, sides
from tenue.publish.synthetic.counts import noisy
from tenue.publish.synthetic.domain import Domain, Places
from tenue.publish.synthetic.grid import raked
from tenue.publish.synthetic.independent_columns import Margin
from tenue.schema import Schema

TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}


def copula_domain(columns: int, size: int = 1000, *, blank: bool = False) -> Domain:
    number = {"type": "number", "bounds": [0, size - 1]} | ({} if blank else {"missing": 0})
    declared = {f"c{j}": number for j in range(columns)}
    return Domain.of(Schema.from_dict({"table": TABLE, "columns": declared}))


def copula_way(
    columns: int, rows: int = 1000, epsilon: Fraction = Fraction(1), *, blank: bool = False
) -> Copula:
    return Copula.planned(copula_domain(columns, blank=blank), rows, epsilon)


@pytest.mark.parametrize("columns", range(2, 7))
def test_one_record_moves_the_balances_by_half_of_the_square(columns: int) -> None:
    """Every record against every other, on either side of each cut, or with missing values."""
    records = np.array(list(itertools.product((-1, 0, 1), repeat=columns)), np.int8)
    each = np.array([balances(record[None, :]) for record in records])
    worst = max(int(np.abs(each - one).sum(axis=1).max()) for one in each)
    assert worst == copula_way(columns, blank=True).moved == 2 * (columns**2 // 4)


def test_a_missing_value_lies_on_no_side() -> None:
    places = np.array([[0, 4], [4, 4], [5, 0]])
    found = sides(places, np.array([2, 2]), np.array([5, 5]))
    assert found.tolist() == [[-1, 1], [1, 1], [0, -1]]
    assert balances(found).tolist() == [0]


def test_medians_read_from_rows_would_move_the_counts_further() -> None:
    def worst(cuts_of: object) -> int:
        rng, found = np.random.default_rng(2), 0
        for _ in range(200):
            table = rng.integers(0, 12, (9, 4))
            other = table.copy()
            other[0] = rng.integers(0, 12, 4)
            counts = [
                balances(sides(rows, np.array(cuts_of(rows)), np.full(4, 12)))  # type: ignore[operator]
                for rows in (table, other)
            ]
            found = max(found, int(np.abs(counts[0] - counts[1]).sum()))
        return found

    def released(_: Places) -> Sequence[int]:
        return [6] * 4

    def from_rows(rows: Places) -> Sequence[int]:
        return np.sort(rows, axis=0)[4].tolist()

    assert worst(released) <= 8
    assert worst(from_rows) > 8


def test_the_noise_is_for_all_pairs_together(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Fraction, int]] = []
    real = copula.noisy

    def watched(counts, epsilon, source, moved):  # type: ignore[no-untyped-def]
        asked.append((epsilon, moved))
        return real(counts, epsilon, source, moved)

    monkeypatch.setattr(copula, "noisy", watched)
    places = np.random.default_rng(1).integers(0, 1000, (1000, 5))
    copula_way(5).draw(places, Seeded(1))
    assert asked == [(Fraction(12, 100), 12)]


def test_pairs_have_no_more_than_makes_their_noise_as_small_as_chance() -> None:
    for rows, epsilon, spent in ((100, 1, ".12"), (10**6, 1, ".012"), (10**6, 100, ".012")):
        plan = Copula.planned(numbers(*[9] * 5), rows, Fraction(epsilon))
        assert plan.pairs_epsilon == Fraction(spent)
        assert plan.pairs_epsilon + plan.columns_epsilon == epsilon
    assert Copula.planned(numbers(9, 9), 0, Fraction(1)).pairs_epsilon == Fraction(12, 100)


def test_columns_that_are_not_told_what_pairs_cost_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Copula, "columns_epsilon", property(lambda way: way.epsilon))
    plan = Copula.planned(numbers(4, 4), 2, Fraction(10))
    assert worst_loss(plan, (4, 4), monkeypatch) > Decimal("10.5")


@pytest.mark.parametrize(
    ("sizes", "rows", "blank"),
    [((4, 4), 2, False), ((2, 4, 3), 1, False), ((5, 5), 1, True), ((3, 5, 4), 1, True)],
)
def test_copula_a_whole_release_keeps_within_epsilon(
    sizes: tuple[int, ...], rows: int, blank: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with several values on either side, a record may change every column and half of the sides
    plan = Copula.planned(numbers(*sizes, blank=blank), rows, Fraction(10))
    assert 9 < worst_loss(plan, sizes, monkeypatch) <= 10 + ROUNDING


def test_concordance_with_noise_for_one_pair_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Copula, "moved", 1)
    plan = Copula.planned(numbers(2, 4, 4), 1, Fraction(10))
    assert worst_loss(plan, (2, 4, 4), monkeypatch) > 10


@pytest.mark.parametrize("correlation", [-0.9, -0.3, 0.0, 0.5, 0.95])
def test_signs_at_the_median_give_the_correlation_of_sheppard(correlation: float) -> None:
    both = 0.25 + math.asin(correlation) / (2 * math.pi)
    found = correlated(np.array([2 * both]), [0.5, 0.5])
    assert found[0, 1] == pytest.approx(correlation, abs=1e-3)


def test_uneven_cuts_give_the_correlation_too() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400_000)
    y = 0.6 * x + 0.8 * rng.normal(size=x.size)
    above = [x > 1.0, y > -0.5]
    found = correlated(np.array([(above[0] == above[1]).mean()]), [a.mean() for a in above])
    assert found[0, 1] == pytest.approx(0.6, abs=0.02)


def test_what_no_law_has_becomes_the_nearest_that_one_has() -> None:
    # a and b go together, b and c too, a and c opposite: impossible
    found = correlated(np.array([0.98, 0.02, 0.98]), [0.5] * 3)
    assert (np.linalg.eigvalsh(found) > 0).all()
    assert np.diag(found) == pytest.approx(1)


def test_what_noise_alone_would_make_is_not_believed() -> None:
    """Shares of rows on the same side, of columns that have nothing to do with each other."""
    shares = [0.5, 0.5, 0.3]
    alone = np.array([0.5, 0.5, 0.5])
    noise = np.array([0.04, -0.05, 0.03])
    assert likely(alone + noise, shares, 0.0025) == pytest.approx(alone)
    # half of their spread is noise, so half of each is kept
    kept = likely(alone + noise, shares, float((noise**2).mean()) / 2)
    assert kept == pytest.approx(alone + noise / 2)
    surely = np.array([0.9, 0.2, 0.7])
    assert likely(surely, shares, 1e-9) == pytest.approx(surely)
    assert likely(alone, shares, 0.1) == pytest.approx(alone)


def test_columns_that_go_their_own_ways_get_little_correlation_from_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant believes every noisy count."""
    places = np.random.default_rng(4).integers(0, 1000, (1500, 13))
    assert invented(places) < 0.1
    monkeypatch.setattr(copula, "likely", lambda same, *_: same)
    assert invented(places) > 0.2


def invented(places: Places) -> float:
    """The mean correlation of two columns, whatever its sign, over a few releases."""
    drawn = [copula_way(13, len(places)).draw(places, Seeded(seed)) for seed in range(5)]
    found = [np.corrcoef(made.T)[np.triu_indices(13, 1)] for made in drawn]
    return float(np.abs(found).mean())


def test_correlations_are_kept() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20_000, 3)) @ np.array([[1, 0.8, 0], [0, 0.6, 0], [0, 0, 1]])
    places = np.clip((x * 120 + 500).astype(np.int64), 0, 999)
    made = copula_way(3, 20_000).draw(places, Seeded(2))
    assert np.corrcoef(made.T) == pytest.approx(np.corrcoef(places.T), abs=0.05)


def test_correlations_are_kept_beside_missing_values_which_depend_on_nothing() -> None:
    """The mutant takes a missing value for one above all others."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20_000, 3)) @ np.array([[1, 0.8, 0], [0, 0.6, 0], [0, 0, 1]])
    places = np.clip((x * 120 + 500).astype(np.int64), 0, 999)
    true = np.corrcoef(places.T)
    places[rng.uniform(size=places.shape) < 0.2] = 1000
    made = copula_way(3, 20_000, blank=True).draw(places, Seeded(2))
    gone = made == 1000
    assert gone.mean(axis=0) == pytest.approx([0.2] * 3, abs=0.01)
    found = np.ma.corrcoef(np.ma.masked_array(made, gone).T)
    assert np.asarray(found) == pytest.approx(true, abs=0.05)
    beside = made[gone[:, 0] & ~gone[:, 1], 1]
    assert beside.mean() == pytest.approx(500, abs=15)
    released = copula_way(3, 20_000, blank=True).release(InMemory(places), Seeded(2))
    wrong = replace(released, held=released.held + 1).block(range(20_000), Seeded(3))
    assert wrong[(wrong[:, 0] == 1000) & (wrong[:, 1] < 1000), 1].mean() > 550


def test_a_heap_at_zero_stays() -> None:
    rng = np.random.default_rng(3)
    x = np.where(rng.uniform(size=(20_000, 2)) < 0.7, 0, rng.integers(1, 1000, (20_000, 2)))
    made = copula_way(2, 20_000).draw(x, Seeded(2))
    assert (made == 0).mean() == pytest.approx(0.7, abs=0.05)


def test_categories_are_refused() -> None:
    declared = {"a": {"type": "boolean"}, "b": {"type": "number", "bounds": [0, 9]}}
    mixed = Domain.of(Schema.from_dict({"table": TABLE, "columns": declared}))
    with pytest.raises(tn.errors.NotPromised):
        Copula.planned(mixed, 100, Fraction(1))


# -- Rows drawn from tables keep what the tables say, in every block -------------------------------


def test_raking_meets_the_sums() -> None:
    made = raked(
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        {0: np.array([[4.0], [6.0]]), 1: np.array([[5.0, 5.0]])},
        30,
    )
    assert made.sum(axis=0) == pytest.approx([5, 5])
    assert made.sum(axis=1) == pytest.approx([4, 6], rel=1e-3)


def test_further_blocks_follow_the_same_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parents and child hang together in every block, not in the first alone."""
    held = categories(3, 3)
    rng = np.random.default_rng(1)
    a = rng.integers(0, 3, 30_000)
    places = np.stack([a, np.where(rng.uniform(size=a.size) < 0.9, a, 2 - a)], axis=1)
    monkeypatch.setattr(synthesis, "CELLS", 2 * 5_000)
    way = Network.planned(held, a.size, Fraction(1))
    blocks = list(way.blocks(way.release(InMemory(places), Seeded(2)), Seeded(3)))
    assert [len(block) for block in blocks] == [5_000] * 6
    truth = (places[:, 0] == places[:, 1]).mean()
    for block in blocks:
        assert (block[:, 0] == block[:, 1]).mean() == pytest.approx(truth, abs=0.02)
    assert not (blocks[1] == blocks[2]).all()


def test_what_independence_gives_is_about_all_rows() -> None:
    """Of a part of the rows it is scaled up: the score compares it with counts of all."""
    whole = Margin(np.arange(3), np.array([0.5, 0.5]))
    parts = [Binning.of(whole, ordered=False, blank=False, most=2) for _ in range(2)]
    made = np.array([[0, 0], [1, 1]] * 50)
    assert independent(parts, Family(1, (0,)), made, 100).tolist() == [[25, 25], [25, 25]]
    assert independent(parts, Family(1, (0,)), made, 4000).tolist() == [[1000, 1000]] * 2


def test_an_ordered_child_leans_by_its_parents() -> None:
    """Parent and child are one number in four groups; taken for a category, the child is spread
    evenly inside its group."""
    wide = Margin(np.arange(401), np.full(400, 1 / 400))
    table = np.array([[70.0, 25, 5, 0], [25, 45, 25, 5], [5, 25, 45, 25], [0, 5, 25, 70]]) * 100
    made = np.stack([np.zeros(40_000, np.int64), np.arange(40_000) % 400], axis=1)
    found = {}
    for ordered in (True, False):
        parts = [Binning(wide, np.repeat(np.arange(4), 100), ordered=ordered)] * 2
        child = Conditional(Family(0, (1,)), parts, table).column(made, 40_000, Seeded(4))
        seen, *_ = np.histogram2d(child, made[:, 1], bins=4)
        assert np.abs(seen - table).max() < 30
        found[ordered] = np.corrcoef(child, made[:, 1])[0, 1]
    assert found[True] > found[False] + 0.02


# Small tables that hang together: what each step costs, exactly, and that relations are kept.


def domain(*sizes: int) -> Domain:
    columns = {
        f"c{j}": {
            "type": "category",
            "categories": [f"v{i}" for i in range(size)],
            "missing": "v0",
        }
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
    part = float(epsilon * (1 - bayes_network.COLUMNS))
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

    monkeypatch.setattr(bayes_network, "noisy", watched)
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
    monkeypatch.setattr(bayes_network, "noisy", for_one_cell)
    net = way((2, 2), 3, Fraction(10))
    assert worst_loss(net, (2, 2), monkeypatch) > 10


def test_a_whole_release_without_noise_in_empty_cells_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bayes_network, "noisy", without_noise_where_empty)
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
    spent = (
        net.steps * (net.table_epsilon + net.choice_epsilon) + net.epsilon * bayes_network.COLUMNS
    )
    assert spent == Fraction(3, 10)


def test_one_column_is_refused() -> None:
    with pytest.raises(tn.errors.NotPromised):
        way((3,), 100)
