"""Numbers drawn at random: laws as formulas, and the exact integer laws that are sampled.

Laplace, DiscreteLaplace     the yardstick, and the noise of counts and L1 budgets
Optimal                      one answer
DiscreteGaussian             many answers from one budget in rho (zero-concentrated privacy)
OptimalBox                   many answers at once
IndependentLaplace           many answers, each its own Laplace
HeavyTail                    smooth sensitivity
Seeded                       a repeatable source, for tests only
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily
from .laplace import IndependentLaplace  # at once: it answers `joint` for every law

if TYPE_CHECKING:
    from .box.law import OptimalBox
    from .discrete_gaussian import DiscreteGaussian
    from .discrete_laplace import DiscreteLaplace
    from .heavy_tail import HeavyTail
    from .laplace import Laplace
    from .law import GridLaw, Law
    from .optimal import Optimal
    from .source import Seeded

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "GridLaw",
    "HeavyTail",
    "IndependentLaplace",
    "Laplace",
    "Law",
    "Optimal",
    "OptimalBox",
    "Seeded",
]

lazily(
    __name__,
    {
        ".box.law": "OptimalBox",
        ".discrete_gaussian": "DiscreteGaussian",
        ".discrete_laplace": "DiscreteLaplace",
        ".heavy_tail": "HeavyTail",
        ".laplace": "Laplace",
        ".law": "GridLaw Law",
        ".optimal": "Optimal",
        ".source": "Seeded",
    },
)
