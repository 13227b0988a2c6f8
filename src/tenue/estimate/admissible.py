"""When Bayes is free: the noise must not depend on the rows."""

from __future__ import annotations

from ..errors import refuse
from ..noise.heavy_tail.law import HeavyTail
from ..noise.heavy_tail.steps import HeavyTailSteps
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
    if isinstance(law, HeavyTail | HeavyTailSteps):
        raise refuse("estimate.noise-was-scaled-to-smooth-sensitivity")
    if isinstance(promise, Individual):
        raise refuse("estimate.answer-has-individual-differential-privacy")
    if promise is not None and not isinstance(promise, Pure | Approximate):
        raise refuse("estimate.promise-is-of-type", type=type(promise).__name__)
