"""Thesis, chapter 7: t-closeness of a medical table, bucketed distributions, and errata."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tenue.evaluate import check
from tenue.publish.publish import publish

from .cell import Cell, beside, claimed, formula, listed, met, refuted
from .data import Data, arrow
from .draw import Figure, Panel, Points, Series, pairs, panels, plot
from .exhibit import erratum, figure, table

Counts = NDArray[np.int64]


def ratio(groups: Sequence[int], buckets: Sequence[int]) -> float:
    """The distance of Definition 15: the largest quotient of shares, of group and table."""
    rows = arrow({"group": list(groups), "bucket": [str(one) for one in buckets]})
    checked = check(rows, quasi_identifiers=["group"], confidential=["bucket"])
    exact = checked.confidential[0].exact_t_ratio
    return math.inf if exact is None else float(exact)


def counted(groups: Sequence[int], buckets: Sequence[int]) -> Counts:
    """Records by group (rows) and bucket (columns), both numbered from 0."""
    counts = np.zeros((max(groups) + 1, max(buckets) + 1), np.int64)
    np.add.at(counts, (groups, buckets), 1)
    return counts


class Close(NamedTuple):
    """A release of numbers: the group and the bucket of each record, both numbered from 0."""

    groups: list[int]
    buckets: list[int]

    @property
    def counts(self) -> Counts:
        return counted(self.groups, self.buckets)

    @property
    def sizes(self) -> list[int]:
        """The number of records in each bucket, in the order of values."""
        return self.counts.sum(axis=0).tolist()  # type: ignore[no-any-return]

    @property
    def ratio(self) -> float:
        return ratio(self.groups, self.buckets)


def released(values: Sequence[int], t: Fraction | int, k: int) -> Close:
    """Published t-close with groups of k; each record has a different quasi-identifier."""
    many = len(values)
    columns = {
        "place": {"type": "number", "bounds": [0, many], "role": "quasi-identifier"},
        "value": {"type": "number", "bounds": [0, many + 1], "role": "confidential"},
    }
    rows = {"place": list(range(many)), "value": list(values)}
    tables = published(rows, schema("values", columns), method="t-close", t=str(t), k=k)
    shown = tables["confidential"]
    ends = sorted(set(shown["value"]), key=lambda text: float(text[1:].partition(",")[0]))
    return Close([group - 1 for group in shown["group"]], [ends.index(b) for b in shown["value"]])


def schema(name: str, columns: dict[str, Any]) -> dict[str, Any]:
    head = {"name": name, "unit": "record", "neighbours": "replace"}
    return {"table": head, "columns": columns}


def published(
    rows: dict[str, list[Any]], schema: dict[str, Any], **options: Any
) -> dict[str, dict[str, list[Any]]]:
    """The tables of a release, by their names."""
    release = publish(arrow(rows), schema=schema, ledger=False, **options)
    return {part: one.to_pydict() for part, one in release.tables.items()}


# -- Tables 7.2 to 7.6: a medical table made anonymous, and groups that are close ------------------

PATIENTS = (
    ("asian", "1964-09-27", "female", "hypertension"),
    ("asian", "1961-05-08", "female", "obesity"),
    ("asian", "1964-04-18", "male", "chest pain"),
    ("black", "1963-03-13", "male", "hypertension"),
    ("black", "1963-03-18", "male", "shortness of breath"),
    ("black", "1964-09-07", "female", "obesity"),
    ("white", "1961-05-14", "male", "chest pain"),
    ("white", "1963-05-08", "male", "obesity"),
    ("white", "1961-09-15", "female", "shortness of breath"),
)
"""Table 7.2: ethnicity, date of birth, sex, problem."""
NAMES = ("ethnicity", "birth", "sex", "problem")


def patients() -> dict[str, list[Any]]:
    columns = zip(*PATIENTS, strict=True)
    return {name: list(column) for name, column in zip(NAMES, columns, strict=True)}


def dated(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return columns | {"birth": [date.fromisoformat(text) for text in columns["birth"]]}


def checked(columns: dict[str, list[Any]]) -> Any:
    """All columns but the problem are quasi-identifiers."""
    known = [name for name in columns if name != "problem"]
    return check(arrow(columns), quasi_identifiers=known, confidential=["problem"])


def original(_: Data) -> Iterator[Cell]:
    k, remark = checked(patients()).k, "Without names, every record is still alone in its class."
    row, says = "ethnicity, birth and sex", "de-identified only"
    yield met("records", "number", "9", len(PATIENTS), right=9)
    yield claimed(row, "k", says, k, holds=k == 1, remark=remark)


def generalised(_: Data) -> Iterator[Cell]:
    result = checked(patients() | {"birth": ["[61,64]"] * 9, "sex": ["-"] * 9})
    yield met("k", "3-anonymous", "3", result.k, right=3)
    yield beside("l", "different problems in a group, least", float(result.l or 0))


def patient_schema() -> dict[str, Any]:
    columns = {
        name: {"type": "category", "categories": sorted(set(column)), "role": "quasi-identifier"}
        for name, column in patients().items()
    }
    bounds = ["1960-01-01", "1965-12-31"]
    columns["birth"] = {"type": "date", "bounds": bounds, "role": "quasi-identifier"}
    columns["problem"]["role"] = "confidential"
    return schema("patients", columns)


def anatomy(_: Data) -> Iterator[Cell]:
    """The printed groups, and those that Tenue forms."""
    columns = patients()
    groups = [{"asian": 1, "black": 2, "white": 3}[name] for name in columns["ethnicity"]]
    linked = checked({"id": groups, "problem": columns["problem"]})
    least = float(linked.l or 0)
    tables = published(dated(columns), patient_schema(), method="anatomy", k=3)
    known, secret = tables["quasi_identifiers"], tables["confidential"]
    sizes = [known["group"].count(group) for group in set(known["group"])]
    smallest = float(min(sizes))
    true = sorted(map(str, secret["problem"])) == sorted(columns["problem"])
    kept = true and sorted(known["sex"]) == sorted(columns["sex"])
    row, column = "publish(method='anatomy')", "problems in a group, least"
    says, text = "no value is altered", "true" if true else "altered"
    yield met("printed tables", "k", "3", linked.k, right=3)
    yield claimed("printed tables", column, "kept as they are", least, holds=linked.l == 3)
    yield claimed(row, "smallest group", "at least 3", smallest, holds=sizes == [3, 3, 3])
    yield claimed(row, "both tables", says, text, holds=kept)


GROUPS = np.array([2, 1, 1, 3, 2, 3, 1, 2, 3, 3, 1, 2]) - 1
"""Table 7.5: the group of each of twelve records, in the order of their values."""
BUCKETS = np.repeat([0, 1, 2], 4)


def printed_ratio() -> float:
    return ratio(GROUPS.tolist(), BUCKETS.tolist())


def close(_: Data) -> Iterator[Cell]:
    counts = counted(GROUPS.tolist(), BUCKETS.tolist())
    ours = released(range(1, 13), Fraction(3, 2), 4)
    sizes = ours.counts.sum(axis=1).tolist()
    text, row = ", ".join(map(str, sizes)), "publish(method='t-close')"
    yield met("t", "printed groups", "1.5", printed_ratio(), right="1.5")
    yield met("k", "printed groups", "4", int(counts.sum(axis=1).min()), right=4)
    yield listed("B1, B2, B3 in P1", "counts", "2, 1, 1", counts[0])
    yield claimed(row, "sizes of groups", "at least 4", text, holds=sizes == [4, 4, 4])
    yield claimed(row, "t", "at most 1.5", ours.ratio, holds=ours.ratio <= 1.5)
    yield beside(row, "buckets, ⌊t⌋ + 1", float(len(ours.sizes)), right=2)


def shares_of_t(_: Data) -> Iterator[Cell]:
    """Theory: 1/(t+1) everywhere, t/(t+1) and 1/(t(t+1)) in a group; published so."""
    columns = "share of the emphasised bucket", "share of any other bucket"
    for t in (2, 3, 4):
        row, many = f"t = {t}", t + 1
        release = released(range(1, t * many * many + 1), t, t * many)
        shares = release.counts / release.counts.sum(axis=1, keepdims=True)
        yield formula(row, columns[0], f"{t}/{many}", float(shares.max()), t / many)
        yield formula(row, columns[1], f"1/{t * many}", float(shares.min()), 1 / (t * many))
        yield met(row, "closeness", str(t), release.ratio, right=t)
        yield met(row, "buckets", str(many), len(release.sizes), right=many)


TABLES = (
    table("7.2", "A medical table", original),
    table("7.3", "The same, 3-anonymous by generalisation", generalised),
    table("7.4", "The same by Anatomy", anatomy),
    table("7.5", "4-anonymous and 1.5-close", close),
    table("7.6", "Shares that use up t", shares_of_t),
)


# -- Figures 7.1 to 7.3: generalisations of sixteen records ----------------------------------------

FIRST, SECOND = "ABCD", "PQRS"
RECORDS = tuple(product(range(4), range(4)))
Levels = tuple[int, int]


def general(place: int, level: int) -> int:
    """A value, its half of the hierarchy, or all of it."""
    return (place, place // 2, 0)[level]


def grouped(levels: Levels) -> list[tuple[int, int]]:
    return [(general(a, levels[0]), general(b, levels[1])) for a, b in RECORDS]


def least(levels: Levels) -> int:
    first, second = zip(*grouped(levels), strict=True)
    return int(checked({"q1": list(first), "q2": list(second), "problem": list(range(16))}).k)


def minimal() -> list[Levels]:
    """The generalisations with k = 4 of which none can be refined."""

    def refines(fine: Levels, coarse: Levels) -> bool:
        return fine != coarse and fine[0] <= coarse[0] and fine[1] <= coarse[1]

    good = [levels for levels in product(range(3), range(3)) if least(levels) >= 4]
    return [one for one in good if not any(refines(other, one) for other in good)]


def _scatter(title: str, levels: Levels) -> Panel:
    members: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for (a, b), key in zip(RECORDS, grouped(levels), strict=True):
        members.setdefault(key, []).append((float(a), float(b)))
    named = {f"group {i + 1}": points for i, points in enumerate(members.values())}
    if len(members) == len(RECORDS):
        named = {"record": [(float(a), float(b)) for a, b in RECORDS]}
    series = [Series(name, tuple(points), "point") for name, points in named.items()]
    words = [(float(i), -0.7, name) for i, name in enumerate(FIRST)]
    words += [(-0.7, float(i), name) for i, name in enumerate(SECOND)]
    words += [(1.5, -1.3, "Q1"), (-1.3, 1.5, "Q2")]
    axes: Any = {"square": True, "x_range": (-1.5, 3.5), "y_range": (-1.5, 3.5), "hidden": "xy"}
    return Panel(title, "", "", tuple(series), words=tuple(words), **axes)


def projection(_: Data) -> Figure:
    return panels(_scatter("Sixteen records", (0, 0)), caption="One record for each combination.")


def projection_cells(_: Data) -> Iterator[Cell]:
    k = float(least((0, 0)))
    yield met("records", "number", "16", len(RECORDS), right=16)
    yield claimed("each combination", "k", "exactly one record", k, holds=k == 1)


def hierarchy(_: Data) -> Figure:
    edges = [(0.0, float(i), 0.5 + 2 * (i // 2)) for i in range(4)]
    edges += [(1.0, 0.5 + 2 * i, 1.5) for i in range(2)]
    nodes = (*((float(i), 0.0) for i in range(4)), (0.5, 1.0), (2.5, 1.0), (1.5, 2.0))
    series = (
        *(
            Series("part of", ((child, low), (parent, low + 1)), "line")
            for low, child, parent in edges
        ),
        Series("concept", nodes, "point"),
    )

    def tree(title: str, names: str) -> Panel:
        words = (
            *((float(i), -0.25, name) for i, name in enumerate(names)),
            (0.1, 1.15, f"{names[0]} or {names[1]}"),
            (2.9, 1.15, f"{names[2]} or {names[3]}"),
            (1.5, 2.2, "any"),
        )
        axes: Any = {"x_range": (-0.6, 3.6), "y_range": (-0.4, 2.4), "hidden": "xy"}
        return Panel(title, "", "", series, words=words, **axes)

    return panels(tree("Q1", FIRST), tree("Q2", SECOND), caption="Two steps to everything.")


def hierarchy_cells(_: Data) -> Iterator[Cell]:
    sizes = [len({general(i, level) for i in range(4)}) for level in range(3)]
    yield listed("values at each level", "both attributes", "4, 2, 1", sizes)


def generalisations(_: Data) -> Figure:
    titles = {(0, 2): "Q1 kept", (1, 1): "Halves of both", (2, 0): "Q2 kept"}
    return panels(
        *(_scatter(titles[levels], levels) for levels in minimal()),
        caption="Each is 4-anonymous, and none is best for all purposes.",
    )


def generalisation_cells(_: Data) -> Iterator[Cell]:
    found = minimal()
    text, says = "; ".join(f"{a} {b}" for a, b in found), "Q1 kept … Q2 kept"
    same = found == [(0, 2), (1, 1), (2, 0)]
    yield claimed("minimal 4-anonymous", "levels of Q1 and Q2", says, text, holds=same)
    yield met("k", "each of them", "4", min(map(least, found)), right=4)


# -- Figures 7.4 to 7.7: buckets and bucketed distributions ----------------------------------------

RANKS = tuple(float(i) for i in range(1, 13))


def _by_label(
    prefix: str, labels: Sequence[int], point: Callable[[int], tuple[float, float]]
) -> list[Series]:
    """The points of the records with label 0, with label 1, and so on."""
    return [
        Series(
            f"{prefix}{label + 1}",
            tuple(point(i) for i, own in enumerate(labels) if own == label),
            "point",
        )
        for label in range(3)
    ]


def twelve() -> Close:
    """Twelve values, published with as many buckets as use up t = 2."""
    return released(range(1, 13), 2, 12)


def buckets(_: Data) -> Figure:
    def line(title: str, *shown: Series) -> Panel:
        axes: Any = {"x_range": (0.5, 12.5), "y_range": (0, 2), "x_ticks": RANKS, "hidden": "y"}
        return Panel(title, "rank", "", shown, flat=True, **axes)

    return panels(
        line("Values", Series("value", tuple((rank, 1.0) for rank in RANKS), "point")),
        line("Buckets", *_by_label("B", sorted(twelve().buckets), lambda i: (RANKS[i], 1.0))),
        caption="Twelve values in three buckets of four.",
    )


def bucket_cells(_: Data) -> Iterator[Cell]:
    yield listed("12 values, 3 buckets", "sizes", "4, 4, 4", twelve().sizes)


def partition(_: Data) -> Figure:
    return plot(
        *("Twelve records", "rank of the value", ""),
        *_by_label("P", GROUPS.tolist(), lambda i: (RANKS[i], float(BUCKETS[i] + 1))),
        x_range=(-0.5, 12.5),
        y_range=(0.5, 3.5),
        x_ticks=RANKS,
        hidden="y",
        words=tuple((0.0, float(j + 1), f"B{j + 1}") for j in range(3)),
        caption="Each group takes one or two records of each bucket.",
    )


def partition_cells(_: Data) -> Iterator[Cell]:
    yield met("distance", "largest of three groups", "1.5", printed_ratio(), right="1.5")


LOW, HIGH = Fraction(1, 3), Fraction(2, 3)
"""Where the density of the group is 2; elsewhere it is ½."""


def mass(low: Fraction, high: Fraction) -> Fraction:
    """The mass of the group between two values."""
    raised = max(Fraction(0), min(high, HIGH) - max(low, LOW))
    return (high - low) / 2 + raised * Fraction(3, 2)


def densities(_: Data) -> Figure:
    steps: Points = ((0.0, 0.5), (1 / 3, 2.0), (2 / 3, 0.5), (1.0, 0.5))
    return plot(
        *("2-closeness", "value", "density"),
        Series("whole table", ((0.0, 1.0), (1.0, 1.0)), "dashed"),
        Series("a group", steps, "step"),
        y_range=(0, 2.4),
        caption="A group uses up t = 2: twice as much here, half as much there.",
    )


def density_cells(_: Data) -> Iterator[Cell]:
    total = mass(Fraction(0), Fraction(1))
    yield claimed("a group", "total mass", "1", float(total), holds=total == 1)
    yield claimed("density", "largest ratio", "2", 2.0, holds=_bucketed(3) == 2)


def _masses(many: int) -> list[Fraction]:
    """The group's mass in each of so many equal buckets."""
    return [mass(Fraction(j, many), Fraction(j + 1, many)) for j in range(many)]


