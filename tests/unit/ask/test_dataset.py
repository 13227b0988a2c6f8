"""A data set is opened once and asked by many: analysts, threads, and children after a fork."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest

import tenue as tn
from postgres_server import Server
from tenue.ask import dataset as home
from tenue.ask import session as journey
from tenue.ask.dataset import Dataset
from tenue.ask.paid_request import Terms
from tenue.ask.session import Asked
from tenue.errors import InvalidArgument, InvalidTable, NotPromised, OverBudget, Refused

STATED: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {"x": {"type": "number", "bounds": [0, 1000]}},
    "budget": {"total": 1000, "per_analyst": 100},
}
COUNT = "SELECT COUNT(*) FROM t"
Open = Callable[..., Any]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "\n".join(map(str, range(500))) + "\n")
    return path


@pytest.fixture
def data(file: Path) -> Iterator[Dataset]:
    with tn.open_dataset(file, schema=STATED, ledger=tn.ledger.Memory()) as opened:
        yield opened


def above(number: int) -> str:
    return f"SELECT COUNT(*) FROM t WHERE x > {number}"  # noqa: S608


# --- one opening


def test_a_session_opens_and_reads_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("open_engine", "given_ledger", "_validated", "given_schema"):
        was = getattr(home, name)

        def counted(*given: Any, name: str = name, was: Any = was, **more: Any) -> Any:
            calls.append(name)
            return was(*given, **more)

        monkeypatch.setattr(home, name, counted)
    with tn.open_dataset(file, schema=STATED, ledger=tn.ledger.Memory()) as data:
        before = list(data.ledger.entries())
        sessions = [data.session(f"a{number}") for number in range(20)]
        sessions.append(sessions[0].for_analyst("b"))
        holder = data.session()
        assert list(data.ledger.entries()) == before
        for one in (sessions[3], sessions[-1], holder):
            one.ask(COUNT, epsilon=1, fresh=True)
    assert sorted(calls) == ["_validated", "given_ledger", "given_schema", "open_engine"]
    assert [one.analyst for one in (*sessions[-2:], holder)] == ["a19", "b", "holder"]
    assert holder.opening is data.opening is not None
    assert sessions[0].opening is None


def test_what_everybody_sees_of_the_budget(data: Dataset) -> None:
    ann, bob = data.session("ann"), data.session("bob")
    ann.ask(COUNT, epsilon=2)
    bob.ask(COUNT, epsilon=3)
    assert [one.budget.spent for one in (ann, bob, data.session())] == [5, 5, 5]
    assert [quota.analyst for quota in bob.budget.analysts] == ["bob"]
    assert len(data.session().budget.analysts) == 2
    with pytest.raises(OverBudget, match="of `ann`'s quota"):
        ann.ask(above(1), epsilon=99)


def test_the_same_question_of_two_analysts_is_paid_once(data: Dataset) -> None:
    first = data.session("ann").ask(COUNT, epsilon=1)
    again = data.session("bob").ask(COUNT, epsilon=1)
    assert (again.value, again.price, again.replayed) == (first.value, 0, True)


# --- what protect refuses


@pytest.mark.parametrize("name", ["holder", " Holder", "HOLDER "])
def test_nobody_is_called_as_the_holder(data: Dataset, name: str) -> None:
    for ask in (data.session, data.session("ann").for_analyst, data.session().for_analyst):
        with pytest.raises(InvalidArgument, match=r"neither begin|The holder asks"):
            ask(name)


@pytest.mark.parametrize("name", [None, "", 7, "a\nb"])
def test_an_analyst_has_a_name(data: Dataset, name: Any) -> None:
    with pytest.raises(InvalidArgument):
        data.session("ann").for_analyst(name)  # None would be the holder


def test_what_an_analyst_opened_has_no_session_of_the_holder(file: Path, tmp_path: Path) -> None:
    books = tmp_path / "t.ledger"
    tn.protect(file, schema=STATED, ledger=books).close()
    with tn.protect(file, schema=STATED, ledger=books, analyst="ann") as ann:
        assert ann.for_analyst("bob").analyst == "bob"
        with pytest.raises(NotPromised, match="opened for an analyst"):
            ann._dataset.session(None)  # type: ignore[arg-type]


def test_a_role_that_may_do_more_than_read_asks_for_the_holder_only(data: Dataset) -> None:
    data.engine.excess = ("may write to the table",)
    data.session()
    for ask in (data.session, data.session().for_analyst):
        with pytest.raises(NotPromised, match="may write to the table"):
            ask("ann")


def test_a_file_that_changed_is_refused(file: Path, data: Dataset) -> None:
    ann = data.session("ann")
    file.write_text("x\n1\n")
    with pytest.raises(InvalidTable, match="not as its holder opened it"):
        data.session("bob")
    with pytest.raises(InvalidTable, match="not as its holder opened it"):
        ann.ask(COUNT, epsilon=1)
    assert data.session().budget.spent == 0


def test_what_the_holder_has_opened_since_is_another_table(file: Path, tmp_path: Path) -> None:
    """The file is that of the data set, and no longer the one that the ledger says."""
    books = tmp_path / "t.ledger"
    with tn.open_dataset(file, schema=STATED, ledger=books) as data:
        data.session("ann")
        other = tmp_path / "u.csv"
        other.write_text("x\n1\n")
        tn.protect(other, schema=STATED, ledger=books).close()
        with pytest.raises(InvalidTable, match="not as its holder opened it"):
            data.session("ann")


# --- closing


def test_closing_a_session_closes_nothing_else(data: Dataset) -> None:
    with data.session("ann") as ann:
        ann.ask(COUNT, epsilon=1)
    for use in (
        lambda: ann.ask(COUNT, epsilon=1),
        lambda: ann.budget,
        lambda: ann.for_analyst("b"),
    ):
        with pytest.raises(InvalidArgument, match="The session is closed") as refusal:
            use()
        assert refusal.value.code.endswith("-closed")
    assert "The session is closed" in repr(ann)
    assert data.session("ann").ask(COUNT, epsilon=1).replayed


def test_closing_the_data_set_closes_engine_and_ledger(file: Path) -> None:
    data = tn.open_dataset(file, schema=STATED, ledger=tn.ledger.Memory())
    ann, engine = data.session("ann"), data.engine
    data.close()
    data.close()
    for use in (
        lambda: ann.ask(COUNT, epsilon=1),
        lambda: ann.for_analyst("bob"),
        lambda: data.session(),
        lambda: data.engine,
    ):
        with pytest.raises(InvalidArgument, match="data set `t` is closed") as refusal:
            use()
        assert refusal.value.code.endswith("-closed")
    with pytest.raises(tn.Fault):
        engine.validate()
    with pytest.raises(Refused, match="ledger is closed"):
        data.ledger.balance()
    assert "it is closed" in repr(data)


def test_the_session_of_protect_owns_its_data_set(file: Path) -> None:
    data = tn.protect(file, schema=STATED, ledger=tn.ledger.Memory())
    ann = data.for_analyst("ann")
    ann.close()
    data.ask(COUNT, epsilon=1)
    bob = data.for_analyst("bob")
    data.close()
    with pytest.raises(InvalidArgument, match="data set `t` is closed"):
        bob.ask(COUNT, epsilon=1)


# --- plans


def test_plans_are_shared_and_the_last_ones_kept(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[str] = []
    plan_select = journey.plan_select

    def counted(sql: str, *given: Any) -> Any:
        planned.append(sql)
        return plan_select(sql, *given)

    monkeypatch.setattr(journey, "plan_select", counted)
    asked = [above(number) for number in range(65)]
    for analyst in ("ann", "bob"):  # as many as were planned every time before
        for sql in asked:
            data.session(analyst)._dataset.plans(Asked.of(sql, Terms(epsilon=1)))
    assert planned == asked
    assert data.plans.cache_info().currsize == 65 < home.MOST_PLANS


def test_plans_of_several_questions_are_shared_and_the_last_ones_kept(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[Any] = []
    explain_many = journey.explain_many

    def counted(questions: Any, *given: Any) -> Any:
        planned.append((questions, *given[1:]))
        return explain_many(questions, *given)

    monkeypatch.setattr(journey, "explain_many", counted)
    ann, bob = data.session("ann"), data.session("bob")
    several = [above(1), above(2)]
    ann.explain_many(several, epsilon=1)
    first, second = ann.ask_many(several, epsilon=1), bob.ask_many(several, epsilon=1, fresh=True)
    assert len(planned) == 1
    assert len(first) == len(second) == 2
    assert second.price == 1
    for other in (several[:1], [above(12)], several[::-1]):
        ann.explain_many(other, epsilon=1)
    for terms in ({"epsilon": 2}, {"epsilon": 1, "minimise": "mean"}):
        ann.explain_many(several, **terms)
    assert len(planned) == 6
    for number in range(3, 3 + home.MOST_WORKLOADS):
        ann.explain_many([above(number)], epsilon=1)
    assert data.workloads.cache_info().currsize == home.MOST_WORKLOADS
    ann.explain_many(several, epsilon=1)
    assert len(planned) == 7 + home.MOST_WORKLOADS


# --- what is kept


def test_a_data_frame_is_not_kept() -> None:
    frame = pd.DataFrame({"x": range(500)})
    gone = weakref.ref(frame)
    with tn.open_dataset(frame, schema=STATED, ledger=tn.ledger.Memory()) as data:
        del frame
        gc.collect()
        assert gone() is None
        data.session("ann").ask(COUNT, epsilon=1)


# --- threads


def test_sixteen_threads_of_as_many_analysts_spend_what_they_asked(data: Dataset) -> None:
    analysts = [data.session(f"a{number}") for number in range(16)]
    errors: list[BaseException] = []
    shared: list[Any] = []
    gate = threading.Barrier(16)

    def work(number: int) -> None:
        try:
            gate.wait()
            one = analysts[number]
            for turn in range(2):
                one.ask(above(number * 2 + turn), epsilon="0.25")
                shared.append(one.ask(COUNT, epsilon="0.5").value)
            data.session(f"b{number}").ask("SELECT MEDIAN(x) FROM t", epsilon=1, fresh=True)
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []
    assert len(shared) == 32
    assert len(set(shared)) == 1
    assert data.ledger.balance().spent == 16 * 2 * Fraction(1, 4) + Fraction(1, 2) + 16
    assert data.ledger.verify()


def test_sixty_four_sessions_ask_the_same_new_question(data: Dataset) -> None:
    found: list[Any] = []
    sessions = [data.session(f"a{number}") for number in range(64)]
    gate = threading.Barrier(64)

    def work(number: int) -> None:
        gate.wait()
        found.append(sessions[number].ask(COUNT, epsilon=1))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer.value for answer in found}) == 1
    assert sorted(answer.price for answer in found) == [0] * 63 + [1]
    assert data.ledger.balance().spent == 1


# --- forks

FORKS = """
import json, os, sys, threading, time
import tenue as tn
from tenue.errors import Refused

