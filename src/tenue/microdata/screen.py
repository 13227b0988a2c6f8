"""A release as people read it: in a terminal, at a prompt, in a notebook.

What is promised and what is not may leave with the table. Risk, utility and history were computed
from the original and are for the holder alone; each screen says so where they stand.
"""

from __future__ import annotations

import html
import textwrap
from typing import TYPE_CHECKING

from ..evaluate.check import tells_apart
from ..promise import ProbabilisticKAnonymity
from ..screen.number import many, percent, shortly
from ..screen.page import section, sentence, wrapped_facts
from ..screen.table import html_facts

if TYPE_CHECKING:
    from ..evaluate import Check
    from .release import Release


_FEW = 3
_MUCH = 0.5
_ALONE = "for you alone"
_AGAINST = (
    "Compared with the rows as the schema reads them: on their grid, between their bounds, without "
    "those that were left out."
)


def brief_text(release: Release) -> str:
    """A few lines: what is promised, what was measured, what is not promised."""
    facts = _facts(release)
    limits = release.certificate.does_not_promise
    facts.append(("Not promised", " ".join(limits[:_FEW])))
    if len(limits) > _FEW:
        facts.append(("", f"And {len(limits) - _FEW} more: print(release.certificate)."))
    return "\n".join([_title(release), *wrapped_facts(facts)])


def full_text(release: Release) -> str:
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
        section(
            f"What an intruder could do ({_ALONE})", [*release.risk.sentences(), *_why(release)]
        ),
        *_look_alikes(release),
        section(
            f"What it is still good for ({_ALONE})", [_AGAINST, *str(release.utility).splitlines()]
        ),
    ]
    return "\n\n".join(parts)


def release_html(release: Release) -> str:
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


def _why(release: Release) -> list[str]:
    """Why one who knows less of a swapped table may link more of it."""
    if not isinstance(release.certificate.promise, ProbabilisticKAnonymity):
        return []
    return [
        "A swap leaves quasi-identifiers as they are, so whoever has them finds rows; what stands "
        "there besides may come from others. Whoever compares all columns is misled by it."
    ]


def warnings_of(release: Release) -> list[str]:
    """What the holder should think about before the release leaves."""
    loose = release.certificate.parameters.get("unprotected", "").split(", ")
    alone = [
        name
        for name in release.columns
        if name in loose and tells_apart(release._published.column(name))
    ]
    warnings = [
        f"`{name}` has another value in every row and leaves as it is: whoever knows it of a "
        "person finds the row. Give it another role, or remove its section from the schema."
        for name in alone
    ]
    if not isinstance(release.certificate.promise, ProbabilisticKAnonymity):
        return warnings
    kept = {name: share for name, share in release.risk.own_values.items() if share > _MUCH}
    return warnings + [
        f"{sentence(percent(share))} of the rows still show their own true value of `{name}`: "
        "whoever believes what the release shows is mostly right. Choose a larger k if its values "
        "are many, or do not publish it."
        for name, share in kept.items()
    ]


def _title(release: Release) -> str:
    return f"Release: {many(release.rows, 'row')}, {len(release.columns)} columns"


def _facts(release: Release) -> list[tuple[str, str]]:
    promise, risk = release.certificate.promise, release.risk
    facts = [("Promised", f"{promise}. {promise.sentence()}")]
    if risk.check is not None:
        if isinstance(promise, ProbabilisticKAnonymity):
            facts.append(("Look-alikes", _unlike(risk.check)))
        else:
            facts.append(("Measured", _measured(risk.check)))
    linked = f"An intruder who has the original links {percent(risk.record_linkage)} of the records"
    if risk.linkage_by_quasi_identifiers is not None:
        known = percent(risk.linkage_by_quasi_identifiers)
        linked += f", one who has its quasi-identifiers {known}"
    facts.append((f"Risk ({_ALONE})", f"{linked}."))
    facts += [(f"WARNING ({_ALONE})", text) for text in warnings_of(release)]
    moved = percent(release.utility.relative_error)
    facts.append((f"Loss ({_ALONE})", f"Changed columns moved by {moved} of their domain."))
    if release.certificate.parameters.get("registered", "yes") != "yes":
        facts.append(("Register", "In no ledger: a second release would not be noticed."))
    unprotected = release.certificate.parameters.get("unprotected")
    if unprotected:
        facts.append(("Unprotected", f"{unprotected}: role other, published as it is."))
    return facts


def _look_alikes(release: Release) -> list[str]:
    """Of a swap in one sentence, with what it promises instead; of others all that was measured."""
    check = release.risk.check
    if check is None:
        return []
    if isinstance(release.certificate.promise, ProbabilisticKAnonymity):
        return [section(f"Who looks alike ({_ALONE})", [*check.notes, _unlike(check)])]
    return [f"Who looks alike ({_ALONE})\n" + textwrap.indent(str(check), "  ")]


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


def _unlike(check: Check) -> str:
    known = ", ".join(check.quasi_identifiers)
    return sentence(
        f"{percent(check.unique_share)} of the rows share {known} with nobody; a swap leaves that "
        "as it is."
    )
