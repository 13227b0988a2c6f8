"""Promises are validated values; certificates say the same to people and to programs."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from tenue.promise import PROMISES, checked_neighbours, promise_from

EXAMPLES = [
    tn.Pure(epsilon=0.5),
    tn.Approximate(epsilon=1, delta=1e-6),
    tn.Individual(epsilon=2),
    tn.KAnonymity(k=5),
    tn.ColumnKAnonymity(k=5),
    tn.ProbabilisticKAnonymity(k=12),
    tn.TCloseness(t=1.5),
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