source, ledger, schema, elsewhere = sys.argv[1:]

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())  # one write: children share the pipe

data = tn.open_dataset(source, schema=json.loads(schema), ledger=ledger)
say("parent", data.session("ann").ask("SELECT COUNT(*) FROM t", epsilon=100).value)
busy = threading.Event()

def work():
    one = data.session("busy")
    for number in range(10**6):
        one.explain(f"SELECT COUNT(*) FROM t WHERE x > {number}", epsilon=1)
        data.engine.files.unchanged()
        busy.set()

threading.Thread(target=work, daemon=True).start()
busy.wait()
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        os.chdir(elsewhere)
        ann = data.session(f"child {number}")
        found = ann.ask("SELECT COUNT(*) FROM t", epsilon=100)
        new = ann.ask("SELECT COUNT(*) FROM t WHERE x >= 100", epsilon=100)
        say("child", found.value, found.replayed, new.value)
        data.close()
        os._exit(0)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
found = data.session("bob").ask("SELECT COUNT(*) FROM t WHERE x >= 200", epsilon=100)
say("parent", found.value, data.ledger.balance().spent, bool(data.ledger.verify()))
os._exit(0)
"""


def forked(source: str, ledger: str, folder: Path) -> list[str]:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [
            *(sys.executable, "-c", FORKS, source, ledger),
            *(json.dumps({**STATED, "budget": {"total": 1000}}), str(elsewhere)),
        ],
        env={**os.environ, "PYTHONPATH": str(Path(tn.__file__).parents[1])},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.any_draw("at an epsilon of 100 the noise rounds to nothing")
def test_forked_children_answer_from_files(file: Path, tmp_path: Path) -> None:
    lines = forked(file.name, str(tmp_path / "t.ledger"), tmp_path)
    assert lines == ["parent 500", *["child 500 True 400"] * 3, "parent 300 300 True"]


@pytest.mark.needs("postgres")
@pytest.mark.any_draw("at an epsilon of 100 the noise rounds to nothing")
def test_forked_children_answer_from_a_server(postgres_server: Server, tmp_path: Path) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE TABLE t AS SELECT i AS x FROM generate_series(0, 499) i")
        owner.execute("CREATE ROLE forked LOGIN")
        owner.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
        owner.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        owner.execute("GRANT SELECT ON t TO forked")
    try:
        lines = forked(
            f"{postgres_server.address(role='forked')}#t",
            postgres_server.address(schema="forked_ledger"),
            tmp_path,
        )
    finally:
        with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
            owner.execute("DROP TABLE t")
            owner.execute("DROP ROLE forked")
    assert lines == ["parent 500", *["child 500 True 400"] * 3, "parent 300 300 True"]


class Child:
    """A forked child, played in one process."""

    def __init__(self, data: Dataset) -> None:
        self.parents = data.engine
        data._turn.acquire()  # another thread of the parent had it
        data._after_fork_in_child()


def test_a_child_has_an_engine_of_its_own(data: Dataset) -> None:
    child = Child(data)
    assert data.engine is not child.parents
    assert data.engine is data.engine
    data.session("ann").ask(COUNT, epsilon=1)
    data.close()
    child.parents.validate()  # the parent's is still open
    child.parents.close()


def test_a_child_that_asks_nothing_closes_nothing(data: Dataset) -> None:
    child = Child(data)
    data.close()
    child.parents.validate()
    child.parents.close()


def test_a_child_opens_no_file_that_changed(file: Path, data: Dataset) -> None:
    child = Child(data)
    file.write_text("x\n1\n")
    with pytest.raises(InvalidTable, match="not as its holder opened it"):
        data.engine  # noqa: B018
    child.parents.close()


def test_a_child_has_no_data_frame_and_no_engine_that_cannot_be_opened_twice(
    data: Dataset,
) -> None:
    frame = pd.DataFrame({"x": range(500)})
    other = tn.open_dataset(frame, schema=STATED, ledger=tn.ledger.Memory())
    data.engine.reopens = False  # as Spark's
    for one in (other, data):
        ann, child = one.session("ann"), Child(one)
        with pytest.raises(InvalidArgument, match="before the process forked") as refusal:
            ann.ask(COUNT, epsilon=1)
        assert refusal.value.code == "opened-before-fork"
        assert one.ledger.balance().spent == 0
        child.parents.close()


# -- rows without a unit: the holder hears how many, everybody that they count nowhere

NOBODYS: dict[str, Any] = {
    **STATED,
    "table": {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 4},
    "budget": {"total": 10_000},
    "columns": {
        **STATED["columns"],
        "who": {"type": "identifier", "missing": ["NA"]},
        "by": {"type": "category", "categories": ["a", "b"]},
    },
}
LIMIT = "rows without a `who` count nowhere"


def with_unit(unit: dict[str, Any], name: str = "who") -> dict[str, Any]:
    table = {**NOBODYS["table"], "unit": name}
    return {**NOBODYS, "table": table, "columns": {**NOBODYS["columns"], name: unit}}


@pytest.fixture
def nobodys(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    who = ["p1", "p2", "NA", "", "p1", ""]
    by = ["a", "b", "", "other", "a", "b"]
    lines = [f"{n},{one},{other}" for n, (one, other) in enumerate(zip(who, by, strict=True))]
    path.write_text("\n".join(["x,who,by", *lines]) + "\n")
    return path


def test_the_holder_hears_how_many_rows_belong_to_nobody(nobodys: Path) -> None:
    with tn.protect(nobodys, schema=NOBODYS, ledger=tn.ledger.Memory()) as data:
        assert data.opening is not None
        assert (data.opening.nobodys, data.opening.rows) == (3, 6)
        assert str(data.opening).startswith("3 of 6 rows have no `who`")
        answer: Any = data.ask("SELECT COUNT(*) AS n FROM t", epsilon=400)
        assert data.for_analyst("ann").opening is None
    assert answer.value == 3
    assert answer.limits[-1].to_dict() == {
        "kind": "unit",
        "unit": "who",
        "most": None,
        "words": LIMIT,
        "above": None,
    }
    assert LIMIT in " ".join(str(answer).split())
    assert any(LIMIT in text for text in answer.certificate.assumptions)


@pytest.mark.parametrize(
    ("unit", "many"),
    [
        ({"type": "category", "categories": ["a", "b"]}, 2),  # "" and what is not declared
        ({"type": "category", "categories": ["a", "b"], "missing": "b"}, 0),
    ],
)
def test_a_value_for_missing_units_leaves_no_row_to_nobody(
    nobodys: Path, unit: dict[str, Any], many: int
) -> None:
    schema = with_unit(unit, "by")
    with tn.protect(nobodys, schema=schema, ledger=tn.ledger.Memory()) as data:
        assert data.opening is not None
        assert data.opening.nobodys == many
        answer: Any = data.ask("SELECT COUNT(*) AS n FROM t", epsilon=400)
    assert answer.value == 6 - many
    assert [limit.kind for limit in answer.limits] == ["rows", "unit"][: 2 if many else 1]


def test_no_word_of_an_answer_depends_on_rows_of_nobody(tmp_path: Path) -> None:
    """The mutant: the limit stands only where there are such rows."""
    texts = []
    for name, who in (("none", "p1"), ("some", "")):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"x,who,by\n1,p1,a\n2,{who},b\n")
        with tn.protect(path, schema=NOBODYS, ledger=tn.ledger.Memory()) as data:
            plan = str(data.explain("SELECT SUM(x) AS n FROM t", epsilon=1))
            answer: Any = data.ask("SELECT SUM(x) AS n FROM t", epsilon=1)
            texts.append((plan, answer.caveats, answer.certificate.assumptions))
    assert texts[0] == texts[1]
    with tn.protect(tmp_path / "none.csv", schema=NOBODYS, ledger=tn.ledger.Memory()) as data:
        assert "nobody" not in str(data.opening)


def test_sql_counts_no_missing_unit_either(nobodys: Path) -> None:
    with tn.protect(nobodys, schema=NOBODYS, ledger=tn.ledger.Memory()) as data:
        people: Any = data.ask("SELECT COUNT(DISTINCT who) AS n FROM t", epsilon=400)
        sums: Any = data.ask_many(["SELECT COUNT(*) FROM t", "SELECT SUM(x) FROM t"], epsilon=9)
        sets: Any = data.ask("SELECT by, COUNT(*) FROM t GROUP BY ROLLUP(by)", epsilon=9)
    assert people.limits == ()
    for found in (*sums, sets):
        assert LIMIT in [limit.words for limit in found.limits]


# -- a repeated question says whether its answer is of earlier rows


def asked_in(file: Path, books: Path, *, together: bool) -> list[Any]:
    with tn.protect(file, schema=STATED, ledger=books) as data:
        if together:
            sets = "SELECT BIN(x, 500) AS b, AVG(x) FROM t GROUP BY ROLLUP(b)"
            many = data.ask_many([COUNT, "SELECT SUM(x) FROM t"], epsilon=3)
            return [many[1], data.ask(sets, epsilon=1)]
        believed = data.ask(COUNT, epsilon=4, prior=tn.prior.Binomial(1000, 0.5))
        return [data.ask(COUNT, epsilon=2, key="mine"), believed]


@pytest.mark.parametrize("together", [False, True])
def test_a_repeated_question_says_that_its_rows_were_others(
    file: Path, tmp_path: Path, *, together: bool
) -> None:
    books = tmp_path / "t.ledger"
    asked_in(file, books, together=together)
    file.write_text(file.read_text() + "7\n")
    changed = asked_in(file, books, together=together)
    with tn.ledger.SQLite(books) as ledger:
        today = [entry.time for entry in ledger.entries()][-1][:10]
    for one in changed:
        assert one.replayed
        assert (one.earlier.date, one.earlier.known) == (today, True)
        assert f"answer of {today}, of the rows as they were then" in " ".join(str(one).split())
        assert json.loads(one.to_json())["earlier"] == {"date": today, "rows_changed": True}
        assert one.caveats[0] == str(one.earlier)
        assert str(one.earlier) in one._repr_html_()


def test_it_says_nothing_where_the_rows_are_those_of_then(file: Path, tmp_path: Path) -> None:
    """The mutant: what was opened in between counts, not what is there now."""
    books, before = tmp_path / "t.ledger", file.read_text()
    with tn.protect(file, schema=STATED, ledger=books) as data:
        answers: list[Any] = [data.ask(COUNT, epsilon=1), data.ask(COUNT, epsilon=1)]
    file.write_text(before + "7\n")
    with tn.protect(file, schema=STATED, ledger=books) as data:
        answers += [data.ask(COUNT, epsilon=1, fresh=True)]
    file.write_text(before)
    with tn.protect(file, schema=STATED, ledger=books) as data:
        answers += [data.ask(COUNT, epsilon=1)]
    assert [one.replayed for one in answers] == [False, True, False, True]
    assert [one.earlier for one in answers] == [None] * 4


def test_of_a_data_frame_nobody_knows_whether_it_changed(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": range(500)})

    def asked_twice() -> Any:
        with tn.protect(frame, schema=STATED, ledger=tmp_path / "t.ledger") as data:
            data.ask(COUNT, epsilon=1)
            return data.ask(COUNT, epsilon=1)

    assert asked_twice().earlier is None, "the frame is the one that was opened"
    again = asked_twice()
    assert again.earlier.known is False
    assert "whether the rows have changed since is not recorded" in " ".join(str(again).split())
    assert again.to_dict()["earlier"]["rows_changed"] is None
