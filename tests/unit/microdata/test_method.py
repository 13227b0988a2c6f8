"""What was asked for, read against the schema."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tenue.errors import InvalidArgument, InvalidSchema
from tenue.microdata.method import Method, chosen_method
from unit.microdata.census import schema

NOTHING: dict[str, Any] = {
    "by": None,
    "l": None,
    "t": None,
    "gamma": None,
    "override": (),
}


def chosen(method: str = "swap", k: object = 5, **changes: Any) -> Method:
    declared = changes.pop("schema", schema())
    return chosen_method(declared, method, k, **{**NOTHING, **changes})


@pytest.mark.parametrize(
    ("method", "by", "compared"),
    [
        ("microaggregate", "mdav", ("age", "job", "sex")),
        ("microaggregate", "v-mdav", ("age", "job", "sex")),
        ("swap", "quasi-identifiers", ("age", "job", "sex", "income", "ill")),
        ("swap", "each-confidential", ("income", "ill")),
        ("swap", "other-attributes", ("age", "job", "sex", "income", "ill")),
    ],
)
def test_what_each_method_reads(method: str, by: str, compared: tuple[str, ...]) -> None:
    found = chosen(method, by=by)
    assert found.compared == compared
    assert found.least == 5


def test_the_first_way_is_taken_if_none_is_named() -> None:
    assert chosen("microaggregate").by == "mdav"
    assert chosen("swap").by == "quasi-identifiers"


def test_numbers_are_exact() -> None:
    found = chosen("microaggregate", "5", by="v-mdav", gamma=0.1, t=0.3, l=2.0)
    assert (found.least, found.gamma, found.t, found.l) == (5, Fraction(1, 10), Fraction(3, 10), 2)


def test_swaps_without_quasi_identifiers_go_by_values_only() -> None:
    alone = schema(age=None, job=None, sex=None)
    assert chosen(by="each-confidential", schema=alone).quasi == ()
    assert chosen(by="other-attributes", schema=alone).compared == ("income", "ill")
    lonely = schema(age=None, job=None, sex=None, ill=None)
    with pytest.raises(InvalidSchema):
        chosen(by="other-attributes", schema=lonely)


def test_l_and_t_need_a_confidential_column() -> None:
    with pytest.raises(InvalidSchema):
        chosen("microaggregate", l=2, schema=schema(income=None, ill=None))


@pytest.mark.parametrize("override", ["second", ["second-release", "x"], 7, {"a": 1}])
def test_an_override_has_a_known_name(override: object) -> None:
    with pytest.raises(InvalidArgument):
        chosen(override=override)
    both = chosen(override=["second-release", "homogeneous-groups"]).override
    assert both == {"second-release", "homogeneous-groups"}


@pytest.mark.parametrize("role", ["quasi-identifier", "confidential"])
def test_the_column_that_names_a_person_is_no_other_column(role: str) -> None:
    named = schema("name", name={"type": "category", "categories": ["a", "b"], "role": role})
    found = chosen(schema=named)
    assert "name" not in found.quasi + found.confidential
