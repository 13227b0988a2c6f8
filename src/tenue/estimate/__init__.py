"""What an analyst may compute from an answer, for free.

count, total       one noisy number → Posterior
Margin             the noise of one number of a vector
counts             noisy counts with a known total → one Posterior each
refined            a refined answer → Posterior, or Opinion about a category
refined_error      of refinement and Bayes together, averaged over the prior
guess_error        of the prior alone
out_of_range       how often a noisy count is patently wrong
compare            naive against Bayes
expected_error     of noise and Bayes together, averaged over the prior
require_free       refuses where an estimate would rest on a secret scale
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ..noise.box.component import Margin
    from .comparison import Comparison, compare, expected_error
    from .likelihood import require_free
    from .posterior import Posterior
    from .refined import Opinion, refined
    from .refined_error import guess_error, refined_error
    from .single import count, out_of_range, total
    from .vector import counts

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
        "..noise.box.component": "Margin",
        ".comparison": "Comparison compare expected_error",
        ".likelihood": "require_free",
        ".posterior": "Posterior",
        ".refined": "Opinion refined",
        ".refined_error": "guess_error refined_error",
        ".single": "count out_of_range total",
        ".vector": "counts",
    },
)
