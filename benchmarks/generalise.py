"""What generalising costs and loses: CPU seconds, and three measures on the Adult table.

    python benchmarks/generalise.py [--data FOLDER]    prints, writes results/generalise.json

Adult (UCI; seven quasi-identifiers as `adult.toml` declares them, its files in FOLDER, by default
beside the repository) is generalised with k = 5 and 10. The loss of the full-domain form stands
beside the least of all combinations of levels, found by going through every one of them, and the
loss of the multidimensional form; `times_better` is the quotient of the two forms.

ARX states average class sizes of Adult, for some levels of its own hierarchies and k = 5, in the
tests of its metrics (TestUtilityMetrics.java). That is the measure which both have. `arx` is what
stands there, and `found` the same measure of the same levels here; rows in classes of fewer than k
are one class more, as ARX counts them.

A million made-up rows with six quasi-identifiers are timed: the groups alone, and the release.
"""

from __future__ import annotations

import argparse
import itertools
import math
import shutil
import tempfile
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from record import record

import tenue as tn
from tenue.publish.generalise.full_domain import MEASURES, Lattice, PublishedClasses, full_domain
from tenue.publish.generalise.hierarchy import Scale, scale_of
from tenue.publish.generalise.mondrian import multidimensional, runs_of
from tenue.publish.generalise.privacy_condition import Need
from tenue.publish.table.input_table import Original, read_original

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "shared" / "data"
SIZES = (5, 10)
LARGE, TARGET = 1_000_000, 20.0
TREE = {"any": {"desk": ["clerk", "writer", "judge"], "field": ["farmer", "miner"], "none": []}}
SPOUSE = ("Married-civ-spouse", "Married-AF-spouse")
ARX = {
    "ages by 5 years, with or without spouse": (5, "spouse", 1005.4),
    "ages by 10 years, with or without spouse": (10, "spouse", 1885.125),
    "with or without spouse, income": (100, "spouse income", 7540.5),
}
"""What is kept of Adult: the width of age bands, which columns, and what ARX states."""


