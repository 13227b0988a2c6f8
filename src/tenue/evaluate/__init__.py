"""Risk and utility of tables and releases.

check                     k, l and t of any table, and a sample's risk in its population
individual_risk           the same for each row of a sample
risk, utility             an original table and its masked version
compare                   both, for a release of any tool
compare_several           several releases of one table side by side
record_linkage, within    re-identification, and confidential numbers close to the truth
rematched                 reassignment of swapped values
sse, correlation_difference, associations, distributions, propensity     information loss
discernibility, average_class_size, ncp     loss by generalisation
likeness                  two tables as wholes, whose rows are not related
score                     loss and risk in one number, against a baseline

Results computed from an original table are for its holder only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from .check import check, individual_risk
    from .check_result import Check, Confidential
    from .compare import Comparison, compare
    from .comparisons import Comparisons, compare_several
    from .population import Population
    from .risk import Risk, Score, risk, score
    from .two_tables.association import Association, PairAssociation, associations
    from .two_tables.distribution import Moved, distributions
    from .two_tables.distribution_similarity import Likeness, Propensity, likeness, propensity
    from .two_tables.information_loss import (
        CorrelationDifference,
        correlation_difference,
        sse,
        within,
    )
    from .two_tables.linkage import record_linkage
    from .two_tables.swap_reidentification import PublishedColumn, Rematched, rematched
    from .utility import Utility, average_class_size, discernibility, ncp, utility

__all__ = [
    "Association",
    "Check",
    "Comparison",
    "Comparisons",
    "Confidential",
    "CorrelationDifference",
    "Likeness",
    "Moved",
    "PairAssociation",
    "Population",
    "Propensity",
    "PublishedColumn",
    "Rematched",
    "Risk",
    "Score",
    "Utility",
    "associations",
    "average_class_size",
    "check",
    "compare",
    "compare_several",
    "correlation_difference",
    "discernibility",
    "distributions",
    "individual_risk",
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
        ".check": "check individual_risk",
        ".check_result": "Check Confidential",
        ".compare": "Comparison compare",
        ".comparisons": "Comparisons compare_several",
        ".population": "Population",
        ".risk": "Risk Score risk score",
        ".two_tables.association": "Association PairAssociation associations",
        ".two_tables.distribution": "Moved distributions",
        ".two_tables.distribution_similarity": "Likeness Propensity likeness propensity",
        ".two_tables.information_loss": ("CorrelationDifference correlation_difference sse within"),
        ".two_tables.linkage": "record_linkage",
        ".two_tables.swap_reidentification": "PublishedColumn Rematched rematched",
        ".utility": "Utility average_class_size discernibility ncp utility",
    },
)
