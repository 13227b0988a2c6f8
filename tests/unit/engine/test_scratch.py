"""What an engine puts on disk is private, and goes when the engine or its process goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tenue.engine.scratch import Scratch

HOLD = """
import sys, time
from tenue.engine.scratch import Scratch
scratch = Scratch()
(scratch.path / "rows").write_text("someone's row")
print(scratch.path, flush=True)
time.sleep(60 if "stay" in sys.argv else 0)
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def start(*words: str) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    path = Path(process.stdout.readline().strip())
    process.stdout.close()
    return process, path


def test_it_is_private_and_removed() -> None:
    scratch = Scratch()
    assert scratch.path.stat().st_mode & 0o777 == 0o700
    (scratch.path / "rows").write_text("someone's row")
    scratch.close()
    scratch.close()
    assert not scratch.path.exists()


@pytest.mark.any_draw("draws nothing")
def test_it_goes_with_the_process() -> None:
    process, path = start()
    assert process.wait() == 0
    assert not path.exists()


@pytest.mark.any_draw("draws nothing")
def test_a_killed_process_is_swept_after_and_a_living_one_is_not() -> None:
    living, kept = start("stay")
    killed, left = start("stay")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert (left / "rows").exists(), "nothing else could have removed it"
    Scratch().close()
    assert not left.exists()
    assert (kept / "rows").exists()
    living.kill()
    living.wait()


def test_sweeping_follows_no_link_and_spares_what_is_being_made(own_folder: Path) -> None:
    precious = own_folder / "precious"
    precious.mkdir()
    (precious / "lock").touch()
    (own_folder / "tenue-scratch-link").symlink_to(precious)
    young, old = own_folder / "tenue-scratch-young", own_folder / "tenue-scratch-old"
    young.mkdir()
    old.mkdir()
    os.utime(old, (time.time() - 7200,) * 2)
    Scratch().close()
    assert (precious / "lock").exists()
    assert young.exists()
    assert not old.exists()


def test_a_forked_child_does_not_empty_its_parents_folder() -> None:
    scratch = Scratch()
    child = os.fork()
    if child == 0:
        scratch.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert scratch.path.exists()
    scratch.close()
