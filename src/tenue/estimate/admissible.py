"""When Bayes is free: the noise must not depend on the rows."""

from __future__ import annotations

from ..errors import InvalidArgument, NotPromised
from ..noise.heavy_tail.law import HeavyTail
from ..noise.heavy_tail.steps import HeavyTailSteps
from ..promise import Approximate, Individual, Pure

__all__ = ["require_free"]


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
        raise NotPromised(
            "The noise was scaled to a smooth sensitivity",
            "Bayes estimates need noise that does not depend on the rows",
            "Ask the question with plain differential privacy",
        )
    if isinstance(promise, Individual):
        raise NotPromised(
            "The answer has individual differential privacy",
            "Bayes estimates need noise that does not depend on the rows",
            "Ask the question with plain differential privacy",
        )
    if promise is not None and not isinstance(promise, Pure | Approximate):
        raise InvalidArgument(
            f"The promise is of type {type(promise).__name__}",
            "Bayes estimates follow an answer with differential privacy",
            "Ask a question first",
        )
