"""What was measured of a table, as pictures small enough for a phone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..evaluate.two_tables.distribution import Marginal, moment
from ..text import many, percent, shortly
from .picture import Axis, Bars, Cells, Curve, Lengths, Mark, Panel, Picture, Rule, Words

BEFORE, AFTER = "third", "main"
"""The colours of the original and of the release."""
WIDTH = 300
_HEIGHT = 120
_ROW = 34
_MOST_HEATED = 24
_FEW = 3
_MOST_SIZES = 30
_MOST_WRITTEN = 5
"""A heat map of so few columns has room for its numbers."""
_STRONG = 0.7
"""From here on its colour is so strong that a number on it has the colour of the paper."""
_LONGEST = 22


def marginal(found: Marginal) -> Picture:
    """One column: the original behind, the release before it."""
    return Picture("", [marginal_panel(found)], told=f"How {found.name} is distributed")


def marginal_panel(found: Marginal, *, titled: bool = False) -> Panel:
    """The same as a panel among others, with its name above."""
    panel = _of_words(found) if not found.edges else _of_numbers(found)
    return replace(panel, title=_distinct([found.name])[0]) if titled else panel


def _of_numbers(found: Marginal) -> Panel:
    bins = list(zip(found.edges, found.edges[1:], strict=False))
    marks: list[Mark] = []
    if found.before is not None:
        bars = [(low, high, share) for (low, high), share in zip(bins, found.before, strict=True)]
        marks.append(Bars(bars, BEFORE, opacity=0.45))
    if found.before is None:
        bars = [(low, high, share) for (low, high), share in zip(bins, found.after, strict=True)]
        marks.append(Bars(bars, AFTER))
    else:
        steps = [(found.edges[0], 0.0)]
        steps += [(low, share) for (low, _), share in zip(bins, found.after, strict=True)]
        steps += [(found.edges[-1], found.after[-1]), (found.edges[-1], 0.0)]
        marks.append(Curve(steps, AFTER, width=2, steps=True))
    top = max(*found.after, *(found.before or ()), 1e-9)
    x = Axis(low=found.edges[0], high=found.edges[-1], write="~s" if _large(found) else "")
    if found.time:
        x = Axis(low=found.edges[0], high=found.edges[-1], shown=False)
        marks += _days(found)
    y = Axis(low=0, high=1.08 * top, write=".0%" if top > 0.03 else ".1%", grid=True)
    return Panel(marks, x=x, y=y, width=WIDTH - 60, height=_HEIGHT)


def _large(found: Marginal) -> bool:
    return max(map(abs, found.edges)) >= 10_000


def _days(found: Marginal) -> list[Mark]:
    ends = found.edges[0], found.edges[-1]
    return [
        Words(moment(ends[0]), ends[0], 0.0, tone="quiet", down=16),
        Words(moment(ends[1]), ends[1], 0.0, tone="quiet", down=16, align="right"),
    ]


def _of_words(found: Marginal) -> Panel:
    names = _distinct(found.words)
    shift = 0 if found.before is None else 7
    marks: list[Mark] = []
    if found.before is not None:
        pairs = list(zip(names, found.before, strict=True))
        marks.append(Lengths(pairs, BEFORE, shift=-shift, thick=11))
    marks.append(Lengths(list(zip(names, found.after, strict=True)), AFTER, shift=shift, thick=11))
    top = max(*found.after, *(found.before or ()), 1e-9)
    x = Axis(low=0, high=1.05 * top, write=".0%" if top > 0.03 else ".1%", grid=True)
    height = (_ROW if shift else 20) * len(names)
    return Panel(marks, x=x, y=Axis(names=names), width=WIDTH - 130, height=height)


def _distinct(words: Sequence[str], longest: int = _LONGEST) -> tuple[str, ...]:
    """The words cut so that they fit beside a chart, and still different: those that begin alike
    lose their middle instead of their end."""
    cut = [word if len(word) <= longest else word[: longest - 1] + "…" for word in words]
    half = longest // 2
    made: list[str] = []
    for word, short in zip(words, cut, strict=True):
        if cut.count(short) > 1 and len(word) > longest:
            short = f"{word[: longest - half - 1]}…{word[-half:]}"
        while short in made:
            short += "\N{ZERO WIDTH SPACE}"
        made.append(short)
    return tuple(made)


def correlations(pairs: Mapping[tuple[str, str], float], what: str) -> Picture:
    """A heat map of the correlations of every two columns."""
    every = list(dict.fromkeys(name for pair in pairs for name in pair))
    kept = every[:_MOST_HEATED]
    names = dict(zip(kept, _distinct(kept), strict=True))
    cells = [(name, name, 1.0) for name in names.values()]
    for (one, other), share in pairs.items():
        if one in names and other in names:
            cells += [(names[one], names[other], share), (names[other], names[one], share)]
    side = min(WIDTH - 90, max(90, 26 * len(names)))
    axis = Axis(names=tuple(names.values()))
    marks: list[Mark] = [Cells(cells)]
    if len(names) <= _MOST_WRITTEN:
        side = max(side, 44 * len(names))
        marks += [
            Words(
                f"{share:z.2f}",
                one,
                other,
                "paper" if abs(share) >= _STRONG else "ink",
                align="center",
            )
            for one, other, share in cells
        ]
    told = f"Correlations {what}, every two of {many(len(names), 'column')}"
    return Picture("", [Panel(marks, x=axis, y=axis, width=side, height=side)], told=told)


def shares(named: Sequence[tuple[str, float]], told: str, tone: str = "other") -> Picture:
    """Lying bars with their shares beside them."""
    names = _distinct([name for name, _ in named], 2 * _LONGEST)
    pairs = list(zip(names, (share for _, share in named), strict=True))
    top = max(*(share for _, share in pairs), 0.01)
    marks: list[Mark] = [Lengths(pairs, tone)]
    marks += [Words(percent(share), share, name, right=5) for name, share in pairs]
    x = Axis(low=0, high=1.35 * top, shown=False)
    panel = Panel(marks, x=x, y=Axis(names=names), width=WIDTH - 120, height=30 * len(names))
    return Picture("", [panel], told=told)


def group_sizes(sizes: Mapping[int, int], k: int | None, title: str = "") -> Picture:
    """How many groups have how many units.

    Parameters
        sizes: the number of groups of each size.
        k: what is promised; None where nothing of the kind is.
        title: for a chart that stands alone.
    """
    low, high = min(sizes), max(sizes)
    step = max(1, -(-(high - low + 1) // _MOST_SIZES))
    counted: dict[int, int] = {}
    for size, groups in sizes.items():
        place = (size - low) // step
        counted[place] = counted.get(place, 0) + groups
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
    top = 1.12 * max(counted.values())
    panel = Panel(
        marks,
        x=Axis(
            "units in a group",
            low=start,
            high=max(b for _, b, _ in bars) + 0.5,
            ticks=tuple(map(float, ticks)),
            write=",d",
        ),
        y=Axis(low=0, high=top, grid=True, write="~s", ticks=_few(max(counted.values()))),
        width=WIDTH - 60,
        height=_HEIGHT,
    )
    told = f"Groups have {shortly(low)} to {shortly(high)} units"
    return Picture(title, [panel], told=told)


def _few(most: int) -> tuple[float, ...]:
    """Where numbers stand on an axis of few things, so that none is half a thing; none for many."""
    return tuple(map(float, range(most + 1))) if most <= _FEW else ()
