from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tenue
from tenue.ledger.sqlite.owner import Owners

HOLD = """
import sys
from tenue.ledger.sqlite.owner import Owners
owners = Owners(sys.argv[1])
print(owners.me(), flush=True)
sys.stdin.read()
"""


def start(ledger: str) -> tuple[subprocess.Popen[str], str]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, ledger],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    return child, child.stdout.readline().strip()


def end(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        assert pipe is not None
        pipe.close()


@pytest.mark.any_draw("draws nothing")
def test_a_killed_process_is_found_dead_and_no_other(tmp_path: Path) -> None:
    ledger = str(tmp_path / "l")
    child, name = start(ledger)
    owners, second = Owners(ledger), Owners(ledger)
    mine = owners.me()
    assert owners.me() == mine != second.me()
    assert owners.alive(name)
    assert owners.alive(mine)
    assert second.alive(mine)  # another ledger object of the same process
    end(child)
    assert not owners.alive(name)
    assert not owners.alive("nobody")


@pytest.mark.any_draw("draws nothing")
def test_sweeping_removes_the_dead_only(tmp_path: Path) -> None:
    ledger = str(tmp_path / "l")
    Owners(ledger).sweep()  # nothing there yet
    child, name = start(ledger)
    owners = Owners(ledger)
    mine = owners.me()
    folder = Path(ledger + "-owners")
    Owners(ledger).sweep()
    assert sorted(each.name for each in folder.iterdir()) == sorted([name, mine])
    end(child)
    Owners(ledger).sweep()
    assert [each.name for each in folder.iterdir()] == [mine]
    owners.leave()
    assert not folder.exists()
    assert not owners.alive(mine)
    assert owners.me() != mine
    owners.leave()


def test_a_file_swept_before_it_was_locked_is_not_taken(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    ledger = str(tmp_path / "l")
    owners = Owners(ledger)
    opened, swept = os.open, []

    def open_and_be_swept(path, *rest):  # type: ignore[no-untyped-def]
        file = opened(path, *rest)
        if not swept:
            swept.append(Path(path).name)
            monkeypatch.setattr(os, "open", opened)
            Owners(ledger).sweep()
        return file

    monkeypatch.setattr(os, "open", open_and_be_swept)
    name = owners.me()
    assert name not in swept
    assert Owners(ledger).alive(name)
    owners.leave()


FORK = """
import os, sys
from tenue.ledger.sqlite.owner import Owners
owners = Owners(sys.argv[1])
parent = owners.me()
child = os.fork()
if child == 0:
    owners.forget()
    os._exit(0 if owners.me() != parent and owners.alive(parent) else 1)
assert os.waitpid(child, 0)[1] == 0
assert Owners(sys.argv[1]).alive(parent)
"""


@pytest.mark.any_draw("draws nothing")
def test_forgetting_leaves_the_lock_to_the_parent(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", FORK, str(tmp_path / "l")],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        check=True,
        timeout=60,
    )
