"""What a private table is worth: ours, plain noise and others, at the same epsilon.

    python benchmarks/private_release.py                           the tables of ../shared/data
    python benchmarks/private_release.py --only census4 adult4 --epsilon 1 --runs 10
    python benchmarks/private_release.py --rival PYTHON            also MST and AIM, at epsilon 1
    python benchmarks/private_release.py --large                   also up to 30,000,000 rows
    python benchmarks/private_release.py --only --add --large      those alone
    python benchmarks/private_release.py --out chart.svg           also draws the chart
    python benchmarks/private_release.py --only eia11 --add        keeps the rows of others
    python benchmarks/private_release.py --ways copula --add       and of other ways
    python benchmarks/private_release.py --summary                 of the recorded rows alone

Every figure is the mean over runs; 0 is best everywhere, but for the area under the curve. Pairs of
columns are compared in cells of twenty parts of equally many original rows. The rivals promise
(epsilon, 1e-6), ours epsilon alone. Writes benchmarks/results/private_release.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from private_chart import chart
from private_summary import summary
from private_tables import TABLES, Made, clouds, large, made, number
from record import record
from rich.console import Console
from rich.table import Table

import tenue as tn
from tenue.evaluate.two_tables.distribution_similarity import likeness
from tenue.noise import DiscreteLaplace
from tenue.noise.source import SYSTEM
from tenue.publish.synthetic.domain import Domain, Places
from tenue.publish.synthetic.plan import WAYS, planned
from tenue.publish.table.input_table import LEAST_MEMORY, read_original

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
RIVALS = {"MST": 5, "AIM": 2}
"""Other synthesisers, and how many of their tables are drawn; AIM takes long."""
TRIED = {
    "MST": ("census4", "census13", "adult4", "adult8", "adult14", "eia11"),
    "AIM": ("census4", "adult8"),
}
STORED = (1_000_000, 10_000_000, 30_000_000)
PIECE = 1 << 20
PATIENCE = 300
DELTA = 1e-6

Figures = dict[str, float]
Cell = tuple[object, object]
"""The name of a table, and an epsilon."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A table, as places of its domain."""

    made: Made
    domain: Domain
    places: Places

    @classmethod
    def of(cls, made: Made) -> Subject:
        schema = tn.Schema.from_dict(made.schema)
        original = read_original(made.table, schema)
        domain = Domain.of(schema)
        return cls(made, domain, domain.places(original.cells))

    def table(self, places: Places) -> pa.Table:
        return self.domain.table(places)


def plain_noise(subject: Subject, epsilon: Fraction) -> Places:
    """Every record with noise of its own, epsilon shared between columns: what needs no idea."""
    share = epsilon / len(subject.domain.axes)
    drawn = []
    for j, axis in enumerate(subject.domain.axes):
        law = DiscreteLaplace(sensitivity=axis.size - 1 or 1, epsilon=share)
        noise = law.steps(len(subject.places))
        drawn.append(np.clip(subject.places[:, j] + noise, 0, axis.size - 1))
    return np.array(drawn).T


def thesis_order(subject: Subject, epsilon: Fraction) -> Places:
    """Centroids in the thesis' order, with the noise that this order really needs: N times D."""
    rows, columns = subject.places.shape
    span = np.array(subject.domain.sizes) - 1
    best = None
    for k in (50, 100, 200, 400, 800):
        if 2 * k > rows:
            break
        labels = tn.microdata.reference_points(
            subject.places.astype(np.float64), k, bounds=[(0, int(s)) for s in span]
        ).labels
        scale = (labels.max() + 1) * columns / k / float(epsilon)
        best = (scale, k, labels) if best is None or scale < best[0] else best
    assert best is not None
    _, k, labels = best
    sizes = np.bincount(labels)
    made = np.empty_like(subject.places)
    for j in range(columns):
        moved = int(max(span[j], 1)) * (labels.max() + 1) * columns
        law = DiscreteLaplace(sensitivity=int(moved), epsilon=epsilon)
        sums = np.bincount(labels, weights=subject.places[:, j]).astype(np.int64)
        noisy = sums + law.steps(sums.size)
        made[:, j] = np.clip(np.rint(noisy / sizes), 0, span[j])[labels]
    return made


def measured(subject: Subject, released: pa.Table) -> Figures:
    """How far the released table is from the original."""
    found = likeness(subject.made.table, released, tn.Schema.from_dict(subject.made.schema))
    quantiles = [column.quantiles for column in found.columns if column.quantiles is not None]
    figures = {
        "shares": float(np.mean([column.histogram for column in found.columns])),
        "boxes": found.boxes,
    }
    if quantiles:
        figures["wasserstein"] = float(np.mean(quantiles))
        figures["kolmogorov"] = float(np.mean([far for _, far in found.kolmogorov]))
    if found.sliced is not None:
        figures["sliced"] = found.sliced
    if found.pairs is not None:
        figures["pairs"] = found.pairs
    if found.correlation is not None:
        figures["correlation"] = found.correlation.mean
    if subject.made.target is not None:
        figures["auc"] = auc(released, subject.made.table, subject.made.target)
        figures["three-way"] = three_way(subject, released)
    return figures


