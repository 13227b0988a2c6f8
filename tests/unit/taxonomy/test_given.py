"""What people give is taken as plain text and lists, and shown briefly when it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tenue.taxonomy import Taxonomy
from tenue.taxonomy.given import named, pair, sequence, shown, text
from unit.taxonomy.examples import refusal


def deep_list(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def endless_list() -> list[Any]:
    inner: list[Any] = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    "given",
    [deep_list(100_000), endless_list(), 10**6_000, "x" * 10**6, ["x" * 50] * 6],
    ids=["deep", "endless", "large", "long", "wide"],
)
def test_whatever_is_given_is_shown_briefly(given: object) -> None:
    assert 1 < len(shown(given)) <= 60
    if not isinstance(given, str):
        assert len(refusal(lambda: text(given)).what) < 100


def test_small_things_are_shown_whole() -> None:
    for given in (None, 1.5, ("a", "b", "c"), {"m": []}, "a" * 50):
        assert shown(given) == repr(given)


def test_eight_names_are_named() -> None:
    assert named("abcdefgh") == "`a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`"
    assert named("abcdefghi").endswith("`g`, `h` and 1 more")
    assert named("abcdefghij", " below ").endswith("`g` below `h` and 2 more")


def test_text_of_other_types_becomes_plain_text() -> None:
    class Quoted(str):
        __slots__ = ()

    tree = Taxonomy.flat([Quoted("x"), Quoted("y")])
    assert all(type(name) is str for name in (*tree.concepts, *tree.categories))


@pytest.mark.parametrize("given", ["", "\ud800", 1, None, b"a", ["a"]])
def test_what_is_no_text_is_refused(given: object) -> None:
    assert "A concept or category is" in refusal(lambda: text(given)).what


@pytest.mark.parametrize("given", ["ab", ["a"], ("a", "b", "c"), {"a": 1, "b": 2}, 7])
def test_what_is_no_pair_is_refused(given: object) -> None:
    assert refusal(lambda: pair(given, "An edge", "child, parent")).what.startswith("An edge is ")


@pytest.mark.parametrize("given", ["ab", 7, None])
def test_what_is_no_list_is_refused(given: object) -> None:
    assert refusal(lambda: sequence(given, "sample")).what == f"`sample` is {given!r}."
