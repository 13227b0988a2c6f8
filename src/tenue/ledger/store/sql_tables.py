"""Reads and writes the rows of a ledger in SQL tables.

The statements are valid in both SQLite and PostgreSQL; `?` stands for a value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from ...errors import LedgerFault
from .. import facts
from ..facts import Reserved
from ..totals import Account, Books, Dataset, Line, Person, Source, Stored, Ticket
from ..transactions.journal import Journal

T = TypeVar("T")

KEPT: dict[str, tuple[int, tuple[str, ...]]] = {
    "dataset": (
        1,
        (
            "name", "neighbours", "total", "total_delta", "per_analyst", "schema_digest",
            "data_version", "repriced", "widest", "individual", "unit",
        ),
    ),
    "account": (
        2,
        ("dataset", "analyst", "statistical", "most", "delta", "most_delta", "individual"),
    ),
    "person": (3, ("dataset", "analyst", "person", "nano", "atto")),
    "question": (2, ("dataset", "name", "times")),
    "release": (2, ("dataset", "digest", "sequence")),
    "protocol": (1, ("dataset", "protocol")),
    "source": (1, ("dataset", "mark", "reading", "digest")),
}  # fmt: skip
"""The tables of running totals: how many columns are the key; the columns, as rows have them."""


class Found(Protocol):
    """The rows that a statement found."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connected(Protocol):
    """A connection to a database, in a transaction."""

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Found: ...
    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object: ...


LINES = (
    "SELECT e.sequence, e.text, e.link, t.sequence, t.name, t.cache, t.owner, t.outcome,"
    " t.settled, a.content FROM entry e LEFT JOIN ticket t ON t.sequence = e.sequence"
    " LEFT JOIN answer a ON a.sequence = e.sequence ORDER BY e.sequence"
)
"""Every entry beside the ticket it opened and the answer it stored."""


