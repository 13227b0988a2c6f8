"""Many methods and sizes of groups on one table: what each risks and what it is worth.

Every release is a preview: nothing is registered and nothing leaves. What is found was computed
from the original and is for the holder alone.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
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
"""What a method is tried with where nothing else is said; t is a ratio of shares here."""
RISK = (
    "Risk is what one and the same intruder finds, whatever the method: he has everybody's "
    "quasi-identifiers, knows the groups, learns from the release how columns relate, and gives "
    "each member of a group the value that fits best. It is the share of people who get the value "
    "of their own record, in the confidential column where most do; without learning it would be "
    "1/k at most. Without confidential columns it is the share of records that he links."
)
LOSS = (
    "Loss is how far values moved, in shares of the width of their domain: root mean square over "
    "all columns, changed or not."
)
FIT = (
    "Correlations is by how much they moved, on average. Told apart is how well a model tells "
    "released rows from original ones: 0 not at all, 0.25 always."
)
Methods = Iterable[str | tuple[str, Mapping[str, Any]]] | Mapping[str, Mapping[str, Any]]
_HEAD = ("method", "k", "risk", "loss", "correlations", "told apart")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One method with one k on the table.

    options: what else it was asked with.
    risk: the share of people whose own value an intruder finds: 0 (safe) to 1; see `exposure`.
    loss: how far values moved, as a share of their domains, over all columns: 0 is best.
    correlation: how far correlations moved, on average; None with fewer than two numbers.
    propensity: how well released rows are told from original ones: 0 to 0.25.
    refused: why there is no such release; the others are then None.
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
        """The method, with its own options."""
        more = "".join(f", {name} = {value}" for name, value in self.options.items())
        return f"{self.method}{more}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice:
    """Which of the trials to take; None if none keeps to the risk. reason: why."""

    trial: Trial | None
    reason: str

    def __str__(self) -> str:
        return self.reason

    def __repr__(self) -> str:
        return self.reason


@dataclass(frozen=True, kw_only=True, repr=False)
class Sweep:
    """What many releases of one table risk and are worth. For the holder alone."""

    name: str
    trials: tuple[Trial, ...]

    def advise(self, risk: object) -> Advice:
        """Of the trials whose risk is at most `risk`, the one with the least loss; of equals, the
        one with the least risk."""
        most = allowed_risk(risk)
        made = [one for one in self.trials if one.risk is not None and one.loss is not None]
        safe = sorted((one for one in made if exact(one.risk, "risk") <= most), key=_worth)
        limit = percent(float(most))
        if not safe:
            return Advice(trial=None, reason=_none(made, limit))
        best = safe[0]
        reason = (
            f"Take {best.name}, k = {best.k}: an intruder finds the own values of "
            f"{percent(best.risk or 0)} of the people, and {limit} is allowed; values moved by "
            f"{percent(best.loss or 0)} of their domain, the least of {len(safe)} that keep to it."
        )
        other = next((one for one in safe if one.name != best.name), None)
        if other is not None:
            reason += f" Next: {other.name}, k = {other.k}, with {percent(other.loss or 0)}."
        return Advice(trial=best, reason=reason)

    def picture(self, *, narrow: bool = False) -> Picture:
        """The risk-utility curve of each method; `narrow` for telephones."""
        lines: dict[str, list[tuple[int, float, float]]] = {}
        for one in self.trials:
            if one.risk is not None and one.loss is not None:
                lines.setdefault(one.name, []).append((one.k, one.risk, one.loss))
        return trade_off(lines, f"Risk and loss of releases of {self.name}", narrow=narrow)

    def section(self) -> Section:
        """Its part of a report."""
        head, *rows = self._rows()
        grid = Grid(head, rows, holder=True)
        blocks: list[Block] = [Paragraphs([RISK, LOSS, FIT], holder=True)]
        if any(one.risk is not None for one in self.trials):
            caption = "Each dot is a release; its number is k"
            roomy, narrow = (replace(self.picture(narrow=one), title="") for one in (False, True))
            figure = Figure(roomy, caption, grid, narrow)
            blocks.append(Figures([figure], holder=True, wide=True))
        return Section("Risk and utility of other choices", [*blocks, grid])

    def page(self, *, public: bool = False, advice: Advice | None = None) -> str:
        """The report as one page, with what to take first; nothing of it is public."""
        said: list[Section] = []
        if advice is not None:
            said = [Section("What to take", [Paragraphs([advice.reason], holder=True, lead=True)])]
        document = Document(
            f"Releases of {self.name} that were tried",
            ["nothing was registered, and nothing has left", "for the holder alone"],
            [*said, replace(self.section(), title="What each risks, and what it loses")],
        )
        return (document.public() if public else document).html()

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them."""
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

    def _rows(self) -> list[list[str]]:
        rows = [list(_HEAD)]
        for one in self.trials:
            if one.refused is not None:
                rows.append([one.name, str(one.k), "refused", "", "", ""])
                continue
            far = "" if one.correlation is None else shortly(one.correlation)
            shares = [percent(one.risk or 0), percent(one.loss or 0)]
            rows.append([one.name, str(one.k), *shares, far, shortly(one.propensity or 0)])
        return rows

    def __str__(self) -> str:
        lines = [*text_table(self._rows(), left=1), "", *map(hanging, (RISK, LOSS, FIT))]
        reasons: dict[tuple[str, str], list[int]] = {}
        for one in self.trials:
            if one.refused is not None:
                reasons.setdefault((one.name, one.refused), []).append(one.k)
        for (name, reason), sizes in reasons.items():
            lines.append(hanging(f"{name}, k = {', '.join(map(str, sizes))}: {reason}"))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def allowed_risk(risk: object) -> Fraction:
    """A share of people whose values an intruder may find; refused if it is none."""
    most = exact(risk, "risk")
    if not 0 <= most <= 1:
        raise refuse("publish.risk-not-a-share", risk=risk)
    return most


