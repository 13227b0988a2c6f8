"""The closed list of distances.

    "absolute"   |x − y|                                  numbers; their default
    "rank"       how many places apart in the order       Ordinal; its default
    "equal"      0 if the same, else 1                    anything; the default of categories
    a Taxonomy   the semantic distance of two concepts    Categorical
    "sum"        components' distances, each over its largest, added      joint; their default
    "max"        the largest of them                                      joint
    "differing"  how many components differ                               joint

All are rational, so no float decides what is near.
"""

from __future__ import annotations

from ...errors import refuse
from ...taxonomy import Taxonomy
from ..categorical import Categorical, Ordinal
from ..finite import Finite
from ..joint import Joint
from ..points import Points
from .joint import Combined
from .value import Equal, Line, Metric, Semantic

Distance = str | Taxonomy


def metric(belief: Finite, distance: Distance | None) -> Metric:
    """The distance named, checked against the belief without any truth.

    Example
        >>> metric(Points({0: 0.5, 2: 0.5}), None).row(0).tolist()
        [0.0, 2.0]
    """
    if isinstance(belief, Joint):
        allowed = ["sum", "max", "differing", "equal"]
    elif isinstance(belief, Points):
        allowed = ["absolute", "equal"]
    elif isinstance(belief, Ordinal):
        allowed = ["rank", "equal"]
    else:
        allowed = ["equal"]
    wanted = allowed[0] if distance is None else distance
    if not isinstance(wanted, str | Taxonomy):
        wanted = type(wanted).__name__
    if isinstance(wanted, Taxonomy) and isinstance(belief, Categorical):
        return Semantic(belief, wanted)
    if wanted not in allowed:
        names = ", ".join(f'"{name}"' for name in allowed)
        more = ", or a Taxonomy" if isinstance(belief, Categorical) else ""
        kind, usual = type(belief).__name__, allowed[0]
        raise refuse(
            "prior.unknown-distance", distance=wanted, type=kind, names=names + more, usual=usual
        )
    if wanted == "equal":
        return Equal(belief)
    if isinstance(belief, Joint):
        return Combined(belief, str(wanted))
    return Line(belief)  # type: ignore[arg-type]


def require_absolute(distance: object) -> None:
    """Refuses any distance but |x − y|, the only one for a density."""
    if distance is None or (isinstance(distance, str) and distance == "absolute"):
        return
    raise refuse("prior.density-distance", distance=distance)
