"""Publish a protected copy of a table."""

from __future__ import annotations

import json
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from ..errors import refuse
from ..text import hanging, section
from . import options
from . import sweep as trying
from .messages import spoken
from .parser import Option, say

if TYPE_CHECKING:
    from ..privacy import Certificate
    from ..publish.register import Target
    from ..publish.synthetic.plan import ReleasePlan

_OfMethod = partial(Option, group="Method and its options")
_OfOutput = partial(Option, group="What is written")
_OfRegister = partial(Option, group="Registration")
_OfSweep = partial(Option, group="Comparing several releases")
METHODS = (
    *("microaggregate", "generalise", "local-suppression", "swap", "anatomy", "t-close"),
    *("perturb", "private"),
)
"""What the shell offers after --method, without loading the methods."""
BY = (
    *("mdav", "v-mdav", "each-quasi-identifier", "multidimensional", "full-domain"),
    *("quasi-identifiers", "each-confidential", "other-attributes", "confidential"),
    *("tree", "two-stage", "columns", "copula", "network", "microaggregation"),
)
_KEEP = "Keep this screen to yourself: only the files may leave."
_KEEP_BOTH = (
    "Keep this screen and report.html to yourself: only the other files may leave. With --public "
    "the report may leave too."
)
_DETAILS = " With --details this screen shows all promises, limits, steps and figures."

PATIENCE = 2.0
"""Seconds after which a bar shows the current step and the time so far."""


