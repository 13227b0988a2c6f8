"""The draw of a workload, as certificates and limits see it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...errors import Fault
from ...frozen import dataclass
from ...noise.source import Source
from ..family.draw import Draw, Rows
from .block import Block


@dataclass(frozen=True)
class WorkloadNoise(Draw):
    """The noise of all blocks of a workload; it is drawn for all questions at once."""

    name: str
    epsilon: Fraction
    words: str

    @property
    def source(self) -> str:
        return (
            "Li, Hay, Rastogi, Miklau and McGregor 2010 (strategies for linear questions), with "
            "discrete Laplace noise (Ghosh, Roughgarden and Sundararajan 2009)"
        )

    @property
    def line(self) -> str:
        return self.words

    def check_draw(self, cells: int) -> None:
        """The laws of the blocks are checked once for all questions."""

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        raise Fault("a workload is drawn once for all of its questions")


def noise_of(blocks: Sequence[Block], epsilon: Fraction) -> WorkloadNoise:
    """What is said of the noise of these blocks."""
    names = dict.fromkeys(block.strategy.name for block in blocks)
    said = []
    for block in blocks:
        levels = zip(block.strategy.lengths, block.laws, strict=True)
        scales = ", ".join(f"{many:,} of scale {law.scale:.6g}" for many, law in levels)
        said.append(
            f"discrete Laplace on {block.quantity.words} over {block.strategy.name}: {scales}"
        )
    words = "; ".join(said) + " steps"
    if any(block.strategy.sum_public for block in blocks):
        words += "; the number of all rows, which is public, without noise"
    return WorkloadNoise(" and ".join(names), epsilon, words)
