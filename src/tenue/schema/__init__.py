"""Everything public about a table: what its holder states, and nothing that rows say.

Schema            a table's schema and the TOML file that holds it
Table             what a schema says: unit, neighbours, columns, budget, approved questions
Column            one of Number, Category, Boolean, Date, Datetime, Identifier
Protocol          how every question about the table is answered
Mistake           one thing to correct in a file that was refused
draft             a first schema, with marked blanks for what the holder must decide
"""

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
