"""A tree of boxes that is deep where many records are."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tenue as tn
from private_laws import (
    ROUNDING,
    Exposed,
    domain,
    for_one_cell,
    numbers,
    without_noise_where_empty,
    worst_loss,
)
from tenue.engine.contract import Passes
from tenue.engine.passes.in_memory import InMemory
from tenue.noise.discrete_laplace import DiscreteLaplace
from tenue.noise.source import Seeded, Source
from tenue.publish.synthetic import privtree
from tenue.publish.synthetic.privtree import SplitLaw, SplitLine, Tree, grown, interval_error, parts

BUDGETS = [Fraction(3, 10) * epsilon for epsilon in (Fraction(1, 100), Fraction(1, 10), 1, 3, 10)]


def chances(law: SplitLaw, x: Any) -> tuple[Any, Any]:
    """The logarithms of the chances that a box of biased count x is split, and that it is not."""
    rate = float(law.rate)
    x = np.maximum(np.asarray(x, float), -law.bias)
    small = np.exp(-rate * np.maximum(np.abs(x), 1 - x)) / (1 + math.exp(-rate))  # x > 0: not split
    few, many = np.log(small), np.log1p(-small)
    return np.where(x > 0, many, few), np.where(x > 0, few, many)


def test_chances_are_those_of_the_noise() -> None:
    law = SplitLaw(Fraction(1, 3), 4)
    noise = DiscreteLaplace(sensitivity=1, epsilon=law.rate)
    for x in range(-6, 9):
        mass = sum(noise.mass(k) for k in range(1 - max(x, -4), 200))
        split, whole = chances(law, x)
        assert math.exp(split) == pytest.approx(mass)
        assert math.exp(whole) == pytest.approx(1 - mass)


def worst(law: SplitLaw) -> float:
    """The loss over all paths of counts that never rise, by dynamic programming.

    Nothing is assumed about which path is worst: from a biased count x any that is lower by the
    bias or more may follow.
    """
    x = np.arange(-law.bias - 2, law.bias + math.ceil(40 / float(law.rate)))
    split, whole = chances(law, x)
    gains = np.diff(split)  # f(x+1)/f(x) where a record comes, and the box is split
    best = np.zeros(x.size)
    for begin in range(0, gains.size, law.bias):
        here = slice(begin, min(begin + law.bias, gains.size))
        before = np.maximum.accumulate(best[: begin or 1])
        below = np.arange(here.start, here.stop) - law.bias
        best[here] = gains[here] + np.where(below >= 0, before[np.maximum(below, 0)], 0.0)
    stops = whole[:-1] - whole[1:]  # where a record left, and the box is not split
    return float(best.max() + stops.max())


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_loss_of_every_path_keeps_within_the_budget(budget: Fraction) -> None:
    for fan_out in range(2, 17):
        law = SplitLaw.within(budget, fan_out)
        assert law.loss <= budget
        assert worst(law) <= float(law.loss) * (1 + 1e-9)
        # and hardly anything is given away
        assert worst(law) > 0.98 * float(law.loss)
        assert float(law.loss) > 0.96 * float(budget)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_less_noise_than_the_printed_scale_which_is_safe_too(budget: Fraction) -> None:
    for fan_out in range(2, 17):
        printed = budget / 2 / Fraction(2 * fan_out - 1, fan_out - 1)
        bias = math.ceil(math.log(fan_out) / float(printed))
        assert SplitLaw(printed, bias).require_within(budget).loss < budget
        assert SplitLaw.within(budget, fan_out).rate > Fraction(13, 10) * printed


def test_short_paths_one_by_one() -> None:
    """Every pair of paths of three boxes with up to five records, every outcome, both ways."""
    law = SplitLaw.within(Fraction(3), 2)
    paths = [p for p in itertools.product(range(6), repeat=3) if p[0] >= p[1] >= p[2]]

    def told(path: tuple[int, ...], change: int) -> list[float]:
        depth = np.arange(1, 4) * law.bias
        split, whole = chances(law, np.array(path) - depth)
        after, kept = chances(law, np.array(path) + change - depth)
        ends = [sum((after - split)[:k]) + (kept - whole)[k] for k in range(3)]
        return [*ends, sum(after - split)]  # the last: all are split, down to single places

    comes = [value for path in paths for value in told(path, 1)]
    leaves = [value for path in paths if path[2] > 0 for value in told(path, -1)]
    largest = max(comes) + max(leaves)
    smallest = min(comes) + min(leaves)
    assert 0.9 * law.loss < max(largest, -smallest) <= law.loss


@pytest.mark.parametrize("fan_out", [2, 4, 16])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_wrong_scales_are_refused(budget: Fraction, fan_out: int) -> None:
    forgotten = budget / 2
    alone = budget / Fraction(2 * fan_out - 1, fan_out - 1)
    for wrong in (forgotten, alone):
        law = SplitLaw(wrong, math.ceil(math.log(fan_out) / float(wrong)))
        assert worst(law) > budget
        with pytest.raises(tn.Refused, match="decisions"):
            law.require_within(budget)


def test_a_bias_that_is_too_small_is_refused() -> None:
    law = SplitLaw.within(Fraction(3, 10), 2)
    with pytest.raises(tn.Refused):
        SplitLaw(law.rate, law.bias // 3).require_within(Fraction(3, 10))


def test_counts_are_biased_by_depth_and_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    law = SplitLaw(Fraction(1, 2), 3)
    counts = np.array([5, 5, 5, 0, 100])
    tests = np.array([0, 1, 2, 9, 33])
    needed = []  # the least noise with which each is split
    for i in range(5):
        for noise in range(-20, 20):
            monkeypatch.setattr(
                DiscreteLaplace, "steps", lambda *_, noise=noise, **__: np.full(5, noise)
            )
            if law.decide(counts, tests, Seeded(1))[i]:
                needed.append(noise)
                break
    assert needed == [-4, -1, 2, 4, 0]


def test_depth_of_evenly_spread_records() -> None:
    law = SplitLaw(Fraction(1, 10), 10)
    assert law.depth(10, 4) == 0
    assert law.depth(11, 4) == 1
    assert law.depth(41, 4) == 2
    assert law.depth(320, 4) == 2
    assert law.depth(321, 4) == 3


# A tree cuts the domain into boxes and counts records, the same however far a pass looks.


@pytest.mark.parametrize(
    "lines",
    [
        [SplitLine(7)],
        [SplitLine(8, 1), SplitLine(5)],
        [SplitLine(1), SplitLine(6, 2), SplitLine(3)],
        [SplitLine(2)] * 6,
        [SplitLine(9), SplitLine(1), SplitLine(2), SplitLine(4), SplitLine(3)],
    ],
    ids=str,
)
def test_leaves_cover_every_place_once_and_count_its_rows(lines: list[SplitLine]) -> None:
    sizes = [line.size for line in lines]
    rows = np.stack([np.arange(400) * (7 + j) % size for j, size in enumerate(sizes)], axis=1)
    law = SplitLaw.within(Fraction(2), parts(lines))
    boxes, counts = grown(InMemory(rows), lines, law, Seeded(4))
    assert boxes.many > 1
    held = np.zeros(sizes, np.int64)
    for low, high in zip(boxes.low, boxes.high, strict=True):
        held[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] += 1
    assert (held == 1).all()
    inside = (boxes.low[:, None] <= rows) & (rows < boxes.high[:, None])
    assert inside.all(axis=2).sum(axis=1).tolist() == counts.tolist()


def test_what_is_apart_never_shares_a_box_once_the_first_is_split() -> None:
    rows = np.full((5000, 1), 98)
    boxes, _ = grown(
        InMemory(rows), [SplitLine(100, 1)], SplitLaw.within(Fraction(1), 2), Seeded(1)
    )
    assert boxes.many > 1
    assert (boxes.low[:, 0] == 99).sum() == 1


def test_at_most_sixteen_parts() -> None:
    assert [parts([SplitLine(9)] * d) for d in (1, 2, 3, 4, 5, 20)] == [2, 4, 8, 16, 16, 16]
    assert parts([SplitLine(1), SplitLine(3)]) == 2
    assert parts([SplitLine(1)]) == 2


@pytest.mark.parametrize(
    "lines", [[SplitLine(5000)], [SplitLine(900, 1), SplitLine(70)], [SplitLine(9)] * 6], ids=str
)
def test_how_far_a_pass_looks_decides_nothing(
    lines: list[SplitLine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same decisions about the same counts, whether a pass counts one depth or many; the
    passes are fewer."""
    rng = np.random.default_rng(3)
    rows = np.stack([rng.integers(0, line.size, 3000) ** 2 // line.size for line in lines], axis=1)
    law = SplitLaw.within(Fraction(2), parts(lines))
    found, passes = [], []

    class Watched(InMemory):
        def sum(self, measure):  # type: ignore[no-untyped-def]
            passes.append(1)
            return super().sum(measure)

    for ahead in (1, 64, 1 << 18):
        monkeypatch.setattr(privtree, "_AHEAD", ahead)
        boxes, counts = grown(Watched(rows), lines, law, Seeded(9))
        found.append((boxes.low.tolist(), boxes.high.tolist(), counts.tolist(), len(passes)))
        passes.clear()
    assert found[0][:3] == found[1][:3] == found[2][:3]
    assert found[0][3] > found[2][3]
    assert sum(found[0][2]) == 3000


# -- Boxes that cover the domain, and what a whole tree tells --------------------------------------

LINE = (5,)
TABLE = (4, 2)


def planned(sizes: tuple[int, ...], epsilon: int, rows: int = 3) -> Tree:
    return Tree.planned(numbers(*sizes), rows, Fraction(epsilon))


@pytest.mark.parametrize(
    ("sizes", "rows", "epsilon"),
    [(LINE, 4, 1), (LINE, 4, 10), (TABLE, 2, 10), ((8,), 2, 20), ((2, 2, 2), 3, 3)],
)
def test_a_whole_release_keeps_within_epsilon(
    sizes: tuple[int, ...], rows: int, epsilon: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = worst_loss(planned(sizes, epsilon, rows), sizes, monkeypatch)
    assert Decimal("0.69") * epsilon < found <= epsilon + ROUNDING


def test_a_blank_costs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    way = Tree.planned(numbers(6, blank=True), 3, Fraction(10))
    assert 7 <= worst_loss(way, (6,), monkeypatch) <= 10 + ROUNDING


def forgotten_fan_out(budget: Fraction, fan_out: int) -> SplitLaw:
    return SplitLaw(budget / 2, math.ceil(math.log(fan_out) / float(budget / 2)))


def for_one_record_more(budget: Fraction, fan_out: int) -> SplitLaw:
    rate = budget * (fan_out - 1) / (2 * fan_out - 1)
    return SplitLaw(rate, math.ceil(math.log(fan_out) / float(rate)))


def test_a_forgotten_fan_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    way = planned((8,), 10, 2)
    monkeypatch.setattr(SplitLaw, "within", staticmethod(forgotten_fan_out))
    assert worst_loss(way, (8,), monkeypatch) > 10


def test_noise_for_one_record_more_or_less_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    way = planned(LINE, 10)
    monkeypatch.setattr(SplitLaw, "within", staticmethod(for_one_record_more))
    monkeypatch.setattr(privtree, "noisy", for_one_cell)
    assert worst_loss(way, LINE, monkeypatch) > 15
    with pytest.raises(tn.Refused, match="decisions"):
        planned(LINE, 10)


def test_noise_for_one_leaf_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privtree, "noisy", for_one_cell)
    assert worst_loss(planned(LINE, 10), LINE, monkeypatch) > 13


def test_empty_leaves_without_noise_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privtree, "noisy", without_noise_where_empty)
    with pytest.raises(Exposed, match="without noise"):
        worst_loss(planned(LINE, 10), LINE, monkeypatch)


def test_cuts_at_the_median_of_rows_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def medians(records: Passes, lines: list[SplitLine], law: SplitLaw, source: Source) -> Any:
        middle = int(np.median(records.take(np.arange(records.rows))[:, 0]))
        lines = [SplitLine(line.size, line.size - max(middle, 1)) for line in lines]
        return grown(records, lines, law, source)

    monkeypatch.setattr(privtree, "grown", medians)
    with pytest.raises(Exposed, match=r"differ|only"):
        worst_loss(planned(LINE, 10), LINE, monkeypatch)


def test_one_place_in_all() -> None:
    way = Tree.planned(
        domain(x={"type": "category", "categories": ["a"], "missing": "a"}), 3, Fraction(1)
    )
    assert way.draw(np.zeros((3, 1), np.int64), Seeded(1)).tolist() == [[0]] * 3


def test_a_tree_is_near_the_rows() -> None:
    rows = np.stack([np.arange(20_000) % 900, np.arange(20_000) % 900 // 2], axis=1)
    made = planned((1000, 1000), 1, 20_000).draw(rows, Seeded(2))
    assert made.shape == rows.shape
    for project in ([1, 0], [0, 1], [1, -2]):
        off = np.abs(np.sort(rows @ project) - np.sort(made @ project)).mean()
        assert off < 15
    assert not (np.diff(made[:, 0]) >= 0).all()


def test_the_expected_error_is_what_evenly_spread_rows_have() -> None:
    way = planned((4096,), 1, 20_000)
    rows = (np.arange(20_000) * 4096 // 20_000)[:, None]
    ends = np.sort(np.arange(1, 41).reshape(2, 20) * 97 % 4096, axis=0)
    errors = []
    for seed in range(20):
        made = way.draw(rows, Seeded(seed))
        for low, high in ends.T:
            errors.append(
                abs(((low <= made) & (made < high)).mean() - ((low <= rows) & (rows < high)).mean())
            )
    assert 0.5 < np.mean(errors) / way.expected_error < 2


def test_more_cells_and_more_noise_mean_more_error() -> None:
    assert interval_error(400, 2.0, 1000) == pytest.approx(2 * interval_error(100, 2.0, 1000))
    assert planned((100, 100), 2, 9000).expected_error < planned((100, 100), 1, 9000).expected_error


def test_parameters_are_public() -> None:
    way = planned((100, 100), 1, 9000)
    assert way.parameters == {
        "splits": "Whether a box is halved is decided with noise of scale "
        f"{float(1 / way.law.rate):.6g}, 15 records harder with every level, for epsilon 0.3.",
        "counts": "The number of records in a box has noise of scale 2.85714, for epsilon 0.7.",
    }
