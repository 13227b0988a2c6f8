"""Individual differential privacy for rows that are whole steps already."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...errors import nearest, refuse
from ...noise.source import SYSTEM, Source, require_safe
from ...number import checked_call, law_epsilon, moderate
from ...sensitivity.parameters import Parameters
from .calibration import NOISES, release
from .mode import calibrate_mode, winner
from .statistic import PAIRS, Statistic, columns_of

TRUNCATABLE = ("range-count", "mode")
"""The statistics that may keep to the answers of the table and its neighbours."""

MOST_CATEGORIES = 2**16
"""Among how many categories a mode is chosen, at most."""


@checked_call
def individual_steps(
    statistic: str,
    steps: object,
    low: object,
    high: object,
    epsilon: object,
    source: Source = SYSTEM,
    *,
    grid: object = 1,
    noise: str = "discrete-laplace",
    k: object = None,
    q: object = None,
    between: tuple[int, int] | None = None,
    ridge: object = None,
    truncated: bool = False,
) -> Fraction:
    """As `individual`, for rows that are whole steps: the answer in steps, exactly.

    Guarantee
        That of `individual`. The caller makes the certificate, from `INDIVIDUAL_LIMITS` and
        `INDIVIDUAL_ASSUMES`.

    Parameters
        steps: whole numbers in any order, none missing; for correlation and slope pairs (x, y), or
            an array of two columns; for the mode the numbers of categories, ties to the lowest.
        low, high: the ends of the domain in steps; for two columns pairs, (x's, y's) each.
        grid: the answer is a multiple of so many steps (squared steps for the variance, steps of y
            per step of x for the slope, plain numbers for correlations and counts).
        between: the range that "range-count" counts, in steps, both ends included.
        ridge: for the slope, in squared steps of x.
        noise, k, q, truncated: as in `individual`.

    Example
        >>> individual_steps("median", [3, 3, 3, 3], 0, 10, 1)
        Fraction(3, 1)
    """
    require_safe(source)
    price, step = law_epsilon(epsilon), moderate(grid, "grid")
    first, last = between or (None, None)
    if statistic != "mode":
        Parameters(k=k, q=q, low=first, high=last, ridge=ridge).check(statistic, "in steps")
    check_options(statistic, noise, truncated, step)
    bounds: object = (low, high)
    if statistic in PAIRS:
        bounds = tuple(zip(_two(low, "low"), _two(high, "high"), strict=True))
    columns = columns_of(statistic, steps, bounds)
    if any(column.step != 1 for column in columns):
        raise refuse("mechanism.steps-not-whole")
    if statistic == "mode":
        (column,) = columns
        check_width(column.high - column.low + 1)
        codes = (column.steps - column.low).astype(np.int64)
        votes = np.bincount(codes, minlength=column.high - column.low + 1)
        return Fraction(column.low + release_mode(votes.tolist(), price, truncated, source))
    wanted = Statistic(statistic, k=k, q=q, between=between, ridge=ridge)
    answer = release(
        wanted, columns, epsilon=price, grid=step, noise=noise, truncated=truncated, source=source
    )
    return answer * step


def release_mode(votes: Sequence[int], epsilon: Fraction, truncated: bool, source: Source) -> int:
    """The place of the chosen category, from how many rows each has."""
    check_width(len(votes))
    choice = calibrate_mode(votes, epsilon, truncated=truncated)
    return choice.release(winner(votes), source)


def check_width(categories: int) -> None:
    """Refuses a mode among more categories than can be listed."""
    if categories > MOST_CATEGORIES:
        raise refuse(
            "mechanism.too-many-mode-categories",
            categories=categories,
            most_categories=MOST_CATEGORIES,
        )


def check_options(statistic: str, noise: str, truncated: bool, grid: Fraction) -> None:
    """Refuses options that do not fit the statistic; reads no rows."""
    if noise not in NOISES:
        raise refuse("mechanism.unknown-noise", noise=noise, nearest=nearest(str(noise), NOISES))
    if statistic == "mode" and (noise != "discrete-laplace" or grid != 1):
        raise refuse("mechanism.mode-with-noise")
    if truncated and statistic not in TRUNCATABLE:
        names = " and ".join(f'"{name}"' for name in TRUNCATABLE)
        raise refuse("mechanism.statistic-not-truncatable", statistic=statistic, names=names)
    if statistic == "correlation" and grid >= 1:
        raise refuse("mechanism.correlation-grid-too-large", grid=grid)


def _two(ends: object, name: str) -> tuple[object, object]:
    pair: Any = ends
    try:
        x, y = pair
    except (TypeError, ValueError):
        raise refuse("mechanism.mechanism-not-a-pair", name=name) from None
    return x, y
