"""Risk and utility as blocks of a report: each number with what it means and which end is good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import singledispatch

from ..evaluate.check_result import Check
from ..evaluate.risk import Risk
from ..evaluate.two_tables.distribution import Marginal
from ..evaluate.two_tables.distribution_similarity import Likeness
from ..evaluate.two_tables.information_loss import CorrelationDifference
from ..evaluate.utility import Utility
from ..text import many, percent, shortly
from .document import Block, Card, Cards, Figure, Figures, Grid, Paragraphs
from .figure import AFTER, BEFORE, correlations, group_sizes, marginal, shares

_MOST_COLUMNS = 24
_ROUNDING, _SMALL = 1e-12, 1e-4


def risk_blocks(risk: Risk) -> list[Block]:
    """What an intruder could do; all of it for the holder."""
    tried = risk.rows_tried
    cards = [
        Card(
            "Record linkage",
            percent(risk.record_linkage),
            "of the records are linked rightly by an intruder who has the whole original table, "
            f"all columns. 0 % is safe; whoever guesses finds 1 in {tried:,}.",
        )
    ]
    linked = [("knows all columns", risk.record_linkage)]
    if risk.linkage_by_quasi_identifiers is not None:
        share = risk.linkage_by_quasi_identifiers
        linked.append(("knows quasi-identifiers", share))
        meaning = "of the records, by one who has only the quasi-identifiers of the original."
        cards.append(Card("Linkage by quasi-identifiers", percent(share), meaning))
    if risk.within_1_percent is not None and risk.within_5_percent is not None:
        cards.append(
            Card(
                "Close to the truth",
                percent(risk.within_1_percent),
                "of the confidential numbers lie within 1 % of the true value of the same record; "
                f"{percent(risk.within_5_percent)} within 5 %. Less is safer.",
            )
        )
    if risk.in_all_groups is not None:
        meaning = "of the records are told apart, on average, by the groups of all columns together"
        cards.append(Card("All groups together", percent(risk.in_all_groups), meaning + "."))
    linked += [(f"restores {name}", found.records) for name, found in risk.rematched.items()]
    rows = Grid(["intruder", "records"], [[name, percent(share)] for name, share in linked])
    picture = shares(linked, "Records that an intruder links, by what he knows")
    blocks: list[Block] = [
        Cards(cards, holder=True),
        Figures([Figure(picture, "Records linked by an intruder who …", rows)], True),
    ]
    return blocks + _by_column(risk) + _tried(risk)


def _tried(risk: Risk) -> list[Block]:
    if risk.check is None or risk.check.rows <= risk.rows_tried:
        return []
    told = (
        f"These shares were measured on {risk.rows_tried:,} of {risk.check.rows:,} rows, drawn at "
        "random. Among fewer originals an intruder links more easily, so they are on the safe side "
        "but for chance."
    )
    return [Paragraphs([told], holder=True)]


def _by_column(risk: Risk) -> list[Block]:
    """What is still true of each confidential column, and what can be put back."""
    made: list[Block] = []
    if risk.own_values:
        rows = [[f"`{name}`", percent(share)] for name, share in risk.own_values.items()]
        made.append(Grid(["column", "rows that show their own true value"], rows, holder=True))
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
        head = ["column", "learned from", "records put back", "blindly", "true values", "blindly"]
        told = (
            "An intruder who learns from the release how columns relate puts values back to their "
            "own records. “Blindly” is what he would find without learning anything."
        )
        made += [Paragraphs([told], holder=True), Grid(head, rows, holder=True)]
    return made


def look_alike_blocks(check: Check, *, holder: bool) -> list[Block]:
    """k, l and t: how many look alike, and what their group gives away."""
    cards = [
        Card(
            "k",
            f"{check.k:,}",
            "units at least share their quasi-identifiers. 1 means that somebody stands alone.",
        ),
        Card("Groups", f"{check.groups:,}", f"of rows that look alike, in {check.rows:,} rows."),
        Card(
            "Rows that stand alone",
            percent(check.unique_share),
            "of the rows: whoever knows these columns of a person finds the row.",
        ),
        Card(
            "Groups that give a value away",
            f"{check.homogeneous_groups:,}",
            f"groups, {percent(check.homogeneous_share)} of the rows, have one value only of some "
            "confidential column.",
        ),
    ]
    blocks: list[Block] = [Cards(cards, holder=holder)]
    if check.confidential:
        rows = [
            [
                f"`{one.name}`",
                str(one.l),
                shortly(one.l_entropy, 4),
                shortly(one.t, 4),
                shortly(one.t_ratio, 4),
            ]
            for one in check.confidential
        ]
        head = ["confidential column", "l", "entropy l", "t (earth mover’s)", "t (ratio)"]
        told = (
            "l is the least number of different values in a group; 1 gives the value away. t is "
            "how far the group farthest from the whole table is from it: the earth mover’s "
            "distance runs from 0 (like the table) to 1, the ratio of shares from 1."
        )
        blocks += [Grid(head, rows, holder=holder), Paragraphs([told], holder=holder)]
    return blocks


def size_figures(sizes: Mapping[str, Mapping[int, int]], k: int | None) -> Block:
    """How large the groups are that were formed, one chart for each column that has its own: for
    the holder, since the release does not show them."""
    figures = []
    for name, counted in sizes.items():
        rows = [[str(size), f"{groups:,}"] for size, groups in sorted(counted.items())]
        caption = f"Sizes of groups of `{name}`" if name else "Sizes of groups"
        picture = group_sizes(counted, k)
        figures.append(Figure(picture, caption, Grid(["units", "groups"], rows)))
    return Figures(figures, holder=True)


def _left_as_numbers(released: Sequence[Marginal]) -> list[str]:
    """The columns whose own values leave; of an interval the middle would be somebody's."""
    return [one.name for one in released if one.edges and not one.spread]


