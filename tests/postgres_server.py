"""A PostgreSQL server of the tests' own: a private folder, a socket in it, no network.

It runs as an ordinary user; where the tests run as root, as `nobody`, for the server refuses root.
It waits for its disk, as a ledger asks. That is a disk in memory where there is one: a crash of the
server, which is what tests cause, leaves what was written there as on any other, and waiting for a
real one takes most of the time.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

ROLE = "tenue"
_EMPTY: list[Path] = []
_HOME: list[Path] = []
_GUARD = """
cat >/dev/null
for pid in "$1"/*/data/postmaster.pid; do
  [ ! -f "$pid" ] || kill -QUIT "$(head -n 1 "$pid")"
done
for again in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf "$1" 2>/dev/null && [ ! -e "$1" ] && break
  sleep 0.2
done
"""
"""Waits until nobody holds the other end of its input; a server writes until it has stopped."""
_IN_MEMORY = Path("/dev/shm")  # noqa: S108
_ROOM = 1 << 30


def programs() -> Path | None:
    """The folder of initdb and postgres; None if no server is installed."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=_version)
    if versions:
        return versions[-1].parent
    found = shutil.which("postgres")
    return None if found is None else Path(found).resolve().parent


def _version(program: Path) -> int:
    name = program.parents[1].name
    return int(name) if name.isdigit() else 0


def _made(prefix: str) -> Path:
    """A folder of our own, in memory if there is room."""
    if not _HOME:
        _HOME.append(_home())
    return Path(tempfile.mkdtemp(prefix=prefix, dir=_HOME[0]))


def _home() -> Path:
    """The folder of all servers of this process. It goes with the process, even if that is killed:
    then its end of a pipe closes, and a shell at the other end stops the servers and removes it."""
    roomy = _IN_MEMORY.is_dir() and os.access(_IN_MEMORY, os.W_OK)
    roomy = roomy and shutil.disk_usage(_IN_MEMORY).free > _ROOM
    home = Path(tempfile.mkdtemp(prefix="tenue-pg-", dir=_IN_MEMORY if roomy else None))
    home.chmod(0o711)  # the servers' user passes through
    guard = subprocess.Popen(
        ["sh", "-c", _GUARD, "sh", home], stdin=subprocess.PIPE, start_new_session=True
    )

    def leave() -> None:
        guard.communicate()

    atexit.register(leave)
    return home


def _copy(one: Path, other: Path) -> None:
    subprocess.run(["cp", "-a", one, other], check=True)


class Server:
    """A server that can be stopped, killed and started again with its data."""

    def __init__(self) -> None:
        found = programs()
        assert found is not None
        self._programs = found
        self.folder = _made("tenue-pg-")
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        if not _EMPTY:  # made once for each process, and copied for every server after the first
            made = ["-D", str(self.folder / "data"), "-U", ROLE, "-A", "trust", "-E", "UTF8"]
            self._run("initdb", *made, "--no-locale", "--no-sync", "--no-instructions")
            _EMPTY.append(_made("tenue-pg-empty-"))
            atexit.register(shutil.rmtree, _EMPTY[0], ignore_errors=True)
            _copy(self.folder / "data", _EMPTY[0] / "data")
        else:
            _copy(_EMPTY[0] / "data", self.folder / "data")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def address(self, database: str = "postgres", schema: str = "", role: str = ROLE) -> str:
        fragment = f"#{schema}" if schema else ""
        return f"postgresql://{role}@/{database}?host={self.folder}{fragment}"

    def start(self, *settings: str) -> int:
        """Starts it with its data, and returns the number of its process."""
        more = [word for setting in settings for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._programs / "postgres",
                    *("-D", self.folder / "data", "-k", self.folder, "-c", "listen_addresses="),
                    *("-c", "shared_buffers=16MB", "-c", "max_connections=200", *more),
                ],
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd=self.folder,
                **self._as,
            )
        deadline = time.monotonic() + 60
        while self._process.poll() is None and time.monotonic() < deadline:
            if not subprocess.run(
                [self._programs / "pg_isready", "-q", "-h", self.folder, "-U", ROLE]
            ).returncode:
                return self._process.pid
            time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text())

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends every session at once, orderly; SIGQUIT is a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    def restart(self, how: signal.Signals = signal.SIGINT, *settings: str) -> None:
        self.stop(how)
        self.start(*settings)

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: str) -> None:
        subprocess.run(
            [self._programs / program, *words],
            check=True,
            capture_output=True,
            cwd=self.folder,
            **self._as,
        )
