"""How likely a noisy value is for each possible truth, under the law actually used."""

from __future__ import annotations

from fractions import Fraction

from ..errors import refuse
from ..noise.likelihood import Likelihood, likelihood_of, scaled_by_rows
from ..promise import Approximate, Individual, Pure


def require_free(*, law: object = None, promise: object = None) -> None:
    """Refuses an estimate where computing it would need, or tell, something about the rows.

    Guarantee
        Passes only for differential privacy with noise whose law is a function of question and
        schema. Individual differential privacy and smooth sensitivity take their scale from the
        rows: a likelihood would be built on a secret number.

    Parameters
        law: the noise, if known.
        promise: the promise of the answer, if known.

    Example
        >>> from tenue.promise import Pure
        >>> require_free(promise=Pure(1))
    """
    if scaled_by_rows(law):
        raise refuse("estimate.bayes-after-smooth-sensitivity")
    if isinstance(promise, Individual):
        raise refuse("estimate.bayes-after-individual")
    if promise is not None and not isinstance(promise, Pure | Approximate):
        raise refuse("estimate.bayes-promise-type", type=type(promise).__name__)


def likelihood(law: object) -> Likelihood:
    """The likelihood of a law of noise for one answer; other laws are refused.

    Example
        >>> import numpy as np
        >>> from tenue.noise import DiscreteLaplace
        >>> found = likelihood(DiscreteLaplace(sensitivity=1, epsilon=0.5))
        >>> found.log(np.array([1.0, 3.0])).tolist()
        [-0.5, -1.5]
    """
    require_free(law=law)
    found = likelihood_of(law)
    if found is None:
        raise refuse("estimate.posterior-law-type", type=type(law).__name__)
    return found


def noisy_steps(noisy: Fraction, found: Likelihood) -> Fraction:
    """The noisy value in the law's units; refused if a law on a grid could not have made it."""
    steps = noisy / found.unit
    if found.exact and steps.denominator != 1:
        raise refuse("estimate.noisy-value-off-grid", noisy=float(noisy), unit=float(found.unit))
    return steps
