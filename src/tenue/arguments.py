"""The meaning of the numbers that users give.

A float means the shortest decimal that prints it: 0.1 is one tenth, and
0.7 + 0.3 is exactly 1. Every parameter enters Tenue through this file, becomes an exact
`Fraction`, and is validated here and nowhere else.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

from .errors import InvalidArgument, Refused, nearest

Number = int | float | str | Decimal | Fraction

# Beyond this the decimal text of a number would itself be an attack on memory.
_LONGEST_TEXT = 400
_LARGEST_EXPONENT = 400
LEAST_EPSILON = Fraction(1, 10**12)
"""The least epsilon of a law of noise."""
_LEAST, _MOST = Fraction(1, 10**100), Fraction(10**100)


def exact(value: object, name: str, *, refusal: type[Refused] = InvalidArgument) -> Fraction:
    """The rational that `value` means; refused unless it is one finite number.

    Example
        >>> exact(0.1, "epsilon"), exact("2.5e-3", "grid"), exact(3, "k")
        (Fraction(1, 10), Fraction(1, 400), Fraction(3, 1))
    """
    allowed = f"`{name}` must be one finite number"
    fix = f"Give `{name}` as an int, a float, a Decimal, a Fraction or decimal text"
    if isinstance(value, bool) or value is None:
        raise refusal(f"`{name}` is {value!r}", allowed, fix)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, numbers.Real):
        # numpy's smaller floats print their own shortest decimal
        value = repr(float(value)) if isinstance(value, float) else str(value)
    if isinstance(value, str | Decimal):
        text = str(value).strip().replace("_", "")
        number = _parsed(text)
        if number is None:
            raise refusal(f"`{name}` is {text[:60] or 'empty text'}", allowed, fix)
        return number
    if getattr(value, "shape", None) == ():  # a numpy array with one number and no axis
        return exact(value.item(), name, refusal=refusal)  # type: ignore[attr-defined]
    raise refusal(f"`{name}` is of type {type(value).__name__}", allowed, fix)


def _parsed(text: str) -> Fraction | None:
    if len(text) > _LONGEST_TEXT:
        return None
    try:
        if "/" in text:
            return Fraction(text)
        decimal = Decimal(text)
    except (InvalidOperation, ValueError, ZeroDivisionError):
        return None
    finite = decimal.is_finite() and abs(decimal.adjusted()) <= _LARGEST_EXPONENT
    return Fraction(decimal) if finite else None


def above_zero(value: object, name: str, *, refusal: type[Refused] = InvalidArgument) -> Fraction:
    """A finite number above 0."""
    number = exact(value, name, refusal=refusal)
    if number <= 0:
        raise refusal(
            f"`{name}` is {value}",
            f"`{name}` must be finite and above 0",
            f"Give a positive number, such as {name}=1",
        )
    return number


def moderate(value: object, name: str) -> Fraction:
    """A number above 0 whose squares and quotients fit in a double."""
    number = above_zero(value, name)
    if not _LEAST <= number <= _MOST:
        raise InvalidArgument(
            f"`{name}` is {value}",
            f"`{name}` must lie between {float(_LEAST):g} and {float(_MOST):g}",
            "Measure in other units",
        )
    return number


def law_epsilon(value: object) -> Fraction:
    """An epsilon for which a law of noise can be drawn."""
    number = above_zero(value, "epsilon")
    if not LEAST_EPSILON <= number <= 10**4:
        raise InvalidArgument(
            f"`epsilon` is {value}",
            "`epsilon` must lie between 1e-12 and 10000; what is larger promises nothing",
            "Try epsilon=1",
        )
    return number


def fraction_of_one(
    value: object, name: str, *, refusal: type[Refused] = InvalidArgument
) -> Fraction:
    """A number strictly between 0 and 1: a level, a probability, a delta."""
    number = exact(value, name, refusal=refusal)
    if not 0 < number < 1:
        hint = "Write 95 % as 0.95" if 1 < number < 100 else "Choose a fraction, such as 0.95"
        raise refusal(f"`{name}` is {value}", f"`{name}` must lie strictly between 0 and 1", hint)
    return number


def whole(
    value: object, name: str, *, least: int = 0, refusal: type[Refused] = InvalidArgument
) -> int:
    """A whole number, at least `least`."""
    number = exact(value, name, refusal=refusal)
    if number.denominator != 1 or number < least:
        raise refusal(
            f"`{name}` is {value}",
            f"`{name}` must be a whole number, at least {least}",
            f"Try {name}={max(least, math.ceil(number))}",
        )
    return int(number)


def flag(value: object, name: str) -> bool:
    """True or False, of type bool.

    Example
        >>> flag(True, "fresh")
        True
    """
    if isinstance(value, bool):
        return value
    raise InvalidArgument(
        f"`{name}` is of type {type(value).__name__}",
        f"`{name}` is True or False",
        f"Write {name}=True, or leave it out",
    )


def step_count(value: Fraction, grid: Fraction, name: str) -> int:
    """The number of steps of `grid` in `value`; refused unless it is whole."""
    steps = value / grid
    if steps.denominator != 1:
        below = math.floor(steps) * grid
        raise InvalidArgument(
            f"`{name}` is {_show(value)}, which is not on the grid {_show(grid)}",
            f"`{name}` must be a whole multiple of the grid",
            f"Use {_show(below)} or {_show(below + grid)}, or a finer grid",
        )
    return int(steps)


def _show(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else f"{float(number):.12g}"


P = ParamSpec("P")
R = TypeVar("R")


def checked_call(function: Callable[P, R]) -> Callable[P, R]:
    """Turns a missing or unknown keyword into a refusal that names the correct ones."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        check_call(function, signature, args, kwargs)
        return function(*args, **kwargs)

    return call