class Tables:
    """A shelf whose rows are in the tables of a database."""

    def __init__(self, connection: Connected) -> None:
        self._run = connection.execute
        self._run_many = connection.executemany

    def _value(self, statement: str, *values: Any) -> Any:
        """The first column of the first row; None if there is none."""
        row = self._run(statement, values).fetchone()
        return None if row is None else row[0]

    def head(self) -> tuple[int, bytes]:
        row = self._run(
            "SELECT sequence, link FROM entry ORDER BY sequence DESC LIMIT 1"
        ).fetchone()
        return (0, facts.GENESIS) if row is None else (row[0], row[1])

    def link(self, sequence: int) -> bytes | None:
        if sequence == 0:
            return facts.GENESIS
        link = self._value("SELECT link FROM entry WHERE sequence = ?", sequence)
        return None if link is None else bytes(link)

    def texts(self, after: int, count: int) -> list[tuple[int, str, bytes]]:
        return self._run(
            "SELECT sequence, text, link FROM entry WHERE sequence > ? ORDER BY sequence LIMIT ?",
            (after, count),
        ).fetchall()

    def datasets(self) -> list[str]:
        return [row[0] for row in self._run("SELECT name FROM dataset ORDER BY name")]

    def dataset(self, name: str) -> Dataset | None:
        return _only(Dataset, 1, self._run("SELECT * FROM dataset WHERE name = ?", (name,)))

    def account(self, dataset: str, analyst: str) -> Account | None:
        rows = self._run(
            "SELECT * FROM account WHERE dataset = ? AND analyst = ?", (dataset, analyst)
        )
        return _only(Account, 2, rows)

    def accounts(self, dataset: str) -> dict[str, Account]:
        rows = self._run("SELECT * FROM account WHERE dataset = ?", (dataset,))
        return {row[1]: Account(*row[2:]) for row in rows}

    def person(self, dataset: str, analyst: str, person: str) -> Person | None:
        rows = self._run(
            "SELECT * FROM person WHERE dataset = ? AND analyst = ? AND person = ?",
            (dataset, analyst, person),
        )
        return _only(Person, 3, rows)

    def persons(self, dataset: str, analyst: str) -> dict[str, Person]:
        rows = self._run(
            "SELECT * FROM person WHERE dataset = ? AND analyst = ?", (dataset, analyst)
        )
        return {row[2]: Person(*row[3:]) for row in rows}

    def most(self, dataset: str, analyst: str, besides: Iterable[str]) -> Person:
        left_out = tuple(besides)
        others = f" AND person NOT IN ({_marks(len(left_out))})" if left_out else ""
        row = self._run(
            "SELECT COALESCE(MAX(nano), 0), COALESCE(MAX(atto), 0) FROM person"  # noqa: S608
            f" WHERE dataset = ? AND analyst = ?{others}",
            (dataset, analyst, *left_out),
        ).fetchone()
        return Person(*row)

    def times(self, dataset: str, question_name: str) -> int:
        statement = "SELECT times FROM question WHERE dataset = ? AND name = ?"
        return int(self._value(statement, dataset, question_name) or 0)

    def releases(self, dataset: str) -> dict[str, int]:
        rows = self._run("SELECT digest, sequence FROM release WHERE dataset = ?", (dataset,))
        return dict(rows.fetchall())

    def protocol(self, dataset: str) -> str:
        return str(self._value("SELECT protocol FROM protocol WHERE dataset = ?", dataset) or "")

    def source(self, dataset: str) -> Source | None:
        rows = self._run("SELECT * FROM source WHERE dataset = ?", (dataset,))
        return _only(Source, 1, rows)

    def secret(self) -> bytes:
        row = self._run("SELECT content, digest FROM seal").fetchone()
        if row is None or hashlib.sha256(row[0]).digest() != row[1]:
            raise LedgerFault("the key of its certificates is missing or damaged")
        return bytes(row[0])

    def ticket(self, sequence: int) -> Ticket | None:
        return _only(Ticket, 0, self._run("SELECT * FROM ticket WHERE sequence = ?", (sequence,)))

    def ticket_named(self, name: bytes) -> Ticket | None:
        rows = self._run("SELECT * FROM ticket WHERE name = ? AND outcome <> 2", (name,))
        return _only(Ticket, 0, rows)

    def open_tickets(self) -> list[Ticket]:
        rows = self._run("SELECT * FROM ticket WHERE outcome = 0 ORDER BY sequence")
        return [Ticket(*row) for row in rows]

    def tickets_cached(self, cache: bytes) -> list[Ticket]:
        """The ticket answered last under a cache name, and those that are open under it."""
        rows = self._run(
            "SELECT * FROM (SELECT * FROM ticket WHERE cache = ? AND outcome = 1"
            " ORDER BY settled DESC LIMIT 1) AS answered"
            " UNION ALL SELECT * FROM ticket WHERE cache = ? AND outcome = 0",
            (cache, cache),
        )
        return [Ticket(*row) for row in rows.fetchall()]

    def text(self, sequence: int) -> str:
        text = self._value("SELECT text FROM entry WHERE sequence = ?", sequence)
        if text is None:
            raise LedgerFault(f"entry {sequence} is missing")
        return str(text)

    def texts_with(self, part: str) -> list[tuple[int, str]]:
        """The entries whose text contains this, which has no characters that LIKE reads."""
        rows = self._run(
            "SELECT sequence, text FROM entry WHERE text LIKE ? ORDER BY sequence", (f"%{part}%",)
        )
        return [(int(sequence), str(text)) for sequence, text in rows.fetchall()]

    def reserved(self, sequence: int) -> Reserved:
        text = self._value("SELECT text FROM entry WHERE sequence = ?", sequence)
        fact = None if text is None else facts.read(sequence, text)[1]
        if not isinstance(fact, Reserved):
            raise LedgerFault(f"there is no reservation {sequence}")
        return fact

    def answer(self, sequence: int) -> bytes:
        content = self._value("SELECT content FROM answer WHERE sequence = ?", sequence)
        if content is None:
            raise LedgerFault(f"the answer of entry {sequence} is missing")
        return bytes(content)

    def take(self, journal: Journal) -> None:
        """Writes everything a transaction changed."""
        totals = journal.totals
        self._run_many("INSERT INTO entry VALUES (?, ?, ?)", journal.written)
        if totals.tickets:
            self._run_many(
                "INSERT INTO ticket VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (sequence)"
                " DO UPDATE SET outcome = excluded.outcome, settled = excluded.settled",
                list(totals.tickets.values()),
            )
        if totals.answers:
            self._run_many("INSERT INTO answer VALUES (?, ?)", list(totals.answers.items()))
        self._keep("dataset", [(name, *row) for name, row in totals.datasets.items()])
        self._keep("account", [(*key, *row) for key, row in totals.accounts.items()])
        self._keep("person", [(*key, *row) for key, row in totals.persons.items()])
        self._keep("question", [(*key, times) for key, times in totals.questions.items()])
        self._keep("release", [(*key, at) for key, at in totals.releases.items()])
        self._keep("protocol", list(totals.protocols.items()))
        self._keep("source", [(name, *row) for name, row in totals.sources.items()])

    def _keep(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        """Writes rows of running totals, replacing those of the same key."""
        keys, columns = KEPT[table]
        changed = ", ".join(f"{name} = excluded.{name}" for name in columns[keys:])
        if rows:
            self._run_many(
                f"INSERT INTO {table} VALUES ({_marks(len(columns))})"  # noqa: S608 - names are ours
                f" ON CONFLICT ({', '.join(columns[:keys])}) DO UPDATE SET {changed}",
                rows,
            )

    def lines(self) -> Iterable[Line]:
        """Every entry beside the ticket it opened and the answer it stored."""
        return self._run(LINES)

    def totals(self) -> Stored:
        run = self._run
        books = Books(
            {row[0]: Dataset(*row[1:]) for row in run("SELECT * FROM dataset")},
            {row[:2]: Account(*row[2:]) for row in run("SELECT * FROM account")},
            {row[:3]: Person(*row[3:]) for row in run("SELECT * FROM person")},
            {row[:2]: row[2] for row in run("SELECT * FROM question")},
            {row[:2]: row[2] for row in run("SELECT * FROM release")},
            dict(run("SELECT * FROM protocol").fetchall()),
            {row[0]: Source(*row[1:]) for row in run("SELECT * FROM source")},
        )
        tickets, answers = run(
            "SELECT (SELECT COUNT(*) FROM ticket), (SELECT COUNT(*) FROM answer)"
        ).fetchone()
        return Stored(books, tickets, answers)


def _marks(many: int) -> str:
    return ", ".join("?" * many)


def _only(kind: Callable[..., T], keys: int, rows: Found) -> T | None:
    """The one row, without the columns that are its key; None if there is none."""
    row = rows.fetchone()
    return None if row is None else kind(*row[keys:])
