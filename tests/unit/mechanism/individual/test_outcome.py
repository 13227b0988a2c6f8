"""A released value and its certificate."""

from __future__ import annotations

import json
from fractions import Fraction

from tenue.mechanism import Released
from tenue.promise import Certificate, Individual

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
