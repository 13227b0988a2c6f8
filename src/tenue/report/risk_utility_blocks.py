"""Risk and utility as blocks of a report: each number with its meaning and its good end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch

from ..evaluate.check_result import Check
from ..evaluate.risk import Risk
from ..evaluate.two_tables.association import EXPLAINED, Association, PairAssociation, strength
from ..evaluate.two_tables.distribution import Marginal
from ..evaluate.two_tables.distribution_similarity import Likeness
from ..evaluate.utility import Utility
from ..text import many, named, percent, shortly
from .document import Block, Card, Cards, Figure, Figures, Grid, Paragraphs
from .figure import AFTER, BEFORE, associations, group_sizes, marginal, shares

_MOST_COLUMNS = 24
_MOST_PAIRS = 30
_ROUNDING, _SMALL = 1e-12, 1e-4


def risk_blocks(risk: Risk) -> list[Block]:
    """Re-identification and disclosure; all of it for the holder."""
    cards = [
        Card(
            "Record linkage",
            percent(risk.record_linkage),
            "of the records are correctly linked by an intruder who knows all columns of the "
            f"original. 0 % is safe; random guessing links 1 in {risk.rows_tried:,}.",
        )
    ]
    linked = [("all columns", risk.record_linkage)]
    if risk.linkage_by_quasi_identifiers is not None:
        share = risk.linkage_by_quasi_identifiers
        linked.append(("quasi-identifiers", share))
        meaning = "of the records are correctly linked by an intruder who knows only these."
        cards.append(Card("Linkage by quasi-identifiers", percent(share), meaning))
    if risk.within_1_percent is not None and risk.within_5_percent is not None:
        cards.append(
            Card(
                "Close to the truth",
                percent(risk.within_1_percent),
                "of the confidential numbers are within 1 % of the true value of the same record; "
                f"{percent(risk.within_5_percent)} within 5 %. Less is safer.",
            )
        )
    if risk.in_all_groups is not None:
        meaning = "of the records are identified, on average, by their groups of all columns."
        cards.append(Card("All groups together", percent(risk.in_all_groups), meaning))
    linked += [(f"relations of {name}", found.records) for name, found in risk.rematched.items()]
    rows = Grid(["intruder knows", "records"], [[name, percent(share)] for name, share in linked])
    picture = shares(linked, "Records that an intruder links, by what they know")
    blocks: list[Block] = [
        Cards(cards, holder=True),
        Figures([Figure(picture, "Records linked by what is known", rows)], True),
        *_by_column(risk),
    ]
    if risk.check is not None and risk.check.rows > risk.rows_tried:
        text = (
            f"These shares were measured on {risk.rows_tried:,} of {risk.check.rows:,} rows, drawn "
            "at random. Linking is easier among fewer originals, so apart from chance these shares "
            "do not understate the risk."
        )
        blocks.append(Paragraphs([text], holder=True))
    return blocks


def _by_column(risk: Risk) -> list[Block]:
    """How many values of each confidential column are unchanged, or correctly reassigned."""
    made: list[Block] = []
    if risk.own_values:
        rows = [[f"`{name}`", percent(share)] for name, share in risk.own_values.items()]
        made.append(Grid(["column", "rows with their true value"], rows, holder=True))
    if risk.rematched:
        rows = [
            [
                f"`{name}`",
                found.by,
                *map(percent, (found.records, found.records_blind)),
                *map(percent, (found.values, found.values_blind)),
            ]
            for name, found in risk.rematched.items()
        ]
        head = ["column", "learned from", "records", "by chance", "values", "by chance"]
        text = (
            "An intruder learns from the release how columns relate, and reassigns values to the "
            "members of each group. Records: the share of values correctly reassigned to their "
            "original records. Values: the share of people who receive their true value. By "
            "chance: what random guessing within groups would reach."
        )
        made += [Paragraphs([text], holder=True), Grid(head, rows, holder=True)]
    return made


def class_blocks(check: Check, *, holder: bool) -> list[Block]:
    """k, l and t: the sizes of equivalence classes, and what these disclose."""
    cards = [
        Card("k", f"{check.k:,}", "units in the smallest equivalence class. 1: a unit is unique."),
        Card("Classes", f"{check.groups:,}", f"equivalence classes in {check.rows:,} rows."),
        Card(
            "Unique rows",
            percent(check.unique_share),
            "of the rows: an intruder who knows a person's quasi-identifiers finds the row.",
        ),
        Card(
            "Homogeneous classes",
            f"{check.homogeneous_groups:,}",
            f"with {percent(check.homogeneous_share)} of the rows: they have a single value of "
            "some confidential column, which is disclosed.",
        ),
    ]
    blocks: list[Block] = [Cards(cards, holder=holder)]
    if check.confidential:
        rows = [
            [f"`{one.name}`", str(one.l)]
            + [shortly(number, 4) for number in (one.l_entropy, one.t, one.t_ratio)]
            for one in check.confidential
        ]
        head = ["confidential column", "l", "entropy l", "t (earth mover’s)", "t (ratio)"]
        text = (
            "l is the least number of different values in a class; 1 discloses the value. t is the "
            "largest distance of a class from the whole table: the earth mover’s distance runs "
            "from 0 (equal) to 1, the ratio of shares from 1 (equal) upwards."
        )
        blocks += [Grid(head, rows, holder=holder), Paragraphs([text], holder=holder)]
    return blocks


def size_figures(sizes: Mapping[str, Mapping[int, int]], k: int | None) -> Block:
    """The sizes of the groups that were formed, one chart for each column that has its own: for the
    holder, since the release does not show them."""
    figures = []
    for name, counted in sizes.items():
        rows = [[str(size), f"{groups:,}"] for size, groups in sorted(counted.items())]
        caption = f"Sizes of groups of `{name}`" if name else "Sizes of groups"
        figures.append(Figure(group_sizes(counted, k), caption, Grid(["units", "groups"], rows)))
    return Figures(figures, holder=True)


def distribution_blocks(released: Sequence[Marginal], compared: Sequence[Marginal]) -> list[Block]:
    """How each column is distributed, a chart each.

    Parameters
        released: the columns of the release alone; public.
        compared: beside the original, for the holder; empty if omitted.
    """
    alone, both = _marginals(released), _marginals(compared)
    blocks: list[Block] = [Figures(alone)]
    if compared:
        key = [(BEFORE, "original"), (AFTER, "release")]
        blocks = [Figures(both, True, key, instead=alone)]
    if len(released) > _MOST_COLUMNS:
        left = many(len(released) - _MOST_COLUMNS, "further column")
        blocks.append(Paragraphs([f"{left} not drawn."]))
    return blocks


def association_blocks(
    found: Association, released: Sequence[Marginal], *, compares: bool
) -> list[Block]:
    """How strongly every two columns are associated: heat maps, and the pairs that moved most.

    Parameters
        released: the columns of the release alone. Pairs of columns that are in the release as they
            were measured are public; the others were measured with representative values, which
            may be those of people.
        compares: whether the holder sees the original beside it.
    """
    # of an interval, the midpoint would be somebody's value
    shown = {one.name.lower(): _kind(one) for one in released}
    public = {
        pair.columns: pair.masked
        for pair in found.pairs
        if all(shown.get(n.lower()) == k for n, k in zip(pair.columns, pair.kinds, strict=True))
    }
    alone = heat_maps(public, "the release")
    blocks: list[Block] = []
    if compares and found.pairs:
        maps = [
            *heat_maps({pair.columns: pair.original for pair in found.pairs}, "the original"),
            *heat_maps({pair.columns: pair.masked for pair in found.pairs}, "the release"),
        ]
        head, *rows = found.rows(_MOST_PAIRS)
        blocks = [
            Paragraphs([found.in_short], holder=True, lead=True),
            Figures(maps, True, instead=alone, half=True),
            Grid(head, rows, holder=True),
        ]
        left = len(found.pairs) - len(rows)
        if left:
            blocks.append(Paragraphs([f"And {many(left, 'pair')} that moved less."], holder=True))
    elif alone:
        blocks = [Figures(alone, half=True)]
    return [*blocks, Paragraphs([EXPLAINED], holder=not alone)] if blocks else []


def _kind(one: Marginal) -> str:
    """The kind of a released column, if its association can be measured from the release alone."""
    if one.spread:
        return "interval"
    return "number" if one.edges else "category"


def _marginals(found: Sequence[Marginal]) -> list[Figure]:
    figures = []
    for one in found[:_MOST_COLUMNS]:
        sides = [one.after] if one.before is None else [one.after, one.before]
        rows = [
            [word, *(percent(side[place]) for side in sides)]
            for place, word in enumerate(one.words)
        ]
        head = ["value", "release", "original"][: 1 + len(sides)]
        gone = _remark(one) if one.edges else ""
        figures.append(Figure(marginal(one), f"`{one.name}`{gone}", Grid(head, rows)))
    return figures


def _remark(one: Marginal) -> str:
    """Intervals and missing values, which the chart does not show."""
    remarks = ["intervals, each spread evenly"] if one.spread else []
    after, before = one.missing
    if after or before:
        original = "" if before is None else f", {percent(before)} in the original"
        remarks.append(f"{percent(after)} missing{original}")
    return f" ({'; '.join(remarks)})" if remarks else ""


def heat_maps(strengths: Mapping[tuple[str, str], float], table: str) -> list[Figure]:
    """The heat map of one table; none without pairs."""
    if not strengths:
        return []
    rows = [[named(pair), strength(share)] for pair, share in strengths.items()]
    caption = f"Associations in {table}: blue positive, red negative"
    wide, narrow = (
        associations(strengths, f"in {table}", narrow=narrow) for narrow in (False, True)
    )
    return [Figure(wide, caption, Grid(["columns", "association"], rows), narrow)]


@singledispatch
def loss_blocks(found: object) -> list[Block]:
    """How well a release preserves the original; all of it for the holder."""
    raise TypeError(f"{type(found).__name__} measures no loss")


@loss_blocks.register
def _(found: Utility) -> list[Block]:
    cards = [
        Card(
            "Change of values",
            percent(found.relative_error),
            "of the width of the domain: root mean square over the columns that changed. 0 % is "
            "best.",
        ),
        *_of_association(found.association),
        Card(
            "Propensity score",
            _distance(found.propensity.score),
            "of a model that tries to distinguish released rows from original ones: 0 if it "
            "cannot, 0.25 if it always can.",
        ),
    ]
    values = dict(found.relative_by_column)
    rows = [
        (one.name, values[one.name], one.mean, one.variance, one.quantiles, one.histogram)
        for one in found.columns
    ]
    text = (
        "The change of each column, 0 is best: values and quantiles relative to the width of the "
        "domain, mean and variance relative to themselves, shares in total variation distance."
    )
    head = ["column", "values", "mean", "variance", "quantiles", "shares"]
    return _table_of_changes(cards, head, rows, _distance, text)


@loss_blocks.register
def _(found: Likeness) -> list[Block]:
    cards = [
        Card(
            "Range queries",
            percent(found.boxes),
            "mean error of the share of rows within ranges of one to three columns. 0 % is best.",
        )
    ]
    if found.pairs is not None:
        meaning = "mean error of the joint shares of two columns (total variation distance)."
        cards.append(Card("Pairs of columns", percent(found.pairs), meaning))
    if found.sliced is not None:
        meaning = "sliced Wasserstein distance of the numbers, relative to their domains."
        cards.append(Card("Joint distribution", shortly(found.sliced), meaning))
    cards += _of_association(found.association)
    apart = dict(found.kolmogorov)
    rows = [(one.name, one.quantiles, apart.get(one.name), one.histogram) for one in found.columns]
    text = (
        "The change of each column, 0 is best: quantiles relative to the width of the domain, the "
        "largest difference of cumulative shares, shares in total variation distance."
    )
    head = ["column", "quantiles", "cumulative", "shares"]
    return _table_of_changes(cards, head, rows, shortly, text)


def _table_of_changes(
    cards: Sequence[Card],
    head: Sequence[str],
    rows: Sequence[tuple[str, *tuple[float | None, ...]]],
    written: Callable[[float], str],
    text: str,
) -> list[Block]:
    shown = [
        [f"`{name}`", *("" if cell is None else written(cell) for cell in cells)]
        for name, *cells in rows
    ]
    blocks: list[Block] = [Cards(cards, holder=True), Grid(head, shown, holder=True)]
    return [*blocks, Paragraphs([text], holder=True)]


def _of_association(found: Association) -> list[Card]:
    if not found.pairs:
        return []
    meaning = "mean absolute change over all pairs of columns, of any types. 0 is best."
    cards = [Card("Change of associations", strength(found.mean), meaning)]
    for pair in found.named[:1]:
        text = f"{pair.name}, {pair.measure}: the pair that moved most."
        value = f"{strength(pair.original)} → {strength(pair.masked)}"
        cards.append(Card("Association lost" if _lost(pair) else "Association moved", value, text))
    return cards


def _lost(pair: PairAssociation) -> bool:
    return abs(pair.masked) < abs(pair.original)


def _distance(distance: float) -> str:
    """A distance for readers: rounding errors are 0, and there are no powers of ten."""
    if _ROUNDING < abs(distance) < _SMALL:
        return f"< {_SMALL:.4f}"
    return shortly(distance if abs(distance) > _ROUNDING else 0, 4)
