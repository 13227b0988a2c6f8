"""One candidate, category or value of a grid, with exponentially falling weights."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenue as tn
from tenue.ask.aggregates.clip import CLIP, CLIPPED
from tenue.ask.aggregates.mode import MODE
from tenue.ask.aggregates.order_statistics import choices_for
from tenue.ask.aggregates.strategy import Range, Setting, Span
from tenue.ask.limits import Quantiles, Sought
from tenue.ask.question import Aggregate
from tenue.engine.passes.in_memory import InMemory
from tenue.engine.request import Contribution
from tenue.errors import Refused
from tenue.mechanism import exponential_mechanism, rank_score
from tenue.mechanism.exponential_mechanism import Exponential, Selection, _near
from tenue.mechanism.exponential_mechanism import quantile as selection_quantile
from tenue.mechanism.rank_score import RankScore, above_quantile, below_quantile, maximum, minimum
from tenue.mechanism.rank_score import quantile as rank_score_quantile
from tenue.noise import Seeded
from tenue.noise.source import SYSTEM
from tenue.noise.table import Table
from tenue.privacy.loss import EpsilonDelta
from tenue.publish.synthetic.bayes_network import Network
from tenue.publish.synthetic.domain import Domain
from tenue.publish.synthetic.microaggregation import Microaggregation, Tallies
from tenue.publish.synthetic.pair_tables import PairTables

RANK_SCORE_DOMAIN = range(4)
QUANTILES = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(1, 3)]


def tables(most: int) -> Iterator[tuple[int, ...]]:
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(RANK_SCORE_DOMAIN, n)


def score(kind: RankScore, table: tuple[int, ...], v: int) -> int:
    spared = RANK_SCORE_DOMAIN[0] if kind.spared == "low" else RANK_SCORE_DOMAIN[-1]
    if v == spared and kind.spares(len(table)):
        return 0
    return kind.of(len(table), sum(x < v for x in table), sum(x <= v for x in table))


def moves(kind: RankScore, neighbours: str) -> int:
    """The largest change of any score between neighbouring tables, by exhaustion."""
    largest = 0
    for table in tables(4):
        if neighbours == "replace":
            others = {
                (*table[:i], x, *table[i + 1 :])
                for i in range(len(table))
                for x in RANK_SCORE_DOMAIN
            } | {(*table[:i], *table[i + 1 :]) for i in range(len(table))}
        else:
            others = {(*table, x) for x in RANK_SCORE_DOMAIN}
        for other in others:
            for v in RANK_SCORE_DOMAIN:
                largest = max(largest, abs(score(kind, table, v) - score(kind, other, v)))
    return largest


@pytest.mark.parametrize("p", QUANTILES)
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_one_row_moves_a_quantiles_score_by_its_sensitivity(p: Fraction, neighbours: str) -> None:
    kind = rank_score_quantile(p, neighbours)
    assert moves(kind, neighbours) == kind.sensitivity


def test_the_sensitivity_of_adding_would_be_too_small_for_replacing() -> None:
    kind = rank_score_quantile(Fraction(1, 2), "add-or-remove")
    assert moves(kind, "replace") > kind.sensitivity


@pytest.mark.parametrize("make", [minimum, maximum])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_one_row_moves_the_ends_by_one(make: object, neighbours: str) -> None:
    for epsilon in (Fraction(1), Fraction(5), Fraction(20)):
        kind = make(epsilon, 4)  # type: ignore[operator]
        assert moves(kind, neighbours) <= kind.sensitivity == 1


def test_a_rank_that_depends_on_the_rows_would_move_more() -> None:
    """Mutant: aiming at a rank read from the table (half of its rows, as a whole number)."""

    def wrong(table: tuple[int, ...], v: int) -> int:
        rank = 3 * (len(table) // 2)
        return max(sum(x < v for x in table) - rank, rank - sum(x <= v for x in table), 0)

    largest = max(
        abs(wrong(table, v) - wrong((*table, x), v))
        for table in tables(4)
        for x in RANK_SCORE_DOMAIN
        for v in RANK_SCORE_DOMAIN
    )
    assert largest > 1


def test_a_constant_column_is_right_where_its_value_is() -> None:
    table = (2,) * 1000
    scores = [
        score(rank_score_quantile(Fraction(1, 2), "replace"), table, v) for v in RANK_SCORE_DOMAIN
    ]
    assert scores == [1000, 1000, 0, 1000]
    # the obvious score, −|#{x ≤ v} − n/2|, cannot tell the values apart
    assert len({abs(2 * sum(x <= v for x in table) - 1000) for v in RANK_SCORE_DOMAIN}) == 1


def test_maximum_mirrors_minimum() -> None:
    low, high = minimum(Fraction(1), 4), maximum(Fraction(1), 4)
    for table in tables(4):
        mirrored = tuple(sorted(3 - x for x in table))
        assert [score(low, table, v) for v in RANK_SCORE_DOMAIN] == [
            score(high, mirrored, 3 - v) for v in RANK_SCORE_DOMAIN
        ]


@pytest.mark.parametrize("p", QUANTILES)
@pytest.mark.parametrize("end", [below_quantile, above_quantile])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_one_row_moves_the_ends_of_an_interval_no_farther(
    p: Fraction, end: Callable[..., RankScore], neighbours: str
) -> None:
    for epsilon in (Fraction(2), Fraction(50)):  # an aim beyond all rows, and one among them
        kind = end(p, neighbours, epsilon, 4, Fraction(1, 20))
        assert moves(kind, neighbours) <= kind.sensitivity


@pytest.mark.parametrize("make", [minimum, maximum])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_one_row_moves_spared_extremes_by_one(
    make: Callable[..., RankScore], neighbours: str
) -> None:
    for epsilon in (Fraction(1), Fraction(5), Fraction(20)):
        kind = make(epsilon, 4, Fraction(1, 20))
        assert moves(kind, neighbours) <= kind.sensitivity == 1


# -- The exponential mechanism by its exact law: one sampler, one price, every user of it ----------

EXPONENTIAL_HALF = Fraction(1, 2)
TABLES = list(itertools.product(range(4), repeat=3))


def exponential_masses(
    run: Callable[[], Hashable], patch: pytest.MonkeyPatch
) -> dict[Hashable, float]:
    """The exact probability of every outcome of a program: all its draws are enumerated.

    A class has the mass of the thresholds that decide it, to the last of 64 bits, and every
    candidate of a class has an equal share: what `Table.decide` and `uniform` promise, and what
    their own tests show.
    """
    path: list[int] = []
    made: list[tuple[int, float]] = []
    sizes: list[int] = []

    class Enumerated(Table):
        def decide(self, words: Any, source: Any) -> Any:
            ends = [0.0, *(self.thresholds.astype(float) / 2**64), 1.0]
            return np.array([fork([b - a for a, b in itertools.pairwise(ends)])])

    def even(count: int, size: int, source: Any) -> Any:
        return np.array([fork([1 / count] * count)])

    def fork(chances: Sequence[float]) -> int:
        number = path[len(made)] if len(made) < len(path) else 0
        made.append((number, chances[number]))
        sizes.append(len(chances))
        return number

    patch.setattr(exponential_mechanism, "Table", Enumerated)
    patch.setattr(exponential_mechanism, "uniform", even)
    found: dict[Hashable, float] = defaultdict(float)
    while True:
        made.clear()
        sizes.clear()
        outcome = run()
        found[outcome] += math.prod(chance for _, chance in made)
        path = [number for number, _ in made]
        while path and path[-1] == sizes[len(path) - 1] - 1:
            path.pop()
        if not path:
            return dict(found)
        path[-1] += 1


def by_formula(scores: Sequence[int], fall: Fraction | float) -> list[float]:
    """exp(fall·u), normalised."""
    weights = [math.exp(float(fall) * (score - max(scores))) for score in scores]
    return [weight / sum(weights) for weight in weights]


def agree(found: dict[Any, float], scores: dict[Any, int], fall: Fraction | float) -> bool:
    expected = dict(zip(scores, by_formula(list(scores.values()), fall), strict=True))
    return all(
        math.isclose(found.get(one, 0.0), mass, rel_tol=1e-9, abs_tol=1e-15)
        for one, mass in expected.items()
    )


# -- the law ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", [(0, 0, 0), (3, 1, 2), (7, 7, 2), (-4, 0, -9)])
def test_masses_are_those_of_the_formula(
    scores: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    law = Exponential(3, EXPONENTIAL_HALF, 2)
    found = exponential_masses(lambda: law.choose(scores), monkeypatch)
    assert agree(found, dict(enumerate(scores)), EXPONENTIAL_HALF / 4)
    distinct = len(set(scores)) > 1
    assert (
        agree(found, dict(enumerate(scores)), EXPONENTIAL_HALF / 2) != distinct
    )  # mutant: Δ halved


def worst(law: Exponential, moves: Sequence[Sequence[int]]) -> float:
    """The greatest loss over all tables and all moves of their scores."""
    found = 0.0
    for scores in TABLES:
        for move in moves:
            after = [s + m for s, m in zip(scores, move, strict=True)]
            pairs = zip(bounded(law, scores), bounded(law, after), strict=True)
            found = max(found, *(abs(math.log(p / q)) for p, q in pairs))
    return found


def bounded(law: Exponential, scores: Sequence[int]) -> list[float]:
    gaps = {i: gap for gap, held in law.classes(scores).items() for i in held}
    return by_formula([-gaps[i] for i in range(len(scores))], law.fall)


BOTH_WAYS = list(itertools.product((-2, 0, 2), repeat=3))
UPWARDS = list(itertools.product((0, 1), repeat=3))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(40)])
def test_the_price_is_epsilon(epsilon: Fraction) -> None:
    """At 40 the reach of 2 bounds the scores of these tables, which costs nothing."""
    both = Exponential(3, epsilon, 2)
    assert 0.5 * float(epsilon) < worst(both, BOTH_WAYS) <= float(epsilon) * (1 + 1e-12)
    upwards = Exponential(3, epsilon, 1, one_sided=True)
    assert 0.4 * float(epsilon) < worst(upwards, UPWARDS) <= float(epsilon) * (1 + 1e-12)


def test_what_would_cost_more() -> None:
    """Mutants: Δ halved; one-sided weights for scores that move both ways, or for replace."""
    assert worst(Exponential(3, Fraction(1), 1), BOTH_WAYS) > 1.2
    assert worst(Exponential(3, Fraction(1), 2, one_sided=True), BOTH_WAYS) > 1.2
    replaced = list(itertools.permutations((-1, 0, 1)))
    assert 1.2 < worst(Exponential(3, Fraction(1), 1, one_sided=True), replaced) <= 2


def test_candidates_are_those_of_the_question_not_of_the_rows() -> None:
    """Mutant: candidates taken from the rows. One that is there for one table only tells all."""
    occurring = bounded(Exponential(2, Fraction(1), 1), [0, -3])
    assert len(occurring) == 2  # the third has no mass at all, so the loss is infinite
    assert bounded(Exponential(3, Fraction(1), 1), [0, -3, -3])[2] > 0


def test_scores_are_bounded_where_hardly_anything_is_left() -> None:
    law = Exponential(2, Fraction(1, 2**31), 1)
    assert list(law.classes([0, -(2**50)])) == [0, law.reach]
    assert math.exp(-law.reach * 2.0**-32) < 1e-12


def test_it_is_rarely_far_behind() -> None:
    law = Exponential(50, Fraction(1, 5), 1, one_sided=True)
    scores = [1000] + [1000 - math.floor(law.behind(0.05)) - 1] * 49
    assert 1 - bounded(law, scores)[0] <= 0.05


def test_draws_follow_the_law() -> None:
    """The enumeration above trusts the sampler's parts; here they are put together."""
    law, scores, source = Exponential(4, Fraction(2), 1), (5, 5, 4, 1), Seeded(3)
    drawn = Counter(law.choose(scores, source) for _ in range(4000))
    for index, p in enumerate(by_formula(scores, 1)):
        assert abs(drawn[index] - 4000 * p) < 6 * math.sqrt(4000 * p)
    assert Exponential(1, Fraction(1), 1).choose([7], source) == 0


