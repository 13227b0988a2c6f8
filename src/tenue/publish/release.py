"""The release that `publish` returns: its certificate, its report, and how people read it.

What it draws is counted while the rows are there, so that a release keeps no row of the original.

What is promised and what is not may leave with the tables. Risk, utility and history were computed
from the original and are for the holder alone; each screen says so where they stand.
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
from ..report.figure import marginal_panel
from ..report.picture import Picture
from ..report.release import ReleaseFacts, release_document
from ..schema.table import RECORD
from ..text import WIDTH, html_facts, many, percent, section, sentence, shortly, wrapped_facts
from .assessment import Step
from .methods.contract import Made, Method
from .register import Departure, Target, digest_of
from .save import Report
from .table.input_table import kind_of, native
from .table.parquet_output import WrittenTable

if TYPE_CHECKING:
    from ..evaluate import Check, Likeness, Risk, Utility
    from ..report.document import Document, Section
    from ..report.picture import Picture


_MOST_DRAWN = 9


@dataclass(frozen=True, eq=False)
class Shown:
    """What a report draws of a release.

    released: how its columns are distributed, from the release alone.
    compared: the same beside the original, for the holder; empty where the method's report leaves
        that out.
    sizes: how many groups have how many units, by column where each has its own.
    counted: how many rows of the release were counted.
    """

    released: tuple[Marginal, ...] = ()
    compared: tuple[Marginal, ...] = ()
    sizes: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    counted: int | None = None

    @classmethod
    def of(cls, method: Method, made: Made) -> Shown:
        """Counted from the rows, while they are there."""
        before = made.before if method.report_compares else None
        compared = () if before is None else marginals(before, made.sample, method.schema)
        released = marginals(None, made.sample, method.schema)
        return cls(released, compared, made.sizes, made.sample.num_rows)

    def picture(self, title: str) -> Picture:
        """The columns, the original behind the release."""
        columns = self.compared or self.released
        told = "grey: the original, blue: the release; for the holder alone"
        drawn = [marginal_panel(one, titled=True) for one in columns[:_MOST_DRAWN]]
        return Picture(title, drawn, told if self.compared else "the released table", across=3)


def report_of(
    method: Method,
    certificate: Certificate,
    shown: Shown,
    *,
    rows: int,
    columns: int,
    risk: Risk | None,
    utility: Utility | Likeness,
    history: Sequence[Step],
    warnings: Sequence[str],
    more: Sequence[Section] = (),
) -> Document:
    """All there is to say of a release. A method whose report compares nothing says only what may
    leave: its comparison has a file of its own."""
    own = method.report_compares
    check = None if risk is None else risk.check
    promised = certificate.promise.parameters().get("k")
    facts = ReleaseFacts(
        title=f"A protected copy of {method.schema.name}",
        rows=rows,
        columns=columns,
        certificate=certificate,
        released=shown.released,
        compared=shown.compared,
        risk=risk,
        utility=utility if own else None,
        correlation=utility.correlation,
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


def title_of(rows: int, method: Method) -> str:
    """What a chart of a release is called."""
    return f"{method.schema.name}: {many(rows, 'row')} after {method.label}"


# -- The protected copy that `publish` returns: its certificate, and how people read it ------------

_FEW = 3
_ALONE = "for you alone"
_AGAINST = (
    "Compared with the rows as the schema reads them: on their grid, between their bounds, without "
    "those that were left out."
)


class Reported(Protocol):
    """What has a section of its own in a report."""

    def section(self) -> Section: ...


@dataclass(frozen=True, eq=False)
class Leaving:
    """What leaves, as Arrow tables, by which method it was made, and what screens say of it.

    rows, columns: of all columns side by side.
    telling: the unprotected columns that tell nearly everybody apart, and the share of rows found.
    tables: what is saved, by name: mostly one, with all columns.
    frame, frames: the one table, and several, as the kind of data frame that came in.
    shown: what a report draws.
    stored: the one table, if it lies in a file.
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
        """Of what a method made of a source, whose kind of data frame the caller gets."""
        table, tables = made.table, made.tables or {"table": made.table}
        facts = method, table.num_rows, tuple(table.column_names), made.telling, tables
        shown = Shown.of(method, made)
        if isinstance(table, WrittenTable):
            return cls(*facts, None, {}, shown, table)
        kind = kind_of(source)
        frames = {name: native(one, source, kind) for name, one in made.tables.items()}
        return cls(*facts, native(table, source, kind, typed=method.stored_types), frames, shown)

    def check_one(self) -> None:
        """Refuses linked tables side by side if persons may have several rows: that would show
        which rows are one person's."""
        if self.frames and self.method.schema.unit != RECORD:
            raise refuse("publish.linked-tables-not-one")

    def handed_out(self) -> Any:
        """The table as the caller gets it; one that lies in a file is read."""
        return self.frame if self.stored is None else self.stored.read()

    def all_handed_out(self) -> Mapping[str, Any]:
        """What `save` writes, as the caller gets it."""
        if self.stored is not None:
            return {name: table.read() for name, table in self.tables.items()}
        return self.frames or {"table": self.frame}

    def without_rows(self) -> Self:
        """What a preview keeps: nothing that could be handed out."""
        return with_fields(self, tables={}, frame=None, frames={})


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A protected copy of a table. It leaves, and is registered in its ledger, when its table or
    its public report is first handed out or saved: looking at the rest registers nothing.

    table: the rows that may leave, as the kind of data frame that came in; refused of two linked
        tables in which a person may have several rows. It is the caller's own:
        what `save` writes and `digest` stands for is a copy that changes to it do not touch. One
        that was too large to be held lies in a file until it is asked for here, which reads it all.
    tables: what `save` writes, by name: the table, or several whose columns it has side by side.
    certificate: what is promised, and what is not; it may leave too.
    risk, utility: what the original and the release have to do with each other. They were computed
        from the original and are for the holder alone. A private table has no risk to measure, for
        no row is anybody's, and is compared with the original as a whole.
    history: the steps that led here, for the holder alone.
    """

    certificate: Certificate
    risk: Risk | None
    utility: Utility | Likeness
    history: tuple[Step, ...]
    _published: Leaving
    _departure: Departure

    @property
    def table(self) -> Any:
        self._published.check_one()
        self._departure.to_caller()
        return self._published.handed_out()

    @property
    def tables(self) -> Mapping[str, Any]:
        self._departure.to_caller()
        return self._published.all_handed_out()

    @property
    def left(self) -> bool:
        """Whether a table was handed out or saved, and registered if there is a ledger."""
        return self._departure.left

    @property
    def registered_in(self) -> Path | None:
        """The file of the ledger that knows it; None until it has left, and for none."""
        return self._departure.registered_in

    @property
    def digest(self) -> str:
        """The SHA-256 of table and certificate, by which a ledger knows the release."""
        self._departure.to_caller()
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
            replace: whether a folder that holds something may be replaced as a whole.
            public: whether the report leaves out what was computed from the original, so that the
                whole folder may leave. Otherwise the manifest lists it under `for_the_holder`.
            sweep: what `tn.sweep` found, to be shown in the holder's report.
        """
        if not isinstance(folder, str | os.PathLike):
            raise refuse("publish.folder-wrong-type", type=type(folder).__name__)
        return leave_for(self, Target(Path(folder), kind, replace, flag(public, "public")), sweep)

    def _page(self, public: bool, more: Sequence[Section]) -> Report:
        document = self._document(more)
        document = document.public() if public else document
        return Report(document.html(), document.for_holder)

    def _document(self, more: Sequence[Section] = ()) -> Document:
        published = self._published
        return report_of(
            published.method,
            self.certificate,
            published.shown,
            rows=self.rows,
            columns=len(self.columns),
            risk=self.risk,
            utility=self.utility,
            history=self.history,
            warnings=warnings_of(self),
            more=more,
        )

    def page(self, *, public: bool = False) -> str:
        """The report as one page of HTML that stands alone, as `save` writes it.

        Parameters
            public: whether it leaves out what was computed from the original. Such a page may be
                handed on, and shows distributions of the table: it is registered like the table,
                and refused of a preview.
        """
        if flag(public, "public"):
            self._departure.to_caller()
        return self._page(public, ()).text

    def picture(self) -> Picture:
        """What `tn.report.plot` draws: the columns before and after; for the holder alone."""
        return self._published.shown.picture(title_of(self.rows, self._published.method))

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self._published.rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return self._published.columns

    def report(self) -> str:
        """All there is to say, in words: promise, limits, steps, risk and utility."""
        return _full_text(self)

    def __str__(self) -> str:
        return _brief_text(self)

    def __repr__(self) -> str:
        return _brief_text(self)

    def _repr_html_(self) -> str:
        return _html(self)


