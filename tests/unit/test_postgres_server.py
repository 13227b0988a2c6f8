"""The tests' own server leaves nothing behind, however a run of the tests ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

pytestmark = pytest.mark.any_draw("draws nothing")
TESTS = Path(__file__).parent.parent
HOLDING = "import sys, postgres_server; {}; print(made, flush=True); sys.stdin.read()"


def killed(made: str) -> tuple[Path, Callable[[], None]]:
    """What a process made, and how to kill that process."""
    words = [sys.executable, "-c", HOLDING.format(made)]
    holding = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TESTS
    )
    assert holding.stdout is not None

    def kill() -> None:
        holding.send_signal(signal.SIGKILL)
        holding.communicate()

    return Path(holding.stdout.readline().strip()), kill


def gone(path: Path) -> bool:
    end = time.monotonic() + 10
    while path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    return not path.exists()


@pytest.mark.slow
def test_a_killed_run_leaves_no_folder_in_memory() -> None:
    """It left 40 to 80 MB there."""
    folder, kill = killed("made = postgres_server._made('tenue-pg-')")
    (folder / "rows").write_text("rows")
    assert folder.parent.name.startswith("tenue-pg-")
    kill()
    assert gone(folder.parent)


@pytest.mark.slow
@pytest.mark.needs("postgres")
def test_a_killed_run_leaves_no_server() -> None:
    folder, kill = killed("server = postgres_server.Server(); made = server.folder")
    address = f"postgresql://tenue@/postgres?host={folder}"
    pid = int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
    kill()
    assert gone(folder.parent)
    assert gone(Path("/proc", str(pid)))
