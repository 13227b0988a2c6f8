"""Individual differential privacy: noise scaled to the local sensitivity of *this* table.

The actual table D fixes a mechanism κ_D: the scale of its noise and, for a truncated answer, its
ends. The promise is that κ_D(D) and κ_D(D′) give any answer with probabilities that differ by a
factor e^epsilon at most, for each D′ that differs from D in one record. That is not differential
privacy, which would compare κ_D(D) with κ_D′(D′).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..arguments import Number, above_zero, checked_call, law_epsilon, moderate
from ..errors import nearest, refuse
from ..noise.law import as_value
from ..noise.source import SYSTEM, Source, require_safe
from ..privacy import Certificate, Individual
from ..privacy.certificate import STREAM, About, certify
from ..sensitivity import local
from ..sensitivity.column import Column, as_list, domain
from ..sensitivity.parameters import Parameters
from ..text import exactly
from .individual_calibration import FINER, NOISES, calibrate_mode, release, winner
from .individual_statistic import PAIRS, Statistic, columns_of

TRUNCATABLE = ("range-count", "mode")
"""The statistics that may keep to the answers of the table and its neighbours."""

MOST_CATEGORIES = 2**16
"""The largest number of categories among which a mode is chosen."""


@checked_call
def individual_steps(
    statistic: str,
    steps: object,
    low: Number | Sequence[int],
    high: Number | Sequence[int],
    epsilon: Number,
    source: Source = SYSTEM,
    *,
    grid: Number = 1,
    noise: str = "discrete-laplace",
    k: Number | None = None,
    q: Number | None = None,
    between: tuple[int, int] | None = None,
    ridge: Number | None = None,
    truncated: bool = False,
) -> Fraction:
    """As `individual`, for rows that are whole steps: the answer in steps, exactly.

    Guarantee
        As `individual`. The caller makes the certificate, from `INDIVIDUAL_LIMITS` and
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
    """The index of the chosen category, given the rows of each."""
    check_width(len(votes))
    choice = calibrate_mode(votes, epsilon, truncated=truncated)
    return choice.release(winner(votes), source)


def check_width(categories: int) -> None:
    """Refuses a mode among more categories than can be listed."""
    if categories > MOST_CATEGORIES:
        facts = {"categories": categories, "most_categories": MOST_CATEGORIES}
        raise refuse("mechanism.too-many-mode-categories", **facts)


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


# -- The answer with its certificate ---------------------------------------------------------------

INDIVIDUAL_LIMITS = (
    "It is not differential privacy: it compares the table with its neighbours under the noise of "
    "this table, never with the noise that a neighbour would have had.",
    "It does not hide that an answer is exact, which it is where no single record can change it.",
    "It does not hide which of two tables with equal answers it is if their noise differs: where "
    "one has ten times the noise of the other, the total variation is 0.70 at any epsilon.",
    "It does not hide a record's value from a count truncated to its neighbours' counts, which "
    "proves one with probability 1/(1 + e^epsilon), 0.475 at epsilon 0.1 and more at smaller ones; "
    "1,000 such counts at a total epsilon of 1 rebuilt a whole 0/1 column.",
    "It does not protect groups of records, only single ones.",
    "It states no scale, interval or error, for each is a fact about the rows; nor may Bayes "
    "estimation be applied.",
    "Its epsilon is never added to an epsilon of differential privacy; after this answer no total "
    "epsilon of the data set is promised.",
)
"""What individual differential privacy does not promise, for its certificates."""

INDIVIDUAL_ASSUMES = (
    "The bounds, the grid and the categories were stated by the holder without looking at the "
    "rows.",
    "The number of records is public, and each person has one record.",
    STREAM,
)
"""What individual differential privacy assumes, for its certificates."""


@dataclass(frozen=True)
class Released:
    """A private value on its grid, with its certificate.

    `value` is an int, the double nearest to the grid multiple, or a category; `exact` is the
    multiple itself, None for a category.
    """

    value: object
    exact: Fraction | None
    certificate: Certificate

    def to_json(self) -> str:
        """One JSON object: the value and its certificate."""
        value = self.value if isinstance(self.value, int | float | str) else str(self.value)
        facts = {"value": value, "certificate": self.certificate.to_dict()}
        return json.dumps(facts, sort_keys=True, ensure_ascii=False)


