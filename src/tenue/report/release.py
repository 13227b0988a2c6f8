"""The report of a release: its promise, its limits, its risk and its utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..evaluate.check_result import Check
from ..evaluate.risk import Risk
from ..evaluate.two_tables.association import Association
from ..evaluate.two_tables.distribution import Marginal
from ..evaluate.two_tables.distribution_similarity import Likeness
from ..evaluate.utility import Utility
from ..privacy import Certificate
from ..schema.table import RECORD
from ..text import many
from .document import Block, Bullets, Document, Grid, Paragraphs, Section
from .risk_utility_blocks import (
    association_blocks,
    class_blocks,
    distribution_blocks,
    loss_blocks,
    risk_blocks,
    size_figures,
)

KEEP = (
    "Parts of this report were computed from the original table and are marked “for the holder”. "
    "Do not share them. A report without these parts can be shared: publish with --public, or "
    "save(..., public=True)."
)
AGAINST = (
    "Here the original is the table as its schema reads it: values on their grid and clipped to "
    "their bounds, without rows that were left out."
)
ANYONE = "These numbers follow from the released table alone."
ELSEWHERE = (
    "This report was computed from the original table. Do not share the parts marked “for the "
    "holder”."
)
FOOT = "This page needs no network and runs no script. "
PROMISED = (
    "`certificate.json` states the same promise in machine-readable form; `tenue check` measures a "
    "released table again."
)
MEASURED = "It promises nothing: `tenue compare` measured a table that was made elsewhere."


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts:
    """What a report of a release shows.

    promised, verdict: the first lines; those of the verdict are for the holder.
    certificate: None for a table made elsewhere.
    released: the distribution of each released column, from the release alone.
    compared: the same beside the original.
    risk, utility: None if they were not measured.
    check: k, l and t, where `risk` does not have them.
    association: of every two columns; of the release it may be public.
    instead_of_k: the sentence about unique rows, where k, l and t do not measure the promise.
    k: the promised size of groups, if there is one.
    sizes: how many groups have how many units; by column where each has its own groups.
    counted: how many rows the charts of columns count; None for all.
    """

    title: str
    promised: str
    rows: int
    columns: int
    released: Sequence[Marginal]
    verdict: Sequence[tuple[str, str]] = ()
    certificate: Certificate | None = None
    compared: Sequence[Marginal] = ()
    risk: Risk | None = None
    utility: Utility | Likeness | None = None
    check: Check | None = None
    association: Association | None = None
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
    warnings = [Bullets(facts.warnings, holder=True, alarm=True)] if facts.warnings else []
    history = [Bullets(facts.history, holder=True)] if facts.history else []
    risk: list[Block] = [] if facts.risk is None else risk_blocks(facts.risk)
    if risk and facts.remarks:
        risk.append(Paragraphs(facts.remarks, holder=True))
    utility: list[Block] = []
    if facts.utility is not None:
        utility = [*loss_blocks(facts.utility), Paragraphs([AGAINST], holder=True)]
    sections = [
        Section("In short", _verdict(facts)),
        *([] if facts.certificate is None else _promise(facts.certificate)),
        Section("Warnings before release", warnings),
        Section("Disclosure risk", risk),
        Section("Equivalence classes", _classes(facts)),
        Section("Utility", utility),
        Section("Distributions of the columns", _columns(facts)),
        Section("Associations between columns", _associations(facts)),
        *facts.more,
        Section("What was done", history),
    ]
    below = [many(facts.rows, "row"), many(facts.columns, "column")]
    if facts.certificate is not None:
        below.insert(0, str(facts.certificate.promise))
        below.append(f"Tenue {facts.certificate.version}")
    keep = ELSEWHERE if facts.certificate is None else KEEP
    foot = FOOT + (MEASURED if facts.certificate is None else PROMISED)
    shown = [section for section in sections if section.blocks]
    return Document(facts.title, below, shown, keep=keep, foot=foot)


def unit_text(certificate: Certificate) -> str:
    unit = certificate.unit
    return "a row" if unit == RECORD else f"all rows with the same `{unit}`"


def _promise(certificate: Certificate) -> list[Section]:
    sentence = certificate.promise.sentence()
    promise = f"{certificate.promise}: {sentence[0].lower()}{sentence[1:]}"
    parameters = [[name, value] for name, value in certificate.parameters.items() if value]
    return [
        Section(
            "What is promised",
            [
                Paragraphs([promise], lead=True),
                Paragraphs([f"How: {certificate.mechanism}. A unit is {unit_text(certificate)}."]),
                Grid(["", ""], [*parameters, ["source", certificate.source]]),
            ],
        ),
        Section("What is not promised", [Bullets(certificate.does_not_promise)]),
        Section("What the promise assumes", [Bullets(certificate.assumptions)]),
    ]


def _verdict(facts: ReleaseFacts) -> list[Block]:
    """What a reader wants to know first; what was measured is for the holder."""
    shown: list[Block] = [Grid(["", ""], [["Promised", facts.promised]], lead=True)]
    if facts.verdict:
        lines = [list(line) for line in facts.verdict]
        shown.append(Grid(["", ""], lines, holder=True, lead=True))
    return shown


def _classes(facts: ReleaseFacts) -> list[Block]:
    """k, l and t follow from the release alone, unless it does not name the persons counted."""
    blocks: list[Block] = []
    check = facts.check if facts.risk is None else facts.risk.check
    if check is not None:
        hidden = check.unit != RECORD
        if facts.instead_of_k is not None:
            blocks.append(Paragraphs([*check.notes, facts.instead_of_k], holder=hidden))
        else:
            blocks += class_blocks(check, holder=hidden)
            notes = [] if hidden else [ANYONE]
            blocks.append(Paragraphs([*notes, *check.notes], holder=hidden))
    if facts.sizes:
        blocks.append(size_figures(facts.sizes, facts.k))
    return blocks


def _columns(facts: ReleaseFacts) -> list[Block]:
    blocks = distribution_blocks(facts.released, facts.compared)
    if facts.counted is not None and facts.counted < facts.rows:
        blocks.append(Paragraphs([f"Counted in {many(facts.counted, 'row')}, drawn at random."]))
    return blocks


def _associations(facts: ReleaseFacts) -> list[Block]:
    if facts.association is None:
        return []
    compares = bool(facts.compared)
    return association_blocks(facts.association, facts.released, compares=compares)
