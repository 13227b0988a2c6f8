"""Was it safe, was it worth it.

check                     k, l and t of any table
risk, utility             all about an original table and its masked version
compare                   both of them, of a release that anybody made
record_linkage, within    what an intruder finds again
rematched                 what an intruder restores of swapped columns
sse, correlation_difference, distributions, propensity     what an analyst loses
discernibility, average_class_size, ncp     what generalising lost
likeness                  two tables as wholes, where no row of one is a row of the other
score                     both in one number, against a baseline

Whatever is computed from an original table is for its holder only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .check import check
    from .compare import Comparison, compare
    from .generalisation import average_class_size, discernibility, ncp
    from .pair.correlation import CorrelationDifference, correlation_difference
    from .pair.distribution import Moved, distributions
    from .pair.likeness import Likeness, likeness
    from .pair.linkage import record_linkage
    from .pair.loss import sse, within
    from .pair.propensity import Propensity, propensity
    from .pair.rematch import PublishedColumn, Rematched, rematched
    from .risk import Risk, risk
    from .score import Score, score
    from .utility import Utility, utility
    from .verdict import Check, Confidential

__all__ = [
    "Check",
    "Comparison",
    "Confidential",
    "CorrelationDifference",
    "Likeness",
    "Moved",
    "Propensity",
    "PublishedColumn",
    "Rematched",
    "Risk",
    "Score",
    "Utility",
    "average_class_size",
    "check",
    "compare",
    "correlation_difference",
    "discernibility",
    "distributions",
    "likeness",
    "ncp",
    "propensity",
    "record_linkage",
    "rematched",
    "risk",
    "score",
    "sse",
    "utility",
    "within",
]

lazily(
    __name__,
    {
        ".check": "check",
        ".compare": "Comparison compare",
        ".generalisation": "average_class_size discernibility ncp",
        ".pair.correlation": "CorrelationDifference correlation_difference",
        ".pair.distribution": "Moved distributions",
        ".pair.likeness": "Likeness likeness",
        ".pair.linkage": "record_linkage",
        ".pair.loss": "sse within",
        ".pair.propensity": "Propensity propensity",
        ".pair.rematch": "PublishedColumn Rematched rematched",
        ".risk": "Risk risk",
        ".score": "Score score",
        ".utility": "Utility utility",
        ".verdict": "Check Confidential",
    },
)