def three_way(subject: Subject, released: pa.Table) -> float:
    """The mean error of counts over cells of three columns, over rows."""
    names = [axis.name for axis in subject.domain.axes]
    tables = [coded(one, subject.made.table) for one in (subject.made.table, released)]
    rng = np.random.default_rng(7)
    total, rows = 0.0, subject.made.table.num_rows
    for _ in range(1000):
        chosen = rng.choice(len(names), 3, replace=False)
        cell = [int(rng.integers(0, tables[0][:, j].max() + 1)) for j in chosen]
        counts = [int((table[:, chosen] == cell).all(axis=1).sum()) for table in tables]
        total += abs(counts[0] - counts[1]) / rows
    return total / 1000


def coded(table: pa.Table, original: pa.Table) -> NDArray[np.int64]:
    """Each column in few cells: tenths of the original's numbers, or its categories."""
    columns = []
    for name in original.column_names:
        values, known = table.column(name), original.column(name)
        if pa.types.is_integer(known.type) or pa.types.is_floating(known.type):
            edges = np.unique(np.quantile(known.to_numpy(), np.arange(1, 10) / 10))
            columns.append(np.searchsorted(edges, values.to_numpy(), side="right"))
        else:
            place = {word: i for i, word in enumerate(sorted(set(known.to_pylist())))}
            columns.append(np.array([place.get(word, 0) for word in values.to_pylist()]))
    return np.stack(columns, axis=1)


def auc(train: pa.Table, test: pa.Table, target: tuple[str, str]) -> float:
    """The area under the curve of a logistic regression, trained on one, tried on the other."""
    name, positive = target
    x, y = features(train, test, name), np.array(train.column(name).to_pylist()) == positive
    weights = np.zeros(x.shape[1])
    for _ in range(8):  # Newton's steps, with a little ridge
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (chance - y) + 1e-2 * weights
        bend = (x * (chance * (1 - chance))[:, None]).T @ x + 1e-2 * np.eye(x.shape[1])
        weights -= np.linalg.solve(bend, slope)
    truth = np.array(test.column(name).to_pylist()) == positive
    score = features(test, test, name) @ weights
    order = np.argsort(score, kind="stable")
    ranks = np.empty(order.size)
    ranks[order] = np.arange(1, order.size + 1)
    ones = int(truth.sum())
    zeros = truth.size - ones
    return float((ranks[truth].sum() - ones * (ones + 1) / 2) / (ones * zeros))


def features(table: pa.Table, known: pa.Table, target: str) -> NDArray[np.float64]:
    columns = [np.ones(table.num_rows)]
    for name in (n for n in known.column_names if n != target):
        original, values = known.column(name), table.column(name)
        if pa.types.is_integer(original.type) or pa.types.is_floating(original.type):
            held = original.to_numpy().astype(np.float64)
            scaled = (values.to_numpy() - held.mean()) / (held.std() or 1)
            columns += [scaled, np.clip(scaled, -5, 5) ** 2]
        else:
            words = sorted(set(original.to_pylist()))[1:]
            seen = np.array(values.to_pylist())
            columns += [(seen == word).astype(np.float64) for word in words]
    return np.stack(columns, axis=1)


def ours(subject: Subject, epsilon: Fraction) -> Iterator[tuple[str, Callable[[], pa.Table]]]:
    """Every way of ours that suits the table."""
    for by in WAYS:
        try:
            planned(subject.domain, len(subject.places), epsilon, by)
        except tn.Refused:
            continue
        yield by, lambda by=by: drawn(subject, epsilon, by)  # type: ignore[misc]


def drawn(subject: Subject, epsilon: Fraction, by: str) -> pa.Table:
    way = planned(subject.domain, len(subject.places), epsilon, by).way
    return subject.table(way.draw(subject.places, SYSTEM))


def simple(subject: Subject, epsilon: Fraction) -> Iterator[tuple[str, Callable[[], pa.Table]]]:
    yield "plain noise", lambda: subject.table(plain_noise(subject, epsilon))
    if all(axis.ordered for axis in subject.domain.axes):
        yield "thesis' order, sound", lambda: subject.table(thesis_order(subject, epsilon))


