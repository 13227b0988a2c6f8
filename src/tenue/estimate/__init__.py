"""What an analyst may compute from an answer, as post-processing.

count, total       one noisy number → Posterior
Margin             the noise of one number of a vector
counts             noisy counts with a known total → one Posterior each
refined            a refined answer → Posterior, or Opinion about a category
refined_error      of refinement and Bayes together, averaged over the prior
guess_error        of the prior alone
out_of_range       the probability that a noisy count is impossible
compare            the noisy number against the Bayes estimate
expected_error     of noise and Bayes together, averaged over the prior
require_free       refuses where an estimate would depend on a secret scale
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from ..noise.box.steps import Margin
    from .comparison import Comparison, compare, expected_error
    from .count_posterior import count, counts, out_of_range, total
    from .posterior import Posterior
    from .refined import Opinion, guess_error, refined, refined_error
    from .truncated_support import require_free

__all__ = [
    "Comparison",
    "Margin",
    "Opinion",
    "Posterior",
    "compare",
    "count",
    "counts",
    "expected_error",
    "guess_error",
    "out_of_range",
    "refined",
    "refined_error",
    "require_free",
    "total",
]

lazily(
    __name__,
    {
        "..noise.box.steps": "Margin",
        ".comparison": "Comparison compare expected_error",
        ".count_posterior": "count counts out_of_range total",
        ".posterior": "Posterior",
        ".refined": "Opinion guess_error refined refined_error",
        ".truncated_support": "require_free",
    },
)