def test_the_table_has_the_weights_of_its_classes() -> None:
    table = Exponential(7, Fraction(1), 1).table([(0, 2), (3, 5)])
    p = 2 / (2 + 5 * math.exp(-1.5))
    assert table.thresholds[0] / 2**64 == pytest.approx(p, rel=1e-12)


# -- everybody who uses it: the masses of what they choose, from the program that is shipped -------


@dataclass(frozen=True)
class User:
    """A program that chooses, run on one small table.

    scores: what each outcome scores, computed here; sensitivity: of those scores.
    """

    run: Callable[[], Hashable]
    scores: dict[Any, int]
    epsilon: Fraction
    sensitivity: int | Fraction
    one_sided: bool = False

    @property
    def fall(self) -> Fraction:
        return self.epsilon / (self.sensitivity if self.one_sided else 2 * self.sensitivity)


def mode() -> User:
    """MODE: one-sided votes; under replace, half of epsilon, and two rows of each unit."""
    votes = {0: 4, 1: 1, 2: 3}
    setting = Setting("replace", False, False, {}, categories={"c": 3}, rows_per_unit=2)
    (block,) = MODE.blocks([Aggregate("mode", "c")], setting, {})
    (ballot,) = block(Fraction(2)).draws
    rows: Any = SimpleNamespace(votes=lambda column, categories: [list(votes.values())])
    return User(
        lambda: ballot.released(rows, [0], SYSTEM)[0][0], votes, Fraction(2) / 2 / 2, 1, True
    )


