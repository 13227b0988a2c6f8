"""Sixteen processes ask the same new question at once, and some are killed while others wait.

One pays and draws, the others get its answer. If it is killed in between, its price is spent, one
more pays, and all who live get the same answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import tenue
from postgres_server import Server
from tenue.ledger.locate import open_ledger

pytestmark = pytest.mark.any_draw("draws nothing; processes compete in any order")
_schemas = count(1)
POSTGRES = pytest.param("postgres", marks=pytest.mark.needs("postgres"))

# One process imports and forks the others, which open the ledger for themselves.
CROWD = """
import json, multiprocessing, os, signal, sys, time
from tenue.ledger import Charge
from tenue.ledger.locate import open_ledger
from tenue.ledger.transactions import reserve

where, rounds, processes, kills, how = json.loads(sys.argv[1])
PRICE = Charge.of(epsilon="0.5", neighbours="replace")
if how == "outside":  # the wrong ledger looks for an answer before the transaction that pays
    reserve._asked_already = lambda journal, wanted: None
context = multiprocessing.get_context("fork")
gate, drawn = context.Barrier(processes + 1), context.Value("i", 0)
looked = context.Barrier(processes)
results = context.SimpleQueue()


def ask(ledger, name, number):
    if how == "outside":
        stored = ledger.cached("census", f"round {number}")
        looked.wait(60)  # all have looked before one pays: the order that a race may have
        if stored is not None:
            return False, stored.decode()
    paid = ledger.reserve("census", name, PRICE, None, "q", cache_key=f"round {number}")
    if paid.answer is not None:
        return False, paid.answer.decode()
    drawn.value += 1
    end = time.monotonic() + 0.02
    while drawn.value < 2 and time.monotonic() < end:
        time.sleep(0.001)
    answer = f"{number} drawn by {name}"
    ledger.commit(paid, answer.encode())
    return True, answer


def worker(name):
    ledger = open_ledger(where)
    for number in range(rounds):
        gate.wait(60)
        results.put(ask(ledger, name, number))
    ledger.close()


def victim(number, reserved):
    ledger = open_ledger(where)
    paid = ledger.reserve("census", "victim", PRICE, None, "q", cache_key=f"round {number}")
    assert paid.answer is None
    reserved.send(True)
    time.sleep(600)


workers = [context.Process(target=worker, args=(f"p{n}",), daemon=True) for n in range(processes)]
for one in workers:
    one.start()
for number in range(rounds):
    drawn.value = 0
    if kills:
        heard, reserved = context.Pipe(False)
        dying = context.Process(target=victim, args=(number, reserved), daemon=True)
        dying.start()
        heard.recv()
    gate.wait(60)
    if kills:
        time.sleep(number % 5 * 0.01)
        os.kill(dying.pid, signal.SIGKILL)
        dying.join()
    found = [results.get() for _ in range(processes)]
    paid = sum(paid for paid, _ in found)
    print(json.dumps([paid, sorted({value for _, value in found})]), flush=True)
for one in workers:
    one.join()
"""


@pytest.fixture(params=["sqlite", POSTGRES])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "one.ledger")
    server: Server = request.getfixturevalue("postgres_server")
    return server.address(schema=f"single_flight_{next(_schemas)}")


def crowd(
    where: str, rounds: int, *, processes: int = 16, kills: bool = False, how: str = "right"
) -> list[Any]:
    """What each round cost, and which values it gave."""
    with open_ledger(where) as ledger:
        ledger.open_dataset("census", total=10**5, neighbours="replace")
    done = subprocess.run(
        [sys.executable, "-c", CROWD, json.dumps([where, rounds, processes, kills, how])],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60 + 5 * rounds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def few(where: str) -> int:
    """Sixteen, or as many as a server on a busy machine lets in within a second."""
    return 5 if "://" in where else 16


def check(where: str, rounds: int, *, processes: int = 16, kills: bool = False) -> None:
    found = crowd(where, rounds, processes=processes, kills=kills)
    assert [(paid, len(values)) for paid, values in found] == [(1, 1)] * rounds
    with open_ledger(where) as ledger:
        kinds = [entry.kind for entry in ledger.entries()]
        assert kinds.count("answered") == rounds
        assert kinds.count("unanswered") == rounds * kills
        assert ledger.balance().spent * 2 == rounds * (1 + kills)
        assert ledger.verify()


def test_processes_that_ask_at_once_pay_once(where: str) -> None:
    check(where, 2, processes=few(where))


@pytest.mark.slow
def test_sixteen_processes_pay_once_200_times(where: str) -> None:
    check(where, 200)


def test_a_process_is_killed_while_others_wait_for_it(where: str) -> None:
    check(where, 1, processes=few(where), kills=True)


@pytest.mark.slow
def test_200_processes_are_killed_while_others_wait_for_them(where: str) -> None:
    check(where, 200, kills=True)


def test_the_journey_catches_a_look_outside_the_transaction(where: str) -> None:
    assert crowd(where, 1, processes=3, how="outside")[0][0] == 3
