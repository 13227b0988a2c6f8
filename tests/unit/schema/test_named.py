"""Names are found as SQL finds them."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.schema.named import Named, is_column_name, is_identifier


def test_order_and_case_do_not_tell_two_of_them_apart() -> None:
    one, other = Named([("a", 1), ("B", 2)]), Named([("B", 2), ("a", 1)])
    assert one == other
    assert hash(one) == hash(other)
    assert list(one) == ["a", "B"]
    assert one["A"] == 1
    assert one.get("c") is None
    with pytest.raises(KeyError):
        one[1]  # type: ignore[index]
    assert "b" in one
    assert 1 not in one  # type: ignore[comparison-overlap]
    assert one != Named([("a", 1), ("B", 3)])
    assert one != Named([("a", 1)])
    assert one != {"a": 1, "B": 2}


def test_they_cannot_be_changed_and_can_be_sent() -> None:
    names = Named([("a", 1)])
    with pytest.raises(TypeError):
        names["a"] = 2  # type: ignore[index]
    assert pickle.loads(pickle.dumps(names)) == names  # noqa: S301


@pytest.mark.parametrize("name", ["a", "_", "Census_2020", "x" * 128])
def test_identifiers(name: str) -> None:
    assert is_identifier(name)
    assert is_column_name(name)


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "é", "a;", "x" * 129, "a\n"])
def test_not_identifiers(name: str) -> None:
    assert not is_identifier(name)


@pytest.mark.parametrize("name", ["native-country", "hours per week", "x.y", "año", "straße"])
def test_column_names_that_sql_quotes(name: str) -> None:
    assert is_column_name(name)


@pytest.mark.parametrize(
    "name", ["", " a", "a ", "1", "-a", 'a"b', "a'b", "a`b", "a\nb", "AÑO", "n\u0303", "x" * 129]
)
def test_not_column_names(name: str) -> None:
    assert not is_column_name(name)


@given(st.text(max_size=8))
def test_a_column_name_folds_alike_by_the_letters_a_to_z_and_by_all_letters(name: str) -> None:
    ascii_only = "".join(letter.lower() if letter.isascii() else letter for letter in name)
    if is_column_name(name):
        assert ascii_only == name.lower()
        assert not set(name) & set("\"'`;\\\n\0")
