"""The journey of a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.ask import session
from tenue.ask.dataset import Dataset
from tenue.ask.session import HOLDER, Session
from tenue.errors import EngineFault, InvalidArgument
from tenue.ledger import Memory

VIEW_SCHEMA: dict[str, Any] = {
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
    opened = Dataset(tn.Schema.from_dict(VIEW_SCHEMA), Untouchable(), ledger)  # type: ignore[arg-type]
    return Session(opened, analyst)


@pytest.fixture
def ledger() -> Memory:
    """A ledger in which ann and bob have asked."""
    books = Memory()
    for analyst in ("ann", "bob"):
        rows = pd.DataFrame({"sex": ["Male"] * 9, "x": range(9)})
        data = tn.protect(rows, schema=VIEW_SCHEMA, ledger=books, analyst=analyst)
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


# -- One path for whatever is paid for: look up, pay, draw, store, read ----------------------------

SCHEMA = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {"x": {"type": "number", "bounds": [0, 10]}},
    "budget": {"total": 100},
}
COUNT = "SELECT COUNT(*) FROM t"


@pytest.fixture
def data() -> Iterator[Session]:
    frame = pd.DataFrame({"x": range(10)})
    with tn.protect(frame, schema=SCHEMA, ledger=tn.ledger.Memory()) as opened:
        yield opened


def test_a_question_is_planned_once(data: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[str] = []
    plan_select = session.plan_select

    def counted(sql: str, *given: Any) -> Any:
        planned.append(sql)
        return plan_select(sql, *given)

    monkeypatch.setattr(session, "plan_select", counted)
    first = data.ask(COUNT, epsilon=1)
    again = data.ask(COUNT, epsilon=1, fresh=True)
    assert planned == [COUNT]
    assert first.plan is again.plan
    data.ask(COUNT, epsilon=2)
    data.ask(COUNT, epsilon=1, minimise="absolute-error")
    assert len(planned) == 3


def test_what_only_equals_a_price_is_not_taken_for_it(data: Session) -> None:
    data.ask(COUNT, epsilon=1)
    with pytest.raises(InvalidArgument):
        data.ask(COUNT, epsilon=True)


@pytest.mark.parametrize("individual", [False, True])
def test_the_price_is_paid_before_a_row_is_read_and_stays_paid(
    individual: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = {
        **SCHEMA,
        "table": {**SCHEMA["table"], "neighbours": "replace"},
        "columns": {"x": {"type": "number", "bounds": [0, 10], "missing": 0}},
    }
    frame = pd.DataFrame({"x": range(10)})
    with tn.protect(frame, schema=described, ledger=tn.ledger.Memory()) as data:
        seen: list[Any] = []

        def fails(*anything: object) -> None:
            balance = data.budget
            seen.append(balance.individual if individual else balance.spent)
            raise EngineFault("the engine did not answer")

        for call in ("measure", "ranks", "column_steps"):
            monkeypatch.setattr(data._dataset.engine, call, fails)
        sql = "SELECT MEDIAN(x) FROM t"
        with pytest.raises(EngineFault):
            data.ask(sql, epsilon=3, individual=individual)
        assert seen == [3]
        with pytest.raises(EngineFault):
            data.ask(sql, epsilon=3, individual=individual)
        assert seen == [3, 6]


def test_a_key_has_its_answer_and_a_repeated_question_the_first(data: Session) -> None:
    first = data.ask(COUNT, epsilon=1)
    keyed = data.ask(COUNT, epsilon=1, key="k", fresh=True)
    assert data.ask(COUNT, epsilon=1).released == first.released
    again = data.ask(COUNT, epsilon=1, key="k")
    assert (again.released, again.price, again.replayed) == (keyed.released, 0, True)
    assert data.budget.spent == 2


def test_a_price_that_is_refused_costs_nothing(data: Session) -> None:
    with pytest.raises(tn.Refused):
        data.ask(COUNT, epsilon=1000)
    with pytest.raises(InvalidArgument):
        data.ask(COUNT, epsilon=1, fresh="yes")  # type: ignore[arg-type]
    assert data.budget.spent == 0


def test_every_kind_of_answer_names_the_schema_by_the_ledgers_seal() -> None:
    """The mutant that forgets one kind would name no schema there, or the plain digest."""
    rows = pd.DataFrame({"age": [31, 52, 78] * 100})
    schema = tn.Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {"age": {"type": "number", "bounds": [0, 120], "missing": 0}},
            "budget": {"total": 100},
        }
    )
    sql = "SELECT COUNT(*) FROM t WHERE age > 40"
    with tn.protect(rows, schema=schema, ledger=tn.ledger.Memory()) as data:
        answers = [
            data.ask(sql, epsilon=1),
            data.ask(sql, epsilon=1),
            *data.ask_many([sql, "SELECT AVG(age) FROM t"], epsilon=1),
            data.ask("SELECT MEDIAN(age) FROM t", epsilon=1, individual=True),
            data.ask(sql, epsilon=1, prior=tn.prior.Binomial(300, 0.5), fresh=True),
            data.ask(sql, epsilon="0.001", prior=tn.prior.Binomial(300, 0.5)),
            data.ask("SELECT COUNT(*) FROM t", epsilon=1),
        ]
        seal = data.ledger.seal(schema.digest)
        for answer in answers:
            assert answer.certificate.schema_hash == seal
            assert schema.digest not in answer.to_json()
            assert data.ledger.verify_certificate(answer.certificate)