def check_call(
    function: Callable[..., Any],
    signature: inspect.Signature,
    args: tuple[object, ...],
    kwargs: dict[str, Any],
) -> None:
    """Refuses a call that does not match a signature; the refusal names the correct keywords."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        title, method = _title(function, args), "self" in signature.parameters
        given = args[1:] if method or "cls" in signature.parameters else args
        unnamed = _unnamed(title, signature, given, kwargs)
        raise unnamed or _bad_call(title, signature, kwargs, str(error)) from None


def _title(function: Callable[..., Any], args: tuple[object, ...]) -> str:
    if function.__name__ == "__init__":  # inherited by the class that was called
        return type(args[0]).__name__
    return function.__qualname__.rpartition("<locals>.")[2]


def _unnamed(
    title: str, signature: inspect.Signature, args: tuple[object, ...], named: dict[str, Any]
) -> InvalidArgument | None:
    """The refusal of values without names, written out with them; None if that is not the mistake,
    or their names cannot be guessed."""
    parameters = [one for name, one in signature.parameters.items() if name not in ("self", "cls")]
    names = [one.name for one in parameters]
    places = [one.kind is one.POSITIONAL_OR_KEYWORD for one in parameters].count(True)
    fitting = places < len(args) <= len(names) and all(name in names for name in named)
    if not fitting or any(name in named for name in names[: len(args)]):
        return None
    written = [_brief(value) for value in args[:places]]
    written += [f"{n}={_brief(v)}" for n, v in zip(names[places:], args[places:], strict=False)]
    written += [f"{name}={_brief(value)}" for name, value in named.items()]
    many = len(args) - places
    what = "a value without a name" if many == 1 else f"{many} values without names"
    listed = ", ".join(f"`{name}`" for name in names[places:])
    return InvalidArgument(
        f"`{title}` was given {what}",
        f"It takes {listed} by name only: exchanged, they would mean something else",
        f"Write {title}({', '.join(written)}), if that is what you mean",
    )


def _brief(value: object) -> str:
    """A value as it was probably typed, if that is short."""
    shown = repr(value) if isinstance(value, Number | bool) or value is None else "..."
    return shown if len(shown) <= 40 else "..."


def _bad_call(
    title: str, signature: inspect.Signature, given: dict[str, Any], error: str
) -> InvalidArgument:
    names = [name for name in signature.parameters if name not in ("self", "cls")]
    allowed = f"`{title}` takes " + ", ".join(f"`{name}`" for name in names)
    for name in given:
        if name not in names:
            return InvalidArgument(
                f"`{title}` has no parameter `{name}`", allowed, nearest(name, names)
            )
    for name, parameter in signature.parameters.items():
        missing = parameter.default is parameter.empty and name not in given
        if name in names and missing and parameter.kind is parameter.KEYWORD_ONLY:
            return InvalidArgument(
                f"`{title}` needs `{name}`", allowed, f"Add {name}=... to the call"
            )
    return InvalidArgument(f"`{title}` was called wrongly: {error}", allowed, "Name each parameter")
