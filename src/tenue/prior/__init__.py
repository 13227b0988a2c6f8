"""Priors: beliefs of an analyst before asking.

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

from .._lazy import lazily

if TYPE_CHECKING:
    from .belief import Belief
    from .categorical import Categorical, Ordinal
    from .counts import BetaBinomial, Binomial
    from .histogram import Histogram, Uniform
    from .joint import Independent, Table
    from .json_form import from_json
    from .normal import Normal
    from .normalise import normalised
    from .points import Points

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
        ".histogram": "Histogram Uniform",
        ".joint": "Independent Table",
        ".json_form": "from_json",
        ".normal": "Normal",
        ".normalise": "normalised",
        ".points": "Points",
    },
)