def adult(data: Path = DATA) -> Original:
    """The rows in which no quasi-identifier is missing."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for file in [HERE / "adult.toml", *data.glob("adult*")]:
            shutil.copy(file, place)
        schema = tn.Schema.load(place / "adult.toml")
        read = read_original(place / "adult.csv", schema)
    known = [read.cells[column.name].present for column in schema.quasi_identifiers]
    return read.take(np.flatnonzero(np.logical_and.reduce(known)))


def scales_of(original: Original) -> list[Scale]:
    columns = original.cells.values()
    return [scale_of(cells) for cells in columns if cells.column.role == "quasi-identifier"]


def lattice_of(scales: list[Scale]) -> Lattice:
    return Lattice.of(scales, [()] * len(scales))


def split(scales: list[Scale], k: int) -> PublishedClasses:
    """The classes of the multidimensional form."""
    labels = multidimensional(scales, Need(k))
    penalties = [(scale.penalty(*runs_of(scale, labels)), scale.whole) for scale in scales]
    return PublishedClasses(np.bincount(labels), penalties)


def exhaustive(lattice: Lattice, sizes: tuple[int, ...]) -> dict[tuple[int, str], Fraction]:
    """The least loss over all levels, by k and measure: nothing is pruned or rolled up."""
    keys, penalties = [], []
    for ladder in lattice.ladders:
        runs = [(low[ladder.ranks], high[ladder.ranks]) for low, high in ladder.runs]
        keys.append([low for low, _ in runs])
        lost = [int(ladder.scale.penalty(low, high).sum()) for low, high in runs]
        penalties.append([Fraction(one, ladder.scale.whole) for one in lost])
    rows = keys[0][0].size
    best: dict[tuple[int, str], Fraction] = {}
    for levels in itertools.product(*(range(len(one)) for one in keys)):
        key = np.zeros(rows, np.int64)
        for column, level in zip(keys, levels, strict=True):
            key = key * 128 + column[level]  # no domain of Adult has more codes
        many = np.unique(key, return_counts=True)[1]
        open_parts = sum(one[level] for one, level in zip(penalties, levels, strict=True))
        losses = {
            "ncp": Fraction(open_parts) / (rows * len(keys)),
            "discernibility": Fraction(int((many * many).sum())),
            "average-class-size": Fraction(rows, many.size),
        }
        for k in sizes:
            for name, loss in losses.items() if many.min() >= k else ():
                best[k, name] = min(best.get((k, name), loss), loss)
    return best


def losses(original: Original) -> list[dict[str, Any]]:
    scales = scales_of(original)
    lattice = lattice_of(scales)
    least = exhaustive(lattice, SIZES)
    rows = []
    for k in SIZES:
        made = split(scales, k)
        for name, measure in MEASURES.items():
            begin = time.process_time()
            found = full_domain(lattice_of(scales), Need(k), measure)
            took = time.process_time() - begin
            rows.append(
                {
                    "what": f"adult, k = {k}, {name}",
                    "full_domain": float(found.loss),
                    "exhaustive": float(least[k, name]),
                    "equal": found.loss == least[k, name],
                    "multidimensional": float(measure(made)),
                    "times_better": round(float(found.loss / measure(made)), 2),
                    "levels": math.prod(top + 1 for top in lattice.top),
                    "cpu_seconds_of_search": round(took, 3),
                }
            )
    return rows


def average_class_size(original: Original, width: int, columns: str, k: int = 5) -> float:
    """Of Adult on some levels; what is in classes of fewer than k is one class more."""
    cells = original.cells
    ages = (cells["age"].numbers - 1) // width
    married = [cells["marital-status"].labels[one] for one in cells["marital-status"].numbers]
    income = cells["income"].numbers if "income" in columns else np.zeros_like(ages)
    rows = list(zip(ages.tolist(), [m in SPOUSE for m in married], income.tolist(), strict=True))
    many = Counter(rows)
    texts = [str(row) if many[row] >= k else "*" for row in rows]
    return tn.evaluate.average_class_size(pa.table({"x": texts}), quasi_identifiers=["x"])


def beside_arx(original: Original) -> list[dict[str, Any]]:
    return [
        {
            "what": f"adult, average class size: {name}",
            "arx": stated,
            "found": average_class_size(original, width, columns),
        }
        for name, (width, columns, stated) in ARX.items()
    ]


def people(n: int) -> tuple[pa.Table, tn.Schema]:
    """Six quasi-identifiers and a confidential column."""
    rng = np.random.default_rng(7)
    jobs = ["clerk", "writer", "judge", "farmer", "miner", "none"]
    table = pa.table(
        {
            "age": rng.integers(18, 95, n),
            "region": rng.choice(["north", "east", "south", "west"], n),
            "height": rng.normal(170, 10, n).round(1),
            "wealth": rng.lognormal(11, 1, n).round(0),
            "job": rng.choice(jobs, n, p=[0.4, 0.3, 0.1, 0.1, 0.09, 0.01]),
            "rooms": rng.integers(1, 9, n),
            "income": rng.lognormal(10, 0.6, n).round(0),
        }
    )
    quasi = {"role": "quasi-identifier"}
    regions = ["north", "east", "south", "west"]
    described = {
        "table": {"name": "people", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 120], **quasi},
            "region": {"type": "category", "categories": regions, **quasi},
            "height": {"type": "number", "bounds": [100, 250], "grid": 0.1, **quasi},
            "wealth": {"type": "number", "bounds": [0, 10**7], **quasi},
            "job": {"type": "category", "taxonomy": TREE, **quasi},
            "rooms": {"type": "number", "bounds": [1, 8], **quasi},
            "income": {"type": "number", "bounds": [0, 10**6], "role": "confidential"},
        },
    }
    return table, tn.Schema.from_dict(described)


def times() -> list[dict[str, Any]]:
    table, schema = people(LARGE)
    scales = scales_of(read_original(table, schema))
    begin = time.process_time()
    labels = multidimensional(scales, Need(10))
    groups = time.process_time() - begin
    begin = time.process_time()
    tn.publish(table, schema=schema, method="generalise", k=10)
    release = time.process_time() - begin
    begin = time.process_time()
    tn.publish(table, schema=schema, method="generalise", k=10, by="full-domain")
    levels = time.process_time() - begin
    name = f"{LARGE:,} rows x 6, k = 10"
    return [
        {
            "what": f"{name}, multidimensional groups",
            "cpu_seconds": round(groups, 2),
            "target": TARGET,
            "classes": int(labels.max()) + 1,
        },
        {"what": f"{name}, multidimensional release", "cpu_seconds": round(release, 2)},
        {"what": f"{name}, full-domain release", "cpu_seconds": round(levels, 2)},
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA)
    original = adult(parser.parse_args().data)
    rows = [*losses(original), *beside_arx(original), *times()]
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items() if name != "what"))
        print(f"    {row['what']}")
    print(f"wrote {record('generalise', rows).name}")


if __name__ == "__main__":
    main()