def leave_for(release: Release, target: Target, sweep: Reported | None = None) -> dict[str, Any]:
    """Saves a release, with its report; returns the manifest."""
    more = () if sweep is None else (sweep.section(),)
    page = partial(release._page, target.public, more)
    return release._departure.to_folder(with_fields(target, report=page))


def warnings_of(release: Release) -> list[str]:
    """What the holder should think about before the release leaves."""
    published = release._published
    found = [] if release.risk is None else release.risk.warnings()
    return [*leaving(published.telling), *found, *published.method.warnings(release.risk)]


def _brief_text(release: Release) -> str:
    """A few lines: what is promised, what was measured, what is not promised."""
    facts = _facts(release)
    limits = release.certificate.does_not_promise
    facts.append(("Not promised", " ".join(limits[:_FEW])))
    if len(limits) > _FEW:
        facts.append(("", f"And {len(limits) - _FEW} more: print(release.certificate)."))
    return "\n".join([_title(release), *wrapped_facts(facts)])


def _full_text(release: Release) -> str:
    """The screen of `tenue publish`: every promise, limit, step and figure."""
    certificate = release.certificate
    unit = "a row" if certificate.unit == "record" else f"whoever has one `{certificate.unit}`"
    warnings = warnings_of(release)
    parts = [
        _title(release),
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
        section(f"What was done ({_ALONE})", map(str, release.history)),
        *([section(f"WARNING ({_ALONE})", warnings, "* ")] if warnings else []),
        *_intruder(release),
        section(
            f"What it is still good for ({_ALONE})", [_AGAINST, *str(release.utility).splitlines()]
        ),
    ]
    return "\n\n".join(parts)