def _bucketed(many: int) -> Fraction:
    """The distance of Definition 15 with equal buckets."""
    return max(max(many * share, 1 / (many * share)) for share in _masses(many))


def bucketed(_: Data) -> Figure:
    drawn = []
    for many in (3, 2):
        places = [(j + 0.5) / many for j in range(many)]
        series = (
            Series("whole table", pairs(places, [1 / many] * many), "bar"),
            Series("a group", pairs(places, [float(share) for share in _masses(many)]), "bar"),
        )
        axes: Any = {"x_range": (0, 1), "y_range": (0, 0.7)}
        drawn.append(Panel(f"{many} buckets", "value", "probability", series, **axes))
    return panels(*drawn, caption="Three buckets show the difference, two hide it.")


def bucketed_cells(_: Data) -> Iterator[Cell]:
    three, two = float(_bucketed(3)), float(_bucketed(2))
    equal = all(3 * share in (2, Fraction(1, 2)) for share in _masses(3))
    yield met("three buckets", "t", "2", three, right=2)
    yield met("two buckets", "t", "1", two, right=1)
    yield claimed("three buckets", "each of them", "with equality", three, holds=equal)


FIGURES = (
    figure("fig7.1", "Sixteen records", projection_cells, projection),
    figure("fig7.2", "Two hierarchies", hierarchy_cells, hierarchy),
    figure("fig7.3", "Least generalised", generalisation_cells, generalisations),
    figure("fig7.4", "Values become buckets", bucket_cells, buckets),
    figure("fig7.5", "Groups that are 1.5-close", partition_cells, partition),
    figure("fig7.6", "A distribution that uses up t = 2", density_cells, densities),
    figure("fig7.7", "The same in buckets", bucketed_cells, bucketed),
)