@checked_call
def individual(
    statistic: str,
    values: object,
    *,
    bounds: object = None,
    grid: Number = 1,
    epsilon: Number,
    noise: str = "discrete-laplace",
    k: Number | None = None,
    q: Number | None = None,
    low: Number | None = None,
    high: Number | None = None,
    ridge: Number | None = None,
    categories: object = None,
    truncated: bool = False,
    source: Source = SYSTEM,
) -> Released:
    """The statistic with epsilon-individual differential privacy, on the grid, with a certificate.

    Guarantee
        With the noise of this table, any answer is at most e^epsilon times as likely for it as for
        each table that differs in one record (neighbours are "replace"), and the reverse. The local
        sensitivity is exact and rounded up to whole steps, the truth is rounded by
        floor(x / grid + 1/2), the noise is drawn exactly. Answers are clamped to what any table
        with these bounds and as many rows can have.

    What it is not
        Differential privacy: see `does_not_promise` of the certificate. For a count prefer plain
        discrete Laplace noise, which is differentially private at the same epsilon; for a median
        `mechanism.exponential_mechanism.quantile`.

    Parameters
        statistic, values, bounds, k, q, low, high, ridge, categories: as in `sensitivity.local`;
            the slope needs a ridge. Missing values are refused.
        grid: answers are multiples of it (squared units for the variance, units of y per unit of x
            for the slope, plain numbers for correlations and counts).
        epsilon: above 0.
        noise: "discrete-laplace": the truth is rounded to the grid, then gets whole steps of noise.
            "laplace": continuous noise, drawn on a grid 2**20 times finer, then rounded to the
            grid; better where one record moves the answer by much less than a step, as in means.
            The mode takes neither, nor a grid: see `mechanism/individual_calibration.py`.
        truncated: for "range-count" and "mode": only answers that this table or a neighbour has.

    Example
        >>> answer = individual("median", [3, 3, 3, 3, 3], bounds=(0, 10), epsilon=1)
        >>> answer.value, str(answer.certificate.promise)
        (3, 'individual differential privacy (epsilon = 1)')

    Source
        Soria-Comas et al. 2017, sections 5 and 6 (ranks corrected);
        correlation, slope and mode are Tenue's own.
    """
    require_safe(source)
    price, step = law_epsilon(epsilon), moderate(grid, "grid")
    given = Parameters(k=k, q=q, low=low, high=high, ridge=ridge, categories=categories)
    given.check(statistic, bounds)
    check_options(statistic, noise, truncated, step)
    facts = {name: str(value) for name, value in given.stated().items() if name != "categories"}
    if statistic in TRUNCATABLE:
        facts["truncated"] = "yes" if truncated else "no"
    if statistic == "mode":
        names = as_list(categories)
        local("mode", values, categories=names)  # refuses rows that are not categories
        votes = Counter(as_list(values))
        place = release_mode([votes[name] for name in names], price, truncated, source)
        facts["categories"] = str(len(names))
        certificate = _certify(statistic, price, "choice of a category", facts)
        return Released(names[place], None, certificate)

    columns = columns_of(statistic, values, bounds)
    x, y = columns[0].step, columns[-1].step
    one = Fraction(1)
    units = {"variance": x * x, "range-count": one, "correlation": one, "slope": y / x}
    wanted = Statistic(
        statistic,
        k=k,
        q=q,
        between=None if low is None else _in_steps(low, high, x),
        ridge=None if ridge is None else above_zero(ridge, "ridge") / x**2,
    )
    answer = release(
        wanted,
        columns,
        epsilon=price,
        grid=step / units.get(statistic, x),
        noise=noise,
        truncated=truncated,
        source=source,
    )
    facts |= {"grid": exactly(step), "bounds": "; ".join(map(_ends, columns))}
    law = "discrete Laplace" if noise == "discrete-laplace" else f"Laplace drawn on grid / {FINER}"
    certificate = _certify(statistic, price, law, facts)
    return Released(as_value(answer, step), answer * step, certificate)


def _in_steps(low: Number, high: Number | None, step: Fraction) -> tuple[Fraction, Fraction]:
    first, last = domain((low, high), "(low, high)")
    return first / step, last / step


def _ends(column: Column) -> str:
    return f"{exactly(column.low * column.step)} to {exactly(column.high * column.step)}"


def _certify(statistic: str, epsilon: Fraction, law: str, facts: dict[str, str]) -> Certificate:
    """A function of the question and the price: the same for all tables."""
    return certify(
        Individual(epsilon),
        About("replace", "record"),
        f"{law}, calibrated to the local sensitivity",
        {"statistic": statistic, "epsilon": exactly(epsilon), **facts},
        ["Soria-Comas et al. 2017, sections 5 and 6"],
        INDIVIDUAL_ASSUMES,
        INDIVIDUAL_LIMITS,
    )
