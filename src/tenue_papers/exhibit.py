"""A table, figure or example of a paper: where it stands, and how it is computed again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from .cell import Cell, Verdict, missing, overall
from .data import Data
from .draw import Figure

_MADE_UP = "Ours is of a made-up table of the same shape, which says nothing about the print."

Kind = Literal["table", "figure", "example", "erratum", "beyond"]


@dataclass(frozen=True)
class Exhibit:
    """One table, figure or example.

    id: what `tenue papers --only` takes: "4.1" is a table of the thesis, "fig4.2" a figure.
    kind: "beyond" is a table of ours that the paper should have had; "erratum" a claim that fails.
    source: where it stands in the paper.
    cells: computes every number of it, through the public names of the library.
    figure: what is to be drawn, if it is a figure.
    needs: the tables that it is computed from, if any.
    seconds: about how long it takes.
    note: what the reader must know to read it.
    """

    id: str
    kind: Kind
    title: str
    source: str
    cells: Callable[[Data], list[Cell]]
    figure: Callable[[Data], Figure] | None = None
    needs: tuple[str, ...] = ()
    seconds: float = 0.5
    note: str = ""

    def shown(self, data: Data) -> Shown:
        """Everything of it, computed now; without its tables, that they are missing."""
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

    idea, buys, never: in plain words, what it does, what is gained, when not to use it.
    """

    id: str
    title: str
    paper: str
    idea: str
    buys: str
    never: str
    exhibits: tuple[Exhibit, ...]


Cells = Callable[[Data], list[Cell]]


def table(name: str, title: str, source: str, cells: Cells, **more: Any) -> Exhibit:
    return Exhibit(name, "table", title, source, cells, **more)


def figure(
    name: str, title: str, source: str, cells: Cells, drawn: Callable[[Data], Figure], **more: Any
) -> Exhibit:
    return Exhibit(name, "figure", title, source, cells, drawn, **more)


def example(name: str, title: str, source: str, cells: Cells, **more: Any) -> Exhibit:
    return Exhibit(name, "example", title, source, cells, **more)


def erratum(name: str, title: str, source: str, cells: Cells, **more: Any) -> Exhibit:
    return Exhibit(name, "erratum", title, source, cells, **more)


def beyond(name: str, title: str, source: str, cells: Cells, **more: Any) -> Exhibit:
    return Exhibit(name, "beyond", title, source, cells, **more)
