"""A frozen dataclass of ours is what one of `dataclasses` is."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Any

import pytest

from tenue import frozen

Define = Callable[..., Any]


def classes(dataclass: Define) -> dict[str, Any]:
    """The same classes, made by one of the two."""

    @dataclass(frozen=True)
    class Point:
        """Places, defaults, a factory, and what is neither printed nor compared."""

        x: int
        y: int = 2
        marks: list[int] = field(default_factory=list, hash=False)
        note: str = field(default="", repr=False, compare=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("below zero")

    @dataclass(frozen=True)
    class Deep(Point):
        """More of it."""

        z: int = 3

    @dataclass(frozen=True, kw_only=True)
    class Named:
        """By name alone, and one that is not an argument."""

        a: int
        b: int = 5
        size: int = field(init=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "size", self.a + self.b)

    @dataclass(frozen=True, eq=False)
    class Same:
        """Equal to itself alone."""

        x: int

    @dataclass(frozen=True)
    class Own:
        """With methods of its own."""

        x: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True, init=False, repr=False)
    class Made:
        """With arguments of its own."""

        x: int

        def __init__(self, text: str) -> None:
            object.__setattr__(self, "x", int(text))

    @dataclass(frozen=True)
    class One:
        """A single field, whose tuple has one member."""

        x: object

    class Plain(Point):
        """Not decorated, with room for more."""

        def __init__(self, text: str) -> None:
            super().__init__(int(text))
            self.more = 1

    @dataclass(frozen=True)
    class Empty:
        """Nothing."""

    listed = (Point, Deep, Named, Same, Own, Made, One, Plain, Empty)
    return {kind.__name__: kind for kind in listed}


def seen(act: Callable[[], Any]) -> Any:
    """What comes of it, or which kind of error."""
    try:
        return act()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error)


ACTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "places": lambda k: repr(k["Point"](1, 3, [4], "n")),
    "defaults": lambda k: repr(k["Point"](1)),
    "names": lambda k: repr(k["Point"](y=1, x=3)),
    "missing": lambda k: k["Point"](),
    "missing, though as many were given": lambda k: k["Named"](b=1),
    "too many": lambda k: k["Point"](1, 2, [], "", 5),
    "twice": lambda k: k["Point"](1, x=2),
    "unknown": lambda k: k["Point"](1, w=2),
    "unknown instead of known": lambda k: k["One"](w=2),
    "not an argument": lambda k: k["Named"](a=1, size=3),
    "by place": lambda k: k["Named"](1),
    "prepared": lambda k: k["Named"](a=1).size,
    "refused": lambda k: k["Point"](-1),
    "a factory each time": lambda k: k["Point"](1).marks is k["Point"](1).marks,
    "inherited": lambda k: (repr(k["Deep"](1)), k["Deep"](1, 2, [], "", 9).z),
    "inherited, refused": lambda k: k["Deep"](-1),
    "equal": lambda k: k["Point"](1, 2, [3], "n") == k["Point"](1, 2, [3], "m"),
    "unequal": lambda k: [k["Point"](1) == k["Point"](2), k["Point"](1, 2) == k["Point"](1, 3)],
    "of another class": lambda k: [k["Point"](1) == k["Deep"](1), k["Point"](1) == (1, 2, [])],
    "hash": lambda k: hash(k["Point"](1, 2, [3])) == hash((1, 2)),
    "hash of one": lambda k: hash(k["One"](7)) == hash((7,)),
    "hash of what has none": lambda k: hash(k["One"]([])),
    "in a set": lambda k: len({k["Point"](1), k["Point"](1), k["Point"](2)}),
    "equal to itself alone": lambda k: k["Same"](1) == k["Same"](1),
    "empty": lambda k: (k["Empty"]() == k["Empty"](), repr(k["Empty"]()), hash(k["Empty"]())),
    "own methods": lambda k: (repr(k["Own"](1)), k["Own"](1) == k["Own"](2)),
    "own equality, hashed by fields": lambda k: hash(k["Own"](1)) == hash((1,)),
    "own arguments": lambda k: k["Made"]("7").x,
    "own arguments, equal": lambda k: k["Made"]("7") == k["Made"]("7"),
    "own arguments, not printed": lambda k: repr(k["Made"]("7")).startswith("<"),
    "set": lambda k: setattr(k["Point"](1), "x", 2),
    "set what is no field": lambda k: setattr(k["Point"](1), "w", 2),
    "set in a subclass": lambda k: setattr(k["Plain"]("1"), "x", 2),
    "set more in a subclass": lambda k: k["Plain"]("1").more,
    "delete": lambda k: delattr(k["Point"](1), "x"),
    "delete more in a subclass": lambda k: delattr(k["Plain"]("1"), "more"),
    "fields": lambda k: [(part.name, part.type, part.init) for part in fields(k["Deep"])],
    "replace": lambda k: repr(replace(k["Point"](1), y=9)),
    "replace, refused": lambda k: replace(k["Point"](1), x=-9),
    "as a dictionary": lambda k: asdict(k["Deep"](1)),
    "copy": lambda k: copy.deepcopy(k["Point"](1, 2, [3])) == k["Point"](1, 2, [3]),
    "match": lambda k: [kind.__match_args__ for kind in k.values()],
    "signatures": lambda k: [str(inspect.signature(kind)) for kind in k.values()],
    "names of methods": lambda k: k["Point"].__hash__.__qualname__.rpartition(".")[2],
}


@pytest.mark.parametrize("name", ACTS)
def test_the_same_as_of_dataclasses(name: str) -> None:
    act = ACTS[name]
    ours, theirs = classes(frozen.dataclass), classes(dataclasses.dataclass)
    assert seen(lambda: act(ours)) == seen(lambda: act(theirs))


def test_what_is_wrong_is_named() -> None:
    kinds = classes(frozen.dataclass)
    with pytest.raises(TypeError, match="'x'"):
        kinds["Point"](y=1)
    with pytest.raises(TypeError, match="'w'"):
        kinds["Point"](1, w=1)
    with pytest.raises(FrozenInstanceError, match="'x'"):
        kinds["Point"](1).x = 2


def test_nothing_is_half_made_when_arguments_are_wrong() -> None:
    kind = classes(frozen.dataclass)["Point"]
    value = kind.__new__(kind)
    with pytest.raises(TypeError):
        value.__init__(1, w=1)
    assert vars(value) == {}


def test_what_is_not_frozen_is_refused() -> None:
    with pytest.raises(TypeError, match="not frozen"):
        frozen.dataclass(frozen=False)


def test_no_code_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    def counted(*given: Any) -> None:
        compiled.append(given[0])
        exec(*given)  # noqa: S102

    monkeypatch.setattr(dataclasses, "exec", counted, raising=False)
    kinds = classes(frozen.dataclass)
    below = [kind for kind in kinds.values() if kind.__base__ is not object]
    assert len(compiled) <= 2 * len(below)  # `__setattr__` and `__delattr__`, once more
    compiled.clear()
    classes(dataclasses.dataclass)
    assert len(compiled) > 4 * len(kinds)


def test_either_is_the_base_of_the_other() -> None:
    for above, below in (
        (frozen.dataclass, dataclasses.dataclass),
        (dataclasses.dataclass, frozen.dataclass),
    ):

        @above(frozen=True)
        class Upper:
            """Above."""

            x: int

        @below(frozen=True)
        class Lower(Upper):
            """Below."""

            y: int = 2

        assert repr(Lower(1)).endswith("Lower(x=1, y=2)")
        assert Lower(1) == Lower(1, 2) != Lower(1, 3)
        with pytest.raises(FrozenInstanceError):
            Lower(1).x = 2


def test_what_changes_is_not_below_what_is_frozen() -> None:
    with pytest.raises(TypeError):

        @dataclasses.dataclass
        class Changing(classes(frozen.dataclass)["Point"]):  # type: ignore[misc]
            """Python refuses it."""
