"""Everything public about a table: what its holder states, and nothing read from rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from .case_insensitive import Named
    from .column import Boolean, Bounded, Category, Column, Date, Datetime, Identifier, Number
    from .expression import Expression
    from .file.draft import DraftColumn, draft
    from .file.section import BLANK
    from .file.text import Mistake
    from .schema import Schema
    from .table import Budget, Protocol, Question, Table

__all__ = [
    "BLANK",
    "Boolean",
    "Bounded",
    "Budget",
    "Category",
    "Column",
    "Date",
    "Datetime",
    "DraftColumn",
    "Expression",
    "Identifier",
    "Mistake",
    "Named",
    "Number",
    "Protocol",
    "Question",
    "Schema",
    "Table",
    "draft",
]

lazily(
    __name__,
    {
        ".case_insensitive": "Named",
        ".column": "Boolean Bounded Category Column Date Datetime Identifier Number",
        ".expression": "Expression",
        ".file.draft": "DraftColumn draft",
        ".file.section": "BLANK",
        ".file.text": "Mistake",
        ".schema": "Schema",
        ".table": "Budget Protocol Question Table",
    },
)
