"""A recoded column as it leaves: the text of each row's group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..table.cells import Cells, Numbers
from .scale import Run, Scale

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, eq=False)
class Recoded(Cells):
    """The texts of one column: its numbers are groups, its labels what is written for them."""

    def to_arrow(self) -> pyarrow.Array:
        """Text, whatever type the source had: how it is stored says nothing of rows."""
        import pyarrow as pa

        return pa.array(self.labels, pa.string()).take(pa.array(self.numbers))


def recoded(scale: Scale, run: Run, labels: Numbers) -> Recoded:
    """The column with the text of each row's group instead of the row's own value."""
    ends, which = np.unique(np.stack(run), axis=1, return_inverse=True)
    texts = tuple(scale.texts(ends[0], ends[1]))
    cells = scale.cells
    present = np.ones(labels.size, np.bool_)
    return Recoded(cells.column, which.reshape(-1)[labels], present, None, texts)


def centred(scale: Scale, run: Run, labels: Numbers) -> Cells:
    """The column with what stands for each row's group where a value is needed."""
    made = scale.centres(*run)
    return replace(made, numbers=made.numbers[labels], present=made.present[labels])
