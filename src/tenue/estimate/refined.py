"""What an analyst may conclude from a refined answer."""

from __future__ import annotations

import html
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InvalidArgument, InvalidPrior
from ..mechanism.refinement_error import response_factors
from ..mechanism.refinement_factor import float_factors
from ..number import checked_call
from ..prior.counts import Counts
from ..prior.density import Density
from ..prior.finite import Finite, shown_value
from ..prior.mass import MOST_POINTS
from ..prior.metric import Distance, metric
from ..prior.points import Points, numeric_place
from .posterior import Posterior

__all__ = ["Opinion", "as_points", "refined"]


_FEW = 5


@dataclass(frozen=True, repr=False)
class Opinion:
    """What is known about a category, or several values, after a refined answer.

    Attributes
        masses: the probability of each possible truth.
        names: what the components of a truth are called, if it has several.
    """

    masses: dict[Any, float]
    names: tuple[str, ...] = ()

    @property
    def mode(self) -> Any:
        """The most likely truth; the first of several."""
        return max(self.masses, key=self.masses.__getitem__)

    def mass(self, value: object) -> float:
        """The probability of one truth."""
        return self.masses.get(value, 0.0)

    def likeliest(self) -> list[tuple[str, str]]:
        """The few most likely truths and their probabilities, as texts."""
        order = sorted(self.masses.items(), key=lambda pair: -pair[1])
        told = [(self._told(value), f"{mass:.1%}") for value, mass in order[:_FEW]]
        left = sum(mass for _, mass in order[_FEW:])
        more = len(order) - _FEW
        return [*told, (f"{more} others", f"{left:.1%}")] if more > 0 else told

    def _told(self, value: Any) -> str:
        if not isinstance(value, tuple):
            return str(value)
        names = self.names or ("",) * len(value)
        return " and ".join(f"{n} {v}".strip() for n, v in zip(names, value, strict=True))

    def __repr__(self) -> str:
        return f"Opinion({', '.join(f'{name} {share}' for name, share in self.likeliest())})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(name)}</th><td>{share}</td></tr>"
            for name, share in self.likeliest()
        )
        return f"<table><tbody>{rows}</tbody></table>"


@checked_call
def refined(
    sample: Any,
    prior: Any,
    epsilon: object,
    *,
    kind: str,
    distance: Distance | None = None,
    alpha_up: object | None = None,
) -> Posterior | Opinion:
    """What is known about the truth after a refined answer, given that there is one.

    Guarantee
        Computed from the prior and the released sample: it may be shown, and is free. It says
        nothing about whether the person is in the table: it supposes so. Numbers give a
        `Posterior`, anything else an `Opinion`.

    Parameters
        sample: the answer.
        prior, epsilon, kind, distance, alpha_up: as the question was asked. A density is put on
            4,096 points for the purpose. What delta moved is left out of account.

    Example
        >>> from tenue.prior import Categorical
        >>> belief = Categorical({"flu": 0.01, "none": 0.99})
        >>> round(refined("flu", belief, 1, kind="individual").mass("flu"), 4)
        0.0695

    Source
        Bayes' rule with the law of thesis, algorithm 5.1; what may be shown: soundness section 4.
    """
    used = float_factors(epsilon, kind, alpha_up)
    belief = prior.points if isinstance(prior, Counts) else prior
    if isinstance(belief, Density):
        belief = as_points(belief)
    if not isinstance(belief, Finite):
        raise InvalidPrior(
            f"`prior` is of type {type(prior).__name__}",
            "`prior` is a belief of tn.prior",
            "Give the prior the question was asked with",
        )
    place = belief.places.get(belief.canonical(sample))
    if place is None and isinstance(belief, Points) and isinstance(prior, Density):
        number = numeric_place(sample)
        if number is not None and prior.low <= number <= prior.high:
            place = int(np.argmin([abs(float(value - number)) for value in belief.values]))
    if place is None:
        raise InvalidArgument(
            f"{sample!r} has mass 0 in the prior"[:80],
            "A refined answer is one of the prior's values",
            "Give the answer and the prior as they were",
        )
    found = response_factors(belief, metric(belief, distance), place, used)
    masses = np.array([weight / belief.total for weight in belief.weights]) * found
    if isinstance(belief, Points):
        return Posterior(np.array(belief.steps), np.log(masses), belief.unit)
    masses /= masses.sum()
    shown = (shown_value(value) for value in belief.values)
    return Opinion(dict(zip(shown, masses.tolist(), strict=True)))


def as_points(belief: Density, count: int = MOST_POINTS) -> Points:
    """A density as equally spaced points, each with the mass nearest to it."""
    grid = (belief.high - belief.low) / (count - 1)
    points = [belief.low + k * grid for k in range(count)]
    borders = [belief.cdf(point + grid / 2) for point in points[:-1]]
    rises = [b - a for a, b in zip([Fraction(0), *borders], [*borders, Fraction(1)], strict=True)]
    kept = [(point, rise) for point, rise in zip(points, rises, strict=True) if rise]
    scale = 1 << 128
    return Points.of_weights([p for p, _ in kept], [max(1, int(r * scale)) for _, r in kept])
