"""Numbers drawn at random: laws as formulas, and the exact integer laws that are sampled.

Laplace, DiscreteLaplace     the yardstick, and the noise of counts and L1 budgets
Optimal                      one answer
OptimalBox                   many answers at once
IndependentLaplace           many answers, each its own Laplace
HeavyTail                    smooth sensitivity
Seeded                       a repeatable source, for tests only
"""

from .box.law import OptimalBox
from .discrete_laplace import DiscreteLaplace
from .heavy_tail.law import HeavyTail
from .independent import IndependentLaplace
from .laplace import Laplace
from .law import GridLaw, Law
from .optimal import Optimal
from .source import Seeded

__all__ = [
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
