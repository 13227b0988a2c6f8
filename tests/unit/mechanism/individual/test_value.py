"""Individual differential privacy: values with units, and what surrounds them."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidTable, NotPromised
from tenue.mechanism import INDIVIDUAL_LIMITS, Released, individual
from tenue.promise import Certificate, Individual

HUGE = 10_000
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
