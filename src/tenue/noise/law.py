"""Laws of noise: density, distribution, error and loss.

A `Law` is a formula. The law that is actually drawn is its integer law on a grid,
`law.on_grid(grid)`, a `GridLaw`: exact masses on whole steps, sampled with integers only.
Values are in the units of the answer; `mass` and `steps` alone count grid steps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, overload

import numpy as np
import numpy.typing as npt

from ..arguments import Number, exact, fraction_of_one, moderate, whole
from ..errors import refuse
from .samplers import LARGEST
from .source import SYSTEM, Source

Real = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_CHUNK = 1 << 17
_FAR = 1e300
_MOST_DRAWS = 10**9


class Law(Protocol):
    """A law of noise for one answer."""

    @property
    def epsilon(self) -> Fraction: ...
    @property
    def variance(self) -> float: ...
    @property
    def mean_absolute_error(self) -> float: ...
    def cdf(self, x: Any) -> Any: ...
    def quantile(self, q: Number) -> float | int: ...
    def interval(self, level: Number) -> tuple[float | int, float | int]: ...
    def loss(self, shift: Number) -> float: ...
    def sample(self, size: int | None = None, source: Source | None = None) -> Any: ...
    def on_grid(self, grid: Number) -> GridLaw: ...


def real_array(x: object, name: str = "x") -> Real:
    """`x` as doubles, or a refusal; infinities are allowed, NaN is not."""
    try:
        if np.iscomplexobj(x):  # type: ignore[arg-type]
            raise TypeError
        values = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.asarray(np.nan)
    if np.isnan(values).any():
        raise refuse("noise.noise-argument-not-number", name=name)
    return values


def like(x: object, values: Real) -> Any:
    """A float for a scalar, an array for an array."""
    return float(values) if np.ndim(x) == 0 else values  # type: ignore[arg-type]


def log(number: Fraction) -> float:
    """The logarithm of a rational above 0, also where a double cannot hold it."""
    return math.log(number.numerator) - math.log(number.denominator)


def as_value(steps: int, grid: Fraction) -> float | int:
    """`steps` grid steps as an int, or as the double nearest to the multiple."""
    value = steps * grid
    return int(value) if value.denominator == 1 and grid.denominator == 1 else float(value)


def as_values(steps: Ints, grid: Fraction) -> npt.NDArray[Any]:
    """An array of steps as ints (whole grid) or as the doubles nearest to the multiples."""
    top, bottom = grid.numerator, grid.denominator
    largest = int(np.abs(steps).max(initial=0)) * top
    if bottom == 1 and max(largest, top) < LARGEST:
        return steps * top
    if bottom > 1 and largest < 1 << 53 and bottom < 1 << 53:  # one rounding: the division
        return (steps * top) / np.float64(bottom)
    if bottom == 1:  # beyond 64 bits: Python's own integers
        return steps.astype(object) * top
    return np.array([float(int(s) * grid) for s in steps.ravel()]).reshape(steps.shape)


def power_of_two_below(x: Fraction) -> Fraction:
    """The largest power of two that is at most x."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= x else power / 2


def checked_source(source: Source | None) -> Source:
    """The operating system's, unless a test brings its own."""
    if source is None:
        return SYSTEM
    if not hasattr(source, "words"):
        raise refuse("noise.source-wrong-type", type=type(source).__name__)
    return source


