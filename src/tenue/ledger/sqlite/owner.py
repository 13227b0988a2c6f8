"""Who is still at work: tells a live process from a dead one.

Each open ledger that has reserved something holds a locked file of its own beside the ledger. The
operating system drops the lock when the process ends, however it ends, so a reservation whose
owner's file can be locked by somebody else was left by the dead.

A wrong guess costs an answer, never privacy: a reservation is debited when it is made, and finding
its owner dead gives nothing back. Taken for alive, its key waits; taken for dead, its key is used
up and a late `commit` is refused. Limits: the lock must work on the file system (local disks;
SQLite's WAL asks for the same), all processes must see the same file system, and a child that was
forked by something other than Python keeps its parent's lock, so that the parent looks alive for as
long as the child is.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

from ...errors import LedgerFault


class Owners:
    """The owners of one ledger's reservations, and this process among them."""

    def __init__(self, ledger: str) -> None:
        self._folder = Path(ledger + "-owners")
        self._name = ""
        self._lock = -1

    def me(self) -> str:
        """This owner's name; takes its lock when first asked."""
        try:
            while not self._name:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                self._take(f"{time.time_ns():x}-{os.getpid():x}")
        except OSError as error:
            raise LedgerFault(f"no lock can be taken beside the ledger: {error}") from None
        return self._name

    def _take(self, name: str) -> None:
        path = self._folder / name
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except (FileExistsError, FileNotFoundError):
            return
        # between opening and locking, somebody who sweeps may have taken the file for a dead one's
        if _locked(lock) and os.fstat(lock).st_nlink == 1:
            self._name, self._lock = name, lock
        else:
            os.close(lock)

    def alive(self, name: str) -> bool:
        """Whether the owner may still be at work; False is certain, on a file system with locks."""
        return name == self._name or not self._found_dead(name, remove=False)

    def sweep(self) -> None:
        """Removes the files of dead owners; an owner without a file is a dead one too."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return
        for name in names:
            if name != self._name:
                self._found_dead(name, remove=True)
        self._tidy()

    def _found_dead(self, name: str, *, remove: bool) -> bool:
        path = self._folder / name
        try:
            probe = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        except OSError as error:
            raise LedgerFault(f"an owner's lock cannot be read: {error}") from None
        try:
            dead = _locked(probe)
            if dead and remove:
                path.unlink(missing_ok=True)
        finally:
            os.close(probe)
        return dead

    def leave(self) -> None:
        """Lets go of the lock: what this owner left open is thereby spent."""
        if self._name:
            with contextlib.suppress(OSError):
                (self._folder / self._name).unlink(missing_ok=True)
            self._tidy()
        self.forget()

    def _tidy(self) -> None:
        with contextlib.suppress(OSError):  # somebody else is in it
            self._folder.rmdir()

    def forget(self) -> None:
        """In a forked child: is somebody else from here on, and leaves the parent its lock."""
        if self._lock >= 0:
            os.close(self._lock)
        self._name, self._lock = "", -1


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise LedgerFault(f"an owner's lock cannot be tried: {error}") from None
    return True
