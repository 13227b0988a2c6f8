"""A protected table at the prompt and in a notebook: what may be asked, and what is left to spend.

It is made of schema and ledger alone. No row is read for it, and nothing is paid.
"""

from __future__ import annotations

from ..ledger.record import Balance
from ..schema import Schema
from ..screen.table import paragraphs

_CLOSED = "The session is closed: open the table again with tn.protect."


def text_view(schema: Schema, asks: str, budget: Balance | None) -> str:
    """The view as text.

    Parameters
        asks: who asks.
        budget: what that person may see of what was spent; None once the ledger is closed.
    """
    left = _CLOSED if budget is None else str(budget)
    return "\n".join([str(schema), "", _who(asks), left])


def html_view(schema: Schema, asks: str, budget: Balance | None) -> str:
    """The same as HTML; every text is escaped."""
    left = paragraphs([_CLOSED]) if budget is None else budget._repr_html_()
    return schema._repr_html_() + paragraphs([_who(asks)]) + left


def _who(asks: str) -> str:
    return f"Asked by: {asks}. Try explain(sql, epsilon=0.1), which is free, then ask."