class Continuous(ABC):
    """A symmetric density. Subclasses give its tail, what has that tail, and the integer law."""

    @abstractmethod
    def _tail(self, size: Real) -> Real:
        """P(|noise| > size), size ≥ 0."""

    @abstractmethod
    def _size_with_tail(self, tail: Fraction) -> float:
        """The size with P(|noise| > size) = tail."""

    @abstractmethod
    def on_grid(self, grid: Number) -> GridLaw:
        """The exact integer law that is actually sampled."""

    @property
    @abstractmethod
    def sampling_grid(self) -> Fraction:
        """The power of two on which `sample` draws."""

    def cdf(self, x: Any) -> Any:
        """P(noise ≤ x)."""
        values = real_array(x)
        tail = self._tail(np.abs(values)) / 2
        return like(x, np.where(values < 0, tail, 1 - tail))

    def quantile(self, q: Number) -> float:
        """The x with P(noise ≤ x) = q, 0 < q < 1."""
        level = fraction_of_one(q, "q")
        if level == Fraction(1, 2):
            return 0.0
        size = self._size_with_tail(2 * min(level, 1 - level))
        return -size if level < Fraction(1, 2) else size

    def interval(self, level: Number) -> tuple[float, float]:
        """The shortest symmetric interval that holds the noise with probability `level`."""
        size = self._size_with_tail(1 - fraction_of_one(level, "level"))
        return -size, size

    def sample(self, size: int | None = None, source: Source | None = None) -> Any:
        """Independent draws on `sampling_grid`."""
        return self.on_grid(self.sampling_grid).sample(size, source)


class GridLaw(ABC):
    """A symmetric law on whole multiples of a grid.

    Subclasses give the mass of a step, the tail P(|steps| ≥ m), two moments and the sampler.
    """

    epsilon: Fraction
    grid: Fraction

    @abstractmethod
    def mass(self, i: Any) -> Any:
        """The probability of exactly i grid steps."""

    @abstractmethod
    def _tail(self, m: Real) -> Real:
        """P(|steps| ≥ m) for whole m ≥ 1."""

    @property
    @abstractmethod
    def _moments(self) -> tuple[float, float]:
        """E|steps| and E steps²."""

    @abstractmethod
    def _draw(self, size: int, source: Source) -> Ints: ...

    @abstractmethod
    def _check_draw(self) -> None:
        """Refuses everything that `_draw` would: makes its tables, and draws nothing."""

    @abstractmethod
    def _loss_of_steps(self, steps: Fraction) -> Fraction | float:
        """The largest log-ratio for a shift by that many steps (not always whole)."""

    # -- formulas ------------------------------------------------------------------------------

    @property
    def variance(self) -> float:
        return self._moments[1] * float(self.grid) ** 2

    @property
    def mean_absolute_error(self) -> float:
        return self._moments[0] * float(self.grid)

    def pmf(self, x: Any) -> Any:
        """The probability of the value x; zero off the grid."""
        points = real_array(x)
        if points.ndim == 0:
            steps = round(exact(x, "x") / self.grid)
            on_grid = steps * self.grid == x or as_value(steps, self.grid) == x
            return self.mass(steps) if on_grid else 0.0
        return np.array([self.pmf(v) for v in points.ravel().tolist()]).reshape(points.shape)

    def cdf(self, x: Any) -> Any:
        """P(noise ≤ x)."""
        values = real_array(x)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            # a value within rounding of a multiple is that multiple
            ratio = np.clip(values / float(self.grid), -_FAR, _FAR)
            nearest = np.rint(ratio)
            k = np.where(np.abs(ratio - nearest) <= 1e-15 * np.abs(ratio), nearest, np.floor(ratio))
            upper = 1 - self._tail(np.maximum(k + 1, 1)) / 2
            lower = self._tail(np.maximum(-k, 1)) / 2
        answer = np.where(k >= 0, upper, lower)
        answer = np.where(np.isposinf(values), 1.0, np.where(np.isneginf(values), 0.0, answer))
        return like(x, answer)

    def quantile(self, q: Number) -> float | int:
        """The least value x with P(noise ≤ x) ≥ q, 0 < q < 1."""
        level = fraction_of_one(q, "q")
        below, above = 2 * float(level), 2 * float(1 - level)
        if below <= 1 and below <= float(self._tail(np.asarray(1.0))):
            # the largest m with P(steps ≤ -m) ≥ q
            m = _last_true(lambda m: float(self._tail(np.asarray(float(m)))) >= below)
            return as_value(-m, self.grid)
        m = _last_true(lambda m: float(self._tail(np.asarray(float(m)))) > above)
        return as_value(m, self.grid)

    def interval(self, level: Number) -> tuple[float | int, float | int]:
        """The shortest symmetric interval that holds the noise with probability ≥ level."""
        outside = 1 - fraction_of_one(level, "level")
        m = _last_true(lambda m: Fraction(float(self._tail(np.asarray(float(m))))) > outside)
        return as_value(-m, self.grid), as_value(m, self.grid)

    def loss(self, shift: Number) -> float:
        """The largest log-ratio between the law and itself moved by `shift`; exact."""
        return float(self._loss_of_steps(abs(exact(shift, "shift")) / self.grid))

    def on_grid(self, grid: Number) -> GridLaw:
        """This law already lives on a grid; any other is refused."""
        if moderate(grid, "grid") != self.grid:
            raise refuse("noise.integer-law-grid", grid=float(self.grid), grid2=grid)
        return self

    # -- draws ---------------------------------------------------------------------------------

    @overload
    def steps(self, size: None = None, source: Source | None = None) -> int: ...
    @overload
    def steps(self, size: int, source: Source | None = None) -> Ints: ...
    def steps(self, size: int | None = None, source: Source | None = None) -> int | Ints:
        """Independent draws, in grid steps."""
        drawn = drawn_in_chunks(self._draw, 1 if size is None else whole(size, "size"), source)
        return int(drawn[0]) if size is None else drawn

    def check_draw(self, size: int = 1) -> None:
        """Refuses everything that `steps` would, without a draw: a price may be paid after it."""
        check_size(size)
        self._check_draw()

    def sample(self, size: int | None = None, source: Source | None = None) -> Any:
        """Independent draws, as multiples of the grid."""
        if size is None:
            return as_value(self.steps(None, source), self.grid)
        return as_values(self.steps(size, source), self.grid)


