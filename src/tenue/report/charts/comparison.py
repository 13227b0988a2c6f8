"""The report and the chart of a release made elsewhere, beside its original."""

from __future__ import annotations

from ...evaluate.compare import Comparison
from ...evaluate.comparisons import MEANING, Comparisons
from ...evaluate.two_tables.association import Association
from ...evaluate.two_tables.distribution_similarity import Likeness
from ...evaluate.utility import Utility
from ...text import many
from ..document import Bullets, Document, Figures, Grid, Paragraphs, Section
from ..figure import associations_picture, heat_map, marginals_picture
from ..picture import Picture
from ..release import ELSEWHERE, FOOT, MEASURED, ReleaseFacts, release_document
from ..risk_utility_blocks import heat_maps

NOTHING = "nothing: the table was made elsewhere, and this only measured it"
ORIGINAL = "original"
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


def side_by_side(found: Comparisons) -> Document:
    """The figures of all releases in one table, then what became of associations in each."""
    head, *rows = found.rows()
    sections = [Section("Side by side", [Grid(head, rows, True), Paragraphs([MEANING], True)])]
    for name, one in found.releases.items():
        lines = [list(line) for line in one.verdict()]
        warnings = one.warnings()
        alarm = [Bullets(warnings, holder=True, alarm=True)] if warnings else []
        sections.append(
            Section(name, [*alarm, Grid(["", ""], lines, True), Paragraphs(one.notes, True)])
        )
    maps = _every_map(found)
    if maps:
        figures = [one for name, cells in maps.items() for one in heat_maps(cells, _place(name))]
        sections.append(
            Section("Associations between columns", [Figures(figures, True, half=True)])
        )
    title = f"{many(len(found.releases), 'release')} beside their original"
    return Document(title, ["for the holder only"], sections, ELSEWHERE, FOOT + MEASURED)


def each(found: Comparisons) -> Picture:
    """The associations in the original and in every release."""
    panels = [heat_map(cells, title=name)[0] for name, cells in _every_map(found).items()]
    return Picture("Associations of columns", panels, "for the holder only", across=2)


def _every_map(found: Comparisons) -> dict[str, dict[tuple[str, str], float]]:
    """The strength of every pair: in the original, then in each release."""
    maps: dict[str, dict[tuple[str, str], float]] = {}
    for name, one in found.releases.items():
        pairs = one.utility.association.pairs
        maps.setdefault(ORIGINAL, {pair.columns: pair.original for pair in pairs})
        maps[name] = {pair.columns: pair.masked for pair in pairs}
    return {name: cells for name, cells in maps.items() if cells}


def _place(name: str) -> str:
    return "the original" if name == ORIGINAL else f"`{name}`"