def _worth(one: Trial) -> tuple[float, float]:
    return one.loss or 0.0, one.risk or 0.0


def _none(made: Sequence[Trial], limit: str) -> str:
    if not made:
        return "None of these releases can be made."
    least = min(made, key=lambda one: one.risk or 0.0)
    return (
        f"None of these keeps to {limit}. The least risk is {percent(least.risk or 0)}, of "
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
    """What releases of a table risk and are worth, for several methods and sizes of groups.

    Guarantee
        Only previews are made: nothing is registered, and no table leaves. A release that would be
        refused is listed with the reason. Methods that have a price are not tried, for looking at
        them costs it: see `tn.plan_release`.

    Parameters
        source: the table; None for the schema's own source.
        k: the least numbers of units in a group.
        methods: names; with further options as pairs, ("swap", {"by": "each-confidential"}), or as
            a mapping from name to options. `t-close` is tried with t = 2 if no other is named.
        progress: is told the name of each release when it begins.
    """
    asked = _methods(methods)
    sizes = sorted({whole(size, "k", least=2) for size in _listed(k)})
    if not asked or not sizes:
        raise refuse("publish.nothing-to-sweep")
    described = Schema.load(schema) if isinstance(schema, str | os.PathLike) else schema
    table = source
    if source is not None and not isinstance(source, str | os.PathLike):
        rows = open_rows(source)  # once, for a stream cannot be read again
        table = _arrow(rows.read(rows.names))
    trials = []
    for method, options in asked:
        for size in sizes:
            if progress is not None:
                progress(f"{method}, k = {size}")
            trials.append(_tried(table, described, method, size, options))
    return Sweep(name=_name(described), trials=tuple(trials))


def _tried(source: object, schema: Any, method: str, k: int, options: Mapping[str, Any]) -> Trial:
    told: dict[str, Any] = {"method": method, "k": k, "options": options}
    try:
        made = publish(source, schema=schema, method=method, k=k, preview=True, **options)
    except Refused as refusal:
        return Trial(**told, refused=str(refusal))
    use: Any = made.utility
    return Trial(
        **told,
        risk=exposure(made.risk),
        loss=loss(use),
        correlation=None if use.correlation is None else use.correlation.mean,
        propensity=use.propensity.score,
    )


def exposure(risk: Risk | None) -> float:
    """The share of people whose own value one intruder finds, the same for every method: who has
    everybody's quasi-identifiers, knows the groups, and learns how columns relate.

    One who has the confidential values as well would link most records of any truthful table, and
    learn nothing by it; methods that move values would look safe against him.
    """
    if risk is None:
        return 0.0
    if risk.rematched:
        return max(found.records for found in risk.rematched.values())
    known = risk.linkage_by_quasi_identifiers
    return risk.record_linkage if known is None else known


def loss(use: Utility) -> float:
    """How far values moved: root mean square over all columns, each over its domain."""
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


def _listed(k: Any) -> list[Any]:
    return [k] if isinstance(k, int | str | Fraction) else list(k)


def _arrow(columns: Mapping[str, Any]) -> Any:
    import pyarrow

    return pyarrow.table(dict(columns))


def _name(schema: Any) -> str:
    return str(schema["table"]["name"] if isinstance(schema, Mapping) else schema.name)
