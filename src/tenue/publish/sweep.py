"""Risk and utility of many methods and group sizes on one table.

Every release is a preview: nothing is registered and nothing leaves. The results were computed from
the original and are for the holder only.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..arguments import checked_call, exact, whole
from ..errors import Refused, refuse
from ..evaluate.rows import open_rows
from ..report.document import Block, Document, Figure, Figures, Grid, Paragraphs, Section
from ..report.picture import Picture
from ..report.trade_off import trade_off
from ..schema import Schema
from ..text import hanging, percent, shortly, text_table
from .methods.catalogue import METHODS, options_of
from .methods.contract import one_of
from .publish import publish

if TYPE_CHECKING:
    from ..evaluate import Risk, Utility

SIZES = (3, 5, 10, 25, 50)
TRIED: Mapping[str, Mapping[str, Any]] = {"t-close": {"t": 2}}
"""Default options in a sweep; t is a ratio of shares here."""
RISK = (
    "Risk: the same attack on every method. The intruder knows everybody's quasi-identifiers and "
    "the groups, learns from the release how columns relate, and assigns to each member of a group "
    "the value that fits best. Risk is the share of people who receive the value of their own "
    "record, in the confidential column where it is largest; random guessing would reach at most "
    "1/k. Without confidential columns it is the share of records that the intruder links."
)
LOSS = (
    "Loss: the change of values relative to the width of their domain, as the root mean square "
    "over all columns, changed or not."
)
FIT = (
    "Correlations: their mean absolute change. Propensity: the score of a model that tries to "
    "distinguish released rows from original ones, 0 if it cannot, 0.25 if it always can."
)
Methods = Iterable[str | tuple[str, Mapping[str, Any]]] | Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One method with one k on the table.

    options: its other options.
    risk: the share of people whose own value an intruder finds: 0 (safe) to 1; see `exposure`.
    loss: the change of values as a share of their domains, over all columns: 0 is best.
    correlation: the mean change of correlations; None with fewer than two numbers.
    propensity: how well a model distinguishes released from original rows: 0 to 0.25.
    refused: why the release is refused; the numbers are then None.
    """

    method: str
    k: int
    options: Mapping[str, Any]
    risk: float | None = None
    loss: float | None = None
    correlation: float | None = None
    propensity: float | None = None
    refused: str | None = None

    @property
    def name(self) -> str:
        """The method with its options."""
        return self.method + "".join(f", {name} = {value}" for name, value in self.options.items())


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice:
    """The recommended trial, None if none meets the risk limit, and the reason."""

    trial: Trial | None
    reason: str

    def __repr__(self) -> str:
        return self.reason


@dataclass(frozen=True, kw_only=True, repr=False)
class Sweep:
    """Risk and utility of many releases of one table. For the holder only."""

    name: str
    trials: tuple[Trial, ...]

    def advise(self, risk: object) -> Advice:
        """The trial with the least loss, then the least risk, of those with at most `risk`."""
        most = allowed_risk(risk)
        made = [one for one in self.trials if one.risk is not None and one.loss is not None]
        safe = [one for one in made if exact(one.risk, "risk") <= most]
        safe.sort(key=lambda one: (one.loss or 0.0, one.risk or 0.0))
        limit = percent(float(most))
        if not safe:
            return Advice(trial=None, reason=_none(made, limit))
        best = safe[0]
        reason = (
            f"Choose {best.name}, k = {best.k}: an intruder finds the value of "
            f"{percent(best.risk or 0)} of the people, and {limit} is allowed. Its loss is "
            f"{percent(best.loss or 0)}, the least of {len(safe)} releases within the limit."
        )
        other = next((one for one in safe if one.name != best.name), None)
        if other is not None:
            reason += f" Next: {other.name}, k = {other.k}, loss {percent(other.loss or 0)}."
        return Advice(trial=best, reason=reason)

    def picture(self, *, narrow: bool = False) -> Picture:
        """The risk-utility curve of each method; `narrow` for telephones."""
        lines: dict[str, list[tuple[int, float, float]]] = {}
        for one in self.trials:
            if one.risk is not None and one.loss is not None:
                lines.setdefault(one.name, []).append((one.k, one.risk, one.loss))
        return trade_off(lines, f"Risk and loss of releases of {self.name}", narrow=narrow)

    def section(self) -> Section:
        """The section of a report."""
        head, *rows = self._rows()
        grid = Grid(head, rows, holder=True)
        blocks: list[Block] = [Paragraphs([RISK, LOSS, FIT], holder=True)]
        if any(one.risk is not None for one in self.trials):
            caption = "Each dot is a release; the number is its k"
            roomy, narrow = (replace(self.picture(narrow=one), title="") for one in (False, True))
            figure = Figure(roomy, caption, grid, narrow)
            blocks.append(Figures([figure], holder=True, wide=True))
        return Section("Risk and utility of other choices", [*blocks, grid])

    def page(self, *, public: bool = False, advice: Advice | None = None) -> str:
        """The report as one page, with the recommendation first; no part of it is public."""
        sections = [replace(self.section(), title="Risk and loss of each release")]
        if advice is not None:
            blocks = [Paragraphs([advice.reason], holder=True, lead=True)]
            sections.insert(0, Section("Recommendation", blocks))
        document = Document(
            f"Trial releases of {self.name}",
            ["nothing was registered, and nothing has left", "for the holder only"],
            sections,
        )
        return (document.public() if public else document).html()

    def to_dict(self) -> dict[str, Any]:
        """The facts of `to_json`."""
        keys = ("method", "k", "risk", "loss", "correlation", "propensity", "refused")
        return {
            "for": "the holder alone",
            "table": self.name,
            "trials": [
                {**{key: getattr(one, key) for key in keys}, "options": dict(one.options)}
                for one in self.trials
            ],
        }

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict(), default=str)

    def _rows(self) -> Iterator[list[str]]:
        yield ["method", "k", "risk", "loss", "correlations", "propensity"]
        for one in self.trials:
            if one.refused is not None:
                yield [one.name, str(one.k), "refused", "", "", ""]
                continue
            far = "" if one.correlation is None else shortly(one.correlation)
            shares = [percent(one.risk or 0), percent(one.loss or 0)]
            yield [one.name, str(one.k), *shares, far, shortly(one.propensity or 0)]

    def __repr__(self) -> str:
        lines = [*text_table(list(self._rows()), left=1), "", *map(hanging, (RISK, LOSS, FIT))]
        reasons: dict[tuple[str, str], list[int]] = {}
        for one in self.trials:
            if one.refused is not None:
                reasons.setdefault((one.name, one.refused), []).append(one.k)
        for (name, reason), sizes in reasons.items():
            lines.append(hanging(f"{name}, k = {', '.join(map(str, sizes))}: {reason}"))
        return "\n".join(lines)