def publish(
    schema: options.Schema,
    source: options.Source = None,
    method: Annotated[
        str | None,
        _OfMethod(
            help="How the table is protected: microaggregate, generalise, local-suppression, swap, "
            "anatomy, t-close, perturb or private.",
            value="NAME",
            suggest=METHODS,
        ),
    ] = None,
    k: Annotated[
        str | None,
        _OfMethod(
            "The least number of units in a group, such as 5; swap: also one for each column, "
            "income=12,tax=12. private: rows in a cluster, which asks for microaggregation.",
            names=("-k", "--k"),
            value="N",
        ),
    ] = None,
    epsilon: Annotated[
        str | None, _OfMethod("What a private table may cost.", value="NUMBER")
    ] = None,
    by: Annotated[
        str | None,
        _OfMethod(
            "How groups are formed. microaggregate: mdav; v-mdav if people form clusters; "
            "each-quasi-identifier, by itself, which promises less. "
            "generalise: multidimensional (Mondrian), or full-domain: one level for each column. "
            "swap: quasi-identifiers; each-confidential, which moves numbers and dates least; "
            "other-attributes, which fits values to all other columns. anatomy: quasi-identifiers "
            "or confidential. private: tree, two-stage, columns, copula, network or "
            "microaggregation; if not given, chosen for the table.",
            value="NAME",
            suggest=BY,
        ),
    ] = None,
    diversity: Annotated[
        str | None,
        _OfMethod(
            "l-diversity: the least number of different values in each group; groups grow for it.",
            names=("-l", "--l"),
            value="N",
        ),
    ] = None,
    closeness: Annotated[
        str | None,
        _OfMethod(
            "t-closeness: how far a group may be from the table. t-close: a ratio of shares, "
            "from 1 up. Others: an earth mover's distance, 0 to 1.",
            names=("-t", "--t"),
            value="NUMBER",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        _OfMethod(
            "t-close: shown, as two linked tables, or hidden, as one; shown if not given.",
            value="shown|hidden",
            suggest=("shown", "hidden"),
        ),
    ] = None,
    gamma: Annotated[str | None, _OfMethod("The gain factor of v-mdav.", value="NUMBER")] = None,
    suppress: Annotated[
        str | None,
        _OfMethod(
            "generalise: the share of rows that may be left out, such as 0.02.", value="SHARE"
        ),
    ] = None,
    minimise: Annotated[
        str | None,
        _OfMethod(
            "full-domain: the loss that is made least: ncp, discernibility or average-class-size.",
            value="LOSS",
            suggest=("ncp", "discernibility", "average-class-size"),
        ),
    ] = None,
    widths: Annotated[
        str | None,
        _OfMethod(
            "full-domain: the widths of intervals, as age=5/10/20,born=365/3650.", value="WIDTHS"
        ),
    ] = None,
    importance: Annotated[
        str | None,
        _OfMethod(
            help="local-suppression: how many cells a suppressed cell of a column counts for, as "
            "age=5,town=2; 1 for the others.",
            value="WEIGHTS",
        ),
    ] = None,
    retain: Annotated[
        str | None,
        _OfMethod(
            help="perturb: the probability that a category is kept by PRAM, as 0.8, or by column, "
            "town=0.8,sex=0.9.",
            value="SHARES",
        ),
    ] = None,
    transition: Annotated[
        str | None,
        _OfMethod(
            help="perturb: the whole matrix of PRAM, row by row: sex=0.9:0.1/0.2:0.8.",
            value="MATRICES",
        ),
    ] = None,
    noise: Annotated[
        str | None,
        _OfMethod(
            help="perturb: noise on numbers and dates, as a share of the standard deviation: 0.1, "
            "or by column, age=0.1,income=0.2.",
            value="SHARES",
        ),
    ] = None,
    correlated: Annotated[
        bool, _OfMethod(help="perturb: noise has the covariance of the columns.")
    ] = False,
    memory: Annotated[
        str | None,
        _OfMethod(
            "How many bytes of a table may be in memory; a larger file is read in "
            "passes. private: 1 GiB if not given. Also for microaggregate by "
            "each-quasi-identifier, swap by each-confidential, anatomy by confidential, t-close, "
            "and generalise without l, t and suppress.",
            value="BYTES",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        _OfOutput("A new or empty folder for the release; not with --preview.", value="FOLDER"),
    ] = None,
    kind: Annotated[
        str | None,
        _OfOutput(
            "The format of the table's files, csv or parquet.",
            value="csv|parquet",
            suggest=("csv", "parquet"),
        ),
    ] = None,
    replace: Annotated[bool, _OfOutput("Replace a folder that holds a release.")] = False,
    preview: Annotated[
        bool, _OfOutput("Only measure; private: only plan. Nothing is paid, registered or written.")
    ] = False,
    public: Annotated[
        bool, _OfOutput("Leave out of report.html what was computed from the original.")
    ] = False,
    details: Annotated[
        bool, _OfOutput("Show every promise, limit, step and figure, not only the first lines.")
    ] = False,
    comparison: Annotated[
        Path | None,
        _OfOutput("Where to write, as JSON and for you alone, how it compares to the original."),
    ] = None,
    ledger: Annotated[
        str | None,
        _OfRegister(
            "Where the release is registered; beside the table if not given.", value="FILE"
        ),
    ] = None,
    no_register: Annotated[
        bool, _OfRegister("Register it nowhere; the certificate says so.")
    ] = False,
    override: Annotated[
        list[str] | None,
        _OfRegister(
            "Insist on a second-release or on homogeneous-groups; the certificate says so.",
            value="REASON",
            suggest=("second-release", "homogeneous-groups"),
        ),
    ] = None,
    sweep: Annotated[
        str | None,
        _OfSweep(
            "Instead of --method and -k: preview several sizes of groups, k=3,5,10,25,50.",
            value="SIZES",
        ),
    ] = None,
    methods: Annotated[
        str | None,
        _OfSweep(
            "The methods that are previewed, such as microaggregate,swap:by=each-confidential",
            value="NAMES",
        ),
    ] = None,
    risk: Annotated[
        str | None,
        _OfSweep(
            "Advise which release to take if an intruder may link this share of records.",
            value="SHARE",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Publish a protected copy of a table, or a private table. Its certificate is published with
    it; risk and utility are shown to you alone: the verdict in five lines, all of it with
    --details.

    Example
        tenue publish --schema census.toml --method swap -k 12 --out published
    """
    from ..publish.publish import plan_of, publish_into
    from ..publish.release import warnings_of
    from ..publish.sweep import allowed_risk

    asked: dict[str, Any] = {"k": _sizes(k), "by": by, "gamma": gamma, "l": diversity}
    asked |= {"t": closeness, "epsilon": epsilon, "groups": groups, "memory": memory}
    asked |= {"suppress": suppress, "minimise": minimise, "widths": _widths(widths)}
    asked |= {"importance": _each(importance, "--importance"), "retain": _each(retain, "--retain")}
    asked |= {"transition": _matrices(transition), "noise": _each(noise, "--noise")}
    asked |= {"correlated": correlated or None}
    asked = {name: value for name, value in asked.items() if value is not None}
    without = {"--public": public, "--replace": replace, "--kind": kind is not None}
    if sweep is not None:
        without |= {"--preview": preview, "--comparison": comparison is not None}
        without |= {"--ledger": ledger is not None, "--no-register": no_register}
        without |= {"--override": bool(override)}
        asked.pop("k", None)
        with spoken(), Waiting(steps=4) as waiting:
            if method is not None or k is not None:
                raise refuse("cli.sweep-with-method")
            _check_useful("--sweep", without | {"--details": details})
            if risk is not None:
                allowed_risk(risk)  # before any trial
            trying.check_out(out)
            found = trying.swept(schema, source, sweep, methods, asked, waiting)
            trying.show(found, risk, out, as_json=as_json)
        return
    with spoken(), Waiting(steps=4) as waiting:
        if method is None:
            raise refuse("cli.method-missing")
        if methods is not None or risk is not None:
            raise refuse("cli.sweep-option-alone")
        if preview and out is None:
            _check_useful("--preview", without)
        target = _target(out, ledger, kind, replace=replace, preview=preview, public=public)
        _check_comparison(out, comparison)
        if no_register and ledger is not None:
            raise refuse("cli.ledger-with-no-register", name=Path(ledger).name)
        asked |= {"schema": schema, "method": method, "override": tuple(override or ())}
        asked["progress"] = waiting
        planned = plan_of(source, **asked) if preview else None
        if planned is not None and comparison is not None:
            raise refuse("cli.comparison-without-values", method=method)
        if planned is None:
            release, manifest = publish_into(
                target, source, ledger=False if no_register else ledger, preview=preview, **asked
            )
    if planned is not None:
        _show_plan(*planned, as_json=as_json)
        return
    if comparison is not None:
        comparison.write_text(release.utility.to_json() + "\n", encoding="utf-8")
    if as_json:
        facts = {
            **({"preview": True} if preview else {"out": str(out), "manifest": manifest}),
            "certificate": release.certificate.to_dict(),
            "verdict": release.verdict().to_dict(),
            "risk": None if release.risk is None else json.loads(release.risk.to_json()),
            "warnings": warnings_of(release),
            "utility": json.loads(release.utility.to_json()),
            "history": [{"step": step.name, "text": step.text} for step in release.history],
        }
        say(json.dumps(facts))
        return
    say(release.report() if details else repr(release))
    more = "" if details else _DETAILS
    if preview:
        nothing = "Nothing was registered and nothing has left. Keep this screen to yourself."
        say("\n" + hanging(nothing + more))
        return
    kept = manifest.get("for_the_holder", [])
    files = ", ".join([*manifest["files"], *kept, "manifest.json"])
    say("\n" + hanging(f"Wrote {files}. {_KEEP_BOTH if kept else _KEEP}{more}"))


def _check_useful(other: str, given: dict[str, bool]) -> None:
    for option, is_given in given.items():
        if is_given:
            raise refuse("cli.option-without-effect", option=option, other=other)


def _show_plan(plan: ReleasePlan, certificate: Certificate, *, as_json: bool) -> None:
    if as_json:
        facts = {"preview": True, "plan": plan.to_dict(), "certificate": certificate.to_dict()}
        say(json.dumps(facts))
        return
    promise = certificate.promise
    say(str(plan))
    say("\n" + section("Promised", [str(promise), promise.sentence()]))
    say("\n" + section("Assumed", certificate.assumptions, "* "))
    say("\n" + section("Not promised", certificate.does_not_promise, "* "))
    say("\nNothing was paid, and nothing has left.\nTo publish, give --out instead of --preview.")


def _target(
    out: Path | None,
    ledger: str | None,
    kind: str | None,
    *,
    replace: bool,
    preview: bool,
    public: bool,
) -> Target | None:
    from ..publish.register import Target

    if preview:
        if out is not None:
            raise refuse("cli.preview-with-out", out=out)
        return None
    if out is None:
        raise refuse("cli.out-missing")
    if ledger is not None and Path(ledger).resolve().is_relative_to(out.resolve()):
        raise refuse("cli.ledger-inside-release", name=Path(ledger).name, out=out)
    return Target(out, kind, replace, public)


def _check_comparison(out: Path | None, comparison: Path | None) -> None:
    if comparison is None:
        return
    if out is not None and comparison.resolve().is_relative_to(out.resolve()):
        raise refuse("cli.comparison-inside-release", out=out)
    if not comparison.absolute().parent.is_dir():
        raise refuse("cli.comparison-folder-missing", name=comparison.name)


def _by_column(text: str) -> dict[str, str] | None:
    """The values of a text such as income=12,tax=5; None if a part names no column."""
    parts = [part.partition("=") for part in text.split(",")]
    values = {name.strip(): value for name, _, value in parts}
    return values if all(equals for _, equals, _ in parts) else None


def _sizes(text: str | None) -> object:
    """One k, or one for each column, written income=12,tax=5."""
    if text is None or "=" not in text:
        return text
    sizes = _by_column(text)
    if sizes is None:
        raise refuse("cli.invalid-group-size-option", text=text)
    return sizes


def _widths(text: str | None) -> dict[str, list[str]] | None:
    """The widths of each column, written age=5/10/20,born=365."""
    if text is None:
        return None
    widths = _by_column(text)
    if widths is None:
        raise refuse("cli.invalid-widths-option", text=text)
    return {name: [one.strip() for one in sizes.split("/")] for name, sizes in widths.items()}


def _each(text: str | None, option: str) -> object:
    """One number, or one for each column, written age=5,town=2."""
    if text is None or ("=" not in text and option != "--importance"):
        return text
    values = _by_column(text)
    if values is None:
        raise refuse("cli.invalid-column-values", text=text, option=option)
    return values


def _matrices(text: str | None) -> dict[str, list[list[str]]] | None:
    """The matrix of each column, written sex=0.9:0.1/0.2:0.8."""
    if text is None:
        return None
    matrices = _by_column(text)
    if matrices is None:
        raise refuse("cli.invalid-column-values", text=text, option="--transition")
    return {
        name: [[one.strip() for one in row.split(":")] for row in rows.split("/")]
        for name, rows in matrices.items()
    }


class Waiting:
    """A bar on standard error, if that is a terminal, once `patience` seconds have passed.

    A call with the name of a step advances the bar; a remark in brackets does not.
    """

    def __init__(self, steps: int, patience: float = PATIENCE) -> None:
        self._steps = steps
        self._begun: list[str] = []
        self._shown = ""
        self._bar: Any = None
        self._task: Any = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(patience, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def __call__(self, step: str) -> None:
        with self._lock:
            if step.partition(" (")[0] not in self._begun:
                self._begun.append(step)
            self._shown = step
            if self._bar is not None:
                self._bar.update(self._task, description=step, completed=len(self._begun) - 1)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        with self._lock:
            if not console.is_terminal:
                return
            shown = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
            self._bar = Progress(*shown, console=console, transient=True)
            done = max(0, len(self._begun) - 1)
            self._task = self._bar.add_task(self._shown, total=self._steps, completed=done)
            self._bar.start()
