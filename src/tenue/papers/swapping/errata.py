"""What swapping does not promise."""

from __future__ import annotations

import numpy as np

from ...evaluate import PublishedColumn, rematched
from ...microdata import individual_ranking, permuted
from ..cell import Cell, beside, refuted
from ..data import CENSUS, Data
from ..exhibit import erratum
from .method import seeded


def several_columns(_: Data) -> list[Cell]:
    """Four records, k = 2: the groups of two columns together single out every record."""
    records = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [4.0, 4.0]])
    labels = [individual_ranking(records[:, j], 2).labels for j in (0, 1)]
    cells = {(int(a), int(b)) for a, b in zip(*labels, strict=True)}
    found = len(cells) / 4
    return [
        refuted(
            "(1, 1), (2, 3), (3, 2), (4, 4)",
            "linked by who knows the records",
            "at most 1/2",
            found,
            fails=found == 1.0,
            because="Each column by itself hides a value among two. The groups of both columns "
            "together are different for every record.",
        )
    ]


def put_back(data: Data) -> list[Cell]:
    """TAXINC swapped among similar values, and put back by what the other columns tell."""
    census, place = data.census.values, 6
    cells = []
    for k in (5, 10):
        labels = individual_ranking(census[:, place], k).labels
        shown = census[permuted(labels, seeded(f"put back {k}")), place]
        columns = {
            str(i): PublishedColumn(census[:, i], census[:, i]) for i in range(13) if i != place
        }
        swapped = PublishedColumn(census[:, place], shown, labels)
        found = rematched({**columns, "TAXINC": swapped})["TAXINC"]
        cells += [
            refuted(
                f"TAXINC, k = {k}",
                "records put back",
                f"1/{k}",
                found.records,
                fails=found.records > 1.5 / k,
                because="Columns are related, and the relation is still in the release: "
                "whoever uses it finds far more than one in k.",
            ),
            beside(f"TAXINC, k = {k}", "blind", found.records_blind),
        ]
    return cells


EXHIBITS = (
    erratum(
        "err.columns", "One in k for each column is not one in k", "section 3.3", several_columns
    ),
    erratum(
        "err.rematch",
        "Swapped values can be put back",
        "section 3.3",
        put_back,
        needs=(CENSUS,),
        seconds=1,
    ),
)