def exponential_listed(table: Sequence[int]) -> list[tuple[int, int, int]]:
    return [(v, sum(x < v for x in table), table.count(v)) for v in sorted(set(table))]


def missed(table: Sequence[int], grid: range, q: Fraction) -> dict[int, int]:
    """The ranks by which each point misses a quantile, times the denominator of q; negated."""
    n, a, b = len(table), q.numerator, q.denominator
    less = {v: sum(x < v for x in table) for v in grid}
    up_to = {v: sum(x <= v for x in table) for v in grid}
    return {v: -max(b * less[v] - a * n, a * n - b * up_to[v], 0) for v in grid}


def quantile() -> User:
    """QUANTILE: a replaced row moves b·rank by b, one more or less would by max(a, b − a)."""
    table = [1, 1, 4, 6]
    asked = Aggregate("quantile", "x", q=Fraction(1, 4))
    span = Span(0, 7, Fraction(1))
    ((choice,), _) = choices_for(asked, span, "replace", Fraction(3), lambda share: share)
    rows: Any = SimpleNamespace(
        ranks=lambda column: [SimpleNamespace(rows=4, values=exponential_listed(table))]
    )
    scores = missed(table, range(8), Fraction(1, 4))
    return User(lambda: choice.released(rows, [0], SYSTEM)[0][0], scores, Fraction(3), 4)


