"""The methods by name, and functions that take the options of the method that is named."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ParamSpec, TypedDict, TypeVar

from ...arguments import Number, check_call
from ...errors import refuse
from ...schema import Schema
from .anatomy import Anatomy
from .contract import Method, check_roles, one_of
from .generalise import Generalise
from .local_suppression import LocalSuppression
from .microaggregate import Microaggregate
from .perturb import Perturb
from .private import Private
from .swap import Swap
from .t_close import TClose

METHODS: dict[str, type[Method]] = {
    kind.name: kind
    for kind in (
        *(Microaggregate, Swap, Generalise, LocalSuppression, Anatomy, TClose),
        *(Perturb, Private),
    )
}
"""A new method is added here."""

Parameters = dict[str, inspect.Parameter]


class Options(TypedDict, total=False):
    """The options of all methods, for editors and type checkers.

    A method declares its options in `read`, with their defaults; `tests/test_options.py` compares.
    """

    k: int | Mapping[str, int]
    by: str | None
    l: int | None
    t: Number | None
    gamma: Number | None
    memory: int | None
    suppress: Number
    minimise: str | None
    widths: Mapping[str, Sequence[object]] | None
    importance: Mapping[str, int] | None
    groups: str
    retain: object
    transition: Mapping[str, Sequence[Sequence[object]]] | None
    noise: object
    correlated: bool
    epsilon: Number


_FOR_INSTANCE = {"k": 5, "epsilon": 1, "t": 2}
_OPTIONAL = inspect.Parameter("optional", inspect.Parameter.KEYWORD_ONLY, default=None)
P = ParamSpec("P")
R = TypeVar("R")


def chosen_method(
    schema: Schema, method: object, *, override: object = (), **options: Any
) -> Method:
    """The method with its options; refused if it is unknown, or does not suit the schema."""
    kind = METHODS[one_of(method, "method", METHODS)]
    if kind.named_roles:
        check_roles(schema)
    return kind.read(schema, override, **options)


def options_of(kinds: Collection[type[Method]]) -> Parameters:
    """The options of these methods; optional unless every method requires it."""
    found: Parameters = {}
    each = [inspect.signature(kind.read).parameters for kind in kinds]
    for name, option in (pair for parameters in each for pair in parameters.items()):
        if option.kind is option.KEYWORD_ONLY:
            found.setdefault(name, option)
    for name, option in found.items():
        needed = [one.get(name, _OPTIONAL).default is option.empty for one in each]
        if any(needed) and not all(needed):
            found[name] = option.replace(default=None)
    return found


def takes_options(function: Callable[P, R]) -> Callable[P, R]:
    """Gives a function of `method` and `**options` the options of all methods as parameters.

    A call is refused if the named method does not have an option, or lacks one that it requires.
    """
    plain = inspect.signature(function)

    def signature(options: Parameters) -> inspect.Signature:
        parameters = []
        for parameter in plain.parameters.values():
            if parameter.kind is not parameter.VAR_KEYWORD:
                parameters.append(parameter)
            if parameter.name == "method":
                parameters += options.values()
        return plain.replace(parameters=parameters)

    @functools.wraps(function)
    def call(*args: P.args, **given: P.kwargs) -> R:
        name = given.get("method")
        known = options_of(METHODS.values())
        taken = options_of([METHODS[name]]) if isinstance(name, str) and name in METHODS else known
        listed = ", ".join(f"`{one}`" for one in taken) or "no options"
        for option in given:
            if option in known and option not in taken:
                facts = {"option": option, "method": name, "taken": listed}
                raise refuse("publish.foreign-method-option", **facts)
        for option, how in taken.items():
            if how.default is how.empty and option not in given:
                add = f"{option}={_FOR_INSTANCE.get(option, '...')}"
                facts = {"option": option, "method": name, "taken": listed, "add": add}
                raise refuse("publish.method-option-missing", **facts)
        check_call(function, signature(taken), args, given)
        return function(*args, **given)

    call.__signature__ = signature(options_of(METHODS.values()))  # type: ignore[attr-defined]
    return call
