"""A table, figure or example of a paper: where it is printed, and how it is computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from .cell import Cell, Verdict, missing, overall
from .data import Data
from .draw import Figure

_MADE_UP = "Ours was computed from a made-up table of the same shape and cannot confirm the print."

Kind = Literal["table", "figure", "example", "erratum", "beyond"]


@dataclass(frozen=True)
class Exhibit:
    """One table, figure or example.

    id: what `tenue papers --only` takes: "4.1" is a table of the thesis, "fig4.2" a figure.
    kind: "beyond" is a table that the paper lacks; "erratum" a claim that fails.
    source: where the paper prints it.
    cells: computes all its numbers, through the public names of the library.
    figure: the drawing of a figure.
    needs: the tables that it is computed from, if any.
    seconds: about how long that takes.
    note: an explanation for readers.
    """

    id: str
    kind: Kind
    title: str
    source: str
    cells: Callable[[Data], Iterable[Cell]]
    figure: Callable[[Data], Figure] | None = None
    needs: tuple[str, ...] = ()
    seconds: float = 0.5
    note: str = ""

    def shown(self, data: Data) -> Shown:
        """All its cells, computed now, or one that names the missing tables."""
        lacking = data.lacking(self.needs)
        if lacking:
            return Shown(self, (missing(lacking),), None)
        drawn = None if self.figure is None else self.figure(data)
        cells = tuple(self.cells(data))
        if data.made_up and self.needs:
            cells = tuple(replace(cell, verdict=Verdict.MISSING, remark=_MADE_UP) for cell in cells)
        return Shown(self, cells, drawn)


@dataclass(frozen=True)
class Shown:
    """An exhibit with its cells, as computed in this run."""

    exhibit: Exhibit
    cells: tuple[Cell, ...]
    figure: Figure | None

    @property
    def verdict(self) -> Verdict:
        return overall([cell.verdict for cell in self.cells])

    def to_dict(self) -> dict[str, Any]:
        exhibit = self.exhibit
        return {
            "id": exhibit.id,
            "kind": exhibit.kind,
            "title": exhibit.title,
            "source": exhibit.source,
            "verdict": self.verdict.value,
            "cells": [cell.to_dict() for cell in self.cells],
            "figure": None if self.figure is None else self.figure.to_dict(),
            "note": exhibit.note,
        }


@dataclass(frozen=True)
class Chapter:
    """A paper, or a chapter of one.

    idea, buys, never: what the method does, what it gains, and when not to use it.
    """

    id: str
    title: str
    paper: str
    idea: str
    buys: str
    never: str
    exhibits: tuple[Exhibit, ...]


PAPERS = {"passat": "PASSAT, ", "idp": "Individual DP, ", "bayes": "Bayes, "}
"""The papers besides the thesis, by the first part of a name."""


def _source(name: str) -> str:
    """Where an exhibit of this name is printed: "passat.fig1" is "PASSAT, Figure 1"."""
    paper, _, rest = name.partition(".")
    number = rest if paper in PAPERS else name
    for short, kind in (("fig", "Figure"), ("ex", "Example")):
        if number.startswith(short):
            return f"{PAPERS.get(paper, '')}{kind} {number.removeprefix(short)}"
    return f"{PAPERS.get(paper, '')}Table {number}"


def _exhibit(
    kind: Kind,
    name: str,
    title: str,
    cells: Callable[[Data], Iterable[Cell]],
    drawn: Callable[[Data], Figure] | None = None,
    *,
    source: str = "",
    **more: Any,
) -> Exhibit:
    return Exhibit(name, kind, title, source or _source(name), cells, drawn, **more)


table = partial(_exhibit, "table")
figure = partial(_exhibit, "figure")
example = partial(_exhibit, "example")
erratum = partial(_exhibit, "erratum")
beyond = partial(_exhibit, "beyond")