def clip() -> User:
    """clip="auto": how far the number of rows above a cut is from the rank that is aimed at."""
    setting = Setting(
        "add-or-remove", False, False, {"x": Range(0, 64, Fraction(1), True)}, rows_per_unit=3
    )
    (block,) = CLIP.blocks([Aggregate(CLIPPED["sum"], "x")], setting, {})
    (chosen,) = block(Fraction(300)).draws
    selection, table = chosen.selection, [0, 2, 2, 3, 5]  # the places of the cuts of five rows
    aim = selection.score.rank
    scores = {
        v: -max(
            sum(x < v for x in table) - (5 - aim), (5 + 1 - aim) - sum(x <= v for x in table), 0
        )
        for v in range(len(chosen.bounds))
    }
    return User(
        lambda: selection.choose(5, exponential_listed(table)), scores, chosen.choosing / 3, 1
    )


def suggested() -> User:
    """Suggested limits: two quantiles, so each has half of the price."""
    sought = Sought(Contribution("rows"), 1, 6)
    shares = (Fraction(1, 2), Fraction(9, 10))
    plan = Quantiles((sought,), shares, (), "who", "add-or-remove", EpsilonDelta.of(3))
    _, last = plan.selections(sought)
    table = [1, 2, 2, 3, 6]
    scores = missed(table, range(1, 7), Fraction(9, 10))
    return User(lambda: last.choose(5, exponential_listed(table)), scores, Fraction(3, 2), 9)


