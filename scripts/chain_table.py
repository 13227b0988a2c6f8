"""Computes the table of `tenue/sensitivity/chain.py`: how long chains along the curve can be.

    python scripts/chain_table.py > src/tenue/sensitivity/chain_table.json

Takes about a minute. Whole numbers only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tenue.taxonomy.total_order import index

Cells = NDArray[np.int64]

BITS = {2: 10, 3: 6, 4: 5, 5: 4, 6: 3, 7: 3, 8: 2, 9: 2, 10: 2}
"""How fine the cells are, by the number of columns; 1 for the others."""
COLUMNS = range(2, 17)
FINER = 16
"""λ and V are multiples of the cells' side divided by this."""


def bits_of(columns: int) -> int:
    return BITS.get(columns, 1)


def curve(columns: int, bits: int) -> Cells:
    """All cells in their order."""
    numbers = np.arange(1 << (columns * bits), dtype=np.int64)
    cells = np.stack([(numbers >> (j * bits)) & ((1 << bits) - 1) for j in range(columns)], 1)
    walk = np.empty_like(cells)
    walk[index(cells, bits)] = cells
    return walk


def slopes(columns: int, bits: int) -> Iterator[int]:
    """The λ that are tried, from D down to the least that is allowed, D·2^−bits."""
    octave = 64 if columns <= 6 else 16 if columns <= 10 else 8
    least = columns * FINER
    for i in range(octave * bits + 1):
        yield max(least, round(least * 2 ** (bits - i / octave)))


def gain(walk: Cells, slope: int, finer: int = FINER) -> int:
    """V(λ): the greatest Σ(length − λ) over all chains, with λ = slope, in units of side/finer.

    The length of a link between two cells is Σⱼ(|difference| + 1) sides. The best chain that ends
    in a cell extends the best that ends in an earlier one; since Σⱼ|xⱼ − yⱼ| is the greatest of
    σ·x − σ·y over all signs σ, it is enough to keep, for each σ, the greatest gain − σ·y so far.
    """
    columns = walk.shape[1]
    if slope < columns * finer:
        raise ValueError("links inside one cell would add up without end")
    return int(_gain(walk, slope, finer))


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return cast(Callable[..., Any], njit(function, nogil=True))


@_compiled
def _gain(walk: Any, slope: int, finer: int) -> Any:
    columns = walk.shape[1]
    signs = 1 << columns
    kept = np.full(signs, -(1 << 60), np.int64)
    along = np.empty(signs, np.int64)
    most = 0
    for cell in range(walk.shape[0]):
        along[0] = 0  # signs as bits: first all are −1
        for j in range(columns):
            along[0] -= finer * walk[cell, j]
        width = 1
        for j in range(columns):
            for s in range(width):
                along[s + width] = along[s] + 2 * finer * walk[cell, j]
            width *= 2
        reached = -(1 << 60)
        for s in range(signs):
            reached = max(reached, kept[s] + along[s])
        here = max(0, reached + columns * finer - slope)
        most = max(most, here)
        for s in range(signs):
            kept[s] = max(kept[s], here - along[s])
    return most


def lines(columns: int) -> list[tuple[int, int]]:
    """(λ, V) by falling λ, without those that are the least for no number of links."""
    bits = bits_of(columns)
    walk = curve(columns, bits)
    found = [(slope, gain(walk, slope)) for slope in sorted(set(slopes(columns, bits)))[::-1]]
    links = np.unique(np.round(2 ** (np.arange(16 * 40) / 16)).astype(np.int64))
    best = {int(np.argmin([start + slope * n for slope, start in found])) for n in links.tolist()}
    return [line for place, line in enumerate(found) if place in best]


def main() -> None:
    entries = []
    for columns in COLUMNS:
        bits = bits_of(columns)
        entry = {"bits": bits, "units": FINER << bits, "lines": lines(columns)}
        entries.append(f'"{columns}": {json.dumps(entry)}')
        sys.stderr.write(f"{columns} columns: {len(entry['lines'])} lines\n")  # type: ignore[arg-type]
    sys.stdout.write("{\n" + ",\n".join(entries) + "\n}\n")


if __name__ == "__main__":
    main()