# -- What chapter 7 gets wrong, each with a check that runs ----------------------------------------


def ceiling(_: Data) -> Iterator[Cell]:
    """Bucket ends ⌈iN/(t+1) + ½⌉: six values in three buckets become 3, 2 and 1."""
    for units, t in ((6, 2), (10, 4), (12, 2)):
        row, half = f"{units} values, t = {t}", Fraction(1, 2)
        ends = [math.ceil(Fraction(i * units, t + 1) + half) for i in range(1, t + 1)]
        printed = np.diff([0, *ends, units]).tolist()
        ours = released(range(1, units + 1), t, units).sizes
        texts = [", ".join(map(str, sizes)) for sizes in (printed, ours)]
        even = max(ours) - min(ours) <= 1
        yield refuted(
            *(row, "sizes, as printed", "equal mass", texts[0]),
            fails=max(printed) - min(printed) > 1,
            because="The ceiling after adding a half moves every end too far; it is the floor.",
        )
        yield claimed(row, "sizes, corrected", "equal mass", texts[1], holds=even)


def recipe(buckets: list[int], t: int) -> Counts:
    """Section 7.2.2: the least of every other bucket, the rest of the emphasised one."""
    units, many = sum(buckets), len(buckets)
    rows = []
    ends = [math.ceil(Fraction(i * units, many)) for i in range(many + 1)]
    for i, size in enumerate(b - a for a, b in pairwise(ends)):
        row = [math.ceil(Fraction(size * bucket, units * t)) for bucket in buckets]
        row[i] += size - sum(row)
        rows.append(row)
    return np.array(rows)


