"""What can be promised, and the certificate that says so."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenue as tn
from tenue.errors import InvalidArgument, NotPromised
from tenue.privacy.certificate import About, certify
from tenue.privacy.loss import ATTO, LARGEST, NOTHING, SMALLEST, EpsilonDelta, check_price
from tenue.promise import (
    PROMISES,
    Approximate,
    Certificate,
    ProbabilisticKAnonymity,
    Pure,
    checked_neighbours,
    promise_from,
)
from tenue.text import exactly
from tenue.version import VERSION

EXAMPLES = [
    tn.Pure(epsilon=0.5),
    tn.Approximate(epsilon=1, delta=1e-6),
    tn.Individual(epsilon=2),
    tn.KAnonymity(k=5),
    tn.ColumnKAnonymity(k=5),
    tn.ProbabilisticKAnonymity(k=12),
    tn.TCloseness(t=1.5),
    tn.NoFormalPromise(),
]


@pytest.mark.parametrize("promise", EXAMPLES, ids=str)
def test_promises_are_values(promise: tn.promise.Promise) -> None:
    assert promise_from(promise.to_dict()) == promise
    assert hash(promise_from(promise.to_dict())) == hash(promise)
    assert promise.sentence().endswith(".")
    with pytest.raises(dataclasses.FrozenInstanceError):
        promise.epsilon = 3  # type: ignore[attr-defined]


def test_every_kind_has_an_example() -> None:
    assert {type(p) for p in EXAMPLES} == set(PROMISES.values())


def test_only_pure_and_approximate_are_differential_privacy() -> None:
    kinds = {type(p).__name__ for p in EXAMPLES if p.is_differential_privacy}
    assert kinds == {"Pure", "Approximate"}
    assert "differential privacy" not in tn.KAnonymity(k=2).sentence()


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (tn.Pure, {"epsilon": -1}),
        (tn.Pure, {"epsilon": float("nan")}),
        (tn.Pure, {}),
        (tn.Pure, {"eps": 1}),
        (tn.Approximate, {"epsilon": 1, "delta": 1}),
        (tn.Approximate, {"epsilon": 1, "delta": 0}),
        (tn.Individual, {"epsilon": -1}),
        (tn.KAnonymity, {"k": 1}),
        (tn.KAnonymity, {"k": 2.5}),
        (tn.ColumnKAnonymity, {"k": 1}),
        (tn.ProbabilisticKAnonymity, {"k": 0}),
        (tn.TCloseness, {"t": 0.5}),
    ],
)
def test_bad_promises_are_refused(kind: type, values: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument) as refused:
        kind(**values)
    assert refused.value.fix


def test_neighbours_are_one_of_two() -> None:
    assert checked_neighbours("replace") == "replace"
    with pytest.raises(InvalidArgument):
        checked_neighbours("substitute")


def certificate(promise: tn.promise.Promise = EXAMPLES[0]) -> tn.Certificate:
    return tn.Certificate(
        promise=promise,
        neighbours="add-or-remove",
        unit="patient",
        mechanism="discrete Laplace <b>",
        parameters={"scale": "2"},
        source="soundness, section 1",
        assumptions=("AES cannot be told from uniform bits.",),
        does_not_promise=("Secrecy of groups.", "Timing."),
        schema_hash="ab" * 32,
        version="0.1.0",
    )


@pytest.mark.parametrize("promise", EXAMPLES, ids=str)
def test_certificates_come_back(promise: tn.promise.Promise) -> None:
    one = certificate(promise)
    again = tn.Certificate.from_json(one.to_json())
    assert again == one
    assert hash(again) == hash(one)
    assert again.to_json() == one.to_json()


def test_a_changed_certificate_is_refused() -> None:
    given = json.loads(certificate().to_json())
    given["promise"]["epsilon"] = "0.1"  # the sentence still says 0.5
    with pytest.raises(InvalidArgument, match="changed"):
        tn.Certificate.from_json(json.dumps(given))
    for text in ("", "[]", "{}", '{"promise": {}}', "null"):
        with pytest.raises(InvalidArgument):
            tn.Certificate.from_json(text)


def test_certificates_speak_to_people() -> None:
    text = str(certificate())
    for part in ("epsilon = 0.5", "patient", "add-or-remove", "Secrecy of groups.", "Timing."):
        assert part in text
    page = certificate().to_html()
    assert "discrete Laplace &lt;b&gt;" in page
    assert "<b>" not in page


def test_parameters_cannot_be_changed_afterwards() -> None:
    with pytest.raises(TypeError):
        certificate().parameters["scale"] = "1"  # type: ignore[index]


def test_what_no_row_has_a_part_in_costs_nothing() -> None:
    assert tn.Pure(0).epsilon == 0
    assert str(tn.Pure(0)) == "pure differential privacy (epsilon = 0)"


# -- together --------------------------------------------------------------------------------------


def test_promises_of_two_answers_add_up() -> None:
    assert tn.Pure(1) + tn.Pure(2) == tn.Pure(3)
    assert tn.Pure("0.7") + tn.Pure(0.3) == tn.Pure(1)
    assert tn.Pure(0) + tn.Pure(0) == tn.Pure(0)
    both = tn.Approximate(1, 1e-6)
    assert tn.Pure(1) + both == both + tn.Pure(1) == tn.Approximate(2, 1e-6)
    assert both + both == tn.Approximate(2, 2e-6)
    with pytest.raises(InvalidArgument):
        tn.Approximate(1, 0.5) + tn.Approximate(1, 0.5)


def test_a_promise_is_at_most_another_that_it_implies() -> None:
    """Mutant: delta is not looked at, so that (1, 1e-6) would imply pure 1."""
    pure, small, large = tn.Pure(1), tn.Approximate(1, 1e-6), tn.Approximate(1, 1e-5)
    assert pure <= pure
    assert pure < small < large
    assert large >= small > pure
    assert not small <= pure
    assert not small <= tn.Pure(2)
    assert not tn.Pure(2) <= large
    assert not pure < tn.Pure(1)


@pytest.mark.parametrize("other", [tn.Individual(1), tn.KAnonymity(5), tn.TCloseness(2), 1])
def test_only_differential_privacy_adds_up_and_compares(other: Any) -> None:
    for one in (tn.Pure(1), tn.Approximate(1, 1e-6)):
        for wrong in (lambda one=one: one + other, lambda one=one: other + one):
            with pytest.raises(TypeError):
                wrong()
        with pytest.raises(TypeError):
            assert one <= other
    with pytest.raises(TypeError):
        other + other if other != 1 else other + tn.Pure(1)


# -- loss ------------------------------------------------------------------------------------------

LOSSES = st.builds(EpsilonDelta, st.integers(0, LARGEST), st.integers(0, ATTO - 1))
REPLACE, ADD = "replace", "add-or-remove"


# -- from people and back --------------------------------------------------------------------------


@given(st.fractions(min_value=0, max_value=1000), st.fractions(min_value=0, max_value=1))
def test_a_budget_never_grows_by_rounding_and_a_price_never_shrinks(
    epsilon: Fraction, delta: Fraction
) -> None:
    delta = delta / 2
    cap = EpsilonDelta.cap(epsilon, delta, name="total")
    assert cap.epsilon <= epsilon < cap.epsilon + SMALLEST.epsilon
    assert cap.delta <= delta < cap.delta + Fraction(1, ATTO)
    if epsilon:
        price = EpsilonDelta.of(epsilon, delta)
        assert price.epsilon - SMALLEST.epsilon < epsilon <= price.epsilon
        assert price.delta - Fraction(1, ATTO) < delta <= price.delta
        assert cap <= price


def test_a_float_means_the_decimal_that_prints_it() -> None:
    """Mutant: the binary value of 0.1, which is above a tenth, so that one unit more is charged."""
    assert EpsilonDelta.of(0.1) == EpsilonDelta.of("0.1") == EpsilonDelta(10**8)
    assert EpsilonDelta.of(Fraction(0.1)) == EpsilonDelta(10**8 + 1)
    assert EpsilonDelta.of(0.7) + EpsilonDelta.of(0.3) == EpsilonDelta.of(1)
    assert EpsilonDelta.of(1, 1e-6).delta == Fraction(1, 10**6)


@pytest.mark.parametrize("total", [-1, "x", float("inf"), 1_000_001, None, True])
def test_what_is_no_budget_is_refused(total: object) -> None:
    with pytest.raises(InvalidArgument, match="`quota`"):
        EpsilonDelta.cap(total, name="quota")


@pytest.mark.parametrize("delta", [-1e-9, 1, "nan"])
def test_what_is_no_delta_is_refused(delta: object) -> None:
    with pytest.raises(InvalidArgument, match="`delta`"):
        EpsilonDelta.of(1, delta)
    with pytest.raises(InvalidArgument, match="`total_delta`"):
        EpsilonDelta.cap(1, delta, name="total")


def test_a_price_that_promises_nothing_is_refused() -> None:
    assert check_price(LARGEST, ATTO - 1) == EpsilonDelta(LARGEST, ATTO - 1)
    for nano, atto in ((LARGEST + 1, 0), (1, ATTO)):
        with pytest.raises(InvalidArgument):
            check_price(nano, atto)


@given(LOSSES)
def test_it_is_written_in_full_and_read_again(loss: EpsilonDelta) -> None:
    assert EpsilonDelta.from_dict(json.loads(json.dumps(loss.to_dict()))) == loss
    assert EpsilonDelta(*loss.stored) == loss
    assert Fraction(exactly(loss.epsilon)) == loss.epsilon
    assert Fraction(exactly(loss.delta)) == loss.delta


def test_people_read_a_loss_as_epsilon_and_delta() -> None:
    assert str(EpsilonDelta.of(0.5)) == "epsilon 0.5"
    assert str(EpsilonDelta.of(0.5, 1e-6)) == "epsilon 0.5 and delta 0.000001"
    assert str(NOTHING) == "epsilon 0"
    assert [exactly(Fraction(n)) for n in (0, 5, 10, 100)] == ["0", "5", "10", "100"]
    assert EpsilonDelta.of(0.5).to_dict() == {"epsilon": "0.5"}


def test_what_a_loss_promises() -> None:
    assert EpsilonDelta.of(0.5).promise() == Pure(0.5)
    assert EpsilonDelta.of(0.5, 1e-6).promise() == Approximate(0.5, 1e-6)
    assert NOTHING.promise() == Pure(0)


def test_a_loss_is_no_promise() -> None:
    """What was spent in whole units is never added to what was promised, nor compared with it."""
    loss: Any = EpsilonDelta.of(1)
    for wrong in (lambda: loss + Pure(1), lambda: Pure(1) + loss, lambda: Pure(1) <= loss):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError):
        assert loss <= 1


# -- arithmetic ------------------------------------------------------------------------------------


@given(LOSSES, LOSSES, LOSSES)
def test_sums_and_maxima_are_part_by_part(
    a: EpsilonDelta, b: EpsilonDelta, c: EpsilonDelta
) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + NOTHING == a == a + b - b
    assert a + a + a == 3 * a == a * 3
    most = a.most(b)
    assert a <= most
    assert b <= most
    assert most <= a + b
    assert (most.epsilon, most.delta) == (max(a.epsilon, b.epsilon), max(a.delta, b.delta))


@given(LOSSES, LOSSES)
def test_it_fits_if_every_part_does(a: EpsilonDelta, b: EpsilonDelta) -> None:
    """Mutant: compared like tuples, a larger delta fits wherever epsilon is smaller."""
    assert (a <= b) == (a.epsilon <= b.epsilon and a.delta <= b.delta)
    assert (a >= b) == (b <= a)
    assert (a < b) == (a <= b and a != b)
    assert (a > b) == (b < a)
    assert bool(a) == (a != NOTHING)


def test_of_two_losses_neither_need_fit_the_other() -> None:
    one, other = EpsilonDelta.of(1, 1e-6), EpsilonDelta.of(2)
    assert not one <= other
    assert not other <= one
    assert one.stored < other.stored


@given(LOSSES, st.integers(1, 1000))
def test_shares_fit_together_and_no_larger_ones_do(loss: EpsilonDelta, shares: int) -> None:
    each = loss // shares
    assert each * shares <= loss
    assert not (each + SMALLEST) * shares <= loss


@given(st.integers(1, 10**13), st.fractions(min_value=0, max_value=1))
def test_a_part_is_rounded_down(nano: int, share: Fraction) -> None:
    part = EpsilonDelta(nano).part(share)
    assert part.epsilon <= EpsilonDelta(nano).epsilon * share < part.epsilon + SMALLEST.epsilon


@given(st.integers(1, 10**12), st.lists(st.floats(0.01, 100), min_size=1, max_size=5))
def test_parts_by_weight_stay_within_the_whole(nano: int, weights: list[float]) -> None:
    parts = EpsilonDelta(nano).shared(weights)
    assert len(parts) == len(weights)
    total = sum(parts, start=NOTHING)
    assert EpsilonDelta(nano) - total <= EpsilonDelta(len(weights) + 1)
    assert total <= EpsilonDelta(nano)


# -- what is left ----------------------------------------------------------------------------------


@given(LOSSES, LOSSES, LOSSES)
def test_what_is_left_fits_and_nothing_more_does(
    cap: EpsilonDelta, spent: EpsilonDelta, more: EpsilonDelta
) -> None:
    room = cap.room(spent, NOTHING)
    assert room >= NOTHING
    if spent <= cap:
        assert spent + room == cap
        assert (more <= room) == (spent + more <= cap)


def test_nothing_is_left_of_a_cap_below_what_is_spent() -> None:
    """Not even for a question that would cost less because another person was asked more."""
    cap, spent, spared = EpsilonDelta.of(1), EpsilonDelta.of(2), EpsilonDelta.of("0.5")
    assert cap.room(spent, spared) == NOTHING
    assert spent.room(cap, spared) == EpsilonDelta.of("1.5")


# -- neighbours ------------------------------------------------------------------------------------


def test_under_replace_a_proof_under_add_or_remove_counts_twice() -> None:
    loss = EpsilonDelta(7)
    assert loss.under(REPLACE, REPLACE) == loss.under(ADD, ADD) == loss
    assert loss.under(ADD, REPLACE) == 2 * loss
    for wrong in (loss, EpsilonDelta(1, 1)):
        with pytest.raises(NotPromised):
            wrong.under(REPLACE, ADD)


@given(st.integers(1, LARGEST))
def test_the_largest_price_that_fits(nano: int) -> None:
    room = EpsilonDelta(nano)
    assert room.largest(REPLACE, REPLACE) == room
    found = room.largest(ADD, REPLACE)
    assert found.under(ADD, REPLACE) <= room
    assert not (found + SMALLEST).under(ADD, REPLACE) <= room


@given(st.integers(1, 60 * 10**9), st.integers(1, ATTO - 1))
def test_two_steps_of_delta_are_never_priced_too_low(nano: int, atto: int) -> None:
    with mpmath.workdps(80):
        true = mpmath.mpf(atto) * (1 + mpmath.exp(mpmath.mpf(nano) / 10**9))
        priced = EpsilonDelta(nano, atto).under_replace().atto
        assert priced == ATTO or true <= priced <= true + 1
        assert priced == min(ATTO, int(mpmath.ceil(true)))


@pytest.mark.parametrize("nano", [10**7, 10**9, 3 * 10**9])
def test_two_steps_really_cost_that_much(nano: int) -> None:
    """An event of probability delta (1 + e**epsilon), delta, 0 in a row of three neighbours;
    mutant: twice the delta."""
    atto = 10**12
    with mpmath.workdps(50):
        factor, delta = mpmath.exp(mpmath.mpf(nano) / 10**9), mpmath.mpf(atto) / ATTO
        chances = [delta * (1 + factor), delta, mpmath.mpf(0)]
        for one, other in pairwise(chances):
            for p, q in ((one, other), (other, one), (1 - one, 1 - other), (1 - other, 1 - one)):
                assert p <= factor * q + delta + mpmath.mpf(10) ** -40
        worst = (chances[0] - factor**2 * chances[2]) * ATTO
        assert EpsilonDelta(nano, atto).under_replace().atto >= worst > 2 * atto


@given(st.lists(st.tuples(st.integers(1, 10**10), st.integers(0, 10**9)), min_size=1, max_size=6))
def test_a_sum_counted_anew_is_never_below_its_parts(parts: list[tuple[int, int]]) -> None:
    """Mutant: the epsilon of the sum in place of the widest, or of the first part."""
    losses = [EpsilonDelta(*part) for part in parts]
    whole, widest = NOTHING, NOTHING
    for loss in losses:
        whole, widest = whole + loss, widest.most(loss)
    apart = sum((loss.under_replace() for loss in losses), start=NOTHING)
    again = whole.under_replace(widest)
    assert again.epsilon == apart.epsilon
    slack = Fraction(len(losses), ATTO)  # each part was rounded up by less than one unit
    assert again.delta + slack >= apart.delta


# -- One builder makes every certificate -----------------------------------------------------------


def made(neighbours: str = "replace") -> Certificate:
    return certify(
        Pure(1),
        About(neighbours, "record"),
        "noise",
        {"k": "3", "gamma": ""},
        ["A 2006", "B 2007", "A 2006"],
        ["One.", "One."],
        ["Two.", "Three.", "Two."],
        "hmac-sha256:0123456789abcdef0123",
    )


def test_what_has_no_value_is_left_out_and_nothing_is_said_twice() -> None:
    found = made()
    assert dict(found.parameters) == {"k": "3"}
    assert found.source == "A 2006; B 2007"
    assert found.assumptions == ("One.",)
    assert found.does_not_promise == ("Two.", "Three.")


def test_it_names_the_schema_and_the_version() -> None:
    found = made()
    assert (found.schema_hash, found.version) == ("hmac-sha256:0123456789abcdef0123", VERSION)
    assert "sealed 0123456789abcdef\n" in str(found)


def test_what_0_1_0_wrote_is_read_and_nothing_is_shown_where_nothing_is_said() -> None:
    old = replace(made(), schema_hash="ab" * 32)
    assert Certificate.from_json(old.to_json()) == old
    assert f"{'ab' * 8}\n" in str(old)
    assert "sealed" not in str(old)
    assert "Schema" not in str(replace(made(), schema_hash=""))


def test_neighbours_are_checked() -> None:
    with pytest.raises(InvalidArgument):
        made("friends")


def test_it_survives_json() -> None:
    assert Certificate.from_json(made().to_json()) == made()


def test_words_of_an_earlier_version_are_no_forgery_and_others_are() -> None:
    """What 0.1.0 promised is read, and said in the words of today."""
    swap = replace(made(), promise=ProbabilisticKAnonymity(5))
    old = json.loads(swap.to_json())
    old["sentence"] = (
        "Whoever finds a unit's row by its quasi-identifiers sees confidential values in it, each "
        "of which came from that unit's record with probability at most 1/5. The value itself may "
        "be the same for all of its group, as it often is with yes and no or few categories, and "
        "is then known all the same."
    )
    assert Certificate.from_json(json.dumps(old)) == swap
    for wrong in ("In other words.", old["sentence"].replace("1/5", "1/6")):
        with pytest.raises(InvalidArgument):
            Certificate.from_json(json.dumps(old | {"sentence": wrong}))


@pytest.mark.parametrize("promise", [Pure(1), Approximate(1, 1e-6)], ids=str)
def test_a_former_sentence_of_differential_privacy_is_read(promise: Pure | Approximate) -> None:
    one = replace(made(), promise=promise)
    old = one.to_json().replace("Any output is", "Whatever is seen is")
    assert old != one.to_json()
    assert Certificate.from_json(old) == one


def test_on_a_screen_its_lists_are_lists_and_fit() -> None:
    long = "word " * 30
    shown = str(replace(made(), assumptions=(long, "Short."))).splitlines()
    assert max(map(len, shown)) < 80
    assert len([line for line in shown if "* word" in line or "* Short." in line]) == 2
    first = next(line for line in shown if line.startswith("Assumes"))
    after = shown[shown.index(first) + 1]
    assert after.index("word") == first.index("word")  # further lines hang below the first word
