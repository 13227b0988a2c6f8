"""The release that `publish` returns: its certificate, its report, its screens.

Charts are counted while the rows are there, so that a release keeps no row of the original. The
certificate may leave with the tables. Risk, utility and history were computed from the original and
are for the holder only; each screen says so beside them.
"""

from __future__ import annotations

import html
import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from ..arguments import flag
from ..errors import refuse
from ..evaluate.check_result import check_text
from ..evaluate.one_table.identifying_columns import leaving
from ..evaluate.two_tables.distribution import Marginal, marginals
from ..privacy import Certificate
from ..report.document import Document, Section
from ..report.figure import marginals_picture
from ..report.picture import Picture
from ..report.release import ReleaseFacts, release_document, unit_text
from ..schema.table import RECORD
from ..text import WIDTH, html_facts, many, section, sentence
from .assessment import Step
from .methods.contract import Made, Method
from .register import Departure, Target, digest_of
from .save import Report
from .table.input_table import kind_of, native
from .table.parquet_output import WrittenTable
from .verdict import HOLDER, LEFT_OUT, RISK, UTILITY, Verdict

if TYPE_CHECKING:
    from ..evaluate import Likeness, Risk, Utility

_MEASURED = (RISK, UTILITY, LEFT_OUT)
_AGAINST = (
    "Compared with the rows as the schema reads them: on their grid, clipped to their bounds, "
    "without rows that were left out."
)


@dataclass(frozen=True, eq=False)
class Shown:
    """What the charts of a report show.

    released: the distributions of columns, from the release alone.
    compared: the same beside the original, for the holder; empty if the method's report omits it.
    sizes: how many groups have how many units, by column where each has its own groups.
    counted: how many rows of the release were counted.
    """

    released: tuple[Marginal, ...] = ()
    compared: tuple[Marginal, ...] = ()
    sizes: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    counted: int | None = None

    @classmethod
    def of(cls, method: Method, made: Made) -> Shown:
        before = made.before if method.report_compares else None
        compared = () if before is None else marginals(before, made.sample, method.schema)
        released = marginals(None, made.sample, method.schema)
        return cls(released, compared, made.sizes, made.sample.num_rows)


def report_of(
    method: Method,
    certificate: Certificate,
    shown: Shown,
    verdict: Verdict,
    *,
    rows: int,
    columns: int,
    risk: Risk | None,
    utility: Utility | Likeness,
    history: Sequence[Step],
    warnings: Sequence[str],
    more: Sequence[Section] = (),
) -> Document:
    """The report of a release; for a method whose report compares nothing, only what may leave."""
    own = method.report_compares
    check = None if risk is None else risk.check
    promised = certificate.promise.parameters().get("k")
    facts = ReleaseFacts(
        title=method.title.format(name=method.schema.name),
        promised=verdict.promised,
        verdict=verdict.for_holder() if own else (),
        rows=rows,
        columns=columns,
        certificate=certificate,
        released=shown.released,
        compared=shown.compared,
        risk=risk,
        utility=utility if own else None,
        association=utility.association,
        instead_of_k=None if check is None else method.instead_of_k(check),
        k=None if promised is None else int(promised),
        sizes=shown.sizes,
        counted=shown.counted,
        remarks=method.remarks(),
        warnings=warnings if own else (),
        history=[str(step) for step in history] if own else (),
        more=more,
    )
    return release_document(facts)


class Reported(Protocol):
    """Something with a section in a report."""

    def section(self) -> Section: ...