def distribution_blocks(
    released: Sequence[Marginal],
    compared: Sequence[Marginal],
    correlation: CorrelationDifference | None,
) -> list[Block]:
    """How each column is distributed, a chart each, and how they move together.

    Parameters
        released: the columns of the release by themselves, for everybody.
        compared: beside the original, for the holder; empty where that is left out.
        correlation: of which everybody sees that of columns which are numbers in the release. The
            others were measured by values that stand for what is written, and may be of people.
    """
    alone, both = _marginals(released), _marginals(compared)
    after, before = _correlations(correlation)
    shown = _correlations(_among(correlation, _left_as_numbers(released)))[0]
    own = [(BEFORE, "original"), (AFTER, "release")]
    if compared:
        blocks: list[Block] = [
            Figures(both, True, own, instead=alone),
        ]
        if before and after:
            blocks.append(Figures([before, after], True, instead=[shown] if shown else []))
    else:
        blocks = [Figures(alone), *([Figures([shown])] if shown else [])]
    if len(released) > _MOST_COLUMNS:
        left = many(len(released) - _MOST_COLUMNS, "column")
        blocks.append(Paragraphs([f"{left} more are not drawn."]))
    return blocks


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
    """What its chart does not show by itself."""
    said = ["intervals, each spread evenly"] if one.spread else []
    after, before = one.missing
    if after or before:
        was = "" if before is None else f", before {percent(before)}"
        said.append(f"{percent(after)} blank{was}")
    return f" ({'; '.join(said)})" if said else ""


def _correlations(
    found: CorrelationDifference | None,
) -> tuple[Figure, Figure] | tuple[None, None]:
    """Heat maps of the release and of the original."""
    if found is None:
        return None, None
    made = []
    for place, what in ((1, "in the release"), (0, "in the original")):
        pairs = {names: both[place] for names, both in found.pairs.items()}
        rows = [[" and ".join(map(_ticked, n)), shortly(share)] for n, share in pairs.items()]
        caption = f"Correlations {what}: blue together, red opposite"
        picture = correlations(pairs, what)
        made.append(Figure(picture, caption, Grid(["columns", "correlation"], rows)))
    return made[0], made[1]


