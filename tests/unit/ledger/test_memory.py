from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tenue
from tenue.ledger import Memory
from tenue.ledger.transaction.journal import Journal

# in a process of its own: a fork of the one that runs the tests would copy its threads' locks
FORK = """
import os
from tenue.errors import LedgerFault
from tenue.ledger import Charge, Memory
ledger = Memory()
ledger.open_dataset("census", 1, neighbours="replace")
child = os.fork()
if child == 0:
    try:
        ledger.reserve("census", "ann", Charge(1, 0, "replace"), None, "q")
    except LedgerFault:
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.any_draw("draws nothing")
def test_a_child_process_cannot_spend_its_copy_of_the_budget() -> None:
    subprocess.run(
        [sys.executable, "-c", FORK],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        check=True,
        timeout=60,
    )


def test_work_that_breaks_leaves_no_trace() -> None:
    ledger = Memory()
    ledger.open_dataset("census", 1, neighbours="replace")

    def break_down(journal: Journal) -> None:
        journal.owner()
        journal.write(next(iter(ledger.entries())).fact)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger._write(break_down)
    assert ledger.verify().entries == 1
