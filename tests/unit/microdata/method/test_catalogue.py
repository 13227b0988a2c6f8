"""The methods by name; and a call of `publish` takes the options of the method that it names."""

from __future__ import annotations

from typing import Any, Self

import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidSchema
from tenue.microdata.method.catalogue import METHODS, chosen_method, options_of, takes_options
from tenue.microdata.method.contract import Method
from tenue.microdata.method.swap import Swap
from tenue.schema import Schema
from unit.microdata.census import schema


class Costly(Method):
    """Stands for a method without k, such as one that costs epsilon."""

    name = "costly"

    @classmethod
    def read(cls, schema: Schema, override: object, *, epsilon: object, by: str = "auto") -> Self:
        raise AssertionError("it is only asked for its options")


def test_every_method_goes_by_its_own_name() -> None:
    assert all(kind.name == name for name, kind in METHODS.items())
    assert isinstance(chosen_method(schema(), "swap", k=5), Swap)
    with pytest.raises(InvalidArgument, match='"microaggregate", "swap"'):
        chosen_method(schema(), "shuffle", k=5)


def test_roles_are_stated_whatever_the_method() -> None:
    open_ = schema().to_dict()
    del open_["columns"]["sex"]["role"]
    for method in METHODS:
        with pytest.raises(InvalidSchema):
            chosen_method(Schema.from_dict(open_), method, k=5)


def test_options_are_those_that_the_methods_read() -> None:
    assert list(options_of(METHODS.values())) == ["k", "by", "l", "t", "gamma"]
    both = options_of([Swap, Costly])
    assert list(both) == ["k", "by", "l", "t", "gamma", "epsilon"]
    # what only one of them needs can be left out of a call of the other
    assert both["k"].default is None
    assert both["epsilon"].default is None
    assert options_of([Swap])["k"].default is both["k"].empty


@takes_options
def called(source: object = None, *, method: object, note: str = "", **options: Any) -> object:
    return options


def test_a_call_is_checked_against_the_method_that_it_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(METHODS, "costly", Costly)
    assert called(method="costly", epsilon=1) == {"epsilon": 1}
    assert called(method="swap", k=3, note="x") == {"k": 3}
    with pytest.raises(InvalidArgument, match=r"needs `epsilon`.*takes .*`epsilon`, `by`, `note`"):
        called(method="costly")
    with pytest.raises(InvalidArgument, match="needs `k`"):
        called(method="swap")
    with pytest.raises(InvalidArgument, match=r'`k` is given with method="costly".*`epsilon`'):
        called(method="costly", epsilon=1, k=3)
    # whether a method is one is for `chosen_method` to say
    assert called(method=["no", "method"]) == {}


def test_publish_shows_the_options_of_all_methods() -> None:
    import inspect

    names = list(inspect.signature(tn.publish).parameters)
    assert names[:3] == ["source", "schema", "method"]
    assert "options" not in names
