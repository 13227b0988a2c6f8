"""What a session shows of itself: schema and ledger, at no price and without a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.ledger import Memory
from tenue.query.dataset import Dataset
from tenue.query.session import HOLDER, Session

SCHEMA: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "budget": {"total": 10, "per_analyst": 4},
    "columns": {
        "sex": {"type": "category", "categories": ["Male", "<b>Female</b>"]},
        "x": {"type": "number", "bounds": [0, 10]},
    },
}
VIEWS: list[Callable[[Any], str]] = [repr, str, lambda shown: shown._repr_html_()]


class Untouchable:
    """An engine that no view may look at."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"a view asked the engine for {name}")


def untouchable(analyst: str, ledger: Memory) -> Session:
    opened = Dataset(tn.Schema.from_dict(SCHEMA), Untouchable(), ledger)  # type: ignore[arg-type]
    return Session(opened, analyst)


@pytest.fixture
def ledger() -> Memory:
    """A ledger in which ann and bob have asked."""
    books = Memory()
    for analyst in ("ann", "bob"):
        rows = pd.DataFrame({"sex": ["Male"] * 9, "x": range(9)})
        data = tn.protect(rows, schema=SCHEMA, ledger=books, analyst=analyst)
        data.ask("SELECT COUNT(*) FROM t WHERE x > 3", epsilon=1, fresh=True)
    return books


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("analyst", [HOLDER, "ann"])
def test_a_view_reads_no_row_and_costs_nothing(
    view: Callable[[Any], str], analyst: str, ledger: Memory
) -> None:
    before = list(ledger.entries())
    data = untouchable(analyst, ledger)
    shown = view(data)
    assert shown == view(data)
    assert list(ledger.entries()) == before
    for part in ("sex", "number", "0 to 10 by 1", "Male", analyst, "add-or-remove"):
        assert part in shown
    with pytest.raises(AssertionError, match="a view asked"):  # a view that counted rows
        data._dataset.engine.count(None)  # type: ignore[attr-defined]


@pytest.mark.parametrize("view", VIEWS)
def test_an_analyst_sees_nothing_of_another(view: Callable[[Any], str], ledger: Memory) -> None:
    data = untouchable("ann", ledger)
    for shown in (data, data.budget, data.ledger):
        assert "bob" not in view(shown)
        assert "WHERE" not in view(shown)
    assert "ann" in view(data.budget)
    assert data.budget.spent == 2  # what all have spent together binds her too
    everybody = ledger.balance()
    assert "bob" in view(everybody)  # what a view of the whole balance would have shown
    assert "bob" in view(untouchable(HOLDER, ledger).budget)


@pytest.mark.parametrize("view", VIEWS)
def test_a_closed_session_says_so(view: Callable[[Any], str], ledger: Memory) -> None:
    data = untouchable("ann", ledger)
    ledger.close()
    assert "The session is closed" in view(data)
    assert "closed" in view(data.ledger)


def test_every_text_is_escaped(ledger: Memory) -> None:
    shown = untouchable(HOLDER, ledger)._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;Female" in shown
    assert shown.count("<table>") == shown.count("</table>") == 2
