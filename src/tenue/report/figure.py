"""What was measured about a table, as charts small enough for a phone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..evaluate.two_tables.association import Association
from ..evaluate.two_tables.distribution import Marginal, moment
from ..text import many, percent, shortly
from .picture import Align, Axis, Bars, Cells, Curve, Lengths, Mark, Panel, Picture, Rule, Words

BEFORE, AFTER = "third", "main"
"""The colours of the original and of the release."""
WIDTH = 300
_HEIGHT = 120
_ROW = 34
_MOST_HEATED = 24
_FEW = 3
"""An axis that counts so few groups has whole numbers as ticks."""
_MOST_SIZES = 30
_HEATED = 380
"""The width of a heat map, in pixels."""
_NARROW_CELL, _WIDE_CELL = 42, 52
"""The width of its cells, where there are few."""
_WRITTEN_CELL = 37
"""The least width of a cell that has room for its number."""
_STRONG = 0.7
"""An association above it has a dark cell, with its number in the colour of the paper."""
_MOST_DRAWN = 9
_LONGEST = 22


def marginal(found: Marginal) -> Picture:
    """The distribution of one column: the original behind, the release in front."""
    return Picture("", [_marginal_panel(found)], told=f"How {found.name} is distributed")


def marginals_picture(title: str, columns: Sequence[Marginal]) -> Picture:
    """The first columns of a release, each with its name, beside the original if that is known."""
    compared = bool(columns) and columns[0].before is not None
    key = "grey: the original, blue: the release; for the holder only"
    panels = [
        replace(_marginal_panel(one), title=_distinct([one.name])[0])
        for one in columns[:_MOST_DRAWN]
    ]
    return Picture(title, panels, key if compared else "the released table", across=3)


def _marginal_panel(found: Marginal) -> Panel:
    return _of_words(found) if not found.edges else _of_numbers(found)


def _of_numbers(found: Marginal) -> Panel:
    edges = found.edges
    marks: list[Mark] = []
    if found.before is None:
        marks.append(Bars(list(zip(edges, edges[1:], found.after, strict=False)), AFTER))
    else:
        bars = list(zip(edges, edges[1:], found.before, strict=False))
        steps = [(edges[0], 0.0), *zip(edges, found.after, strict=False)]
        steps += [(edges[-1], found.after[-1]), (edges[-1], 0.0)]
        marks.append(Bars(bars, BEFORE, opacity=0.45))
        marks.append(Curve(steps, AFTER, width=2, steps=True))
    large = max(map(abs, edges)) >= 10_000
    x = Axis(low=edges[0], high=edges[-1], write="~s" if large else "", shown=not found.time)
    if found.time:
        half = found.step / 2
        aligned: tuple[tuple[float, float, Align], ...]
        aligned = ((edges[0], half, "left"), (edges[-1], -half, "right"))
        marks += [
            Words(moment(end + inward), end, 0.0, tone="quiet", down=16, align=align)
            for end, inward, align in aligned
        ]
    return Panel(marks, x=x, y=_share_axis(found, 1.08), width=WIDTH - 60, height=_HEIGHT)


def _share_axis(found: Marginal, room: float) -> Axis:
    top = max(*found.after, *(found.before or ()), 1e-9)
    return Axis(low=0, high=room * top, write=".0%" if top > 0.03 else ".1%", grid=True)


def _of_words(found: Marginal) -> Panel:
    names = _distinct(found.words)
    shift = 0 if found.before is None else 7
    marks: list[Mark] = []
    if found.before is not None:
        pairs = list(zip(names, found.before, strict=True))
        marks.append(Lengths(pairs, BEFORE, shift=-shift, thick=11))
    marks.append(Lengths(list(zip(names, found.after, strict=True)), AFTER, shift=shift, thick=11))
    height = (_ROW if shift else 20) * len(names)
    x, y = _share_axis(found, 1.05), Axis(names=names)
    return Panel(marks, x=x, y=y, width=WIDTH - 130, height=height)


def _distinct(words: Sequence[str], longest: int = _LONGEST) -> tuple[str, ...]:
    """The words, shortened to fit beside a chart, and still different: where beginnings agree, the
    middle is left out instead of the end."""
    shortened = [word if len(word) <= longest else word[: longest - 1] + "…" for word in words]
    half = longest // 2
    made: list[str] = []
    for word, short in zip(words, shortened, strict=True):
        if shortened.count(short) > 1 and len(word) > longest:
            short = f"{word[: longest - half - 1]}…{word[-half:]}"
        while short in made:
            short += "\N{ZERO WIDTH SPACE}"
        made.append(short)
    return tuple(made)


def associations(
    strengths: Mapping[tuple[str, str], float], what: str, *, narrow: bool = False
) -> Picture:
    """A heat map of how strongly every two columns are associated; `narrow` for telephones."""
    panel, columns = heat_map(strengths, narrow=narrow)
    told = f"Associations {what}, every two of {many(columns, 'column')}"
    return Picture("", [panel], told=told)


def heat_map(
    strengths: Mapping[tuple[str, str], float], *, narrow: bool = False, title: str = ""
) -> tuple[Panel, int]:
    """The panel of a heat map, and how many columns it shows."""
    every = list(dict.fromkeys(name for pair in strengths for name in pair))
    kept = every[:_MOST_HEATED]
    names = dict(zip(kept, _distinct(kept), strict=True))
    cells = []
    for (one, other), share in strengths.items():
        if one in names and other in names:
            cells += [(names[one], names[other], share), (names[other], names[one], share)]
    widest, room = (WIDTH - 90, _NARROW_CELL) if narrow else (_HEATED, _WIDE_CELL)
    side = min(widest, max(90, room * len(names)))
    axis = Axis(names=tuple(names.values()))
    marks: list[Mark] = [Cells(cells)]
    if side >= _WRITTEN_CELL * len(names):
        for one, other, share in cells:
            tone = "paper" if abs(share) >= _STRONG else "ink"
            text = "0" if round(share, 2) == 0 else f"{share:.2f}"
            marks.append(Words(text, one, other, tone, align="center"))
    return Panel(marks, x=axis, y=axis, width=side, height=side, title=title), len(names)


def associations_picture(found: Association, title: str = "Associations of columns") -> Picture:
    """The heat maps of the original and of the release, side by side."""
    key = "original and release; blue positive, red negative; for the holder only"
    sides = [
        ("original", {pair.columns: pair.original for pair in found.pairs}),
        ("release", {pair.columns: pair.masked for pair in found.pairs}),
    ]
    return Picture(title, [heat_map(side, title=word)[0] for word, side in sides], key, across=2)


def shares(named: Sequence[tuple[str, float]], told: str) -> Picture:
    """Horizontal bars with their shares beside them."""
    names = _distinct([name for name, _ in named], 2 * _LONGEST)
    pairs = list(zip(names, (share for _, share in named), strict=True))
    top = max(*(share for _, share in pairs), 0.01)
    marks: list[Mark] = [Lengths(pairs, "other")]
    marks += [Words(percent(share), share, name, right=5) for name, share in pairs]
    x = Axis(low=0, high=1.35 * top, shown=False)
    panel = Panel(marks, x=x, y=Axis(names=names), width=WIDTH - 120, height=30 * len(names))
    return Picture("", [panel], told=told)


def group_sizes(sizes: Mapping[int, int], k: int | None, title: str = "") -> Picture:
    """How many groups have how many units.

    Parameters
        sizes: the number of groups of each size.
        k: the promised least size; None if there is none.
        title: for a chart that stands alone.
    """
    low, high = min(sizes), max(sizes)
    step = max(1, -(-(high - low + 1) // _MOST_SIZES))
    counted: Counter[int] = Counter()
    for size, groups in sizes.items():
        counted[(size - low) // step] += groups
    bars = [
        (low + place * step - 0.42, low + (place + 1) * step - 0.58, float(groups))
        for place, groups in sorted(counted.items())
    ]
    marks: list[Mark] = [Bars(bars)]
    start = min(low, k or low) - 1
    ticks = range(low, high + 1, max(1, -(-(high - start) // 6)))  # of all that is drawn
    if k is not None:
        named = Words(f"k = {k}", k - 0.5, None, "other", down=-9)  # off the grid
        marks += [Rule(k - 0.5, tone="other"), named]
    most = max(counted.values())
    few = tuple(map(float, range(most + 1))) if most <= _FEW else ()
    panel = Panel(
        marks,
        x=Axis(
            "units in a group",
            low=start,
            high=max(b for _, b, _ in bars) + 0.5,
            ticks=tuple(map(float, ticks)),
            write=",d",
        ),
        y=Axis(low=0, high=1.12 * most, grid=True, write="~s", ticks=few),
        width=WIDTH - 60,
        height=_HEIGHT,
    )
    told = f"Groups have {shortly(low)} to {shortly(high)} units"
    return Picture(title, [panel], told=told)