def allowed_risk(risk: object) -> Fraction:
    """The share of people whose value an intruder may find, from 0 to 1."""
    most = exact(risk, "risk")
    if not 0 <= most <= 1:
        raise refuse("publish.risk-not-a-share", risk=risk)
    return most


def _none(made: Sequence[Trial], limit: str) -> str:
    if not made:
        return "All of these releases are refused."
    least = min(made, key=lambda one: one.risk or 0.0)
    return (
        f"No release is within {limit}. The least risk is {percent(least.risk or 0)}, of "
        f"{least.name}, k = {least.k}. Try a larger k, or other methods."
    )


@checked_call
def sweep(
    source: object = None,
    *,
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any],
    k: Iterable[object] = SIZES,
    methods: Methods = ("microaggregate", "swap"),
    progress: Callable[[str], None] | None = None,
) -> Sweep:
    """Risk and utility of releases of a table, for several methods and group sizes.

    Guarantee
        Only previews are made: nothing is registered, and no table leaves. A release that would be
        refused is listed with the reason. Methods that have a price are not tried, because a
        preview would cost it: see `tn.plan_release`.

    Parameters
        source: the table; None for the schema's own source.
        k: the least numbers of units in a group.
        methods: names; with further options as pairs, ("swap", {"by": "each-confidential"}), or as
            a mapping from name to options. `t-close` is tried with t = 2 by default.
        progress: receives the name of each release when it begins.
    """
    asked = _methods(methods)
    listed = [k] if isinstance(k, int | str | Fraction) else list(k)
    sizes = sorted({whole(size, "k", least=2) for size in listed})
    if not asked or not sizes:
        raise refuse("publish.nothing-to-sweep")
    described = Schema.load(schema) if isinstance(schema, str | os.PathLike) else schema
    table = source
    if source is not None and not isinstance(source, str | os.PathLike):
        import pyarrow

        rows = open_rows(source)  # once: a stream cannot be read again
        table = pyarrow.table(dict(rows.read(rows.names)))
    trials = []
    for method, options in asked:
        for size in sizes:
            if progress is not None:
                progress(f"{method}, k = {size}")
            trials.append(_tried(table, described, method, size, options))
    named: Any = described
    name = named["table"]["name"] if isinstance(named, Mapping) else named.name
    return Sweep(name=str(name), trials=tuple(trials))


def _tried(source: object, schema: Any, method: str, k: int, options: Mapping[str, Any]) -> Trial:
    asked: dict[str, Any] = {"method": method, "k": k, "options": options}
    try:
        made = publish(source, schema=schema, method=method, k=k, preview=True, **options)
    except Refused as refusal:
        return Trial(**asked, refused=str(refusal))
    use: Any = made.utility
    return Trial(
        **asked,
        risk=exposure(made.risk),
        loss=loss(use),
        correlation=None if use.correlation is None else use.correlation.mean,
        propensity=use.propensity.score,
    )


def exposure(risk: Risk | None) -> float:
    """The share of people whose own value is found by an intruder who knows everybody's
    quasi-identifiers and the groups, and learns how columns relate; the same for every method.

    An intruder who also knew the confidential values would link most records of any truthful table
    and learn nothing by it; methods that permute values would seem safe against them.
    """
    if risk is None:
        return 0.0
    if risk.rematched:
        return max(found.records for found in risk.rematched.values())
    known = risk.linkage_by_quasi_identifiers
    return risk.record_linkage if known is None else known


def loss(use: Utility) -> float:
    """The change of values relative to their domains: root mean square over all columns."""
    moved = [value for _, value in use.relative_by_column]
    return math.sqrt(sum(value**2 for value in moved) / max(len(moved), 1))


def _methods(given: Methods) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(given, str):
        given = [given]
    listed: Iterable[Any] = given.items() if isinstance(given, Mapping) else given
    made = []
    for one in listed:
        name, options = one if isinstance(one, tuple) else (one, {})
        method = METHODS[one_of(name, "methods", METHODS)]
        if "epsilon" in options_of([method]):
            raise refuse("publish.priced-method-swept", method=name)
        if "k" not in options_of([method]):
            raise refuse("publish.method-without-k", method=name)
        made.append((name, {**TRIED.get(name, {}), **options}))
    return made