RIVAL = """
import json, sys
import numpy as np, pandas as pd
from dpmm.pipelines import AIMPipeline, MSTPipeline
name, source, out, sizes, epsilon, delta, runs = sys.argv[1:]
sizes = json.loads(sizes)
frame = pd.read_parquet(source)
kind = {"MST": MSTPipeline, "AIM": AIMPipeline}[name]
for run in range(int(runs)):
    model = kind(epsilon=float(epsilon), delta=float(delta), disable_processing=True, n_jobs=2)
    model.fit(frame, domain=sizes, random_state=run)
    model.generate(n_records=len(frame), random_state=run).to_parquet(f"{out}.{run}")
"""


def rival(python: str, name: str, subject: Subject, epsilon: Fraction, runs: int) -> list[pa.Table]:
    """Tables of another synthesiser, which sees at most 32 equal parts of each column of numbers;
    empty if it fails, or takes longer than `PATIENCE` seconds."""
    parts = [min(axis.size, 32) if axis.ordered else axis.size for axis in subject.domain.axes]
    width = [axis.size / n for axis, n in zip(subject.domain.axes, parts, strict=True)]
    names = [f"c{j}" for j in range(len(parts))]
    cut = np.minimum((subject.places / width).astype(np.int64), np.array(parts) - 1)
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in.parquet", Path(folder) / "out"
        pq.write_table(pa.table(dict(zip(names, cut.T, strict=True))), source)
        sizes = json.dumps(dict(zip(names, parts, strict=True)))
        words = [python, "-c", RIVAL, name, source, out, sizes, float(epsilon), DELTA, runs]
        try:
            subprocess.run(list(map(str, words)), check=True, capture_output=True, timeout=PATIENCE)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failed:
            sys.stderr.write(f"{name}: {str(getattr(failed, 'stderr', failed))[-400:]}\n")
            return []
        rng = np.random.default_rng(1)
        tables = []
        for run in range(runs):
            found = pq.read_table(f"{out}.{run}")
            columns = []
            for name_, wide, size in zip(names, width, subject.domain.sizes, strict=True):
                at = found.column(name_).to_numpy().astype(np.float64) * wide
                if wide > 1:
                    at = at + rng.uniform(0, wide, at.size)
                columns.append(np.clip(np.floor(at + 1e-9), 0, size - 1).astype(np.int64))
            tables.append(subject.table(np.array(columns).T))
        return tables


def mean(rows: list[Figures]) -> Figures:
    return {name: round(float(np.mean([row[name] for row in rows])), 7) for name in rows[0]}


def compare(
    given: argparse.Namespace, console: Console
) -> tuple[list[dict[str, object]], dict[Cell, str]]:
    """The figures, and which way is taken of each table at each epsilon."""
    found: list[dict[str, object]] = []
    taken: dict[Cell, str] = {}
    for name in given.only:
        data = made(name, given.data)
        if data is None:
            console.print(f"{name}: not in {given.data}")
            continue
        subject = Subject.of(data)
        for epsilon in map(Fraction, given.epsilon):
            rows = []
            taken[name, float(epsilon)] = planned(subject.domain, len(subject.places), epsilon).by
            for by, draw in (*ours(subject, epsilon), *simple(subject, epsilon)):
                if given.ways is not None and by not in given.ways:
                    continue
                begin = time.process_time()
                tables = [draw() for _ in range(given.runs)]
                took = (time.process_time() - begin) / given.runs
                figures = mean([measured(subject, table) for table in tables])
                facts = {"by": by, "runs": given.runs, "cpu_seconds": round(took, 3)}
                rows.append(facts | figures)
            for other, runs in RIVALS.items() if given.rival and epsilon == 1 else ():
                if name not in TRIED[other]:
                    continue
                tables = rival(given.rival, other, subject, epsilon, min(given.runs, runs))
                if tables:
                    figures = mean([measured(subject, table) for table in tables])
                    rows.append({"by": f"{other} (δ = {DELTA:g})", **figures})
            shown(console, f"{name}, {len(subject.places):,} rows, epsilon {epsilon}", rows)
            found += [{"table": name, "epsilon": float(epsilon), **row} for row in rows]
    return found, taken


def earlier(given: argparse.Namespace) -> list[dict[str, object]]:
    """The recorded rows that are not measured again; those of rivals stay without `--rival`."""
    path = Path(__file__).parent / "results" / "private_release.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    again = [float(Fraction(epsilon)) for epsilon in given.epsilon]
    return [
        row
        for row in rows
        if row["table"] not in given.only
        or row["epsilon"] not in again
        or (given.ways is not None and way_of(row) not in given.ways)
        or (given.rival is None and row["by"].startswith(tuple(RIVALS)))
    ]


def way_of(row: dict[str, object]) -> str:
    """The way of a row, whether or not it was the one that is taken."""
    by = str(row["by"])
    return by[len("auto (") : -1] if by.startswith("auto (") else by


