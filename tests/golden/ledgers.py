"""A ledger that 0.1.0 wrote, as any later version must find it.

`ledger-0.1.0/` holds the file and its anchor; `write` made them, once. They are never made again:
a later version reads what an earlier one wrote.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Any

import tenue as tn
from golden.answers import balance
from golden.kit import Case, Theme, entropy, folder, lines, outcome
from golden.releases import declared, people
from golden.rooms import entry_of
from golden.tables import SCHEMAS, census
from golden.tables import people as persons

HERE = Path(__file__).parent / "ledger-0.1.0"
FILE, ANCHOR = HERE / "written-by-0.1.0.sqlite", HERE / "written-by-0.1.0.anchor"
C = "SELECT COUNT(*) FROM census"
COIN = tn.prior.Categorical({True: "0.3", False: "0.7"})
ONE = "SELECT sick FROM people WHERE id = {}"


def write(path: Path, anchor: Path) -> None:
    """Several data sets, prices, deltas, persons, individual prices, releases and changes."""
    with tn.protect(census(), schema=_census(), ledger=path, analyst="ann") as data:
        data.ask(f"{C} WHERE employed", epsilon=0.5, key="first")
        data.ask("SELECT region, COUNT(*) FROM census GROUP BY region", epsilon="1/3")
        data.ask_many([f"{C} WHERE age > {a}" for a in (20, 40)], epsilon=1)
        outcome(lambda: data.ask(f"{C} WHERE age > 7", epsilon=99))
    with tn.protect(census(), schema=_census(total=20), ledger=path) as data:
        data.ask("SELECT MEDIAN(age) FROM census", epsilon=2, interval=0.9)
        data.ask("SELECT MEDIAN(income) FROM census", epsilon=1, individual=True)
    with tn.protect(census(), schema=_census(total=20, version="2"), ledger=path) as data:
        data.ask(f"{C} WHERE employed", epsilon=0.5)
    with tn.protect(persons(), schema=SCHEMAS["people"], ledger=path, analyst="bob") as data:
        for name in (17, 18, 17):
            data.ask(ONE.format(name), epsilon=1, prior=COIN, fresh=True)
        data.ask(ONE.format(3), epsilon=1, prior=COIN, delta=1e-6)
    fixed = json.loads(json.dumps(SCHEMAS["fixed"]))
    fixed["table"]["name"] = "steady"
    with tn.protect(census(), schema=fixed, ledger=path) as data:
        data.ask("SELECT COUNT(*) FROM steady WHERE employed")
    tn.publish(people(), schema=declared(), method="swap", k=5, ledger=path)
    tn.publish(
        people(), schema=declared(), method="swap", k=6, ledger=path, override="second-release"
    )
    with tn.ledger.SQLite(path) as books:
        charge = tn.ledger.Charge.of(epsilon=0.25, neighbours="add-or-remove")
        paid = books.reserve("people", "eve", charge, "lost", tn.ledger.digest("q"), asked="?")
        books.abandon(paid, "no answer")
        back = books.reserve("people", "eve", charge, "back", tn.ledger.digest("r"))
        books.release_unread(back, "gone away")
        books.anchor(anchor)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _census(total: float = 10, version: str | None = None) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(json.dumps(SCHEMAS["replaced"]))
    schema["budget"] |= {"total": total, "per_analyst": 5}
    if version is not None:
        schema["table"]["version"] = version
    return schema


def _copied(place: Path) -> Path:
    shutil.copy(ANCHOR, place / "anchor.json")
    return Path(shutil.copy(FILE, place / "census.ledger"))


def _read(look: Any) -> Case:
    """What somebody finds in a copy of the ledger."""

    def case() -> Any:
        with folder() as place, tn.ledger.SQLite(_copied(place)) as books:
            return look(books)

    return case


def _verified(books: Any) -> Any:
    def told(found: Any) -> Any:
        return [found.ok, found.entries, found.head, found.first_bad, found.reason, str(found)]

    return {
        "alone": told(books.verify()),
        "anchor": told(books.verify(anchor="anchor.json")),
        "read": tn.ledger.Anchor.read("anchor.json").entries,
    }


def _spent(books: Any) -> Any:
    """Goes on spending, on old questions and new ones."""
    told = []

    def ask(data: Any, sql: str, **options: Any) -> None:
        def call() -> Any:
            with entropy():
                found = data.ask(sql, **options)
            return [found.value, found.price, found.replayed]

        told.append([sql, outcome(call), lines(str(data.budget))])

    schema = _census(total=20, version="2")
    data = tn.protect(census(), schema=schema, ledger=books, analyst="ann")
    ask(data, f"{C} WHERE income > 7", epsilon=0.5)
    ask(data, f"{C} WHERE income > 7", epsilon=0.5)
    ask(data, f"{C} WHERE income > 8", epsilon=0.5, key="first")
    ask(data, f"{C} WHERE income > 9", epsilon=4)
    ask(data, f"{C} WHERE income > 9", epsilon=0.1)
    other = tn.protect(persons(), schema=SCHEMAS["people"], ledger=books, analyst="bob")
    ask(other, ONE.format(17), epsilon=1, prior=COIN, fresh=True)
    ask(other, ONE.format(99), epsilon=1, prior=COIN)
    again = outcome(
        lambda: tn.publish(people(), schema=declared(), method="swap", k=5, ledger=books)
    )
    return {
        "asked": told,
        "published": again,
        "kinds": [entry.kind for entry in books.entries()],
        "verified": [books.verify().ok, books.verify(anchor="anchor.json").ok],
    }


def _changed(statement: str) -> Case:
    """A copy that somebody changed behind the ledger's back."""

    def case() -> Any:
        with folder() as place:
            path = _copied(place)
            connection = sqlite3.connect(path)
            connection.executescript(statement)
            connection.commit()
            connection.close()

            def look() -> Any:
                with tn.ledger.SQLite(path) as books:
                    found = books.verify(anchor="anchor.json")
                    return [found.ok, found.first_bad, found.reason]

            return outcome(look)

    return case


