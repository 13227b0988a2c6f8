"""The report of a release: what was promised, what was not, what it risks and what it is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..evaluate.check_result import Check
from ..evaluate.risk import Risk
from ..evaluate.two_tables.distribution import Marginal
from ..evaluate.two_tables.distribution_similarity import Likeness
from ..evaluate.two_tables.information_loss import CorrelationDifference
from ..evaluate.utility import Utility
from ..privacy import Certificate
from ..text import many
from .document import Block, Bullets, Document, Grid, Paragraphs, Section
from .risk_utility_blocks import (
    distribution_blocks,
    look_alike_blocks,
    loss_blocks,
    risk_blocks,
    size_figures,
)

KEEP = (
    "Parts of this report were computed from the original table and are marked “for the holder”. "
    "Keep it to yourself. To hand one on, publish with --public, or save(..., public=True): it has "
    "the same without these parts."
)
AGAINST = (
    "The original is the table as its schema reads it: values on their grid and between their "
    "bounds, without rows that were left out."
)
ANYONE = "Whoever has the released table can compute this from it."
ELSEWHERE = (
    "This report was computed from the original table: parts are marked “for the holder”. Keep it "
    "to yourself."
)
FOOT = "This page needs no network and runs no script. "
PROMISED = (
    "`certificate.json` says the same promise for programs; `tenue check` measures a released "
    "table again."
)
MEASURED = "It promises nothing: `tenue compare` measured a table that was made elsewhere."


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts:
    """What a report of a release is made of.

    title: what it is a report of.
    rows, columns: of the released table.
    certificate: what was promised; None for a table made elsewhere.
    released: how each column of the release is distributed, from the release alone.
    compared: the same beside the original.
    risk, utility: as they were measured; None where they were not.
    check: k, l and t, where no risk was measured that has them.
    correlation: how columns move together, of which everybody may see what is in the release.
    instead_of_k: what to say of look-alikes where k, l and t measure nothing that is promised.
    k: the promised size of groups, where that is promised.
    sizes: how many groups have how many units; by column where each has its own.
    counted: how many rows were counted for the charts of columns; None for all.
    remarks, warnings, history: what its holder must know.
    more: further sections.
    """

    title: str
    rows: int
    columns: int
    released: Sequence[Marginal]
    certificate: Certificate | None = None
    compared: Sequence[Marginal] = ()
    risk: Risk | None = None
    utility: Utility | Likeness | None = None
    check: Check | None = None
    correlation: CorrelationDifference | None = None
    instead_of_k: str | None = None
    k: int | None = None
    sizes: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    counted: int | None = None
    remarks: Sequence[str] = ()
    warnings: Sequence[str] = ()
    history: Sequence[str] = ()
    more: Sequence[Section] = ()


def release_document(facts: ReleaseFacts) -> Document:
    """The whole report; its `public()` is what may leave."""
    sections = [
        *_promise(facts),
        *_warnings(facts),
        *_risk(facts),
        *_look_alikes(facts),
        *_utility(facts),
        *_columns(facts),
        *facts.more,
        *_history(facts),
    ]
    told = [many(facts.rows, "row"), many(facts.columns, "column")]
    if facts.certificate is not None:
        told.insert(0, str(facts.certificate.promise))
        told.append(f"Tenue {facts.certificate.version}")
    keep = ELSEWHERE if facts.certificate is None else KEEP
    foot = FOOT + (MEASURED if facts.certificate is None else PROMISED)
    return Document(facts.title, told, sections, keep=keep, foot=foot)


def _promise(facts: ReleaseFacts) -> list[Section]:
    certificate = facts.certificate
    if certificate is None:
        return []
    unit = "a row" if certificate.unit == "record" else f"whoever has one `{certificate.unit}`"
    said = [f"{certificate.promise}: {_small(certificate.promise.sentence())}"]
    parameters = [[name, value] for name, value in certificate.parameters.items() if value]
    return [
        Section(
            "What is promised",
            [
                Paragraphs(said, lead=True),
                Paragraphs([f"How: {certificate.mechanism}. A unit is {unit}."]),
                Grid(["", ""], [*parameters, ["source", certificate.source]]),
            ],
        ),
        Section("What is not promised", [Bullets(certificate.does_not_promise)]),
        Section("What the promise assumes", [Bullets(certificate.assumptions)]),
    ]


def _small(text: str) -> str:
    """A sentence that goes on after a colon."""
    return text[0].lower() + text[1:]


def _warnings(facts: ReleaseFacts) -> list[Section]:
    if not facts.warnings:
        return []
    blocks = [Bullets(facts.warnings, holder=True, alarm=True)]
    return [Section("Think about this before it leaves", blocks)]


def _risk(facts: ReleaseFacts) -> list[Section]:
    if facts.risk is None:
        return []
    blocks = risk_blocks(facts.risk)
    if facts.remarks:
        blocks.append(Paragraphs(facts.remarks, holder=True))
    return [Section("Risk: what an intruder could do", blocks)]


def _look_alikes(facts: ReleaseFacts) -> list[Section]:
    """k, l and t follow from the release alone, unless persons were counted whom it does not
    name."""
    blocks: list[Block] = []
    check = facts.check if facts.risk is None else facts.risk.check
    if check is not None:
        hidden = check.unit != "record"
        if facts.instead_of_k is not None:
            blocks.append(Paragraphs([*check.notes, facts.instead_of_k], holder=hidden))
        else:
            notes = [] if hidden else [ANYONE]
            blocks += look_alike_blocks(check, holder=hidden)
            blocks.append(Paragraphs([*notes, *check.notes], holder=hidden))
    if facts.sizes:
        blocks.append(size_figures(facts.sizes, facts.k))
    return [Section("Who looks alike", blocks)] if blocks else []


def _utility(facts: ReleaseFacts) -> list[Section]:
    if facts.utility is None:
        return []
    blocks = [*loss_blocks(facts.utility), Paragraphs([AGAINST], holder=True)]
    return [Section("Utility: what it is still good for", blocks)]


def _columns(facts: ReleaseFacts) -> list[Section]:
    blocks = distribution_blocks(facts.released, facts.compared, facts.correlation)
    if facts.counted is not None and facts.counted < facts.rows:
        blocks.append(Paragraphs([f"Counted among {many(facts.counted, 'row')}, a random part."]))
    return [Section("How the columns are distributed", blocks)]


def _history(facts: ReleaseFacts) -> list[Section]:
    if not facts.history:
        return []
    return [Section("What was done", [Bullets(facts.history, holder=True)])]
