"""The outcome of a run: all exhibits with their cells, and their text form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tenue.text import hanging, text_table

from .catalogue import CHAPTERS
from .cell import SIGNS, Cell, Verdict
from .exhibit import Chapter, Shown

MADE_UP = (
    "The data is a made-up stand-in: no exhibit that needs data may be compared with the print."
)
_WHERE = (
    "Name its folder with --data or TENUE_DATA (`docs/reference/papers.md` names its origin), or "
    "compute on made-up tables with --stand-in."
)
_ROUND, _HUGE = 1e5, 1e15
"""Numbers between these are written without decimals, and with all of their digits."""


@dataclass(frozen=True)
class Outcome:
    """The reproduced exhibits, in the order of the papers.

    made_up: whether the data is a made-up stand-in.
    """

    shown: tuple[Shown, ...]
    made_up: bool = False

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on every exhibit."""
        return {one.exhibit.id: one.verdict for one in self.shown}

    @property
    def broken(self) -> tuple[str, ...]:
        """Exhibits with a cell that is neither the print nor the right value."""
        return tuple(n for n, verdict in self.verdicts.items() if verdict is Verdict.DIFFERENT)

    def __getitem__(self, name: str) -> Shown:
        return next(one for one in self.shown if one.exhibit.id == name)

    def chapters(self) -> Iterator[tuple[Chapter, list[Shown]]]:
        """Chapters with reproduced exhibits."""
        for chapter in CHAPTERS:
            own = [one for one in self.shown if one.exhibit in chapter.exhibits]
            if own:
                yield chapter, own

    def to_dict(self) -> dict[str, Any]:
        return {
            "made_up": self.made_up,
            "verdicts": dict(Counter(verdict.value for verdict in self.verdicts.values())),
            "exhibits": [one.to_dict() for one in self.shown],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        rows = [[one.exhibit.id, SIGNS[one.verdict], one.exhibit.title] for one in self.shown]
        counted = Counter(self.verdicts.values())
        counts = [f"{SIGNS[one]} {one.value}: {counted[one]}" for one in Verdict if counted[one]]
        lines = [*text_table(rows, left=3), "", hanging("   ".join(counts))]
        if self.made_up:
            lines.append(hanging(MADE_UP))
        elif counted[Verdict.MISSING]:
            lines.append(hanging(_WHERE))
        return "\n".join([*lines, "`tenue papers --only 4.1` shows every number of one."])


def tally(cells: Iterable[Cell]) -> str:
    """The number of cells with each verdict.

    Example
        >>> from tenue_papers.cell import met
        >>> tally([met("a", "b", "1.9", 1.92), met("a", "c", "1.9", 2.4)])
        '1 equal, 1 different'
    """
    counted = Counter(cell.verdict for cell in cells)
    return ", ".join(f"{counted[one]} {one.value}" for one in Verdict if counted[one])


def one_exhibit(shown: Shown) -> str:
    """An exhibit for a terminal: every cell beside the print."""
    exhibit = shown.exhibit
    head = f"{exhibit.source}: {exhibit.title}  [{shown.verdict.value}]"
    remarks = list(dict.fromkeys(cell.remark for cell in shown.cells if cell.remark))
    if shown.cells and all(cell.ours is None for cell in shown.cells):
        return f"{head}\n\n{hanging(' '.join([*remarks, _WHERE]), '  ')}"
    rows = [["", "", "printed", "ours", "verdict"]]
    rows += [
        [cell.row, cell.column, cell.printed or "", written(cell), cell.verdict.value]
        for cell in shown.cells
    ]
    lines = [head, "", *(f"  {line}" for line in text_table(rows, left=2))]
    lines += ["", *(hanging(remark, "  * ") for remark in remarks)] if remarks else []
    lines += ["", hanging(exhibit.note, "  ")] if exhibit.note else []
    return "\n".join(lines)


def written(cell: Cell) -> str:
    """Our number, with two digits more than the print has.

    Example
        >>> from tenue_papers.cell import met
        >>> written(met("a", "b", "1.92", 1.9181035312355))
        '1.9181'
    """
    if cell.ours is None or isinstance(cell.ours, str):
        return cell.ours or ""
    if cell.printed is not None and cell.difference is not None:
        mantissa, exponent, _ = cell.printed.lower().partition("e")
        digits = len(mantissa.partition(".")[2])
        if not digits and float(cell.ours).is_integer():
            return f"{cell.ours:.0f}"
        return f"{cell.ours:.{digits + 1}E}" if exponent else f"{cell.ours:.{digits + 2}f}"
    if _ROUND <= abs(cell.ours) < _HUGE:
        return f"{cell.ours:,.0f}"
    return f"{cell.ours:,.6g}"


def apart(cell: Cell) -> str:
    """Ours − printed with two digits; empty unless both are numbers.

    Example
        >>> from tenue_papers.cell import met
        >>> apart(met("a", "b", "1.92", 1.9181)), apart(met("a", "b", "2.00", 2))
        ('−0.0019', '0')
    """
    if cell.difference is None:
        return ""
    return f"{cell.difference:+.2g}".replace("-", "−") if cell.difference else "0"
