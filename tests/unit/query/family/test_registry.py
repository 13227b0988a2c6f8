"""Every kind of aggregate has one family, and every function one meaning."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from tenue.query.family.registry import FAMILIES, FAMILY_OF, SQL_FUNCTIONS


def test_each_kind_and_each_function_is_declared_once() -> None:
    kinds = Counter(kind for family in FAMILIES for kind in family.kinds)
    assert set(kinds.values()) == {1}
    assert set(kinds) == set(FAMILY_OF)
    names = [function.name for function in SQL_FUNCTIONS]
    assert len(set(names)) == len(names)
    assert {f for family in FAMILIES for f in family.functions} == set(SQL_FUNCTIONS)


def test_functions_ask_for_kinds_of_their_own_family_under_names_that_sqlglot_knows() -> None:
    for family in FAMILIES:
        for function in family.functions:
            assert FAMILY_OF[function.kind] is family
            assert function.name in exp.FUNCTION_BY_NAME
    nodes = [exp.FUNCTION_BY_NAME[function.name] for function in SQL_FUNCTIONS]
    assert len(set(nodes)) == len(nodes), "two functions would be read as one"


def test_what_shares_a_noise_belongs_to_one_family() -> None:
    """Ways to answer are asked of the family of the first."""
    assert len([family for family in FAMILIES if family.sharing]) == 1
    assert all(family.sharing <= family.kinds for family in FAMILIES)