def _html(release: Release) -> str:
    """The same in few rows, for a notebook; every text is escaped."""
    rows = html_facts(_facts(release))
    limits = "".join(
        f"<li>{html.escape(limit)}</li>" for limit in release.certificate.does_not_promise
    )
    return (
        f"<table class='tenue-release'><caption>{html.escape(_title(release))}</caption><tbody>"
        f"{rows}<tr><th scope='row'>Not promised</th><td><ul>{limits}</ul></td></tr>"
        "</tbody></table>"
    )


def _title(release: Release) -> str:
    return f"{release._departure.word}: {many(release.rows, 'row')}, {len(release.columns)} columns"


def _facts(release: Release) -> list[tuple[str, str]]:
    promise, risk = release.certificate.promise, release.risk
    facts = [("Promised", f"{promise}. {promise.sentence()}")]
    if risk is not None:
        if risk.check is not None:
            unlike = release._published.method.instead_of_k(risk.check)
            facts.append(("Look-alikes", unlike) if unlike else ("Measured", _measured(risk.check)))
        facts.append((f"Risk ({_ALONE})", _linked(risk)))
    facts += [(f"WARNING ({_ALONE})", text) for text in warnings_of(release)]
    facts.append((f"Loss ({_ALONE})", release.utility.in_short))
    if release._departure.said is not None:
        facts.append(("Register", release._departure.said))
    unprotected = release.certificate.parameters.get("unprotected")
    if unprotected:
        facts.append(("Unprotected", f"{unprotected}: role other, published as it is."))
    return facts


def _linked(risk: Risk) -> str:
    linked = f"An intruder who has the original links {percent(risk.record_linkage)} of the records"
    if risk.linkage_by_quasi_identifiers is not None:
        known = percent(risk.linkage_by_quasi_identifiers)
        linked += f", one who has its quasi-identifiers {known}"
    return f"{linked}."


def _intruder(release: Release) -> list[str]:
    """What an intruder could do, and who looks alike; or what the method says instead of k, where
    it promises something else. Nothing of a table in which no row is anybody's."""
    risk, method = release.risk, release._published.method
    if risk is None:
        return []
    said = [*risk.sentences(), *method.remarks()]
    found = [section(f"What an intruder could do ({_ALONE})", said)]
    if risk.check is not None:
        title, unlike = f"Who looks alike ({_ALONE})", method.instead_of_k(risk.check)
        if unlike:
            found.append(section(title, [*risk.check.notes, unlike]))
        else:
            found.append(f"{title}\n" + textwrap.indent(check_text(risk.check, WIDTH - 2), "  "))
    return found


def _measured(check: Check) -> str:
    columns = [
        f"{column.name} l = {column.l}, t = {shortly(column.t, 4)}" for column in check.confidential
    ]
    text = "; ".join([f"k = {check.k}", *columns]) + "."
    many = check.homogeneous_groups
    if many:
        groups = "1 group gives" if many == 1 else f"{many:,} groups give"
        text += f" {groups} away a value that all members have."
    return text