def check_size(size: int) -> None:
    """Refuses more draws than are made at once."""
    if size > _MOST_DRAWS:
        raise refuse("noise.too-many-draws", size=size, most_draws=_MOST_DRAWS)


def drawn_in_chunks(draw: Callable[[int, Source], Ints], size: int, source: Source | None) -> Ints:
    """`size` draws made a cache-full at a time, which is what makes them fast."""
    origin = checked_source(source)
    check_size(size)
    if size <= _CHUNK:
        return draw(size, origin)
    parts = [draw(min(_CHUNK, size - start), origin) for start in range(0, size, _CHUNK)]
    return np.concatenate(parts)


def _last_true(holds: Callable[[int], bool]) -> int:
    """The largest m ≥ 1 for which a falling condition holds, or 0 if it never does."""
    if not holds(1):
        return 0
    low, high = 1, 2
    while holds(high):
        low, high = high, high * 2
        if high > 1 << 200:
            raise refuse("noise.level-too-extreme")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def vector(values: object, name: str, size: int | None = None) -> tuple[Fraction, ...]:
    """One exact number for each component, or a refusal."""
    if isinstance(values, str | bytes | bytearray) or not hasattr(values, "__iter__"):
        raise refuse("noise.not-a-number-list", name=name, values=values)
    numbers = tuple(exact(v, name) for v in values)
    if not numbers:
        raise refuse("noise.number-list-empty", name=name)
    if size is not None and len(numbers) != size:
        raise refuse("noise.number-list-length", name=name, many=len(numbers), size=size)
    return numbers


def checked_steps(amount: Fraction, grid: Fraction, name: str) -> int:
    """The whole steps that cover `amount`; refused if they do not fit the integers drawn."""
    steps = math.ceil(amount / grid)
    most = LARGEST >> 8
    if steps >= most:
        raise refuse(
            "noise.sensitivity-too-large",
            name=name,
            amount=float(amount),
            steps=float(steps),
            largest=float(most),
        )
    return steps
