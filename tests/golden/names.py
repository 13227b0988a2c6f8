"""Names and signatures that Tenue offers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import tenue as tn
from golden.kit import Case, Theme, nameless

ROOMS = (
    "errors",
    "estimate",
    "evaluate",
    "ledger",
    "mechanism",
    "microdata",
    "noise",
    "papers",
    "prior",
    "promise",
    "query",
    "report",
    "schema",
    "sensitivity",
    "taxonomy",
)


def _offered() -> Iterator[tuple[str, Any]]:
    for name in sorted(tn.__all__):
        yield f"tn.{name}", getattr(tn, name)
    for room in ROOMS:
        module = getattr(tn, room)
        for name in sorted(module.__all__):
            yield f"tn.{room}.{name}", getattr(module, name)
    for name in sorted(tn.sensitivity.worst_case.__all__):
        yield f"tn.sensitivity.worst_case.{name}", getattr(tn.sensitivity.worst_case, name)


def signature(thing: Any, *, annotated: bool) -> str:
    """How a thing is called; nothing for what cannot be."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "no signature"
    if not annotated:
        bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
        found = inspect.Signature(bare)
    return nameless(str(found))


def _kind(thing: Any) -> str:
    if inspect.ismodule(thing):
        return "room"
    if inspect.isclass(thing):
        return "class"
    return "function" if callable(thing) else type(thing).__name__


def _known(base: type) -> bool:
    """Whether users know the base: it is offered, or Python's own."""
    return base.__module__ == "builtins" or any(thing is base for _, thing in _offered())


def _members(cls: type) -> dict[str, str]:
    """The public methods and properties of a class, its own and inherited ones."""
    found = {}
    for name in sorted(dir(cls)):
        if name.startswith("_"):
            continue
        thing = inspect.getattr_static(cls, name)
        if isinstance(thing, classmethod | staticmethod):
            found[name] = f"{type(thing).__name__} {signature(thing.__func__, annotated=False)}"
        elif inspect.isfunction(thing):
            found[name] = f"method {signature(thing, annotated=False)}"
        elif callable(thing):
            found[name] = "callable"
        else:
            found[name] = "value"
    return found


def _of(name: str, thing: Any) -> Case:
    def case() -> Any:
        if name.count(".") == 1:
            homes = [other for other, same in _offered() if same is thing and other != name]
            if homes:
                return f"the same as {homes[0]}"
        found: dict[str, Any] = {"kind": _kind(thing)}
        if found["kind"] in ("class", "function"):
            found["called"] = signature(thing, annotated=False)
        if inspect.isclass(thing):
            found["bases"] = [b.__name__ for b in thing.__mro__[1:-1] if _known(b)]
            found["members"] = _members(thing)
        elif found["kind"] not in ("room", "function"):
            found["value"] = thing if isinstance(thing, tuple | int) else type(thing).__name__
        return found

    return case


def _annotated(thing: Any) -> Case:
    return lambda: signature(thing, annotated=True)


def _cases() -> dict[str, Case]:
    cases: dict[str, Case] = {"all of tn": lambda: sorted(tn.__all__), "dir of tn": lambda: dir(tn)}
    for room in ROOMS:
        cases[f"all of tn.{room}"] = lambda room=room: sorted(getattr(tn, room).__all__)
    for name, thing in _offered():
        cases[name] = _of(name, thing)
        if inspect.isfunction(thing):
            cases[f"{name}, annotated"] = _annotated(thing)
    for cls in (tn.query.Session, tn.query.Answer, tn.microdata.Release, tn.Schema, tn.Taxonomy):
        for name in _members(cls):
            thing = inspect.getattr_static(cls, name)
            if inspect.isfunction(thing):
                cases[f"{cls.__name__}.{name}, annotated"] = _annotated(thing)
    return cases


THEME = Theme("names", _cases())
