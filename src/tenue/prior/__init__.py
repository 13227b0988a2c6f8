"""What somebody believes before asking.

Uniform, Normal, Histogram       a number between two ends
Points                           a number, each possible one with its mass
Binomial, BetaBinomial           a count of n rows
Categorical, Ordinal             a category, without order or with one
Independent, Table               several components at once
normalised                       weights → masses that add up to exactly 1
from_json                        a belief from its JSON text
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .belief import Belief
    from .categorical import Categorical, Ordinal
    from .counts import BetaBinomial, Binomial
    from .histogram import Histogram
    from .joint import Independent, Table
    from .mass import normalised
    from .normal import Normal
    from .points import Points
    from .text import from_json
    from .uniform import Uniform

__all__ = [
    "Belief",
    "BetaBinomial",
    "Binomial",
    "Categorical",
    "Histogram",
    "Independent",
    "Normal",
    "Ordinal",
    "Points",
    "Table",
    "Uniform",
    "from_json",
    "normalised",
]

lazily(
    __name__,
    {
        ".belief": "Belief",
        ".categorical": "Categorical Ordinal",
        ".counts": "BetaBinomial Binomial",
        ".histogram": "Histogram",
        ".joint": "Independent Table",
        ".mass": "normalised",
        ".normal": "Normal",
        ".points": "Points",
        ".text": "from_json",
        ".uniform": "Uniform",
    },
)