def marked(rows: list[dict[str, object]], taken: dict[Cell, str]) -> list[dict[str, object]]:
    """The rows table by table, with the way marked that is taken today where it was asked."""
    found = []
    for row in rows:
        chosen, way = taken.get((row["table"], row.get("epsilon"))), way_of(row)
        if chosen is not None:
            row = row | {"by": f"auto ({chosen})" if way == chosen else way}
        found.append(row)
    kinds = [*WAYS, "plain noise", "thesis' order, sound"]

    def place(row: dict[str, Any]) -> tuple[int, float, bool, int]:
        if row["table"] not in TABLES:
            return len(TABLES), 0.0, True, 0
        way, taken = way_of(row), row["by"].startswith("auto")
        nth = kinds.index(way) if way in kinds else len(kinds)
        return list(TABLES).index(row["table"]), row["epsilon"], not taken, nth

    return sorted(found, key=place)


def shown(console: Console, title: str, rows: list[dict[str, object]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table(*names, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(_short(row.get(name)) for name in names))
    console.print(table)


def _short(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else "" if value is None else str(value)


def at_scale(most: int) -> list[dict[str, object]]:
    """Ten million rows of two columns in memory, and up to `most` rows of two and four columns in
    files, read in passes; each in a process of its own."""
    rows = [alone(["--large-one", by]) for by in ("tree", "microaggregation")]
    with tempfile.TemporaryDirectory() as folder:
        for many, columns in itertools.product(STORED, (2, 4)):
            if many > most:
                continue
            path = Path(folder) / "large.parquet"
            stored(path, many, columns)
            for by in ("auto", "microaggregation"):
                rows.append(alone(["--stored-one", str(path), str(columns), by]))
    return rows


def alone(words: list[str]) -> dict[str, object]:
    """The figures that a process of its own prints."""
    command = [sys.executable, __file__, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def stored(path: Path, rows: int, columns: int) -> None:
    """So many rows in two clouds, written piece by piece."""
    writer = None
    for begin in range(0, rows, PIECE):
        places = clouds(min(PIECE, rows - begin), columns, begin)
        table = pa.table({f"x{j}": places[:, j] for j in range(columns)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def one_in_passes(path: str, columns: str, by: str) -> None:
    """The whole journey, with the least memory: read, pay, draw, compare, save."""
    schema = {
        "table": {"name": "large", "unit": "record", "neighbours": "replace"},
        "columns": {f"x{j}": number(0, 99_999) for j in range(int(columns))},
        "budget": {"total": 1},
    }
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        made = tn.publish(
            path,
            schema=schema,
            method="private",
            epsilon=1,
            by=None if by == "auto" else by,
            memory=LEAST_MEMORY,
            ledger=tn.ledger.Memory(),
        )
        made.save(Path(folder) / "out", kind="parquet")
        took = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    table = f"{made.rows:,} x {columns}, in passes"
    used = made.certificate.parameters["by"]
    print(json.dumps({"table": table, "by": used, "cpu_seconds": took, "gigabytes": peak}))


def one_at_scale(by: str) -> None:
    places, domain = large(10_000_000)
    way = planned(domain, len(places), Fraction(1), by).way
    begin = time.process_time()
    way.draw(places, SYSTEM)
    took = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"table": "10,000,000 x 2", "by": by, "cpu_seconds": took, "gigabytes": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--ways", nargs="+", help="only these; with --add the others stay")
    parser.add_argument("--epsilon", nargs="+", default=["1/10", "1", "10"])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rival", help="a Python that has dpmm")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--most", type=int, default=STORED[-1], help="rows of stored tables")
    parser.add_argument("--large-one", help=argparse.SUPPRESS)
    parser.add_argument("--stored-one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--add", action="store_true", help="keep rows of other tables")
    parser.add_argument("--out", type=Path, help="where the chart goes")
    given = parser.parse_args()
    if given.large_one:
        one_at_scale(given.large_one)
        return
    if given.stored_one:
        one_in_passes(*given.stored_one)
        return
    console = Console(width=150)
    if given.summary:
        given.only = []
        console.print("\n".join(summary(earlier(given))))
        return
    measured_now, taken = compare(given, console)
    rows = marked([*(earlier(given) if given.add else []), *measured_now], taken)
    if given.large:
        big = at_scale(given.most)
        shown(console, "large tables, epsilon 1", big)
        rows = [row for row in rows if "gigabytes" not in row] + big
    console.print("\n".join(summary(rows)))
    if given.out:
        given.out.write_text(chart(rows))
    console.print(f"written to {record('private_release', rows)}")


if __name__ == "__main__":
    main()
