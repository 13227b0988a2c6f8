"""The report and the chart of a release made elsewhere, beside its original."""

from __future__ import annotations

from ...evaluate.compare import Comparison
from ...evaluate.two_tables.association import Association
from ...evaluate.two_tables.distribution_similarity import Likeness
from ...evaluate.utility import Utility
from ..document import Document, Paragraphs, Section
from ..figure import associations_picture, marginals_picture
from ..picture import Picture
from ..release import ReleaseFacts, release_document

NOTHING = "nothing: the table was made elsewhere, and this only measured it"
TITLE = "A release beside its original"


def document(found: Comparison) -> Document:
    """Risk, utility and charts; nothing is promised about a table that was made elsewhere."""
    return release_document(
        ReleaseFacts(
            title=TITLE,
            promised=NOTHING,
            verdict=found.verdict(),
            rows=found.rows,
            columns=len(found.columns),
            released=found.released,
            compared=found.compared,
            risk=found.risk,
            check=found.check,
            utility=found.utility,
            association=found.utility.association,
            warnings=found.warnings(),
            more=[Section("How it was measured", [Paragraphs(found.notes, holder=True)])],
        )
    )


def compared(found: Comparison) -> Picture:
    """The columns before and after."""
    return marginals_picture(TITLE, found.compared)


def associated(found: Association) -> Picture:
    """The association of every two columns, before and after."""
    return associations_picture(found)


def utility(found: Utility | Likeness) -> Picture:
    """The same of what was measured as utility."""
    return associations_picture(found.association)
