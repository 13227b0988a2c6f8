"""Everything that a private way of publishing can release about a small table, and how likely.

A release is what its paid steps let through: which boxes are split, which pairs are chosen, which
noisy counts leave. Here every outcome of the decisions and choices is forced in turn, with the
code as it is, and its probability follows from the noise that the code asked for. Noisy counts are
forced to fixed numbers; what they tell is the distance of the true counts times the rate of their
noise, exactly, for the worst outcome. All else must not depend on the rows: with the same outcomes
and the same random bits, two tables of equal size must lead to the same rows.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.engine.contract import Passes
from tenue.engine.passes.in_memory import InMemory
from tenue.mechanism.exponential_mechanism import Exponential
from tenue.noise.discrete_laplace import DiscreteLaplace
from tenue.noise.source import Seeded
from tenue.publish.synthetic import (
    bayes_network,
    copula,
    counts,
    grid,
    independent_columns,
    pair_tables,
    privtree,
)
from tenue.publish.synthetic.domain import Domain
from tenue.publish.synthetic.privtree import SplitLaw
from tenue.schema import Schema

DIGITS = Context(prec=40)
FAR = 64
"""More than any noise that could matter to so few rows."""
ROUNDING = Decimal("1e-25")

Rows = tuple[tuple[int, ...], ...]
Kept = Callable[[Rows], AbstractContextManager[Passes]]
"""Where the rows lie that a way reads."""


class Exposed(AssertionError):
    """Something that no noise covers tells two tables apart."""


@dataclass
class Outcome:
    """One way in which the decisions and choices of a release can fall.

    chance: the logarithm of its probability.
    vectors: true counts that get noise, with the rate of the noise.
    rows: what leaves if the noisy counts are as forced.
    """

    key: list[Any] = field(default_factory=list)
    chance: Decimal = Decimal(0)
    vectors: list[tuple[Fraction, tuple[int, ...]]] = field(default_factory=list)
    rows: Any = None


class Forced:
    """Takes the first option unless told another, and remembers how many there were."""

    def __init__(self, told: Sequence[int]) -> None:
        self.told, self.taken = told, list[tuple[int, int]]()
        self.outcome = Outcome()

    def choose(self, options: int) -> int:
        at = len(self.taken)
        found = self.told[at] if at < len(self.told) else 0
        self.taken.append((found, options))
        return found

    def after(self) -> list[int] | None:
        path = list(self.taken)
        while path and path[-1][0] == path[-1][1] - 1:
            path.pop()
        return [chosen for chosen, _ in path[:-1]] + [path[-1][0] + 1] if path else None


@contextmanager
def in_memory(rows: Rows) -> Iterator[Passes]:
    """The rows as one array."""
    yield InMemory(np.array(rows, np.int64))


def outcomes(
    way: Any, rows: Rows, patch: pytest.MonkeyPatch, kept: Kept = in_memory
) -> dict[Any, Outcome]:
    """All that can happen to a table."""
    found: dict[Any, Outcome] = {}
    told: list[int] | None = []
    with kept(rows) as records:
        while told is not None:
            forced = Forced(told)
            with patch.context() as inner:
                _force(forced, inner)
                source = Seeded(1)
                blocks = list(way.blocks(way.release(records, source), source))
            forced.outcome.rows = np.concatenate(blocks).tolist()
            found[tuple(forced.outcome.key)] = forced.outcome
            told = forced.after()
    return found


def _force(forced: Forced, patch: pytest.MonkeyPatch) -> None:
    """Puts the forced outcomes where the code draws noise."""
    laws: list[DiscreteLaplace] = []
    added: list[Any] = [0]
    out = forced.outcome

    def steps(law: DiscreteLaplace, size: int, source: Any = None) -> Any:
        laws.append(law)
        return np.broadcast_to(added[0], size)

    decide = SplitLaw.decide

    def decided(law: SplitLaw, held: Any, tests: Any, source: Any) -> Any:
        def with_noise(noise: Any) -> Any:
            added[0] = noise
            return decide(law, held, tests, source)

        # the least noise that splits, box by box: the code itself says
        least, most = np.full(held.size, -FAR), np.full(held.size, FAR)
        assert not with_noise(least).any()
        assert with_noise(most).all()
        while (most - least > 1).any():
            middle = (least + most) // 2
            splits = with_noise(middle)
            least, most = np.where(splits, least, middle), np.where(splits, middle, most)
        chosen = np.array([forced.choose(2) == 1 for _ in range(held.size)], bool)
        out.key.append(tuple(chosen.tolist()))
        rate = _rate(laws[-1])
        out.chance += sum(
            (_log_chance(rate, k, c) for k, c in zip(most.tolist(), chosen.tolist(), strict=True)),
            Decimal(0),
        )
        return chosen

    def noised(real: Callable[..., Any]) -> Callable[..., Any]:
        def noisy(held: Any, *given: Any, **named: Any) -> Any:
            before = len(laws)
            added[0] = 0
            still = real(held, *given, **named)
            added[0] = 1
            moved = real(held, *given, **named)
            if len(laws) == before or not ((still == held).all() and (moved == held + 1).all()):
                raise Exposed("a count leaves without noise")
            out.vectors.append((_rate(laws[-1]), tuple(held.ravel().tolist())))
            # some shares that every table is given alike
            return np.arange(1, held.size + 1).reshape(held.shape) % 3 + 1

        return noisy

    def chosen(rule: Exponential, scores: Sequence[int], source: Any = None) -> int:
        number = forced.choose(len(scores))
        with localcontext(DIGITS):
            weights = [Decimal(0)] * len(scores)
            for behind, places in rule.classes(scores).items():
                for place in places:
                    weights[place] = _exp(-rule.fall * behind)
            out.chance += (weights[number] / sum(weights)).ln()
        out.key.append(number)
        return number

    patch.setattr(DiscreteLaplace, "steps", steps)
    patch.setattr(SplitLaw, "decide", decided)
    patch.setattr(Exponential, "choose", chosen)
    for module in (
        privtree,
        independent_columns,
        grid,
        pair_tables,
        bayes_network,
        copula,
    ):
        patch.setattr(module, "noisy", noised(module.noisy))


def _rate(law: DiscreteLaplace) -> Fraction:
    return law.epsilon / law.sensitivity


def _exp(x: Fraction) -> Decimal:
    return (Decimal(x.numerator) / Decimal(x.denominator)).exp()


@functools.cache
def _log_chance(rate: Fraction, least: int, split: bool) -> Decimal:
    """The logarithm of P(noise ≥ least), or of its complement."""
    with localcontext(DIGITS):
        a = _exp(-rate)
        above = a**least / (1 + a) if least > 0 else 1 - a ** (1 - least) / (1 + a)
        return (above if split else 1 - above).ln()


def loss(one: dict[Any, Outcome], other: dict[Any, Outcome]) -> Decimal:
    """The greatest log-ratio of all that two tables can release."""
    if one.keys() != other.keys():
        raise Exposed("something can happen to one table only")
    worst = Decimal(0)
    with localcontext(DIGITS):
        for key, first in one.items():
            second = other[key]
            if first.rows != second.rows:
                raise Exposed("rows differ though all that is paid for is the same")
            told = abs(first.chance - second.chance)
            for (rate, held), (again, here) in zip(first.vectors, second.vectors, strict=True):
                if rate != again or len(held) != len(here):
                    raise Exposed("noise depends on the rows")
                moved = sum(abs(a - b) for a, b in zip(held, here, strict=True))
                told += moved * Decimal(rate.numerator) / Decimal(rate.denominator)
            worst = max(worst, told)
    return worst


def worst_loss(
    way: Any,
    sizes: Sequence[int],
    patch: pytest.MonkeyPatch,
    *,
    ordered: bool = False,
    kept: Kept = in_memory,
) -> Decimal:
    """The loss of a way over all pairs of neighbouring tables of these many places a column.

    ordered: for a way that gives each record random bits of its own, besides noise. The loss is
        that for any such bits, and a record keeps its own if another is replaced.
    kept: where the rows lie that the way reads.
    """
    records = list(itertools.product(*(range(size) for size in sizes)))
    if ordered:
        tables: list[Rows] = list(itertools.product(records, repeat=way.rows))
    else:
        tables = list(itertools.combinations_with_replacement(records, way.rows))
    known = {rows: outcomes(way, rows, patch, kept) for rows in tables}
    apart = _rows_apart if ordered else _bags_apart
    pairs = [(a, b) for a, b in itertools.combinations(tables, 2) if apart(a, b) == 1]
    return max(loss(known[a], known[b]) for a, b in pairs)


def _rows_apart(one: Rows, other: Rows) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def _bags_apart(one: Rows, other: Rows) -> int:
    return (Counter(one) - Counter(other)).total()


def numbers(*sizes: int, blank: bool = False) -> Domain:
    """A domain of numbers with so many places a column."""
    declared = {} if blank else {"missing": 0}
    return domain(
        **{
            f"x{i}": {"type": "number", "bounds": [0, size - 1 - blank], **declared}
            for i, size in enumerate(sizes)
        }
    )


def categories(*sizes: int, blank: bool = False) -> Domain:
    """A domain of categories with so many places a column."""
    declared = {} if blank else {"missing": "v0"}
    return domain(
        **{
            f"c{i}": {
                "type": "category",
                "categories": [f"v{k}" for k in range(size - blank)],
                **declared,
            }
            for i, size in enumerate(sizes)
        }
    )


def domain(**columns: Any) -> Domain:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    return Domain.of(Schema.from_dict({"table": table, "columns": columns}))


def without_noise_where_empty(held: Any, epsilon: Any, source: Any, moved: int = 2) -> Any:
    """A wrong `noisy`: cells that hold nobody stay 0."""
    return np.where(held > 0, counts.noisy(held, epsilon, source, moved), 0)


def missing_as_they_are(held: Any, epsilon: Any, source: Any, moved: int = 2) -> Any:
    """A wrong `noisy`: the last cell, which holds missing values, stays as it is."""
    released = counts.noisy(held, epsilon, source, moved)
    return np.append(released[:-1], held[-1:])


def for_one_cell(held: Any, epsilon: Any, source: Any, moved: int = 2) -> Any:
    """A wrong `noisy`: as if a replaced record moved one count by 1."""
    return counts.noisy(held, epsilon, source, 1)