def _among(
    found: CorrelationDifference | None, names: Sequence[str]
) -> CorrelationDifference | None:
    """The correlations of these columns alone; None if there are none."""
    known = {name.lower() for name in names}
    pairs = {} if found is None else found.pairs
    kept = {pair: both for pair, both in pairs.items() if {n.lower() for n in pair} <= known}
    return replace(found, pairs=kept) if found is not None and kept else None


def _ticked(name: str) -> str:
    return f"`{name}`"


@singledispatch
def loss_blocks(found: object) -> list[Block]:
    """What a release is still good for; all of it for the holder."""
    raise TypeError(f"{type(found).__name__} measures no loss")


@loss_blocks.register
def _(found: Utility) -> list[Block]:
    cards = [
        Card(
            "Values moved by",
            percent(found.relative_error),
            "of the width of their domain: root mean square over the columns that changed. 0 % is "
            "best.",
        )
    ]
    cards += _of_correlation(found.correlation)
    cards.append(
        Card(
            "Told from the original",
            _seen(found.propensity.score),
            "is the score of a model that tries to tell released rows from original ones: 0 if it "
            "cannot, 0.25 if it always can.",
        )
    )
    values = dict(found.relative_by_column)
    rows = [
        [f"`{one.name}`"]
        + [
            "" if cell is None else _seen(cell)
            for cell in (values[one.name], one.mean, one.variance, one.quantiles, one.histogram)
        ]
        for one in found.columns
    ]
    head = ["column", "values", "mean", "variance", "quantiles", "shares"]
    told = (
        "How far each column moved, 0 is not at all: values and quantiles over the width of the "
        "domain, mean and variance over themselves, shares by total variation."
    )
    return [
        Cards(cards, holder=True),
        Grid(head, rows, holder=True),
        Paragraphs([told], holder=True),
    ]


@loss_blocks.register
def _(found: Likeness) -> list[Block]:
    cards = [
        Card(
            "Ranges of values",
            percent(found.boxes),
            "is how far the share of rows between limits of one to three columns is off, on "
            "average. 0 % is best.",
        )
    ]
    if found.pairs is not None:
        meaning = "is how far the shares of two columns together are off (total variation)."
        cards.append(Card("Pairs of columns", percent(found.pairs), meaning))
    if found.sliced is not None:
        meaning = "of the width of their domains: how far the cloud of numbers moved."
        cards.append(Card("Cloud of numbers", shortly(found.sliced), meaning))
    cards += _of_correlation(found.correlation)
    apart = dict(found.kolmogorov)
    rows = [
        [f"`{one.name}`"]
        + [
            "" if cell is None else shortly(cell)
            for cell in (one.quantiles, apart.get(one.name), one.histogram)
        ]
        for one in found.columns
    ]
    head = ["column", "quantiles", "cumulated", "shares"]
    told = (
        "How far each column moved, 0 is not at all: quantiles over the width of the domain, "
        "cumulated shares at their worst, shares by total variation."
    )
    return [
        Cards(cards, holder=True),
        Grid(head, rows, holder=True),
        Paragraphs([told], holder=True),
    ]


def _of_correlation(found: CorrelationDifference | None) -> list[Card]:
    if found is None:
        return []
    meaning = "is how far correlations moved, on average over all pairs of columns. 0 is best."
    return [Card("Correlations moved by", _seen(found.mean), meaning)]


def _seen(distance: float) -> str:
    """A distance as people read it: what only rounding left is nothing, and no powers of ten."""
    if _ROUNDING < abs(distance) < _SMALL:
        return f"< {_SMALL:.4f}"
    return shortly(distance if abs(distance) > _ROUNDING else 0, 4)
