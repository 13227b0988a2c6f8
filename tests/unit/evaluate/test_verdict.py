"""What was found can be read by programs, and cannot be changed."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import pyarrow as pa
import pytest

import tenue as tn
from unit.evaluate.stated import ROWS, people


def test_json_has_every_fact_and_no_infinity() -> None:
    found = tn.evaluate.check(pa.table(ROWS), schema=people())
    facts = json.loads(found.to_json(), parse_constant=lambda word: pytest.fail(word))
    named = {part.name for part in dataclasses.fields(found)}
    assert set(facts) == named | {"l", "l_entropy", "t", "t_ratio"}
    assert facts["k"] == found.k
    assert (facts["t_ratio"], facts["confidential"][0]["t_ratio"]) == ("inf", "inf")
    assert Fraction(facts["confidential"][0]["exact_t"]) == found.confidential[0].exact_t
    assert float(facts["t_ratio"]) == math.inf
    assert facts["quasi_identifiers"] == ["age", "town"]
    only_k = tn.evaluate.check(pa.table(ROWS), quasi_identifiers=["age"])
    assert json.loads(only_k.to_json())["t"] is None


def test_the_worst_column_speaks_for_all() -> None:
    rows = pa.table({"a": [1, 1, 2, 2], "good": [1, 2, 1, 2], "bad": [1, 1, 2, 2]})
    found = tn.evaluate.check(rows, quasi_identifiers=["a"], confidential=["good", "bad"])
    good, bad = found.confidential
    assert (good.l, good.t, good.t_ratio) == (2, 0, 1)
    assert (found.l, found.l_entropy) == (bad.l, bad.l_entropy) == (1, 1)
    assert (found.t, found.t_ratio) == (bad.t, bad.t_ratio) == (0.5, math.inf)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.k = 9  # type: ignore[misc]
