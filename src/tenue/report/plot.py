"""`plot(x)` and `write(x, path)`: the chart or the report of any object of Tenue.

An object has a method `picture` or `page`, or `SUBJECTS` or `PAGES` names the function that makes
one for its kind. Rooms above this one cannot build pictures themselves; kinds are listed by name so
that none is loaded in vain.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..arguments import flag
from ..errors import refuse
from .chart import Chart
from .picture import Picture

SUBJECTS = {
    "noise.law.Continuous": "law:density",
    "noise.law.GridLaw": "law:masses",
    "noise.box.law.OptimalBox": "law:box",
    "noise.laplace.IndependentLaplace": "law:independent",
    "prior.belief.Belief": "belief:prior",
    "mechanism.refinement.points.RefinedPoints": "belief:refined",
    "mechanism.refinement.density.RefinedDensity": "belief:refined",
    "estimate.posterior.Posterior": "belief:known",
    "estimate.refined.Opinion": "belief:known",
    "evaluate.compare.Comparison": "comparison:compared",
    "evaluate.compare.Comparisons": "comparison:each",
    "evaluate.two_tables.association.Association": "comparison:associated",
    "evaluate.utility.Utility": "comparison:utility",
    "evaluate.two_tables.distribution_similarity.Likeness": "comparison:utility",
    "ask.plan.plan.Plan": "question:plan",
    "ask.answer.Answer": "question:answer",
    "ask.grouping_sets.GroupedAnswer": "question:grouped_answer",
    "ask.belief.answer.BeliefPlan": "question:belief_plan",
    "ask.belief.answer.Believed": "question:believed",
}
"""Who draws an object of another room: its kind, with a file and a function in `charts/`."""
PAGES = {
    "evaluate.compare.Comparison": "comparison:document",
    "evaluate.compare.Comparisons": "comparison:side_by_side",
}
"""The same for reports."""


def plot(x: object, *, theme: str = "light") -> Chart:
    """A chart of a law, a prior, an answer, a plan, a posterior, a partition, a release, or of what
    it did to the associations of columns (its utility).

    Guarantee
        It shows what printing the object may show, and nothing else: of a refined law its prior, of
        an answer by individual differential privacy the value.

    Parameters
        x: what is drawn; also a `Picture` made by hand.
        theme: "light" or "dark".

    Example
        >>> import tenue as tn
        >>> tn.report.plot(tn.noise.DiscreteLaplace(sensitivity=1, epsilon=1))
        Chart('DiscreteLaplace(sensitivity=1, epsilon=1, grid=1)')
    """
    return Chart(picture_of(x), theme)


def picture_of(x: object) -> Picture:
    """What the chart of an object shows; refused if it has none."""
    if isinstance(x, Picture):
        return x
    own = getattr(x, "picture", None)
    made = own() if callable(own) else None
    if isinstance(made, Picture):
        return made
    maker = _maker(type(x), SUBJECTS)
    if maker is None:
        raise refuse("report.nothing-to-draw", type=type(x).__name__)
    picture: Picture = maker(x)
    return picture


def write(x: object, path: str | os.PathLike[str], *, public: bool = False) -> None:
    """Writes the report of a release, a comparison or a sweep: one page of HTML that stands alone.

    Parameters
        x: what `tn.publish`, `tn.compare` or `tn.sweep` returned.
        path: a file whose name ends in .html.
        public: whether what was computed from the original is left out.
    """
    target = Path(path)
    if target.suffix.lower() != ".html":
        raise refuse("report.report-not-html", name=target.name)
    text = page_of(x, public=flag(public, "public"))
    try:
        target.write_text(text, encoding="utf-8")
    except OSError:
        raise refuse("report.chart-not-writable", name=target.name) from None


def page_of(x: object, *, public: bool = False) -> str:
    """The report of an object; refused if it has none."""
    own = getattr(x, "page", None)
    if callable(own):
        return str(own(public=public))
    maker = _maker(type(x), PAGES)
    if maker is None:
        raise refuse("report.nothing-to-report", type=type(x).__name__)
    document = maker(x)
    return str((document.public() if public else document).html())


def _maker(kind: type, makers: Mapping[str, str]) -> Callable[[object], Any] | None:
    package = __name__.split(".")[0]
    for one in kind.__mro__:
        name = f"{one.__module__}.{one.__qualname__}".removeprefix(f"{package}.")
        if name in makers:
            file, _, function = makers[name].partition(":")
            found: Callable[[object], Any] = getattr(
                importlib.import_module(f".charts.{file}", __package__), function
            )
            return found
    return None