@dataclass(frozen=True, eq=False)
class Leaving:
    """What leaves, as Arrow tables, and what screens show about it.

    rows, columns: of all columns side by side.
    telling: unprotected columns that identify nearly every row, with the share of rows identified.
    tables: what is saved, by name: mostly one, with all columns.
    frame, frames: the one table, and linked ones, as the kind of data frame that came in.
    stored: the one table, if it is kept in a file.
    """

    method: Method
    rows: int
    columns: tuple[str, ...]
    telling: Mapping[str, float]
    tables: Mapping[str, Any]
    frame: Any
    frames: Mapping[str, Any]
    shown: Shown
    stored: WrittenTable | None = None

    @classmethod
    def of(cls, method: Method, made: Made, source: object) -> Self:
        table, tables = made.table, made.tables or {"table": made.table}
        facts = method, table.num_rows, tuple(table.column_names), made.telling, tables
        shown = Shown.of(method, made)
        if isinstance(table, WrittenTable):
            return cls(*facts, None, {}, shown, table)
        kind = kind_of(source)
        frames = {name: native(one, source, kind) for name, one in made.tables.items()}
        return cls(*facts, native(table, source, kind, typed=method.stored_types), frames, shown)

    def without_rows(self) -> Self:
        """What a preview keeps: nothing that could be handed out."""
        return with_fields(self, tables={}, frame=None, frames={})


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A protected copy of a table. It leaves, and is registered in its ledger, when its table or
    its public report is first handed out or saved: reading the rest registers nothing.

    table: the released rows, as the kind of data frame that came in; refused for two linked tables
        in which a person may have several rows, which would show that these belong to one person.
        It is the caller's own copy: changes to it do not affect `save` and `digest`. A table too
        large to be held is kept in a file, which is read here.
    tables: what `save` writes, by name: the table, or the linked tables.
    certificate: what is promised, and what is not; it may leave too.
    risk, utility: computed from original and release, for the holder only. A private table has no
        risk to measure, because no row is a person's record; it is compared as a whole.
    history: the steps that led here, for the holder only.
    """

    certificate: Certificate
    risk: Risk | None
    utility: Utility | Likeness
    history: tuple[Step, ...]
    _published: Leaving
    _departure: Departure

    @property
    def table(self) -> Any:
        published = self._published
        if published.frames and published.method.schema.unit != RECORD:
            raise refuse("publish.linked-tables-not-one")
        self._departure.leave()
        return published.frame if published.stored is None else published.stored.read()

    @property
    def tables(self) -> Mapping[str, Any]:
        self._departure.leave()
        published = self._published
        if published.stored is not None:
            return {name: table.read() for name, table in published.tables.items()}
        return published.frames or {"table": published.frame}

    @property
    def left(self) -> bool:
        """Whether a table was handed out or saved, and registered if there is a ledger."""
        return self._departure.left

    @property
    def registered_in(self) -> Path | None:
        """The file of its ledger; None before it has left, and without a ledger."""
        return self._departure.registered_in

    @property
    def digest(self) -> str:
        """The SHA-256 of table and certificate, by which a ledger knows the release."""
        self._departure.leave()
        return digest_of(self._published.tables, self.certificate)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        kind: str | None = None,
        replace: bool = False,
        public: bool = False,
        sweep: Reported | None = None,
    ) -> dict[str, Any]:
        """Writes the table, `certificate.json`, `report.html` and `manifest.json`, all or nothing.

        Parameters
            folder: a new or empty one.
            kind: "csv" or "parquet"; None for that of the source, Parquet if it was no file.
            replace: whether a folder with a release in it may be replaced as a whole.
            public: whether the report leaves out what was computed from the original, so that the
                whole folder may leave. Otherwise the manifest lists it under `for_the_holder`.
            sweep: the result of `tn.sweep`, to be shown in the holder's report.
        """
        if not isinstance(folder, str | os.PathLike):
            raise refuse("publish.folder-wrong-type", type=type(folder).__name__)
        return leave_for(self, Target(Path(folder), kind, replace, flag(public, "public")), sweep)

    def _page(self, public: bool, more: Sequence[Section], target: Target | None = None) -> Report:
        published = self._published
        document = report_of(
            published.method,
            self.certificate,
            published.shown,
            self._verdict(target),
            rows=self.rows,
            columns=len(self.columns),
            risk=self.risk,
            utility=self.utility,
            history=self.history,
            warnings=warnings_of(self),
            more=more,
        )
        document = document.public() if public else document
        return Report(document.html(), document.for_holder)

    def _verdict(self, target: Target | None = None) -> Verdict:
        published = self._published
        return Verdict.of(
            published.method,
            self.risk,
            self.utility,
            self.history,
            published.telling,
            published.columns,
            self._departure.where(target),
        )

    def page(self, *, public: bool = False) -> str:
        """The report as one page of HTML that stands alone, as `save` writes it.

        Parameters
            public: whether it leaves out what was computed from the original. Such a page may be
                shared, and shows distributions of the released table: it is registered like the
                table, and refused for a preview.
        """
        if flag(public, "public"):
            self._departure.leave()
        return self._page(public, ()).text

    def picture(self) -> Picture:
        """What `tn.report.plot` draws: the columns before and after, for the holder only."""
        method, shown = self._published.method, self._published.shown
        title = f"{method.schema.name}: {many(self.rows, 'row')} after {method.label}"
        return marginals_picture(title, shown.compared or shown.released)

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self._published.rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return self._published.columns

    def report(self) -> str:
        """The complete report as text: promise, limits, steps, risk and utility."""
        return _full_text(self)

    def verdict(self) -> Verdict:
        """What is promised, the largest risk, what was lost, what was left out, and where the
        release is: all but the promise for the holder only."""
        return self._verdict()

    def __repr__(self) -> str:
        return _brief_text(self)

    def _repr_html_(self) -> str:
        return _html(self)


def leave_for(release: Release, target: Target, sweep: Reported | None = None) -> dict[str, Any]:
    """Saves a release, with its report; returns the manifest."""
    more = () if sweep is None else (sweep.section(),)
    page = partial(release._page, target.public, more, target)
    return release._departure.leave(with_fields(target, report=page))


def warnings_of(release: Release) -> list[str]:
    """What the holder should consider before the release leaves."""
    published = release._published
    found = [] if release.risk is None else release.risk.warnings()
    return [*leaving(published.telling), *found, *published.method.warnings(release.risk)]


def _brief_text(release: Release) -> str:
    warnings = warnings_of(release)
    lines = [f"{_title(release)}", release._verdict().text()]
    if warnings:
        lines += ["", section(f"WARNING ({HOLDER})", warnings, "* ")]
    return "\n".join(lines)


def _full_text(release: Release) -> str:
    """The screen of `tenue publish`: every promise, limit, step and number."""
    certificate = release.certificate
    unit = unit_text(certificate)
    warnings = warnings_of(release)
    parts = [
        f"{_title(release)}\n{release._verdict().text()}",
        section("Promised", [str(certificate.promise), certificate.promise.sentence()]),
        section(
            "How",
            [
                f"{sentence(certificate.mechanism)}. A unit is {unit}.",
                *(f"{name}: {value}" for name, value in certificate.parameters.items()),
            ],
        ),
        section("Assumed", certificate.assumptions, "* "),
        section("Not promised", certificate.does_not_promise, "* "),
        section(f"What was done ({HOLDER})", map(str, release.history)),
        *([section(f"WARNING ({HOLDER})", warnings, "* ")] if warnings else []),
        *_risk(release),
        section(f"Utility ({HOLDER})", [_AGAINST, *str(release.utility).splitlines()]),
    ]
    return "\n\n".join(parts)


def _html(release: Release) -> str:
    """A few rows, for a notebook; every text is escaped."""
    lines = release._verdict().lines()
    facts = [(f"{name} ({HOLDER})" if name in _MEASURED else name, text) for name, text in lines]
    rows = html_facts([*facts, *((f"WARNING ({HOLDER})", text) for text in warnings_of(release))])
    limits = "".join(
        f"<li>{html.escape(limit)}</li>" for limit in release.certificate.does_not_promise
    )
    return (
        f"<table class='tenue-release'><caption>{html.escape(_title(release))}</caption><tbody>"
        f"{rows}<tr><th scope='row'>Not promised</th><td><ul>{limits}</ul></td></tr>"
        "</tbody></table>"
    )


def _title(release: Release) -> str:
    method = release._published.method
    of = f"{release._departure.word} of {method.schema.name}"
    return f"{of}, {method.label}: {many(release.rows, 'row')}, {len(release.columns)} columns"


def _risk(release: Release) -> list[str]:
    """Disclosure risk and equivalence classes; nothing for a table without records of people."""
    risk, method = release.risk, release._published.method
    if risk is None:
        return []
    parts = [section(f"Disclosure risk ({HOLDER})", [*risk.sentences(), *method.remarks()])]
    if risk.check is not None:
        title, unique = f"Equivalence classes ({HOLDER})", method.instead_of_k(risk.check)
        if unique:
            parts.append(section(title, [*risk.check.notes, unique]))
        else:
            parts.append(f"{title}\n" + textwrap.indent(check_text(risk.check, WIDTH - 2), "  "))
    return parts
