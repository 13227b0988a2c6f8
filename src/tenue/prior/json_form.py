"""Beliefs written as JSON, for the command line and the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from ..arguments import exact
from ..errors import InvalidPrior, nearest, refuse
from .belief import Belief
from .categorical import Categorical, Ordinal
from .counts import BetaBinomial, Binomial
from .histogram import Histogram, Uniform
from .joint import Independent, Table
from .normal import Normal
from .normalise import paired
from .points import Points

_LONGEST = 4_000_000


def _on_grid(family: type[Uniform] | type[Normal], grid: Any = None, **facts: Any) -> Belief:
    belief = family(**facts)
    return belief if grid is None else belief.on_grid(grid)


def _histogram(edges: Any, masses: Any, grid: Any = None, beyond: Any = False) -> Belief:
    belief = Histogram(edges, masses)
    if grid is None:
        return belief
    if beyond is True:
        step = exact(grid, "grid", refusal=InvalidPrior)
        return Histogram.of_weights(belief.edges, belief.weights, step, True)
    return belief.on_grid(grid)


def _table(masses: Any, numeric: Any = None) -> Belief:
    rows = []
    for value, mass in paired(masses):
        if not isinstance(value, list | tuple):
            raise refuse("prior.combination-not-a-list")
        flags = numeric if isinstance(numeric, list) else [False] * len(value)
        if len(flags) != len(value):
            raise refuse("prior.numeric-length")
        parts = (
            exact(part, "value", refusal=InvalidPrior) if flag else part
            for part, flag in zip(value, flags, strict=True)
        )
        rows.append((tuple(parts), mass))
    return Table(rows)


def _independent(components: Any) -> Belief:
    if not isinstance(components, list):
        raise refuse("prior.components-not-a-list")
    beliefs: list[Any] = [from_dict(component) for component in components]
    return Independent(beliefs)


_MAKERS: dict[str, tuple[Callable[..., Belief], tuple[str, ...], tuple[str, ...]]] = {
    "beta-binomial": (BetaBinomial, ("n", "a", "b"), ()),
    "binomial": (Binomial, ("n", "p"), ()),
    "categorical": (Categorical, ("masses",), ()),
    "histogram": (_histogram, ("edges", "masses"), ("grid", "beyond")),
    "independent": (_independent, ("components",), ()),
    "normal": (partial(_on_grid, Normal), ("mean", "sd", "low", "high"), ("grid",)),
    "ordinal": (Ordinal, ("order", "masses"), ()),
    "points": (Points, ("masses",), ()),
    "table": (_table, ("masses",), ("numeric",)),
    "uniform": (partial(_on_grid, Uniform), ("low", "high"), ("grid",)),
}


def from_dict(facts: object) -> Any:
    """The belief that plain JSON values describe."""
    if not isinstance(facts, Mapping):
        raise refuse("prior.belief-not-an-object")
    kind = facts.get("prior")
    if not isinstance(kind, str) or kind not in _MAKERS:
        raise refuse("prior.unknown-belief-family", named=kind, nearest=nearest(str(kind), _MAKERS))
    make, needed, optional = _MAKERS[kind]
    given = {str(name): value for name, value in facts.items() if name != "prior"}
    for name in given:
        if name not in needed + optional:
            said, takes = f'"{kind}" has no "{name}"'[:80], needed + optional
            raise refuse(
                "prior.unknown-belief-parameter",
                said=said,
                takes=", ".join(takes),
                nearest=nearest(name, takes),
            )
    missing = [name for name in needed if name not in given]
    if missing:
        raise refuse(
            "prior.belief-parameter-missing", kind=kind, missing=missing[0], names=", ".join(needed)
        )
    return make(**given)


def from_json(text: str) -> Any:
    """The belief written as JSON text; decimals are exact.

    Every family has the parameters of its class; Uniform, Normal and Histogram may add a "grid".

    Example
        >>> belief = from_json('{"prior": "categorical", "masses": {"flu": 0.7, "none": 0.3}}')
        >>> belief.mass("flu")
        Fraction(7, 10)
        >>> from_json(belief.to_json()) == belief
        True
    """
    if not isinstance(text, str | bytes | bytearray) or len(text) > _LONGEST:
        raise refuse("prior.belief-text-too-long", longest=_LONGEST)
    try:
        facts = json.loads(
            text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_twice
        )
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, InvalidPrior):
            raise
        raise refuse("prior.belief-not-json") from None
    return from_dict(facts)


def _no_constant(name: str) -> None:
    raise refuse("prior.belief-number-not-finite", name=name)


def _no_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    facts = dict(pairs)
    if len(facts) < len(pairs):
        raise refuse("prior.belief-name-twice")
    return facts