def sums(_: Data) -> Iterator[Cell]:
    ours, row = released(range(1, 20), 2, 6), "19 records, t = 2"
    printed = recipe(ours.sizes, 2).sum(axis=0).tolist()
    groups = len(released([1] * 5 + [2] * 4, Fraction(3, 2), 3).counts)
    texts = [", ".join(map(str, sizes)) for sizes in (ours.sizes, printed)]
    column, close = "t of the three groups of Tenue", ours.ratio <= 2 and len(ours.counts) == 3
    place = ("buckets of 5 and 4, t = 1.5", "three groups of 3", "always possible")
    yield refuted(
        *(row, "records of each bucket", *texts),
        fails=printed != ours.sizes,
        because="The recipe fills each group by itself; buckets then give too many or too few "
        "records.",
    )
    yield claimed(row, column, "at most 2", ours.ratio, holds=close)
    yield refuted(
        *(*place, f"{groups} groups"),
        fails=groups < 3,
        because="No whole counts satisfy all rows and columns. Fewer groups do; one always does.",
    )


def last_member(_: Data) -> Iterator[Cell]:
    """e^ε-closeness is not ε-differential privacy against an intruder who knows all others."""
    for k in (6, 30):
        row, group = (
            f"t = 2, a group of {k}",
            released(range(1, 3 * k + 1), 2, k).counts[0].tolist(),
        )
        chance = _chance_of_last(group)
        yield refuted(
            *(row, "P(right), all others known", "at most 2 · 1/3", chance),
            fails=chance > 2 / 3,
            because="The link to differential privacy holds for an intruder who knows the "
            "marginal distribution only. One who knows k − 1 members learns the last.",
        )
        yield beside(row, "P(right), none known", max(group) / k, right=2 / 3)


def _chance_of_last(group: list[int]) -> float:
    """How often the published counts of a group less all other members leave the right bucket."""
    right = 0
    for own, many in enumerate(group):
        others = [count - (bucket == own) for bucket, count in enumerate(group)]
        left = [count - known for count, known in zip(group, others, strict=True)]
        right += many * (left.index(max(left)) == own)
    return right / sum(group)


ERRATA = (
    erratum("err.ceiling", "Bucket ends are floors", ceiling, source="section 7.2.2"),
    erratum("err.sums", "The recipe does not add up", sums, source="section 7.2.2"),
    erratum(
        *("err.last", "Close is not private if the others are known", last_member),
        source="section 7.3",
    ),
)
