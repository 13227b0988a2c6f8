"""The method: what it warns of, and what its certificate says of each way."""

from __future__ import annotations

from typing import Any

import pytest

import tenue as tn
from tenue.microdata.method.moved import GUESS, LAST, PRESENCE
from tenue.microdata.method.swap import CROSSED, EACH_COLUMN, INFORMED, RELATED
from unit.microdata.census import people, schema

OWN = {
    "quasi-identifiers": EACH_COLUMN,
    "each-confidential": CROSSED,
    "other-attributes": INFORMED,
}


@pytest.mark.parametrize("by", OWN)
def test_every_way_states_its_limits(by: str) -> None:
    ordered = {"taxonomy": {"any": {"well": ["no"], "sick": ["flu", "cold"]}}, "categories": None}
    described = schema().to_dict()
    ill = {key: value for key, value in ordered.items() if value}
    described["columns"]["ill"] = {"type": "category", "role": "confidential", **ill}
    release = tn.publish(people(90), schema=described, method="swap", k=4, by=by, preview=True)
    said = release.certificate.does_not_promise
    assert {RELATED, GUESS, LAST, OWN[by]} <= set(said)
    assert not (set(OWN.values()) - {OWN[by], EACH_COLUMN}) & set(said)
    assert any(limit.startswith(PRESENCE.removesuffix(".")) for limit in said)


def test_quasi_identifiers_stay_and_values_stay_in_the_table() -> None:
    table = people(90)
    made: Any = tn.publish(table, schema=schema(), method="swap", k=4, ledger=False).table
    for name in ("age", "job", "sex", "income", "ill"):
        assert sorted(made[name].to_pylist()) == sorted(table[name].to_pylist())
    known = ["age", "job", "sex"]
    before, after = (
        sorted(zip(*(one[name].to_pylist() for name in known), strict=True))
        for one in (table, made)
    )
    assert before == after
