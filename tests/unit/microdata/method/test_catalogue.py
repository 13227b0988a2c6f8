"""The methods by name; and a call of `publish` takes the options of the method that it names."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, Self

import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidSchema
from tenue.microdata.method.catalogue import METHODS, chosen_method, options_of, takes_options
from tenue.microdata.method.contract import Method
from tenue.microdata.method.groups import Grouped
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
    for method, kind in METHODS.items():
        if kind.named_roles:
            with pytest.raises(InvalidSchema):
                chosen_method(Schema.from_dict(open_), method, k=5)
    assert [name for name, kind in METHODS.items() if not kind.named_roles] == ["private"]


def test_options_are_those_that_the_methods_read() -> None:
    grouped = ["k", "by", "l", "t", "gamma", "memory"]
    recoded = ["suppress", "minimise", "widths"]
    every = [*grouped, *recoded, "groups", "epsilon"]
    assert list(options_of(METHODS.values())) == every
    both = options_of([Swap, Costly])
    assert list(both) == [*grouped, "epsilon"]
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
    with pytest.raises(InvalidArgument, match=r"needs `epsilon`.*takes `epsilon`, `by`.*epsilon=1"):
        called(method="costly")
    with pytest.raises(InvalidArgument, match=r"needs `k`.*k=5"):
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


# nobody outside asks which method it has: the next one would be forgotten there
SOURCE = Path(__file__).parents[4] / "src" / "tenue"
HOME = SOURCE / "microdata" / "method"
FILES = [
    path
    for room in ("microdata", "command")
    for path in sorted((SOURCE / room).rglob("*.py"))
    # algorithms of partition have names of their own, whoever uses them
    if path.parent not in (HOME, SOURCE / "microdata" / "partition")
]
CLASSES = {kind.__name__ for kind in METHODS.values()} | {"Grouped", "Method"}
WORDS = set(METHODS).union(*(kind.ways for kind in METHODS.values() if issubclass(kind, Grouped)))


def asks(text: str, *, words: bool = True) -> list[str]:
    """Where a file compares the name of a method or a way, or tests for the class of one."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if words and isinstance(node, ast.Compare):
            for side in ast.walk(node):
                if isinstance(side, ast.Constant) and side.value in WORDS:
                    found.append(f"line {node.lineno} compares {side.value!r}")
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in ("isinstance", "issubclass"):
            assert isinstance(node, ast.Call)
            for side in ast.walk(node.args[1]):
                if isinstance(side, ast.Name) and side.id in CLASSES:
                    found.append(f"line {node.lineno} tests for {side.id}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_file_outside_asks_which_method_it_has(path: Path) -> None:
    assert asks(path.read_text()) == []


@pytest.mark.parametrize("name", ["contract.py", "groups.py", "catalogue.py"])
def test_what_methods_share_does_not_ask_either(name: str) -> None:
    assert asks((HOME / name).read_text()) == []


def test_only_the_catalogue_and_the_method_itself_name_a_method() -> None:
    modules = {kind.__module__.rpartition(".")[2] for kind in METHODS.values()}
    for path in [*FILES, HOME / "contract.py", HOME / "groups.py"]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                parts = (node.module or "").split(".")
                assert not ("method" in parts and parts[-1] in modules), path


def test_a_question_is_seen() -> None:
    assert asks('if way.name == "swap":\n    pass')
    assert asks('if way.by in ("mdav", "v-mdav"):\n    pass')
    assert asks("isinstance(way, Swap)")
    assert asks("isinstance(way, (Microaggregate, int))")
    assert not asks('publish(method="swap")')
