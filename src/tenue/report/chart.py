"""A chart that is drawn, shown and saved: PNG, SVG or a page, without a network or a browser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import nearest, refuse
from ..frozen import dataclass
from .picture import Picture
from .svg import fitted
from .theme import LIGHT, THEMES
from .vega import specification

KINDS = (".png", ".svg", ".html")
_SHARPNESS = 2


@dataclass(frozen=True, repr=False, eq=False)
class Chart:
    """A picture with its look.

    Guarantee
        Drawn on this machine: nothing is fetched, no script is in any file, and every text of a
        table stays text.

    Parameters
        picture: what it shows.
        theme: "light" or "dark", for PNG and SVG; a page follows the reader's setting.

    Example
        >>> import tenue as tn
        >>> chart = tn.report.plot(tn.noise.Laplace(sensitivity=1, epsilon=1))
        >>> chart.svg().startswith("<svg")
        True
    """

    picture: Picture
    theme: str = "light"

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise refuse(
                "report.unknown-theme", theme=self.theme, nearest=nearest(str(self.theme), THEMES)
            )

    def specification(self) -> dict[str, Any]:
        """The chart in Vega-Lite, for whoever draws it elsewhere."""
        return specification(self.picture, THEMES[self.theme])

    def svg(self) -> str:
        """A drawing that stands alone."""
        return fitted(_drawn(self.specification()), self._told)

    def inline_svg(self, prefix: str) -> str:
        """A drawing for a page that sets the colours; `prefix` keeps its names apart."""
        drawn = _drawn(specification(self.picture, LIGHT))
        return fitted(drawn, self._told, prefix, variable=True)

    def png(self) -> bytes:
        """A picture of points, sharp on any screen."""
        drawn: bytes = _converter().vegalite_to_png(self.specification(), scale=_SHARPNESS)
        return drawn

    def html(self) -> str:
        """A page with the chart alone, light or dark as the reader has it."""
        from .page import page

        figure = f"<figure>{self.inline_svg('c')}</figure>"
        return page(self.picture.title or self._told, figure, plain=True)

    def to_altair(self) -> Any:
        """The same as a chart of Altair, to go on with."""
        try:
            import altair
        except ImportError:
            raise refuse("report.charts-not-installed", package="altair") from None
        return altair.Chart.from_dict(self.specification())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file; how its name ends decides what it is."""
        target = Path(path)
        kind = target.suffix.lower()
        if kind not in KINDS:
            raise refuse("report.unknown-chart-format", name=target.name)
        made = {".png": self.png, ".svg": self._svg_file, ".html": self._html_file}[kind]()
        try:
            target.write_bytes(made)
        except OSError:
            raise refuse("report.chart-not-writable", name=target.name) from None

    def _svg_file(self) -> bytes:
        return (self.svg() + "\n").encode()

    def _html_file(self) -> bytes:
        return self.html().encode()

    @property
    def _told(self) -> str:
        return self.picture.told or self.picture.title

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"Chart({self._told!r})"


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise refuse("report.charts-not-installed", package="vl-convert-python") from None
    return vl_convert


def _drawn(made: dict[str, Any]) -> str:
    drawn: str = _converter().vegalite_to_svg(made)
    return drawn


def can_draw() -> bool:
    """Whether the extra that draws is installed."""
    import importlib.util

    return importlib.util.find_spec("vl_convert") is not None
