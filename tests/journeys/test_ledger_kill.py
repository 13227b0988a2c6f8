"""kill -9 at any moment: no acknowledged spend is lost, no key is drawn twice.

A worker retries its keys in order: reserve, draw (a line in a file that is synced at once), commit,
acknowledge (a line in another such file). It is killed at random times, or kills itself between two
steps, and starts again with the same keys.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

import tenue
from tenue.ledger import SQLite

pytestmark = pytest.mark.any_draw("draws nothing; processes are killed at any moment")
THREADS = 3
STEPS = ("opened", "reserved", "drawn", "committed", "acknowledged")

# A nursery imports once and forks a worker for each command, so that 500 kills take a minute.
NURSERY = """
import json, os, signal, sys, threading
from tenue.errors import Conflict
from tenue.ledger import Charge, SQLite, digest
from tenue.ledger.store import sql_database as tabled
from tenue.ledger.transactions import reserve
from tenue.ledger.facts import Returned

CHARGE = Charge.of(epsilon="0.01", neighbours="replace")


def note(path, text):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, (text + "\\n").encode())
    os.fsync(file)
    os.close(file)


def lines(path):
    return open(path).read().splitlines() if os.path.exists(path) else []


def refund_the_dead(journal):
    # the wrong recovery: what a crash left open is given back
    for ticket in journal.totals.open_tickets():
        if not journal.alive(ticket.owner):
            journal.write(Returned(dataset="census", reservation=ticket.sequence, reason="crash"))


class Worker:
    def __init__(self, folder, step, round):
        self.folder, self.step, self.round = folder, step, round

    def reach(self, step, turn):
        # steps of the second turn, so that something has happened before
        if step == self.step and turn == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    def run(self):
        self.ledger = SQLite(self.folder + "/kill.ledger")
        self.ledger.open_dataset("census", total=10**6, neighbours="replace")
        self.reach("opened", 1)
        threads = [threading.Thread(target=self.work, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def work(self, thread):
        acks, draws, lost = (f"{self.folder}/{name}-{thread}" for name in ("acks", "draws", "lost"))
        start = len(lines(acks)) + len(lines(lost))
        for turn in range(100_000):
            key = f"{thread}-{start + turn}"
            try:
                paid = self.ledger.reserve("census", "ann", CHARGE, key, digest(key))
            except Conflict as refusal:
                assert refusal.code == "spent-unanswered", refusal
                note(lost, key)
                continue
            self.reach("reserved", turn)
            answer = paid.answer
            if answer is None:
                answer = f"{key} drawn in round {self.round}".encode()
                note(draws, key)
                self.reach("drawn", turn)
                self.ledger.commit(paid, answer)
                self.reach("committed", turn)
            note(acks, json.dumps([key, answer.decode()]))
            self.reach("acknowledged", turn)


for line in sys.stdin:
    command = json.loads(line)
    if command.pop("refund"):
        tabled.recover = refund_the_dead
    child = os.fork()
    if child == 0:
        Worker(**command).run()
        os._exit(1)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
""".replace("THREADS", str(THREADS))


class Nursery:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rounds = 0
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def kill(self, *, step: str = "", after: float = 0, refund: bool = False) -> None:
        """Starts a worker that dies at `step`, or is killed so many seconds after its birth."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.rounds += 1
        command = {"folder": str(self.folder), "step": step, "round": self.rounds, "refund": refund}
        self.process.stdin.write(json.dumps(command) + "\n")
        child = int(self.process.stdout.readline())
        if not step:
            time.sleep(after)
            os.kill(child, signal.SIGKILL)
        assert int(self.process.stdout.readline()) == signal.SIGKILL

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    made = Nursery(tmp_path)
    yield made
    made.close()


def lines(folder: Path, name: str) -> list[str]:
    found: list[str] = []
    for thread in range(THREADS):
        path = folder / f"{name}-{thread}"
        found.extend(path.read_text().splitlines() if path.exists() else [])
    return found


def drawn_twice(folder: Path) -> set[str]:
    return {key for key, count in Counter(lines(folder, "draws")).items() if count > 1}


def check(folder: Path, kills: int) -> int:
    """Holds the ledger against what the workers saw; returns how many spends they saw."""
    acknowledged = dict(json.loads(line) for line in lines(folder, "acks"))
    with SQLite(folder / "kill.ledger") as ledger:
        assert ledger.verify()
        entries = list(ledger.entries())
        reserved = {e.sequence: e.fact.key for e in entries if e.kind == "reserved"}  # type: ignore[union-attr]
        assert max(Counter(reserved.values()).values()) == 1
        answered = {reserved[e.fact.reservation] for e in entries if e.kind == "answered"}  # type: ignore[union-attr]
        assert acknowledged.keys() <= answered
        assert set(lines(folder, "draws")) <= set(reserved.values())  # paid before drawn
        rows = ledger._database.read(  # type: ignore[attr-defined]
            lambda rows: {
                reserved[e.fact.reservation]: rows.answer(e.sequence).decode()  # type: ignore[union-attr]
                for e in entries
                if e.kind == "answered"
            }
        )
        assert {key: rows[key] for key in acknowledged} == acknowledged
        assert ledger.balance().spent == Fraction(len(reserved), 100)
        # nothing is open any more, and each thread lost at most one charge for each kill
        unanswered = [e for e in entries if e.kind == "unanswered"]
        assert len(unanswered) == len(reserved) - len(answered) <= kills * THREADS
    assert drawn_twice(folder) == set()
    return len(acknowledged)


def kill_at_random(nursery: Nursery, kills: int, seed: int) -> None:
    dice = random.Random(seed)
    for number in range(kills):
        if number % 5 < 2:
            nursery.kill(step=STEPS[number // 5 % len(STEPS)])
        else:
            nursery.kill(after=dice.uniform(0, 0.2))


def test_50_kills_lose_no_acknowledged_spend(nursery: Nursery) -> None:
    kill_at_random(nursery, 50, seed=1)
    assert check(nursery.folder, 50) > 50


@pytest.mark.slow
def test_500_kills_lose_no_acknowledged_spend(nursery: Nursery) -> None:
    kill_at_random(nursery, 500, seed=time.time_ns())
    assert check(nursery.folder, 500) > 500


def test_the_journey_catches_a_recovery_that_refunds(nursery: Nursery) -> None:
    for _ in range(3):
        nursery.kill(step="drawn", refund=True)
    assert drawn_twice(nursery.folder)
