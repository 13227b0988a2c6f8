"""`plot(x)`: anything of Tenue as a chart.

An object is asked for its picture, never recognised by a chain of cases: either it has a method
`picture`, or `SUBJECTS` names the function that makes one of its kind. Rooms below this one cannot
build pictures themselves, and kinds of objects are listed by name so that none is loaded in vain.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

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
    "ask.plan.plan.Plan": "question:plan",
    "ask.answer.Answer": "question:answer",
    "ask.grouping_sets.GroupedAnswer": "question:grouped_answer",
    "ask.belief.answer.BeliefPlan": "question:belief_plan",
    "ask.belief.answer.Believed": "question:believed",
}
"""The kinds of objects of the rooms below, each with its file and function in `subject/`."""


def plot(x: object, *, theme: str = "light") -> Chart:
    """A chart of a law, a prior, an answer, a plan, a posterior, a partition or a release.

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
    if callable(own):
        made = own()
        if isinstance(made, Picture):
            return made
    maker = _maker(type(x))
    if maker is None:
        raise refuse("report.nothing-to-draw", type=type(x).__name__)
    return maker(x)


def _maker(kind: type) -> Callable[[object], Picture] | None:
    package = __name__.split(".")[0]
    for one in kind.__mro__:
        name = f"{one.__module__}.{one.__qualname__}".removeprefix(f"{package}.")
        if name in SUBJECTS:
            file, _, function = SUBJECTS[name].partition(":")
            home = importlib.import_module(f".charts.{file}", __package__)
            found: Callable[[object], Picture] = getattr(home, function)
            return found
    return None
