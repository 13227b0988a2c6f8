"""From the noisy answers of strategies to the numbers of every cell of every question."""

from __future__ import annotations

from collections.abc import Sequence

from .block import FINE
from .plan import Workload

Drawn = Sequence[Sequence[Sequence[Sequence[int]]]]
"""For each block, side and level, what was released."""
Cells = tuple[tuple[tuple[int, ...], ...], ...]


def estimated(workload: Workload, drawn: Drawn) -> dict[int, Cells]:
    """For each question that is read off blocks, the numbers of its cells: the estimates of its
    components in parts 1/FINE of a step, and then the cell with how far rounding moved them."""
    blocks = workload.blocks
    values = [block.estimates(one) for block, one in zip(blocks, drawn, strict=True)]
    slack = [1 + int(block.slack(one) * FINE) for block, one in zip(blocks, drawn, strict=True)]
    found: dict[int, Cells] = {}
    for number in workload.shared:
        components = workload.components[number]
        most = max(slack[block] for block, _, _ in components.places)
        cells = []
        for cell in range(components.cells):
            rows = [components.row(place, cell) for place in range(len(components.places))]
            cells.append((tuple(values[b][side][row] for b, side, row in rows), (cell, most)))
        found[number] = tuple(cells)
    return found
