"""The report and the chart of a release made elsewhere, beside its original."""

from __future__ import annotations

from ...evaluate.compare import Comparison
from ..document import Document, Paragraphs, Section
from ..figure import marginals_picture
from ..picture import Picture
from ..release import ReleaseFacts, release_document

TITLE = "A release beside its original"


def document(found: Comparison) -> Document:
    """Risk, utility and charts; nothing is promised about a table that was made elsewhere."""
    return release_document(
        ReleaseFacts(
            title=TITLE,
            rows=found.rows,
            columns=len(found.columns),
            released=found.released,
            compared=found.compared,
            risk=found.risk,
            check=found.check,
            utility=found.utility,
            correlation=found.utility.correlation,
            warnings=found.warnings(),
            more=[Section("How it was measured", [Paragraphs(found.notes, holder=True)])],
        )
    )


def compared(found: Comparison) -> Picture:
    """The columns before and after."""
    return marginals_picture(TITLE, found.compared)