def means() -> User:
    """A category of each group: a candidate scores the sum of distances, negated."""
    column = {"type": "category", "categories": ["a", "b", "c", "d"], "missing": "a"}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    domain = Domain.of(tn.Schema.from_dict({"table": table, "columns": {"c": column}}))
    plan = Microaggregation.planned(domain, 6, Fraction(4), k=6)
    (line,) = plan._categories
    distances = np.array([[5, 1, 4, 4]]) * (line.length // 4)
    tallies = Tallies((), (), (distances,))
    return User(
        lambda: int(plan.noisy(tallies, SYSTEM).chosen[0][0]),
        {place: -int(one) for place, one in enumerate(distances[0])},
        Fraction(4),
        line.length * plan.length,
    )


def pair() -> User:
    """The first pair of a spanning tree of three columns; a record moves a score by 2."""
    plan, scores = PairTables(3, 100, Fraction(20)), {(0, 1): 7, (0, 2): 9, (1, 2): 2}
    return User(lambda: plan._chosen(scores, SYSTEM), dict(scores), plan.choosing, 2)


class Stop(Exception):
    """The first choice was made."""


def family() -> User:
    """The first table of a network; its scores are those the program itself makes."""
    columns = {f"c{j}": {"type": "category", "categories": list("abc")} for j in range(3)}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    domain = Domain.of(tn.Schema.from_dict({"table": table, "columns": columns}))
    plan = Network.planned(domain, 30, Fraction(60))
    rows = np.stack([np.arange(30) % 3, np.arange(30) % 3, np.arange(30) // 10], axis=1)
    seen: dict[int, int] = {}
    choose = Exponential.choose

    def first(law: Exponential, scores: Sequence[int], source: Any) -> int:
        seen.update(enumerate(scores))
        raise Stop(choose(law, scores, source))

    def run() -> Hashable:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Exponential, "choose", first)
            with pytest.raises(Stop) as stopped:
                plan.release(InMemory(rows), Seeded(1))
        return int(stopped.value.args[0])

    run()
    return User(run, seen, plan.choice_epsilon, 2)


@pytest.mark.parametrize("user", [mode, quantile, clip, suggested, means, pair, family])
def test_whoever_chooses_has_the_masses_of_the_mechanism(
    user: Callable[[], User], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = user()
    found = exponential_masses(one.run, monkeypatch)
    assert sum(found.values()) == pytest.approx(1)
    assert agree(found, one.scores, one.fall)
    assert not agree(found, one.scores, 2 * one.fall)  # mutant: Δ halved
    assert not agree(found, one.scores, one.fall / 2)


@pytest.mark.parametrize("user", [mode, quantile, clip, suggested, means, pair, family])
def test_a_sensitivity_that_is_halved_is_seen(
    user: Callable[[], User], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant in the program itself, for everybody who uses it."""
    monkeypatch.setattr(Exponential, "fall", property(lambda law: 2 * right(law)))
    one = user()
    assert not agree(exponential_masses(one.run, monkeypatch), one.scores, one.fall)


def right(law: Exponential) -> Fraction:
    return law.epsilon / (law.sensitivity if law.one_sided else 2 * law.sensitivity)


# Choosing a grid point: intervals, exact privacy of the whole law, the sampler's own table.

HALF = Fraction(1, 2)


def listed(table: Any) -> list[tuple[int, int, int]]:
    counts = Counter(table)
    found, below = [], 0
    for value in sorted(counts):
        found.append((value, below, counts[value]))
        below += counts[value]
    return found


def plain(selection: Selection, table: Any) -> list[int]:
    """The cut score of every grid point, one by one."""
    return [
        min(
            selection.reach,
            selection.score.of(len(table), sum(x < v for x in table), sum(x <= v for x in table)),
        )
        for v in range(selection.low, selection.high + 1)
    ]


def spread(selection: Selection, table: Any) -> list[int]:
    """The same from the intervals."""
    scores = [selection.reach] * selection.points
    for interval in selection.intervals(len(table), listed(table)):
        for v in range(interval.first, interval.first + interval.points):
            scores[v - selection.low] = interval.score
    return scores


def masses(selection: Selection, table: Any) -> list[float]:
    weights = [math.exp(-float(selection.law.fall) * s) for s in plain(selection, table)]
    return [w / sum(weights) for w in weights]


SCORES = [
    rank_score.quantile(HALF, "add-or-remove"),
    rank_score.quantile(Fraction(3, 10), "replace"),
    rank_score.minimum(Fraction(4), 30),
    rank_score.maximum(Fraction(4), 30),
]


@settings(max_examples=200)
@given(
    table=st.lists(st.integers(-5, 24), max_size=40),
    score=st.sampled_from(SCORES),
    epsilon=st.sampled_from([Fraction(1, 10), Fraction(2), Fraction(60)]),
)
def test_intervals_hold_the_scores_of_all_points(
    table: list[int], score: RankScore, epsilon: Fraction
) -> None:
    selection = Selection(score, -5, 24, epsilon)
    assert spread(selection, table) == plain(selection, table)


@settings(max_examples=100)
@given(table=st.lists(st.integers(0, 60), min_size=20, max_size=80), data=st.data())
def test_values_beyond_the_reach_need_not_be_listed(table: list[int], data: Any) -> None:
    """With a large epsilon the reach is short: most rows are not looked at."""
    selection = Selection(data.draw(st.sampled_from(SCORES)), 0, 60, Fraction(60))
    whole = listed(table)
    near = [
        (v, below, at)
        for v, below, at in whole
        if selection.score.of(len(table), below, below + at) < selection.reach
    ]
    far = [entry for entry in whole if entry not in near]
    extra = sorted([*near, *data.draw(st.lists(st.sampled_from(far or near or whole), max_size=3))])
    some = [entry for i, entry in enumerate(extra) if i == 0 or entry != extra[i - 1]]
    assert selection.intervals(len(table), some) == selection.intervals(len(table), whole)


@settings(max_examples=100)
@given(table=st.lists(st.integers(0, 30), max_size=60), score=st.sampled_from(SCORES))
def test_the_values_within_the_reach_are_enough(table: list[int], score: RankScore) -> None:
    selection = Selection(score, 0, 30, Fraction(60))
    near = _near(selection, np.array(table, dtype=np.int64))
    assert set(near) <= set(listed(table))
    assert selection.intervals(len(table), near) == selection.intervals(len(table), listed(table))


DOMAIN = range(3)


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("p", [HALF, Fraction(1, 4)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3), Fraction(40)])
def test_the_whole_law_keeps_its_promise(p: Fraction, neighbours: str, epsilon: Fraction) -> None:
    worst = worst_loss(rank_score.quantile(p, neighbours), neighbours, epsilon)
    assert worst <= float(epsilon) * (1 + 1e-9)


def test_what_would_break_it() -> None:
    """Mutants: a sensitivity that is too small, and weights without the factor 2."""
    wrong = rank_score.quantile(Fraction(1, 4), "add-or-remove")
    assert worst_loss(RankScore(wrong.b, wrong.a, 0, 0, 1), "replace", Fraction(3)) > 3.3
    right = rank_score.quantile(HALF, "add-or-remove")
    assert worst_loss(right, "add-or-remove", Fraction(6)) > 3.3


def worst_loss(score: RankScore, neighbours: str, epsilon: Fraction) -> float:
    selection = Selection(score, 0, 2, epsilon)
    worst = 0.0
    for n in range(4):
        for table in itertools.combinations_with_replacement(DOMAIN, n):
            if neighbours == "replace":
                others = [(*table[:i], x, *table[i + 1 :]) for i in range(n) for x in DOMAIN]
            else:
                others = [(*table, x) for x in DOMAIN]
            for other in others:
                pairs = zip(masses(selection, table), masses(selection, other), strict=True)
                worst = max(worst, *(abs(math.log(p / q)) for p, q in pairs))
    return worst


def test_the_sampler_follows_the_masses() -> None:
    """Its table is the distribution of classes, to the last of 64 bits."""
    table = (1, 1, 4, 7, 7, 7, 9)
    selection = Selection(rank_score.quantile(HALF, "add-or-remove"), 0, 12, Fraction(1))
    by_score = Counter(plain(selection, table))
    ordered = sorted(by_score.items())
    weights = [n * math.exp(-float(selection.law.fall) * (s - ordered[0][0])) for s, n in ordered]
    told = np.cumsum(weights)[:-1] / sum(weights)
    thresholds = selection.law.table(ordered).thresholds.astype(float) / 2**64
    assert thresholds == pytest.approx(told, rel=1e-12)
    drawn = [selection.choose(7, listed(table), Seeded(i)) for i in range(3000)]
    expected = masses(selection, table)
    seen = np.bincount(drawn, minlength=13) / len(drawn)
    assert seen == pytest.approx(expected, abs=0.035)


@pytest.mark.parametrize(
    ("table", "right"),
    [
        ([7] * 1000, {7}),
        ([0] * 400 + [10] * 600, {10}),
        ([3], set(range(11))),
        ([], set(range(11))),
    ],
)
def test_ties_constants_and_tiny_tables(table: list[int], right: set[int]) -> None:
    selection = Selection(rank_score.quantile(HALF, "add-or-remove"), 0, 10, Fraction(1))
    assert {selection.choose(len(table), listed(table), Seeded(i)) for i in range(40)} <= right


def test_a_grid_of_a_billion_points_costs_as_little_as_a_small_one() -> None:
    table = list(range(0, 10**9, 10**6))
    selection = Selection(rank_score.quantile(HALF, "add-or-remove"), 0, 10**9, Fraction(1))
    near = selection.intervals(len(table), listed(table))
    assert len(near) < 4 * selection.reach
    found = [selection.choose(len(table), listed(table), Seeded(i)) for i in range(100)]
    assert np.mean([abs(v / 10**6 - 500) for v in found]) < 3


def test_minimum_and_maximum_lie_inside_the_rows() -> None:
    table = sorted(range(1000, 2000))
    for make, inside in ((rank_score.minimum, 1000), (rank_score.maximum, 1999)):
        epsilon = Fraction(1)
        selection = Selection(make(epsilon, 10**6 + 1), 0, 10**6, epsilon)
        assert selection.score.rank is not None
        found = [selection.choose(1000, listed(table), Seeded(i)) for i in range(100)]
        assert sum(1000 <= v <= 1999 for v in found) > 80
        assert max(abs(v - inside) for v in found if 1000 <= v <= 1999) < 4 * selection.score.rank


def test_the_public_function_checks_what_it_is_given() -> None:
    assert 400 < selection_quantile(range(1000), 0.5, bounds=(0, 1000), epsilon=5) < 600
    near = selection_quantile([0.125, 0.25, 0.75], 0.5, bounds=(0, 1), grid=0.25, epsilon=100)
    assert near in (Fraction(1, 4), Fraction(1, 2))
    for wrong in (
        {"q": 0},
        {"q": 1},
        {"bounds": (0, 0.5)},
        {"bounds": (3, 1)},
        {"epsilon": 0},
        {"neighbours": "swap"},
        {"source": Seeded(1)},
    ):
        given: dict[str, Any] = {"q": 0.5, "bounds": (0, 10), "epsilon": 1} | wrong
        with pytest.raises(Refused):
            selection_quantile([1, 2, 3], **given)


def test_no_value_decides_how_the_others_are_read() -> None:
    """As an array, one float among integers would round all of them to 53 bits."""
    large = [2**53 + 1] * 200
    bounds = (0, 2**54)
    alone = {selection_quantile(large, 0.5, bounds=bounds, epsilon=30) for _ in range(5)}
    beside = {selection_quantile([*large, 0.5], 0.5, bounds=bounds, epsilon=30) for _ in range(5)}
    assert alone == beside == {2**53 + 1}
    assert (
        selection_quantile(np.full(9, 2**63 + 5, dtype=np.uint64), 0.5, bounds=(0, 9), epsilon=30)
        == 9
    )
    assert selection_quantile([2**70] * 9, 0.5, bounds=(0, 9), epsilon=30) == 9


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), "secret-77", None])
def test_refusals_do_not_quote_values(wrong: Any) -> None:
    with pytest.raises(Refused) as refusal:
        selection_quantile([1, 2, wrong], 0.5, bounds=(0, 9), epsilon=1)
    assert "secret" not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None
