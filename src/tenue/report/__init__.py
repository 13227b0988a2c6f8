"""Charts and reports. It draws what it is given, and reads no rows.

plot                             any object of Tenue as a chart
Chart                            a chart: PNG, SVG, a page
write                            the report of a release, a comparison or a sweep, as one page
Picture, Panel, Axis             what a chart shows, made by hand
Curve, Bars, Lengths, Dots, Spans, Rule, Band, Cells, Words     what a panel contains
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from .chart import Chart
    from .picture import (
        Axis,
        Band,
        Bars,
        Cells,
        Curve,
        Dots,
        Lengths,
        Panel,
        Picture,
        Rule,
        Spans,
        Words,
    )
    from .plot import plot, write

__all__ = [
    "Axis",
    "Band",
    "Bars",
    "Cells",
    "Chart",
    "Curve",
    "Dots",
    "Lengths",
    "Panel",
    "Picture",
    "Rule",
    "Spans",
    "Words",
    "plot",
    "write",
]

lazily(
    __name__,
    {
        ".chart": "Chart",
        ".picture": "Axis Band Bars Cells Curve Dots Lengths Panel Picture Rule Spans Words",
        ".plot": "plot write",
    },
)
