"""Perturbation: categories changed by PRAM, numbers and dates by added noise. It promises nothing.

PRAM, the post-randomisation method, replaces each category at random by a transition matrix. By
default a value is kept with a stated probability, and otherwise replaced by that of a row drawn at
random from the whole table, itself included. This matrix is invariant: the expected frequency of
every category is the one before. Noise has mean 0 and a stated share of the column's standard
deviation; correlated noise has that share of the whole covariance matrix.

All draws are exact and in whole numbers. That is no proof of anything: no bound on what an intruder
learns follows from a matrix or a variance, so the certificate has none, and the re-identification
that the holder sees is measured on the one table that was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from math import isqrt, lcm
from typing import Any, Self

import numpy as np

from ...arguments import above_zero, exact, flag
from ...errors import nearest, refuse
from ...noise.samplers import uniform
from ...noise.source import Source
from ...privacy import NoFormalPromise
from ...schema import Boolean, Bounded, Category, Schema
from ...schema.table import RECORD
from ...text import exactly, many, named, percent
from ..assessment import Step
from ..table.cells import Cells, Numbers
from ..table.input_table import Original
from .contract import Method, Published, Way
from .groups import NOT_PRIVACY

FINEST = 10**6
"""The largest denominator of a probability."""
LARGEST = 10
"""The most standard deviations of noise."""

_COINS, _DEVIATION = 256, 8
"""So many fair coins have this standard deviation; as many differences of rows, halved, do too."""
_PAIRS = 32
_SAFE = 2**62

UNBOUNDED = (
    "It does not bound any risk: what the holder sees was measured on this one table, with some "
    "attacks, and another intruder may do better."
)
SAME = "It does not change every value: a value may stay as it is, by chance."
TWICE = (
    "It does not withstand a second release: the differences of two perturbed copies average out."
)
EXTREME = (
    "It does not hide extreme values: noise is in proportion to a column's standard deviation, and "
    "a value far from all others stays far from them."
)
UNCHANGED = "It does not perturb {names}: published unchanged."
GAPS = "It does not hide which values are missing: they stay missing."
DRAWN_ONCE = (
    "These shares are of this one draw. Nothing is promised: another draw of the same perturbation "
    "may link more."
)


@dataclass(frozen=True, kw_only=True)
class Perturb(Method):
    """Nothing is promised; values are changed at random by a stated law.

    retain: by category or boolean, the probability that a value is kept.
    transition: by category or boolean, the whole matrix instead; row i is of declared category i.
    noise: by number or date, the standard deviation of the noise over the column's own.
    correlated: whether noise of several columns has the covariance of the table.

    Source
        Gouweleeuw, Kooiman, Willenborg and de Wolf 1998 (PRAM); Kim 1986, Brand 2002 (noise).
    """

    name = "perturb"
    step = "perturb"

    retain: Mapping[str, Fraction] = field(default_factory=dict)
    transition: Mapping[str, tuple[tuple[Fraction, ...], ...]] = field(default_factory=dict)
    noise: Mapping[str, Fraction] = field(default_factory=dict)
    correlated: bool = False

    @classmethod
    def read(
        cls,
        schema: Schema,
        override: object,
        *,
        retain: object = None,
        transition: Mapping[str, Sequence[Sequence[object]]] | None = None,
        noise: object = None,
        correlated: bool = False,
    ) -> Self:
        made = cls(schema=schema, override=cls.insisted(override))
        if schema.unit != RECORD:
            raise refuse("publish.perturb-with-persons", unit=schema.unit)
        if not made.quasi + made.confidential:
            raise made.no_role("quasi-identifier", "These and confidential columns are perturbed")
        together = flag(correlated, "correlated")
        matrices = {} if transition is None else made.matrices(transition)
        kept = made.chosen(retain, "retain", (Category, Boolean), tuple(matrices))
        noisy = made.chosen(noise, "noise", (Bounded,), ())
        if not (matrices or kept or noisy):
            raise refuse("publish.nothing-perturbed")
        if together and len(noisy) < 2:
            raise refuse("publish.correlated-noise-alone")
        return replace(
            made,
            retain={name: _probability(share, f"retain[{name}]") for name, share in kept.items()},
            transition=matrices,
            noise={name: _strength(share, f"noise[{name}]") for name, share in noisy.items()},
            correlated=together,
        )

    def chosen(
        self, given: object, option: str, kinds: tuple[type, ...], taken: tuple[str, ...]
    ) -> dict[str, Any]:
        """The columns of an option: those of a mapping, or all of these kinds for one number."""
        names = {
            name.lower(): name
            for name in self.quasi + self.confidential
            if isinstance(self.schema.columns[name], kinds)
        }
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            found = dict.fromkeys([name for name in names.values() if name not in taken], given)
            if not found:
                raise refuse("publish.perturb-without-column", option=option)
            return found
        found = {}
        for word, value in given.items():
            name = names.get(str(word).lower())
            if name is None or name in found or name in taken:
                near = nearest(str(word), [one for one in names.values() if one not in taken])
                facts = {"option": option, "column": word, "nearest": near}
                raise refuse("publish.perturb-column", **facts)
            found[name] = value
        return found

    def matrices(self, given: object) -> dict[str, tuple[tuple[Fraction, ...], ...]]:
        """The stated transition matrices; refused unless each row is a distribution."""
        if not isinstance(given, Mapping):
            raise refuse("publish.transition-not-a-mapping", type=type(given).__name__)
        found = {}
        for name, rows in self.chosen(given, "transition", (Category, Boolean), ()).items():
            size = len(self._labels(name))
            if not _is_list(rows) or len(rows) != size or not all(map(_is_list, rows)):
                raise refuse("publish.transition-shape", column=name, size=size)
            word = f"transition[{name}]"
            matrix = tuple(tuple(_probability(p, word) for p in row) for row in rows)
            if any(len(row) != size or sum(row) != 1 for row in matrix):
                raise refuse("publish.transition-shape", column=name, size=size)
            if any(lcm(*(p.denominator for p in row)) > FINEST for row in matrix):
                raise refuse("publish.probability-too-fine", name=word, most=FINEST)
            found[name] = matrix
        return found

    def _labels(self, name: str) -> tuple[str, ...]:
        column = self.schema.columns[name]
        return column.categories if isinstance(column, Category) else ("false", "true")

    @property
    def compared(self) -> tuple[str, ...]:
        return ()

    @property
    def changed(self) -> tuple[str, ...]:
        own = {*self.retain, *self.transition, *self.noise}
        return tuple(name for name in self.quasi + self.confidential if name in own)

    # -- the table ---------------------------------------------------------------------------------

    def publish(self, original: Original, source: Source) -> Published:
        cells = {name: original.cells[name] for name in self.changed}
        noise = self._noise({name: cells[name] for name in self.noise}, source)
        made: dict[str, Cells] = {}
        steps = []
        for name, one in cells.items():
            clipped = 0
            if name in self.retain:
                numbers = _invariant(one, self.retain[name], source)
            elif name in self.transition:
                numbers = _by_matrix(one.numbers, self.transition[name], source)
            else:
                exact_sum = one.numbers + noise[name]
                numbers = np.clip(exact_sum, one.first, one.last).astype(np.int64)
                clipped = int((numbers != exact_sum)[one.present].sum())
            moved = int((numbers != one.numbers)[one.present].sum())
            made[name] = replace(one, numbers=np.where(one.present, numbers, one.numbers))
            share = percent(moved / max(1, int(one.present.sum())))
            text = f"{name}: {share} of the values changed"
            steps.append(text + (f", {many(clipped, 'value')} clipped" if clipped else ""))
        told = tuple(Step("perturbed", text) for text in steps)
        return Published({**original.cells, **made}, steps=told)

    def _noise(self, cells: Mapping[str, Cells], source: Source) -> dict[str, Any]:
        """Noise for every row, in grid steps."""
        if not self.correlated:
            return {name: _coins(one, self.noise[name], source) for name, one in cells.items()}
        whole = np.flatnonzero(np.logical_and.reduce([one.present for one in cells.values()]))
        if whole.size < 2:
            raise refuse("publish.correlated-without-rows")
        size = next(iter(cells.values())).size
        kinds = {name: object if _wide(one) else np.int64 for name, one in cells.items()}
        sums: dict[str, Any] = {name: np.zeros(size, kind) for name, kind in kinds.items()}
        for _ in range(_PAIRS):
            up, down = (whole[uniform(whole.size, size, source)] for _ in range(2))
            for name, one in cells.items():
                sums[name] += one.numbers[up] - one.numbers[down]
        return {name: _rounded(sums[name], self.noise[name] / _DEVIATION) for name in cells}

    def verify(self, table: Any, persons: Numbers | None) -> None:
        """Nothing is promised, so nothing can fail."""

    # -- the certificate ---------------------------------------------------------------------------

    @property
    def promise(self) -> NoFormalPromise:
        return NoFormalPromise()

    @property
    def way(self) -> Way:
        words = [word for word, used in (("PRAM", self.retain or self.transition),) if used]
        if self.noise:
            words.append(f"{'correlated' if self.correlated else 'independent'} additive noise")
        return Way(
            f"perturbation by {' and '.join(words)}",
            "Gouweleeuw, Kooiman, Willenborg and de Wolf 1998; Kim 1986; Brand 2002",
        )

    @property
    def parameters(self) -> dict[str, str]:
        found = {
            "quasi-identifiers": ", ".join(self.quasi),
            "confidential": ", ".join(self.confidential),
            "unprotected": ", ".join(self.unprotected),
            "perturbed": ", ".join(self.changed),
        }
        for name, share in self.retain.items():
            found[f"PRAM of {name}"] = (
                f"kept with probability {exactly(share)}, else the value of a row drawn at random "
                "(invariant)"
            )
        for name, matrix in self.transition.items():
            rows = "; ".join(" ".join(map(exactly, row)) for row in matrix)
            found[f"PRAM of {name}"] = f"from {', '.join(self._labels(name))}, row by row: {rows}"
        for name, share in self.noise.items():
            law = "sum of differences of rows drawn at random" if self.correlated else "256 coins"
            found[f"noise of {name}"] = (
                f"{exactly(share)} times the column's standard deviation ({law}), rounded to the "
                "grid and clipped to the bounds"
            )
        return found

    @property
    def limits(self) -> list[str]:
        limits = [NOT_PRIVACY, UNBOUNDED, SAME, TWICE]
        if self.noise:
            limits.append(EXTREME)
        rest = [name for name in self.quasi + self.confidential if name not in self.changed]
        if rest:
            limits.append(UNCHANGED.format(names=named(rest)))
        return [*limits, GAPS]

    def remarks(self) -> tuple[str, ...]:
        return (DRAWN_ONCE,)


def _is_list(given: object) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str)


def _probability(given: object, name: str) -> Fraction:
    share = exact(given, name)
    if not 0 <= share <= 1:
        raise refuse("publish.probability-out-of-range", name=name, given=given)
    if share.denominator > FINEST:
        raise refuse("publish.probability-too-fine", name=name, most=FINEST)
    return share


def _strength(given: object, name: str) -> Fraction:
    share = above_zero(given, name)
    if share > LARGEST or share.denominator > FINEST:
        raise refuse("publish.noise-out-of-range", name=name, given=given, most=LARGEST)
    return share


def _invariant(cells: Cells, keep: Fraction, source: Source) -> Numbers:
    """Each value kept with a probability, else that of a row drawn at random.

    Guarantee
        Given the table, the expected frequency of every value is the one before.
    """
    present = np.flatnonzero(cells.present)
    stay = uniform(keep.denominator, cells.size, source) < keep.numerator
    other = present[uniform(present.size, cells.size, source)]
    return np.where(stay, cells.numbers, cells.numbers[other])


def _by_matrix(
    numbers: Numbers, matrix: tuple[tuple[Fraction, ...], ...], source: Source
) -> Numbers:
    """Each value replaced by one drawn from its row of the matrix."""
    found = numbers.copy()
    for value, row in enumerate(matrix):
        where = np.flatnonzero(numbers == value)
        whole = lcm(*(share.denominator for share in row))
        ends = np.array(list(accumulate(int(share * whole) for share in row)), np.int64)
        drawn = uniform(whole, where.size, source)
        found[where] = np.searchsorted(ends, drawn, side="right")
    return found


def _coins(cells: Cells, share: Fraction, source: Source) -> Any:
    """Noise of this share of the standard deviation: heads of 256 coins less 128, over 8."""
    words = source.words(cells.size * _COINS // 8, 8).reshape(cells.size, -1)
    heads = _HEADS[words].sum(axis=1, dtype=np.int64) - _COINS // 2
    variance = _variance(cells.numbers[cells.present])
    unit = variance * share**2 / _DEVIATION**2
    steps = [(isqrt(int(4 * unit * z * z)) + 1) // 2 for z in range(_COINS // 2 + 1)]
    kind = object if steps[-1] >= _SAFE // 2 or _wide(cells) else np.int64
    return np.array(steps, kind)[np.abs(heads)] * np.sign(heads)


_HEADS = np.array([number.bit_count() for number in range(256)], np.uint8)


def _variance(numbers: Numbers) -> Fraction:
    """The mean squared distance from the mean, exactly."""
    values, times = np.unique(numbers, return_counts=True)
    pairs = list(zip(values.tolist(), times.tolist(), strict=True))
    size = numbers.size
    total, squares = (sum(n * value**power for value, n in pairs) for power in (1, 2))
    return Fraction(size * squares - total**2, size**2)


def _wide(cells: Cells) -> bool:
    """Whether sums of noise may leave 64 bits."""
    return (cells.last - cells.first) * 2 * _PAIRS * FINEST * LARGEST >= _SAFE


def _rounded(sums: Any, share: Fraction) -> Any:
    """The sums times a share, rounded to whole numbers, halves up."""
    p, q = share.numerator, share.denominator
    return (2 * sums * p + q) // (2 * q)
