"""What was asked for, read against the schema."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tenue.errors import InvalidArgument, InvalidSchema, NotPromised
from tenue.microdata.method.method import Method, chosen_method
from tenue.schema import Schema
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
    found = chosen(method, by=by, override="homogeneous-groups")
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
    assert (
        chosen(by="each-confidential", schema=schema(age=None, job=None, sex=None, ill=None)).quasi
        == ()
    )
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


def test_every_column_needs_a_stated_role_and_all_that_lack_one_are_named() -> None:
    """What a draft left open must not leave unprotected as if somebody had said "other"."""
    open_ = schema(
        name={"type": "identifier"}, age={"role": "other"}, ill={"role": "confidential"}
    ).to_dict()
    del open_["columns"]["sex"]["role"], open_["columns"]["note"]["role"]
    with pytest.raises(InvalidSchema) as refused:
        chosen(schema=Schema.from_dict(open_))
    assert refused.value.facts["columns"] == ("sex", "note")
    assert "`sex`, `note`" in refused.value.what
    assert "[columns.sex]" in refused.value.fix
    assert chosen(schema=schema(sex={"role": "other"})).unprotected == ("sex", "note")


def test_names_of_persons_and_derived_columns_need_no_role() -> None:
    named = schema("name", name={"type": "category", "categories": ["a", "b"]}).to_dict()
    named["columns"]["twice"] = {"type": "number", "bounds": [0, 240], "expression": "age * 2"}
    assert Schema.from_dict(named).without_role == ()
    chosen(schema=Schema.from_dict(named))


@pytest.mark.parametrize("gamma", [0, -1, "0"])
def test_a_gain_of_nothing_is_none(gamma: object) -> None:
    """0 was taken for "not given", and the default used while the certificate said 0."""
    with pytest.raises(InvalidArgument):
        chosen("microaggregate", by="v-mdav", gamma=gamma)


@pytest.mark.parametrize(
    "flat", [{"type": "boolean"}, {"type": "category", "categories": ["no", "flu"]}]
)
def test_values_without_order_have_no_similar_ones(flat: dict[str, Any]) -> None:
    """Sorted yes and no make groups of one value: everybody would keep the true one."""
    given = schema(ill=None).to_dict()
    given["columns"]["ill"] = {**flat, "role": "confidential"}
    declared = Schema.from_dict(given)
    with pytest.raises(NotPromised) as refused:
        chosen(by="each-confidential", schema=declared)
    assert refused.value.code == "homogeneous-groups"
    assert "`ill`" in refused.value.what
    assert 'by="quasi-identifiers"' in refused.value.fix
    assert 'override="homogeneous-groups"' in refused.value.fix
    chosen(by="each-confidential", schema=declared, override="homogeneous-groups")
    for by in ("quasi-identifiers", "other-attributes"):
        chosen(by=by, schema=declared)


@pytest.mark.parametrize(
    "ordered",
    [
        {"type": "number", "bounds": [0, 1]},
        {"type": "date", "bounds": ["2020-01-01", "2021-01-01"]},
        {"type": "category", "taxonomy": {"any": {"cold": ["flu", "cough"], "no": ["none"]}}},
    ],
)
def test_values_with_an_order_do(ordered: dict[str, Any]) -> None:
    given = schema(ill=None).to_dict()
    given["columns"]["ill"] = {**ordered, "role": "confidential"}
    assert chosen(by="each-confidential", schema=Schema.from_dict(given)).k["ill"] == 5


def test_a_column_has_one_k() -> None:
    """The last of two spellings won, and the certificate spoke of one."""
    with pytest.raises(InvalidArgument):
        chosen(k={"income": 3, "ill": 9, "ILL": 50}, by="other-attributes")
