"""What a statistic of rows is told besides the rows and their bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

from ..errors import Refused, nearest, refuse
from .order_statistic import PARAMETERS

STATISTICS: dict[str, tuple[str, ...]] = {
    **PARAMETERS,
    "mean": (),
    "sum": (),
    "variance": (),
    "range-count": ("low", "high"),
    "correlation": (),
    "slope": ("ridge",),
    "mode": ("categories",),
}
"""Every statistic `local` knows, and the parameters that belong to it."""

_OPTIONAL = {"ridge"}


def unknown(kind: Literal["local", "smooth"], statistic: object, known: Iterable[str]) -> Refused:
    """The refusal of a statistic that has no known sensitivity of this kind."""
    names, near = ", ".join(f'"{name}"' for name in known), nearest(str(statistic), known)
    return refuse(
        f"sensitivity.unknown-{kind}-sensitivity", statistic=statistic, names=names, nearest=near
    )


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Those of all statistics; None where one is not given. See `local` for what they mean."""

    k: object = None
    q: object = None
    low: object = None
    high: object = None
    ridge: object = None
    categories: object = None

    def stated(self) -> dict[str, object]:
        """Those that are given."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in every.items() if value is not None}

    def check(self, statistic: str, bounds: object) -> None:
        """Refuses a statistic that is not known, and parameters that it lacks or does not have."""
        if not isinstance(statistic, str) or statistic not in STATISTICS:
            raise unknown("local", statistic, STATISTICS)
        stated = self.stated() | ({} if bounds is None else {"bounds": bounds})
        takes = (*STATISTICS[statistic], *(() if statistic == "mode" else ("bounds",)))
        allowed = f'"{statistic}" takes ' + ", ".join(f"`{name}`" for name in takes)
        for name in stated:
            if name not in takes:
                raise refuse(
                    "sensitivity.statistic-parameter-unused",
                    statistic=statistic,
                    name=name,
                    rule=allowed,
                )
        for name in takes:
            if name not in stated and name not in _OPTIONAL:
                raise refuse(
                    "sensitivity.statistic-parameter-missing",
                    statistic=statistic,
                    name=name,
                    rule=allowed,
                )
