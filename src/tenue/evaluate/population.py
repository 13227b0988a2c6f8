"""Uniques and individual risk in the population of which a table is a sample.

Each unit of the population is in the sample with the same stated probability, independently of
others. An intruder links a person of the sample, of whom they know the quasi-identifiers, to one of
the F people of the population who share these: correctly with probability 1/F. F is unknown; two
models estimate it from f, the number of people of the sample who share them.

* Individual risk is the mean of 1/F given f where F follows a negative binomial law, that of the
  number of trials until f successes (Benedetti and Franconi 1998; mu-Argus and sdcMicro use it).
  The law follows from a prior proportional to 1/F for every F, whatever other classes look like.
* Population uniques among the sample's are estimated by this model, and by that of Zayatz (1991):
  classes of the population are as large, in the same proportions, as those of the sample. Where the
  two differ much, neither is to be trusted.

Neither is a bound. Exact is only the number of sample uniques.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..text import exactly, many, percent, sentence, shortly
from .klt import Sizes

_TERMS = 60
_HALF = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class Population:
    """Estimates for the population of which a table is a sample.

    sampling_fraction: the stated probability of being in the sample.
    units: the number of units of the sample.
    sample_uniques: the number of units that are alone in their class of the sample; exact.
    population_uniques: how many of these are expected to be alone in the population too, by the
        model of Benedetti and Franconi.
    population_uniques_zayatz: the same by that of Zayatz.
    reidentifications: the expected number of correct links, if every unit of the sample is linked.
    mean_risk, largest_risk: the mean and the largest individual risk.
    """

    sampling_fraction: Fraction
    units: int
    sample_uniques: int
    population_uniques: float
    population_uniques_zayatz: float
    reidentifications: float
    mean_risk: float
    largest_risk: float

    def risk_of(self, units: int) -> float:
        """The individual risk of a unit in a class of so many units of the sample.

        Example
            >>> round(population_of({1: 3, 4: 2}, Fraction(1, 10)).risk_of(1), 4)
            0.2558
        """
        return individual_risks([units], self.sampling_fraction)[units]

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them: the sampling fraction as text."""
        return {**self.__dict__, "sampling_fraction": str(self.sampling_fraction)}

    def sentences(self) -> list[str]:
        """The results, and the models they depend on."""
        share = percent(self.sample_uniques / self.units)
        return [
            f"Sampling fraction {exactly(self.sampling_fraction)}, as stated; the rest is "
            "estimated by models, and no bound.",
            f"  {sentence(many(self.sample_uniques, 'sample unique'))} ({share} of the units). "
            f"Expected to be unique in the population: {shortly(self.population_uniques, 4)} "
            f"(Benedetti and Franconi) or {shortly(self.population_uniques_zayatz, 4)} (Zayatz).",
            f"  Individual risk: {percent(self.mean_risk)} on average, "
            f"{percent(self.largest_risk)} at most; {shortly(self.reidentifications, 4)} correct "
            "links are expected if every unit is linked (Benedetti and Franconi).",
        ]


def population_of(classes: dict[int, int], fraction: Fraction) -> Population:
    """The estimates for a sample with so many classes of each number of units."""
    risks = individual_risks(classes, fraction)
    units = sum(size * times for size, times in classes.items())
    uniques = classes.get(1, 0)
    expected = sum(risks[size] * size * times for size, times in classes.items())
    return Population(
        sampling_fraction=fraction,
        units=units,
        sample_uniques=uniques,
        population_uniques=float(uniques * fraction),
        population_uniques_zayatz=_zayatz(classes, fraction),
        reidentifications=expected,
        mean_risk=expected / units,
        largest_risk=max(risks.values()),
    )


def population(sizes: Sizes, fraction: Fraction) -> Population:
    """The estimates for the groups of a table."""
    values, place = np.unique(sizes.units, return_inverse=True)
    times = np.zeros(values.size, np.int64)
    np.add.at(times, place.reshape(-1), sizes.times)
    return population_of(dict(zip(values.tolist(), times.tolist(), strict=True)), fraction)


def risks_of_units(units: NDArray[np.int64], fraction: Fraction) -> NDArray[np.float64]:
    """The individual risk of classes with so many units."""
    values, place = np.unique(units, return_inverse=True)
    risks = individual_risks(values.tolist(), fraction)
    found: NDArray[np.float64] = np.array([risks[size] for size in values.tolist()])
    return found[place.reshape(-1)]


def individual_risks(sizes: Any, fraction: Fraction) -> dict[int, float]:
    """The mean of 1/F given f, for each of these f, where F - f is negative binomial.

    It is the integral of p u^(f-1) / (p + q u) for u from 0 to 1, with q = 1 - p. For p up to 1/2
    r_(f+1) = (p/q) (1/f - r_f) follows from it, which is stable; above, a series in powers of q.

    Source
        Benedetti and Franconi 1998; Polettini 2003, equation 4.
    """
    wanted = sorted(set(sizes))
    if fraction == 1:
        return {size: 1 / size for size in wanted}
    p, q = float(fraction), float(1 - fraction)
    if fraction > _HALF:
        return {size: p * sum(_powers(size, q)) for size in wanted}
    found = {}
    risk = p / q * log(1 / p)
    for size in range(1, wanted[-1] + 1):
        found[size] = risk
        risk = p / q * (1 / size - risk)
    return {size: found[size] for size in wanted}


def _powers(size: int, q: float) -> Iterator[float]:
    """q^j times the integral of u^(f-1) (1-u)^j, for j = 0, 1, …"""
    term = 1 / size
    for j in range(_TERMS):
        yield term
        term *= q * (j + 1) / (size + j + 1)


def _zayatz(classes: dict[int, int], fraction: Fraction) -> float:
    """The sample uniques times the probability that one is unique in the population, by Bayes'
    rule: a class of F people has one in the sample with probability F p (1-p)^(F-1)."""
    if not classes.get(1):
        return 0.0
    p = float(fraction)
    alone = {size: times * size * p * (1 - p) ** (size - 1) for size, times in classes.items()}
    return classes[1] * alone[1] / sum(alone.values())
