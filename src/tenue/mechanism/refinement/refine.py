"""The analyst's belief, refined towards the truth as far as the promise allows."""

from __future__ import annotations

from typing import Any

from ...errors import refuse
from ...number import checked_call
from ...prior.counts import with_points
from ...prior.density import Density
from ...prior.distance.metric import Distance, metric, require_absolute
from ...prior.finite import Finite
from .density import RefinedDensity
from .factor import factors
from .points import RefinedPoints


@checked_call
def refine(
    prior: Any,
    truth: object,
    epsilon: object,
    *,
    kind: str,
    distance: Distance | None = None,
    delta: object = 0,
    alpha_up: object | None = None,
) -> RefinedPoints | RefinedDensity:
    """The law of the answer: the prior raised near the truth and lowered far from it.

    Guarantee
        A sample of it is the answer, and nothing else of it may be shown.
        kind="individual": every mass stays within [e^-ε, e^ε] of the prior's, so a sample is
        ε-differentially private when one person is added or removed ((ε, δ) with delta), and costs
        2ε when a person is replaced. kind="statistical": the masses of any two truths stay within
        e^ε of each other, so a sample is ε-differentially private whatever the question's
        sensitivity. Mass never leaves the prior's support. The prior is accepted or refused before
        the truth is looked at; no truth is ever refused.

    Parameters
        prior: any belief of `tn.prior` with at most 4,096 points, or a density.
        truth: the true value; None where there is no row or there are several: then the law is the
            unmodified prior. So it is for a truth that has no place among the prior's values.
        epsilon: finite, above 0.
        kind: "individual" where the answer depends on one person's rows, else "statistical".
        distance: what is near; see `tenue.prior.distance.metric`. None means the prior's own.
        delta: moves δ·e^-ε (individual) or δ/(1+e^ε) (statistical) from the far end to the nearest
            point; needs a prior with points.
        alpha_up: for statistical questions, the upper factor, from 1 to e^ε; None means e^(ε/2).

    Example
        >>> from tenue.prior import Categorical
        >>> law = refine(Categorical({"flu": 0.01, "none": 0.99}), "flu", 1, kind="individual")
        >>> round(float(law.mass("flu")), 6)
        0.027183

    Source
        Thesis, algorithm 5.1, with the masses and the factor between corrected.
    """
    found = factors(epsilon, kind, delta, alpha_up)
    belief = with_points(prior)
    if isinstance(belief, Finite):
        return RefinedPoints.of(belief, metric(belief, distance), found, truth)
    if isinstance(belief, Density):
        require_absolute(distance)
        if found.delta:
            raise refuse("mechanism.delta-with-density")
        return RefinedDensity.of(belief, found, truth)
    raise refuse("mechanism.mechanism-prior-type", type=type(prior).__name__)
