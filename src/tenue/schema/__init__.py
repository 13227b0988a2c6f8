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

from ..lazy import lazily

if TYPE_CHECKING:
    from .column import Boolean, Bounded, Category, Column, Date, Datetime, Identifier, Number
    from .expression import Expression
    from .file.blank import BLANK
    from .file.draft import DraftColumn, draft
    from .file.mistake import Mistake
    from .named import Named
    from .protocol import Protocol
    from .schema import Schema
    from .table import Budget, Question, Table

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
        ".column": "Boolean Bounded Category Column Date Datetime Identifier Number",
        ".expression": "Expression",
        ".file.blank": "BLANK",
        ".file.draft": "DraftColumn draft",
        ".file.mistake": "Mistake",
        ".named": "Named",
        ".protocol": "Protocol",
        ".schema": "Schema",
        ".table": "Budget Question Table",
    },
)
