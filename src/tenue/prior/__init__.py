"""What somebody believes before asking.

Uniform, Normal, Histogram       a number between two ends
Points                           a number, each possible one with its mass
Binomial, BetaBinomial           a count of n rows
Categorical, Ordinal             a category, without order or with one
Independent, Table               several components at once
normalised                       weights → masses that add up to exactly 1
from_json                        a belief from its JSON text
"""

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
