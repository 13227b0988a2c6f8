"""The ways of drawing a private table, by name. Whoever adds one adds it here."""

from __future__ import annotations

from .columns import Columns
from .joint.copula import Copula
from .joint.network import Network
from .joint.two_stage import TwoStage
from .means.microaggregation import Microaggregation
from .synthesis import Synthesis
from .tree import Tree

WAYS: dict[str, type[Synthesis]] = {
    way.name: way for way in (Tree, TwoStage, Columns, Copula, Network, Microaggregation)
}
