"""A private folder on disk for an engine, removed with the engine.

A process that is killed leaves its folder behind, with rows in it. So every new folder begins by
removing those of dead processes: a living one holds a lock on a file inside.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
import weakref
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - there are no such locks on Windows, and no sweeping
    fcntl = None  # type: ignore[assignment]


_PREFIX = "tenue-scratch-"
_LOCK = "lock"
_BEING_MADE = 3600


class Scratch:
    """A folder that only this user can enter.

    Guarantee
        `close` removes it, and so does the end of the process; if that is killed, the next
        `Scratch` of the same user does.
        No folder of a living process, of another user, or reached through a link is touched.
    """

    def __init__(self) -> None:
        parent = Path(tempfile.gettempdir())
        _sweep(parent)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        unheld = self.path / "unheld"
        lock = os.open(unheld, os.O_CREAT | os.O_RDWR, 0o600)
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        unheld.rename(self.path / _LOCK)  # so that nobody ever finds the lock free
        self._remove = weakref.finalize(self, _removed, self.path, lock, os.getpid())

    def close(self) -> None:
        self._remove()


def _removed(path: Path, lock: int, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not empty its parent's folder
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _sweep(parent: Path) -> None:
    if fcntl is None:  # pragma: no cover
        return
    for folder in parent.glob(_PREFIX + "*"):
        try:
            state = folder.lstat()
            ours = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid()
            if ours and _is_dead(folder, state.st_mtime):
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue


def _is_dead(folder: Path, changed: float) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return time.time() - changed > _BEING_MADE
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
