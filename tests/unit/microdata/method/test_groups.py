"""What was asked for, read against the schema."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidSchema, NotPromised
from tenue.microdata.method.catalogue import chosen_method
from tenue.microdata.method.groups import Grouped
from tenue.microdata.table.original import read_original
from tenue.noise import Seeded
from tenue.schema import Schema
from unit.microdata.census import people, schema

NOTHING: dict[str, Any] = {
    "by": None,
    "l": None,
    "t": None,
    "gamma": None,
    "override": (),
}


def chosen(method: str = "swap", k: object = 5, **changes: Any) -> Grouped:
    declared = changes.pop("schema", schema())
    found = chosen_method(declared, method, k=k, **{**NOTHING, **changes})
    assert isinstance(found, Grouped)
    return found


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


@pytest.mark.parametrize("k", [2, 3, 7, 20, 60])
@pytest.mark.parametrize("by", ["quasi-identifiers", "each-confidential", "other-attributes"])
def test_every_group_has_k_units_and_keeps_its_values(k: int, by: str) -> None:
    method = chosen(k=k, by=by, override="homogeneous-groups")
    original = method.prepare(read_original(people(), schema()), Seeded(k))
    assert original.size == 60  # nothing was left out
    done = method.publish(original, Seeded(k))
    for labels in done.groups.values():
        sizes = np.bincount(labels)
        assert k <= sizes.min()
        # where values stay whole, only a heap of equal ones makes a group larger
        assert sizes.max() < 2 * k or by == "each-confidential"
    for name, labels in done.groups.items():
        for group in range(labels.max() + 1):
            before = original.cells[name].numbers[labels == group]
            after = done.cells[name].numbers[labels == group]
            assert sorted(before.tolist()) == sorted(after.tolist())