def _cases() -> dict[str, Case]:
    def exported(books: Any) -> Any:
        count = books.export("out.jsonl")
        text = Path("out.jsonl").read_text(encoding="utf-8")
        return [count, text.split("\n")]

    names = ("census", "people", "steady")
    return {
        "data sets": _read(lambda books: [books.datasets(), books.known_as("CENSUS")]),
        **{
            f"balance of {name}": _read(
                lambda books, name=name: {
                    **balance(books.balance(name)),
                    "text": lines(str(books.balance(name))),
                    "schema": books.balance(name).schema_digest,
                    "version": books.balance(name).data_version,
                }
            )
            for name in names
        },
        **{
            f"entries of {name}": _read(
                lambda books, name=name: [entry_of(entry) for entry in books.entries(name)]
            )
            for name in names
        },
        "exported": _read(exported),
        "verified": _read(_verified),
        "keys": _read(
            lambda books: [
                books.has_key("census", "ann", "first"),
                books.has_key("census", "bob", "first"),
                books.has_key("people", "eve", "lost"),
                books.has_key("people", "eve", "back"),
            ]
        ),
        "spent further": _read(_spent),
        "changed entry": _changed(
            "UPDATE entry SET text = replace(text, 'ann', 'bob') WHERE sequence = 4"
        ),
        "changed account": _changed("UPDATE account SET statistical = 0"),
        "changed cap": _changed("UPDATE dataset SET total = total + 1"),
        "cut tail": _changed("DELETE FROM entry WHERE sequence > 48"),
        "lost answer": _changed("DELETE FROM answer WHERE sequence = 4"),
    }


THEME = Theme("ledgers", _cases())

if __name__ == "__main__":  # python -m golden.ledgers, for 0.1.0 only; never again
    if FILE.exists() or tn.__version__ != "0.1.0":
        sys.exit("The ledger of 0.1.0 is there, or this is another version")
    HERE.mkdir(exist_ok=True)
    write(FILE, ANCHOR)
