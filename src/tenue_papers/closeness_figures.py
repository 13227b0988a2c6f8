"""Figures 7.1 to 7.7: generalisations of sixteen records, and bucketed distributions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from tenue.evaluate import check

from .cell import Cell, claimed, met
from .closeness_tables import BUCKETS, GROUPS, Close, as_table, ratio, released
from .data import Data
from .draw import Figure, Panel, Series, panels
from .exhibit import figure

FIRST, SECOND = "ABCD", "PQRS"
RECORDS = list(product(range(4), range(4)))


def general(place: int, level: int) -> int:
    """A value, its half of the hierarchy, or all of it."""
    return (place, place // 2, 0)[level]


def grouped(levels: tuple[int, int]) -> list[tuple[int, int]]:
    return [(general(a, levels[0]), general(b, levels[1])) for a, b in RECORDS]


def least(levels: tuple[int, int]) -> int:
    rows = grouped(levels)
    table = as_table({"q1": [a for a, _ in rows], "q2": [b for _, b in rows], "c": list(range(16))})
    return check(table, quasi_identifiers=["q1", "q2"], confidential=["c"]).k


def minimal() -> list[tuple[int, int]]:
    """The generalisations with k = 4 of which none can be refined."""
    good = [levels for levels in product(range(3), range(3)) if least(levels) >= 4]
    return [
        one
        for one in good
        if not any(
            other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in good
        )
    ]


def _scatter(title: str, levels: tuple[int, int]) -> Panel:
    rows = grouped(levels)
    names = {key: f"group {i + 1}" for i, key in enumerate(dict.fromkeys(rows))}
    series = (
        tuple(
            Series(
                name,
                tuple(
                    (float(a), float(b))
                    for (a, b), own in zip(RECORDS, rows, strict=True)
                    if own == key
                ),
                "point",
            )
            for key, name in names.items()
        )
        if len(names) < 16
        else (Series("record", tuple((float(a), float(b)) for a, b in RECORDS), "point"),)
    )
    ends = (-1.5, 3.5)
    values = [(float(i), -0.7, name) for i, name in enumerate(FIRST)]
    others = [(-0.7, float(i), name) for i, name in enumerate(SECOND)]
    return Panel(
        title,
        "",
        "",
        series,
        square=True,
        x_range=ends,
        y_range=ends,
        hidden="xy",
        words=(*values, *others, (1.5, -1.3, "Q1"), (-1.3, 1.5, "Q2")),
    )


def projection(_: Data) -> Figure:
    return panels(_scatter("Sixteen records", (0, 0)), caption="One record for each combination.")


def projection_cells(_: Data) -> list[Cell]:
    return [
        met("records", "number", "16", len(RECORDS), right=16),
        claimed(
            "each combination",
            "k",
            "exactly one record",
            float(least((0, 0))),
            holds=least((0, 0)) == 1,
        ),
    ]


def hierarchy(_: Data) -> Figure:
    def tree(title: str, names: str) -> Panel:
        lines = tuple(
            Series("part of", ((child, low), (parent, low + 1)), "line")
            for low, child, parent in (
                *((0.0, float(i), 0.5 + 2 * (i // 2)) for i in range(4)),
                *((1.0, 0.5 + 2 * i, 1.5) for i in range(2)),
            )
        )
        leaves = [(float(i), 0.0) for i in range(4)]
        nodes = (*leaves, (0.5, 1.0), (2.5, 1.0), (1.5, 2.0))
        halves = f"{names[0]} or {names[1]}", f"{names[2]} or {names[3]}"
        return Panel(
            title,
            "",
            "",
            (*lines, Series("concept", nodes, "point")),
            x_range=(-0.6, 3.6),
            y_range=(-0.4, 2.4),
            hidden="xy",
            words=(
                *((float(i), -0.25, name) for i, name in enumerate(names)),
                (0.1, 1.15, halves[0]),
                (2.9, 1.15, halves[1]),
                (1.5, 2.2, "any"),
            ),
        )

    return panels(tree("Q1", FIRST), tree("Q2", SECOND), caption="Two steps to everything.")


def hierarchy_cells(_: Data) -> list[Cell]:
    sizes = [len({general(i, level) for i in range(4)}) for level in range(3)]
    return [
        claimed(
            "values at each level",
            "both attributes",
            "4, 2, 1",
            ", ".join(map(str, sizes)),
            holds=sizes == [4, 2, 1],
        )
    ]


def generalisations(_: Data) -> Figure:
    titles = {(0, 2): "Q1 kept", (1, 1): "Halves of both", (2, 0): "Q2 kept"}
    return panels(
        *(_scatter(titles[levels], levels) for levels in minimal()),
        caption="Each is 4-anonymous, and none is best for everybody.",
    )


def generalisation_cells(_: Data) -> list[Cell]:
    found = minimal()
    return [
        claimed(
            "minimal 4-anonymous",
            "levels of Q1 and Q2",
            "Q1 kept … Q2 kept",
            "; ".join(f"{a} {b}" for a, b in found),
            holds=found == [(0, 2), (1, 1), (2, 0)],
        ),
        met("k", "each of them", "4", min(map(least, found)), right=4),
    ]


# -- buckets ---------------------------------------------------------------------------------------


def twelve() -> Close:
    """Twelve values, published with as many buckets as use up t = 2."""
    return released(range(1, 13), 2, 12)


def buckets(_: Data) -> Figure:
    values = [(float(i + 1), 1.0) for i in range(12)]
    found = sorted(twelve().buckets)
    series = tuple(
        Series(
            f"B{j + 1}", tuple(p for p, own in zip(values, found, strict=True) if own == j), "point"
        )
        for j in range(3)
    )

    def line(title: str, shown: tuple[Series, ...]) -> Panel:
        ends, ranks = (0.5, 12.5), tuple(float(i) for i in range(1, 13))
        return Panel(
            title,
            "rank",
            "",
            shown,
            flat=True,
            x_range=ends,
            y_range=(0, 2),
            x_ticks=ranks,
            hidden="y",
        )

    return panels(
        line("Values", (Series("value", tuple(values), "point"),)),
        line("Buckets", series),
        caption="Twelve values in three buckets of four.",
    )


def bucket_cells(_: Data) -> list[Cell]:
    sizes = twelve().sizes
    return [
        claimed(
            "12 values, 3 buckets",
            "sizes",
            "4, 4, 4",
            ", ".join(map(str, sizes)),
            holds=sizes == [4, 4, 4],
        )
    ]


def partition(_: Data) -> Figure:
    series = tuple(
        Series(
            f"P{g + 1}",
            tuple((float(i + 1), float(BUCKETS[i] + 1)) for i in range(12) if GROUPS[i] == g),
            "point",
        )
        for g in range(3)
    )
    names = tuple((0.0, float(j + 1), f"B{j + 1}") for j in range(3))
    panel = Panel(
        "Twelve records",
        "rank of the value",
        "",
        series,
        x_range=(-0.5, 12.5),
        y_range=(0.5, 3.5),
        x_ticks=tuple(float(i) for i in range(1, 13)),
        hidden="y",
        words=names,
    )
    return panels(panel, caption="Each group takes one or two records of each bucket.")


def partition_cells(_: Data) -> list[Cell]:
    found = ratio(GROUPS.tolist(), BUCKETS.tolist())
    return [met("distance", "largest of three groups", "1.5", found, right="1.5")]


LOW, HIGH = Fraction(1, 3), Fraction(2, 3)
"""Where the density of the group is 2; elsewhere it is ½."""


def mass(low: Fraction, high: Fraction) -> Fraction:
    """What the group holds between two places."""
    raised = max(Fraction(0), min(high, HIGH) - max(low, LOW))
    return (high - low) / 2 + raised * Fraction(3, 2)


def densities(_: Data) -> Figure:
    steps = ((0.0, 0.5), (1 / 3, 2.0), (2 / 3, 0.5), (1.0, 0.5))
    panel = Panel(
        "2-closeness",
        "value",
        "density",
        (
            Series("whole table", ((0.0, 1.0), (1.0, 1.0)), "dashed"),
            Series("a group", steps, "step"),
        ),
        y_range=(0, 2.4),
    )
    return panels(panel, caption="A group uses up t = 2: twice as much here, half as much there.")


def density_cells(_: Data) -> list[Cell]:
    total = mass(Fraction(0), Fraction(1))
    return [
        claimed("a group", "total mass", "1", float(total), holds=total == 1),
        claimed("density", "largest ratio", "2", 2.0, holds=_bucketed(3) == 2),
    ]


def _shares(many: int) -> list[Fraction]:
    """Of each of equal buckets, the group's share over the table's."""
    return [mass(Fraction(j, many), Fraction(j + 1, many)) * many for j in range(many)]


def _bucketed(many: int) -> Fraction:
    """The distance of Definition 15 after cutting into equal buckets."""
    return max(max(share, 1 / share) for share in _shares(many))


def bucketed(_: Data) -> Figure:
    drawn = []
    for many in (3, 2):
        places = [(j + 0.5) / many for j in range(many)]
        own = [float(mass(Fraction(j, many), Fraction(j + 1, many))) for j in range(many)]
        drawn.append(
            Panel(
                f"{many} buckets",
                "value",
                "probability",
                (
                    Series("whole table", tuple((x, 1 / many) for x in places), "bar"),
                    Series("a group", tuple(zip(places, own, strict=True)), "bar"),
                ),
                x_range=(0, 1),
                y_range=(0, 0.7),
            )
        )
    return panels(*drawn, caption="Three buckets show the difference, two hide it.")


def bucketed_cells(_: Data) -> list[Cell]:
    three, two = _bucketed(3), _bucketed(2)
    return [
        met("three buckets", "t", "2", float(three), right=2),
        met("two buckets", "t", "1", float(two), right=1),
        claimed(
            "three buckets",
            "each of them",
            "with equality",
            float(three),
            holds=all(share in (2, Fraction(1, 2)) for share in _shares(3)),
        ),
    ]


EXHIBITS = (
    figure("fig7.1", "Sixteen records", "Figure 7.1", projection_cells, projection),
    figure("fig7.2", "Two hierarchies", "Figure 7.2", hierarchy_cells, hierarchy),
    figure("fig7.3", "Least generalised", "Figure 7.3", generalisation_cells, generalisations),
    figure("fig7.4", "Values become buckets", "Figure 7.4", bucket_cells, buckets),
    figure("fig7.5", "Groups that are 1.5-close", "Figure 7.5", partition_cells, partition),
    figure("fig7.6", "A distribution that uses up t = 2", "Figure 7.6", density_cells, densities),
    figure("fig7.7", "The same in buckets", "Figure 7.7", bucketed_cells, bucketed),
)
