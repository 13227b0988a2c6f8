"""Frozen dataclasses that cost little to define.

`dataclasses.dataclass` writes the source of six methods for every class and compiles it: a third of
a millisecond, and whoever asks a question waits for two hundred classes. Here methods are closures.
The module `dataclasses` remains the place for classes that are not frozen, have slots, or are made
by the million.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import inspect
    from dataclasses import dataclass as dataclass

    Fields = tuple[dataclasses.Field[Any], ...]
else:

    def dataclass(
        *,
        frozen: bool,
        init: bool = True,
        repr: bool = True,  # noqa: A002
        eq: bool = True,
        kw_only: bool = False,
    ) -> Callable[[type], type]:
        """As `dataclasses.dataclass(frozen=True, ...)`.

        Guarantee
            The class is called, compared, hashed, printed and kept from changes like one of
            `dataclasses`, and `fields`, `replace` and `asdict` read it. Either may be the base of
            the other. A method that the class itself defines is kept. A field with `init=False` is
            for `__post_init__` to set.
        """
        if not frozen:
            raise TypeError("a class that is not frozen is made by the module dataclasses")

        def define(kind: type) -> type:
            own = dict(vars(kind))
            if own.get("__hash__", own) is None:  # Python's own, where a class defines `__eq__`
                del own["__hash__"]
            # collects the fields; Python refuses what is not frozen below what is
            below = any(map(dataclasses.is_dataclass, kind.__bases__))
            collect = dataclasses.dataclass(
                init=False, repr=False, eq=False, frozen=below, kw_only=kw_only
            )
            collect(kind).__dataclass_params__.frozen = True
            fields = dataclasses.fields(kind)
            methods = [_setattr(kind, fields), _delattr(kind, fields)]
            methods += [_init(kind, fields)] if init else []
            methods += [_repr(fields)] if repr else []
            methods += [_eq(fields), _hash(fields)] if eq else []
            for method in methods:
                if method.__name__ not in own:
                    method.__qualname__ = f"{kind.__qualname__}.{method.__name__}"
                    setattr(kind, method.__name__, method)
            if init and "__init__" not in own:
                kind.__signature__ = _Signature(kind)
            return kind

        return define


def _init(kind: type, fields: Fields) -> Callable[..., None]:
    taken = [field for field in fields if field.init]
    places = [field.name for field in taken if not field.kw_only]
    names = {field.name for field in taken}
    defaults = {field.name: make for field in taken if (make := _default(field)) is not None}
    prepares = hasattr(kind, "__post_init__")

    def __init__(self: Any, /, *given: Any, **named: Any) -> None:  # noqa: N807
        values = dict(zip(places, given, strict=False))
        values.update(named)
        once = len(values) == len(given) + len(named)
        if len(values) < len(names):
            for name, make in defaults.items():
                if name not in values:
                    values[name] = make()
        if not once or values.keys() != names:
            vars(kind)["__signature__"].of(kind).bind(*given, **named)  # says what is wrong
        vars(self).update(values)
        if prepares:
            self.__post_init__()

    return __init__


def _default(field: dataclasses.Field[Any]) -> Callable[[], Any] | None:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory
    return None if field.default is dataclasses.MISSING else lambda: field.default


def _repr(fields: Fields) -> Callable[[Any], str]:
    names = [field.name for field in fields if field.repr]

    def __repr__(self: Any) -> str:  # noqa: N807
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({inside})"

    return __repr__


def _eq(fields: Fields) -> Callable[[Any, object], bool]:
    values = _values([field.name for field in fields if field.compare])

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    return __eq__


def _hash(fields: Fields) -> Callable[[Any], int]:
    compared = [field for field in fields if (field.compare if field.hash is None else field.hash)]
    values = _values([field.name for field in compared])

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


def _values(names: list[str]) -> Callable[[Any], Any]:
    return (
        attrgetter(*names) if len(names) > 1 else lambda one: tuple(getattr(one, n) for n in names)
    )


def _setattr(kind: type, fields: Fields) -> Callable[[Any, str, Any], None]:
    names = {field.name for field in fields}

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is kind or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    return __setattr__


def _delattr(kind: type, fields: Fields) -> Callable[[Any, str], None]:
    names = {field.name for field in fields}

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is kind or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return __delattr__


class _Signature:
    """What `inspect.signature` finds: the arguments, which are looked at by people alone."""

    def __init__(self, kind: type) -> None:
        self._init = kind.__init__  # type: ignore[misc]

    def __get__(self, value: object, kind: type) -> inspect.Signature:
        if kind.__init__ is not self._init:  # type: ignore[misc]
            raise AttributeError("__signature__")  # a subclass with arguments of its own
        return self.of(kind)

    @staticmethod
    def of(kind: Any) -> inspect.Signature:
        import inspect

        fields = [(field.name, field.type, field) for field in dataclasses.fields(kind)]
        return inspect.signature(dataclasses.make_dataclass(kind.__name__, fields))
