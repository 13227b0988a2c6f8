"""Numbers joined by correlations of signs: what the counts cost, exactly, and what is kept."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import tenue as tn
from private_laws import ROUNDING, numbers, worst_loss
from tenue.microdata.private.domain import Domain, Places
from tenue.microdata.private.joint import copula
from tenue.microdata.private.joint.copula import Copula, concordant, correlated, likely, sides
from tenue.noise.source import Seeded
from tenue.schema import Schema

TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}


def domain(columns: int, size: int = 1000) -> Domain:
    declared = {f"c{j}": {"type": "number", "bounds": [0, size - 1]} for j in range(columns)}
    return Domain.of(Schema.from_dict({"table": TABLE, "columns": declared}))


def way(columns: int, rows: int = 1000, epsilon: Fraction = Fraction(1)) -> Copula:
    return Copula.planned(domain(columns), rows, epsilon)


@pytest.mark.parametrize("columns", range(2, 7))
def test_one_record_moves_the_counts_by_a_quarter_of_the_square(columns: int) -> None:
    """Every record against every other, on either side of each cut."""
    records = np.array(list(itertools.product((0, 999), repeat=columns)))
    rest = np.full((3, columns), 999)
    worst = 0
    for one, other in itertools.product(records, repeat=2):
        counts = [
            concordant(sides(np.vstack([rest, record]), [500] * columns)) for record in (one, other)
        ]
        worst = max(worst, int(np.abs(counts[0] - counts[1]).sum()))
    assert worst == way(columns).moved == columns**2 // 4


def test_medians_read_from_rows_would_move_the_counts_further() -> None:
    def worst(cuts_of: object) -> int:
        rng, found = np.random.default_rng(2), 0
        for _ in range(200):
            table = rng.integers(0, 12, (9, 4))
            other = table.copy()
            other[0] = rng.integers(0, 12, 4)
            counts = [
                concordant(sides(rows, cuts_of(rows)))  # type: ignore[operator]
                for rows in (table, other)
            ]
            found = max(found, int(np.abs(counts[0] - counts[1]).sum()))
        return found

    def released(_: Places) -> Sequence[int]:
        return [6] * 4

    def from_rows(rows: Places) -> Sequence[int]:
        return np.sort(rows, axis=0)[4].tolist()

    assert worst(released) <= 4
    assert worst(from_rows) > 4


def test_the_noise_is_for_all_pairs_together(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Fraction, int]] = []
    real = copula.noisy

    def watched(counts, epsilon, source, moved):  # type: ignore[no-untyped-def]
        asked.append((epsilon, moved))
        return real(counts, epsilon, source, moved)

    monkeypatch.setattr(copula, "noisy", watched)
    places = np.random.default_rng(1).integers(0, 1000, (1000, 5))
    way(5).draw(places, Seeded(1))
    assert asked == [(Fraction(12, 100), 6)]


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


@pytest.mark.parametrize(("sizes", "rows"), [((4, 4), 2), ((2, 4, 3), 1)])
def test_a_whole_release_keeps_within_epsilon(
    sizes: tuple[int, ...], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with several values on either side, a record may change every column and half of the sides
    plan = Copula.planned(numbers(*sizes), rows, Fraction(10))
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
    drawn = [way(13, len(places)).draw(places, Seeded(seed)) for seed in range(5)]
    found = [np.corrcoef(made.T)[np.triu_indices(13, 1)] for made in drawn]
    return float(np.abs(found).mean())


def test_correlations_are_kept() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20_000, 3)) @ np.array([[1, 0.8, 0], [0, 0.6, 0], [0, 0, 1]])
    places = np.clip((x * 120 + 500).astype(np.int64), 0, 999)
    made = way(3, 20_000).draw(places, Seeded(2))
    assert np.corrcoef(made.T) == pytest.approx(np.corrcoef(places.T), abs=0.05)


def test_a_heap_at_zero_stays() -> None:
    rng = np.random.default_rng(3)
    x = np.where(rng.uniform(size=(20_000, 2)) < 0.7, 0, rng.integers(1, 1000, (20_000, 2)))
    made = way(2, 20_000).draw(x, Seeded(2))
    assert (made == 0).mean() == pytest.approx(0.7, abs=0.05)


def test_categories_are_refused() -> None:
    declared = {"a": {"type": "boolean"}, "b": {"type": "number", "bounds": [0, 9]}}
    mixed = Domain.of(Schema.from_dict({"table": TABLE, "columns": declared}))
    with pytest.raises(tn.errors.NotPromised):
        Copula.planned(mixed, 100, Fraction(1))
