"""Individual differential privacy: noise scaled to the table at hand."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenue as tn
from tenue.errors import InvalidArgument, InvalidTable, NotPromised
from tenue.mechanism import INDIVIDUAL_LIMITS, Released, individual, individual_steps
from tenue.mechanism.individual_calibration import (
    FINER,
    Calibrated,
    ModeChoice,
    calibrate,
    calibrate_mode,
    release,
    winner,
)
from tenue.mechanism.individual_statistic import Statistic, _nearest_root, columns_of
from tenue.noise import Seeded
from tenue.promise import Certificate, Individual
from tenue.sensitivity import local
from unit.sensitivity import oracle
from unit.sensitivity.oracle import neighbours

VALUES: list[tuple[Statistic, Callable]] = [
    (Statistic("median"), oracle.median),
    (Statistic("max"), oracle.maximum),
    (Statistic("min"), lambda t: Fraction(min(t))),
    (Statistic("kth-largest", k=1), oracle.maximum),
    (Statistic("kth-smallest", k=1), lambda t: Fraction(min(t))),
    (Statistic("quantile", q="1/2"), lambda t: Fraction(sorted(t)[(len(t) - 1) // 2])),
    (Statistic("mean"), oracle.mean),
    (Statistic("sum"), lambda t: Fraction(sum(t))),
    (Statistic("variance"), oracle.variance),
    (Statistic("range-count", between=(1, 3)), lambda t: Fraction(sum(1 <= x <= 3 for x in t))),
]


@pytest.mark.parametrize("grid", [Fraction(1), Fraction(1, 2), Fraction(3, 7)])
@pytest.mark.parametrize(("statistic", "value"), VALUES, ids=lambda x: getattr(x, "name", ""))
def test_the_nearest_step_of_every_small_table(statistic, value, grid):
    for table in oracle.small_tables():
        columns = columns_of(statistic.name, list(table), oracle.BOUNDS)
        wanted = math.floor(value(table) / grid + Fraction(1, 2))
        assert statistic.nearest(columns, grid) == wanted
        low, high = statistic.ends(columns)
        assert low <= value(table) <= high
        assert statistic.local(columns) <= statistic.widest(columns)


def test_the_public_bounds_are_reached():
    """A bound that no table comes near would refuse grids without need."""
    for statistic, value in VALUES:
        tables = list(oracle.tables(4))
        columns = [columns_of(statistic.name, list(table), oracle.BOUNDS) for table in tables]
        low, high = statistic.ends(columns[0])
        assert {min(map(value, tables)), max(map(value, tables))} == {low, high}
        widest = max(statistic.local(table) for table in columns)
        assert widest == pytest.approx(statistic.widest(columns[0]), rel=0.01)


STATISTIC_PAIRS = list(product(range(3), range(3)))


def moments(table):
    n = len(table)
    mean_x, mean_y = (Fraction(sum(row[i] for row in table), n) for i in (0, 1))
    xx = sum((x - mean_x) ** 2 for x, _ in table)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in table)
    yy = sum((y - mean_y) ** 2 for _, y in table)
    return xx, xy, yy


def test_slopes_and_correlations_of_every_small_table():
    slope, correlation, grid = Statistic("slope", ridge="1/3"), Statistic("correlation"), "1/50"
    step = Fraction(grid)
    for table in combinations_with_replacement(STATISTIC_PAIRS, 3):
        columns = columns_of("slope", list(table), ((0, 2), (0, 2)))
        xx, xy, yy = moments(table)
        exact = xy / (xx + Fraction(1, 3))
        assert slope.nearest(columns, step) == math.floor(exact / step + Fraction(1, 2))
        found = correlation.nearest(columns, step) * step
        value = float(xy) / math.sqrt(xx * yy) if xx * yy else 0.0
        assert abs(float(found) - value) <= float(step) / 2 + 1e-12
        for statistic, truth in ((slope, exact), (correlation, value)):
            low, high = statistic.ends(columns)
            assert low <= truth <= high + Fraction(1, 10**12)
            assert statistic.local(columns) <= statistic.widest(columns)


@given(
    st.fractions(-1, 1, max_denominator=60),
    st.fractions(Fraction(1, 40), 2, max_denominator=40),
)
def test_roots_are_rounded_as_rationals_are(root, grid):
    """Perfect squares hit the halves exactly: there rounding up and down differ."""
    assert _nearest_root(root * abs(root), grid) == math.floor(root / grid + Fraction(1, 2))


def test_halves_go_up_on_both_sides():
    assert [_nearest_root(Fraction(s), Fraction(2)) for s in (1, -1, 9, -9, 0)] == [1, 0, 2, -1, 0]


def test_sums_beyond_64_bits_are_exact():
    rows = [2**40 + i for i in range(5)]
    columns = columns_of("variance", rows, (0, 2**41))
    assert Statistic("variance").nearest(columns, Fraction(1)) == 2
    (column,) = columns_of("median", np.array([2**70, 2**70 + 2], dtype=object), (0, 2**71))
    assert Statistic("median").nearest((column,), Fraction(1)) == 2**70 + 1


def test_a_slope_without_ridge_is_refused_before_rows_are_looked_at():
    with pytest.raises(NotPromised):
        Statistic("slope")


# -- The mechanism that a table fixes --------------------------------------------------------------

CALIBRATION_ONE = Fraction(1)


def median_of(values, bounds=(0, 10), *, epsilon=CALIBRATION_ONE, grid=CALIBRATION_ONE, finer=1):
    columns = columns_of("median", values, bounds)
    return calibrate(
        Statistic("median"), columns, epsilon=epsilon, grid=grid, finer=finer, truncated=False
    )


@pytest.mark.parametrize(
    ("grid", "finer", "spread"),
    [("1", 1, 3), ("2", 1, 2), ("1/2", 1, 6), ("2", 4, 6), ("7", 1, 1)],
)
def test_the_local_sensitivity_is_rounded_up_to_whole_steps(grid, finer, spread):
    assert median_of([1, 2, 2, 5, 9], grid=Fraction(grid), finer=finer).spread == spread


def test_no_noise_where_no_record_moves_the_answer():
    mechanism = median_of([4, 4, 4, 4, 4])
    assert mechanism.law is None
    assert mechanism.release(4, Seeded(7)) == 4


def test_without_noise_the_answer_is_still_on_the_grid():
    mechanism = median_of([4, 4, 4, 4, 4], grid=Fraction(3))
    assert (
        mechanism.release(
            Statistic("median").nearest(columns_of("median", [4], (0, 10)), Fraction(3)), Seeded(7)
        )
        == 1
    )
    finer = median_of([4, 4, 4, 4, 4], grid=Fraction(3), finer=6)
    assert finer.release(8, Seeded(7)) == 1


def test_release_is_truth_plus_the_law_settled():
    mechanism = Calibrated(spread=5, epsilon=CALIBRATION_ONE, finer=3, low=-100, high=100)
    law = mechanism.law
    assert law is not None
    assert law.sensitivity == 5
    for seed in range(20):
        noise = law.steps(source=Seeded(seed))
        assert mechanism.release(7, Seeded(seed)) == mechanism.settle(7 + noise)


def test_settling_rounds_halves_up_and_clamps():
    mechanism = Calibrated(spread=1, epsilon=CALIBRATION_ONE, finer=4, low=-1, high=2)
    assert [mechanism.settle(s) for s in (-99, -3, -2, 1, 2, 5, 6, 99)] == [
        -1,
        -1,
        0,
        0,
        1,
        1,
        2,
        2,
    ]


def test_truncated_ends_are_the_answers_of_neighbours():
    statistic = Statistic("range-count", between=(0, 5))

    def ends(values):
        columns = columns_of("range-count", values, (0, 10))
        found = calibrate(
            statistic,
            columns,
            epsilon=CALIBRATION_ONE,
            grid=CALIBRATION_ONE,
            finer=1,
            truncated=True,
        )
        return found.low, found.high

    assert ends([1, 2, 9, 9]) == (1, 3)
    assert ends([9, 9]) == (0, 1)
    assert ends([1, 2]) == (1, 2)


@pytest.mark.parametrize("finer", [1, FINER])
def test_a_refusal_does_not_depend_on_rows(finer):
    """Rows that need no noise are refused where rows that need the widest would be."""
    texts = set()
    for rows in ([0] * 9, [0] * 5 + [10**18] * 4, list(range(9))):
        with pytest.raises(InvalidArgument) as refusal:
            median_of(rows, (0, 10**18), finer=finer, epsilon=Fraction(1, 10))
        texts.add(str(refusal.value))
    assert len(texts) == 1


def test_whatever_is_not_refused_can_be_drawn():
    """The public limit is no wider than that of the law, at its edge."""
    widest = 2**54 - 2
    for rows in ([0, 0, widest], [0, widest, widest]):
        assert (
            0
            <= release(
                Statistic("median"),
                columns_of("median", rows, (0, widest)),
                epsilon=Fraction(1, 4),
                grid=CALIBRATION_ONE,
                noise="discrete-laplace",
                truncated=False,
                source=Seeded(7),
            )
            <= widest
        )
    with pytest.raises(InvalidArgument):
        median_of([0, 0, 0], (0, widest), epsilon=Fraction(1, 5))


def test_repr_tells_nothing():
    assert "3" not in repr(median_of([1, 2, 2, 5, 9])).partition(" at ")[0]


# -- The most frequent category: who can win, and how it is chosen ---------------------------------

ONE = Fraction(1)


def votes_of(table, categories):
    return [table.count(place) for place in range(categories)]


@pytest.mark.parametrize("categories", [1, 2, 4])
def test_truncated_candidates_are_the_modes_of_neighbours(categories):
    for rows in range(1, 7):
        for table in combinations_with_replacement(range(categories), rows):
            near = [table, *neighbours(table, range(categories))]
            wanted = {winner(votes_of(other, categories)) for other in near}
            votes = votes_of(table, categories)
            found = calibrate_mode(votes, ONE, truncated=True).candidates
            assert set(found) == wanted
            moves = local("mode", table, categories=range(categories))
            assert (len(found) > 1) == bool(moves)
            everything = calibrate_mode(votes, ONE, truncated=False).candidates
            assert len(everything) == (categories if moves else 1)


def test_a_truncated_answer_is_at_most_two_votes_behind():
    for table in combinations_with_replacement(range(3), 7):
        votes = votes_of(table, 3)
        for place in calibrate_mode(votes, ONE, truncated=True).candidates:
            assert votes[place] >= max(votes) - 2


def test_ties_go_to_the_first():
    assert winner([2, 3, 3]) == 1


@pytest.mark.parametrize(("epsilon", "others"), [(ONE, 3), (Fraction(3), 10), (Fraction(1, 5), 1)])
def test_masses(epsilon, others):
    """Seeded: 20,000 draws against e^-epsilon each; twice the exponent is rejected."""
    choice = ModeChoice(tuple(range(10, 11 + others)), epsilon)
    source, size = Seeded(7), 20_000
    drawn = Counter(choice.release(11, source) for _ in range(size))
    assert set(drawn) <= set(choice.candidates)

    def misses(rate):
        rest = math.exp(-rate)
        wanted = [1.0 if c == 11 else rest for c in choice.candidates]
        shares = [w / sum(wanted) for w in wanted]
        return max(
            abs(drawn[c] - size * p) / math.sqrt(size * p * (1 - p))
            for c, p in zip(choice.candidates, shares, strict=True)
        )

    assert misses(float(epsilon)) < 4 < misses(2 * float(epsilon))


def test_a_huge_epsilon_gives_the_truth():
    choice = ModeChoice(tuple(range(1000)), Fraction(10_000))
    assert choice.release(500, Seeded(7)) == 500


# -- Individual differential privacy on whole steps ------------------------------------------------

HUGE = 10_000
"""An epsilon that leaves no noise where a record moves the answer by at most 200 steps."""

ROWS = [1, 2, 2, 5, 9]
PAIRS = [(0, 1), (1, 2), (2, 2), (3, 5)]


@pytest.mark.parametrize(
    ("statistic", "given", "wanted"),
    [
        ("median", {}, 2),
        ("quantile", {"q": 0.9}, 9),
        ("max", {}, 9),
        ("min", {}, 1),
        ("second-max", {}, 5),
        ("kth-largest", {"k": 3}, 2),
        ("kth-smallest", {"k": 4}, 5),
        ("sum", {}, 19),
        ("mean", {}, 4),
        ("mean", {"grid": "1/10"}, Fraction(19, 5)),
        ("mean", {"grid": "1/10", "noise": "laplace"}, Fraction(19, 5)),
        ("variance", {"grid": "1/10"}, Fraction(43, 5)),
        ("range-count", {"between": (2, 5)}, 3),
        ("range-count", {"between": (2, 5), "truncated": True}, 3),
        ("mode", {}, 2),
        ("mode", {"truncated": True}, 2),
    ],
)
def test_values(statistic, given, wanted):
    found = individual_steps(statistic, ROWS, 0, 10, HUGE, **given)
    assert found == wanted
    assert isinstance(found, Fraction)
    assert individual_steps(statistic, np.array(ROWS[::-1]), 0, 10, HUGE, **given) == wanted


def test_pairs():
    ends = (0, 0), (3, 6)
    slope = individual_steps("slope", PAIRS, *ends, HUGE, grid="1/100", ridge=1)
    assert slope == 1  # 6 / (5 + 1)
    found = individual_steps("correlation", np.array(PAIRS), *ends, HUGE, grid="1/100")
    assert float(found) == pytest.approx(np.corrcoef(np.array(PAIRS).T)[0, 1], abs=0.0051)


def test_values_beyond_the_bounds_are_clamped():
    assert individual_steps("max", [3, 99], 0, 10, HUGE) == 10
    assert individual_steps("sum", [-5, 3], 0, 10, HUGE) == 3
    assert individual_steps("mode", [7, 9, 1], 0, 3, HUGE) == 3


def test_answers_stay_in_the_public_range():
    answers = {int(individual_steps("max", [0, 10], 0, 10, "1/1000")) for _ in range(60)}
    assert answers <= set(range(11))
    assert len(answers) > 1


@pytest.mark.parametrize(
    ("refusal", "arguments", "given"),
    [
        (InvalidTable, ("median", [0.5, 1], 0, 10, 1), {}),
        (InvalidTable, ("median", [1, None], 0, 10, 1), {}),
        (InvalidTable, ("median", [], 0, 10, 1), {}),
        (InvalidTable, ("median", [1], 0, 10.5, 1), {}),
        (InvalidArgument, ("medain", ROWS, 0, 10, 1), {}),
        (InvalidArgument, ("median", ROWS, 0, 10, 0), {}),
        (InvalidArgument, ("median", ROWS, 0, 10, 1), {"noise": "gauss"}),
        (InvalidArgument, ("median", ROWS, 0, 10, 1), {"truncated": True}),
        (InvalidArgument, ("median", ROWS, 0, 10, 1), {"k": 1}),
        (InvalidArgument, ("range-count", ROWS, 0, 10, 1), {}),
        (InvalidArgument, ("kth-largest", ROWS, 0, 10, 1), {"k": 6}),
        (InvalidArgument, ("correlation", PAIRS, (0, 0), (3, 6), 1), {}),
        (InvalidArgument, ("correlation", PAIRS, 0, 6, 1), {"grid": 0.1}),
        (InvalidArgument, ("mode", ROWS, 0, 2**16, 1), {}),
        (NotPromised, ("slope", PAIRS, (0, 0), (3, 6), 1), {}),
        (InvalidArgument, ("slope", PAIRS, (0, 0), (3, 6), 1), {"ridge": 0}),
        (NotPromised, ("median", ROWS, 0, 10, 1, Seeded(7)), {}),
    ],
)
def test_steps_refusals(refusal, arguments, given):
    with pytest.raises(refusal):
        individual_steps(*arguments, **given)


def test_the_slope_of_rows_on_a_vertical_line_is_answered():
    """Without the ridge such rows would be refused, and the refusal would tell."""
    assert individual_steps("slope", [(1, 0), (1, 6)], (0, 0), (3, 6), HUGE, ridge=1) == 0


# -- Individual differential privacy: values with units, and what surrounds them -------------------

"""An epsilon that leaves no noise where a record moves the answer by at most 200 steps."""


@pytest.mark.parametrize(
    ("statistic", "given", "wanted"),
    [
        ("median", {}, 2.5),
        ("median", {"grid": 1}, 3),
        ("mean", {"grid": 0.01}, 3.42),
        ("sum", {}, 17.1),
        ("variance", {}, 6.4),
        ("range-count", {"low": 2.45, "high": 5, "grid": 1}, 3),
        ("max", {"noise": "laplace"}, 8),
    ],
)
def test_values_in_their_own_units(statistic, given, wanted):
    rows = [0.4, 2.5, 2.5, 3.7, 8]
    answer = individual(statistic, rows, bounds=(0, 10), epsilon=HUGE, **{"grid": 0.1, **given})
    assert answer.value == wanted
    assert answer.exact == Fraction(str(wanted))


def test_whole_grids_give_ints_and_others_doubles():
    rows = [0.4, 2.5, 2.5, 3.7, 8]
    whole = individual("median", rows, bounds=(0, 10), grid=1, epsilon=HUGE)
    assert isinstance(whole.value, int)
    half = individual("median", rows, bounds=(0, 10), grid=0.5, epsilon=HUGE)
    assert (half.value, type(half.value)) == (2.5, float)


def test_pairs_in_their_own_units():
    pairs = [(0, 0.1), (0.5, 0.2), (1.0, 0.2), (1.5, 0.5)]
    bounds = (0, 1.5), (0, 0.6)
    slope = individual("slope", pairs, bounds=bounds, grid=0.01, ridge=0.25, epsilon=HUGE)
    assert slope.value == pytest.approx(0.3 / 1.5)
    correlation = individual("correlation", pairs, bounds=bounds, grid=0.01, epsilon=HUGE)
    assert correlation.value == 0.89


@pytest.mark.parametrize("truncated", [False, True])
def test_the_mode_is_a_category(truncated):
    rows = ["flu", "none", "flu", "cold", "flu", "flu"]
    answer = individual(
        "mode", rows, categories=["none", "cold", "flu"], epsilon=1, truncated=truncated
    )
    assert (answer.value, answer.exact) == ("flu", None)  # no record can change it
    assert json.loads(answer.to_json())["value"] == "flu"


CASES = [
    ("median", {"bounds": (0, 100)}),
    ("max", {"bounds": (0, 100), "noise": "laplace"}),
    ("variance", {"bounds": (0, 100)}),
    ("range-count", {"bounds": (0, 100), "low": 1, "high": 50, "truncated": True}),
    ("mode", {"categories": range(101)}),
]


@pytest.mark.parametrize(
    ("statistic", "given"), CASES, ids=lambda x: x if isinstance(x, str) else ""
)
def test_nothing_beside_the_value_depends_on_rows(statistic, given):
    """Certificate, repr and JSON of very different tables are the same but for the value."""
    tables = [0] * 9, list(range(9)), [0, 0, 0, 0, 50, 100, 100, 100, 100]
    answers = [individual(statistic, rows, epsilon=1, **given) for rows in tables]
    assert len({answer.certificate.to_json() for answer in answers}) == 1
    assert len({repr(answer).partition("certificate")[2] for answer in answers}) == 1
    facts = [json.loads(answer.to_json()) for answer in answers]
    assert all(set(fact) == {"value", "certificate"} for fact in facts)


def test_the_certificate():
    certificate = individual("median", [1, 2, 3], bounds=(0, 10), epsilon=0.5).certificate
    assert certificate.promise == Individual(0.5)
    assert not certificate.promise.is_differential_privacy
    assert certificate.neighbours == "replace"
    assert certificate.does_not_promise == INDIVIDUAL_LIMITS
    assert Certificate.from_json(certificate.to_json()) == certificate
    everything = " ".join(INDIVIDUAL_LIMITS)
    for limit in ("not differential privacy", "exact", "0.70", "0.475", "rebuilt", "groups"):
        assert limit in everything


def test_the_measured_limits_are_true():
    """The two figures in the certificate, from the laws themselves."""
    narrow, wide = (tn.noise.Laplace(sensitivity=s, epsilon=1) for s in (1, 10))
    # the densities cross at ±x; beyond it the wide one has more
    x = 10 / 9 * 2.302585092994046
    apart = 2 * (wide.cdf(-x) - narrow.cdf(-x))
    assert round(apart, 2) == 0.70
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon=0.1)
    assert round(law.cdf(-1), 3) == 0.475


@pytest.mark.parametrize(
    ("refusal", "statistic", "rows", "given"),
    [
        (InvalidArgument, "median", [1, 2], {}),
        (InvalidArgument, "median", [1, 2], {"bounds": (0, 10), "categories": [1]}),
        (InvalidArgument, "median", [1, 2], {"bounds": (0, 10), "grid": 0}),
        (InvalidArgument, "median", [1, 2], {"bounds": (0, 10), "low": 1}),
        (InvalidArgument, "range-count", [1, 2], {"bounds": (0, 10), "low": 1}),
        (InvalidArgument, "range-count", [1, 2], {"bounds": (0, 10), "low": 3, "high": 1}),
        (InvalidArgument, "mode", [1, 2], {}),
        (InvalidArgument, "mode", [1, 2], {"categories": [1, 2], "noise": "laplace"}),
        (InvalidArgument, "mode", [1, 2], {"categories": [1, 2], "grid": 2}),
        (InvalidArgument, "mode", [1, 2], {"categories": [1, 1]}),
        (InvalidTable, "mode", [1, 2], {"categories": [1]}),
        (InvalidTable, "median", [1, float("nan")], {"bounds": (0, 10)}),
        (InvalidTable, "median", [1, "x"], {"bounds": (0, 10)}),
        (NotPromised, "slope", [(1, 1), (2, 2)], {"bounds": ((0, 3), (0, 3))}),
        (InvalidArgument, "mean", [1, 2], {"bounds": (0, 10), "noise": "optimal"}),
        (NotPromised, "mean", [1, 2], {"bounds": (0, 10), "source": tn.noise.Seeded(7)}),
    ],
)
def test_refusals(refusal, statistic, rows, given):
    with pytest.raises(refusal):
        individual(statistic, rows, epsilon=1, **given)


def test_epsilon_has_no_default():
    with pytest.raises(InvalidArgument, match="needs `epsilon`"):
        individual("median", [1, 2], bounds=(0, 10))


CERTIFICATE = Certificate(
    promise=Individual(1), neighbours="replace", unit="record", mechanism="discrete Laplace"
)


def test_json_holds_the_value_and_the_certificate():
    text = Released(2.5, Fraction(5, 2), CERTIFICATE).to_json()
    given = json.loads(text)
    assert given["value"] == 2.5
    assert Certificate.from_json(json.dumps(given["certificate"])) == CERTIFICATE


def test_a_category_of_any_type_can_be_written():
    assert json.loads(Released("flu", None, CERTIFICATE).to_json())["value"] == "flu"
    assert json.loads(Released(Fraction(1, 3), None, CERTIFICATE).to_json())["value"] == "1/3"
