"""Individual differential privacy: noise scaled to how far *this* table's records move the answer.

The actual table D fixes a mechanism κ_D: how wide its noise is and, for a truncated answer, where
it ends. Promised is that κ_D(D) and κ_D(D′) give any answer with probabilities that differ by a
factor e^epsilon at most, for each D′ that differs from D in one record. That is not differential
privacy, which would compare κ_D(D) with κ_D′(D′).
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from ...noise.law import as_value
from ...noise.source import SYSTEM, Source, require_safe
from ...number import above_zero, checked_call, law_epsilon, moderate
from ...promise import Certificate, Individual
from ...promise.certificate import About, certify
from ...screen.number import exactly
from ...sensitivity import local
from ...sensitivity.column import Column, as_list, domain
from ...sensitivity.parameters import Parameters
from .calibration import FINER, release
from .statistic import Statistic, columns_of
from .steps import TRUNCATABLE, check_options, release_mode

INDIVIDUAL_LIMITS = (
    "It is not differential privacy: the table is compared with its neighbours under the table's "
    "own noise, never with the noise that a neighbour would have had.",
    "Where no single record can change the answer, the answer is exact, and that it is so may be "
    "recognised.",
    "Tables with equal answers are told apart by their noise: where one has ten times the other's, "
    "the total variation is 0.70, whatever epsilon is.",
    "A count truncated to its neighbours' counts proves one record's value with probability "
    "1/(1 + e^epsilon), 0.475 at epsilon 0.1 and more at smaller ones; 1,000 such counts at a "
    "total epsilon of 1 rebuilt a whole 0/1 column.",
    "It protects one record, not groups of records.",
    "No scale, interval or error is stated, for each is a fact about the rows; nor may Bayes "
    "estimation be applied.",
    "Its epsilon is never added to that of differential privacy; after this answer no total "
    "epsilon of the data set is promised.",
)
"""What individual differential privacy does not promise, for its certificates."""

INDIVIDUAL_ASSUMES = (
    "The bounds, the grid and the categories were stated by the holder without looking at the "
    "rows.",
    "The number of records is public, and each person has one record.",
    "The AES-256 stream keyed by the operating system cannot be told from uniform bits.",
)
"""What individual differential privacy assumes, for its certificates."""


@dataclass(frozen=True)
class Released:
    """A private value on its grid, and what is promised about it.

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
    grid: object = 1,
    epsilon: object,
    noise: str = "discrete-laplace",
    k: object = None,
    q: object = None,
    low: object = None,
    high: object = None,
    ridge: object = None,
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
        `mechanism.selection.quantile`.

    Parameters
        statistic, values, bounds, k, q, low, high, ridge, categories: as in `sensitivity.local`;
            the slope needs a ridge. Missing values are refused.
        grid: answers are multiples of it (squared units for the variance, units of y per unit of x
            for the slope, plain numbers for correlations and counts).
        epsilon: above 0.
        noise: "discrete-laplace": the truth is rounded to the grid, then gets whole steps of noise.
            "laplace": continuous noise, drawn on a grid 2**20 times finer, then rounded to the
            grid; better where one record moves the answer by much less than a step, as in means.
            The mode takes neither, nor a grid: see `mechanism/individual/mode.py`.
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
        return Released(
            names[place], None, _certify(statistic, price, "choice of a category", facts)
        )

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


def _in_steps(low: object, high: object, step: Fraction) -> tuple[Fraction, Fraction]:
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
