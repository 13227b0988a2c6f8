"""The ledger's server crashes at any moment, under load from two processes.

Each worker retries its keys until they are answered or used up: reserve, draw (a line in a file),
commit, acknowledge (a line in another). Whatever happens, no key is drawn twice, no acknowledged
answer is lost, and the budget shows every draw.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import tenue
from postgres_server import Server
from tenue.errors import Conflict
from tenue.ledger import Charge, Postgres

pytestmark = [
    pytest.mark.needs("postgres"),
    pytest.mark.any_draw("draws nothing; the server is killed at any moment"),
]
PRICE = Charge.of(epsilon="0.01", neighbours="replace")

WORKER = """
import sys, threading, time
from tenue.errors import Conflict, Fault
from tenue.ledger import Charge, Postgres
from tenue.ledger.store.postgres import session

address, folder, name, how = sys.argv[1:]
if how == "hasty":  # the wrong session does not wait for the disk
    session._wait_for_the_disk = lambda made: made.execute("SET synchronous_commit = off")
PRICE = Charge.of(epsilon="0.01", neighbours="replace")

def note(kind, text):
    with open(f"{folder}/{kind}-{name}", "a") as file:
        file.write(text + "\\n")

def patiently(call):
    while True:
        try:
            return call()
        except Fault:
            time.sleep(0.05)

ledger = patiently(lambda: Postgres(address))

def work(thread):
    for turn in range(10**9):
        key = f"{name}-{thread}-{turn}"
        while True:
            try:
                paid = ledger.reserve("census", "ann", PRICE, key, "q")
                if paid.answer is None:
                    note("drawn", key)
                    ledger.commit(paid, key.encode())
                note("acknowledged", key)
                break
            except Conflict as refusal:
                assert refusal.code in ("spent-unanswered", "in-flight", "conflict"), refusal.code
                break
            except Fault:
                time.sleep(0.02)

for number in range(3):
    threading.Thread(target=work, args=(number,), daemon=True).start()
print("working", flush=True)
sys.stdin.read()
"""


def keys(folder: Path, kind: str) -> Counter[str]:
    return Counter(
        line for file in folder.glob(f"{kind}-*") for line in file.read_text().splitlines()
    )


def crash(server: Server, folder: Path, crashes: int, worker: str) -> None:
    workers = [
        subprocess.Popen(
            [
                *(sys.executable, "-c", WORKER, server.address(schema="books")),
                *(str(folder), name, worker),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        )
        for name in ("a", "b")
    ]
    try:
        for one in workers:
            assert one.stdout is not None
            assert one.stdout.readline() == b"working\n"
        for _ in range(crashes):
            time.sleep(random.uniform(0.05, 0.4))
            server.restart(signal.SIGQUIT)
        time.sleep(0.3)
    finally:
        for one in workers:
            one.kill()
            one.communicate()


def crashed(folder: Path, crashes: int, worker: str = "careful") -> None:
    server = Server()
    if worker == "hasty":
        server.restart(signal.SIGINT, "wal_writer_delay=10000ms")
    try:
        with Postgres(server.address(schema="books")) as ledger:
            ledger.open_dataset("census", total=10**6, neighbours="replace")
        crash(server, folder, crashes, worker)
        with Postgres(server.address(schema="books")) as ledger:
            assert ledger.verify()
            drawn, acknowledged = keys(folder, "drawn"), keys(folder, "acknowledged")
            assert len(acknowledged) > 2 * crashes
            assert max(drawn.values()) == 1
            assert ledger.balance().spent >= Fraction(len(drawn), 100)
            for key in acknowledged:
                assert ledger.reserve("census", "ann", PRICE, key, "q").answer == key.encode()
    finally:
        server.remove()


def test_the_server_crashes_and_nothing_is_lost_or_drawn_twice(tmp_path: Path) -> None:
    crashed(tmp_path, 4)


@pytest.mark.slow
def test_the_server_crashes_forty_times(tmp_path: Path) -> None:
    crashed(tmp_path, 40)


def test_the_journey_catches_a_session_that_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    # an answer that is gone, or a key that is paid for and has none
    with pytest.raises((AssertionError, Conflict)):
        crashed(tmp_path, 1, "hasty")
