"""Every family of aggregates, and every SQL function that they answer."""

from __future__ import annotations

from .additive import ADDITIVE
from .clip import CLIP
from .contract import Family, Function
from .mode import MODE
from .moments import MOMENTS
from .order_statistics import RANK, SMOOTH

FAMILIES: tuple[Family, ...] = (ADDITIVE, CLIP, MOMENTS, RANK, MODE, SMOOTH)
"""In the order of their draws in an answer."""

FAMILY_OF: dict[str, Family] = {kind: family for family in FAMILIES for kind in family.kinds}
"""The family of each kind of aggregate."""

SQL_FUNCTIONS: tuple[Function, ...] = tuple(
    function for family in (ADDITIVE, RANK, MOMENTS, MODE) for function in family.functions
)
"""In the order in which refusals list them."""
