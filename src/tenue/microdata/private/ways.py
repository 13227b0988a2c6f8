"""The ways of drawing a private table, by name. Whoever adds one adds it here."""

from __future__ import annotations

from .columns import Columns
from .copula import Copula
from .microaggregation import Microaggregation
from .network import Network
from .synthesis import Synthesis
from .tree import Tree
from .two_stage import TwoStage

WAYS: dict[str, type[Synthesis]] = {
    way.name: way for way in (Tree, TwoStage, Columns, Copula, Network, Microaggregation)
}
