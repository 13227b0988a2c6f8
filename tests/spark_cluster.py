"""Spark for the tests: a session on this machine, and a cluster of its own with two workers."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def installed() -> str | None:
    """Java, if PySpark is there too."""
    return shutil.which("java") if importlib.util.find_spec("pyspark") else None


def start(master: str = "local[2]") -> SparkSession:
    """A session on this machine that says nothing."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )


class Machines:
    """A standalone master and workers, each with one processor; all on loopback.

    address: where the master listens.
    """

    def __init__(self, folder: Path, workers: tuple[str, ...] = ("first", "second")) -> None:
        self._folder = folder
        port = _free_port()
        self.address = f"spark://127.0.0.1:{port}"
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        at = ("--host", "127.0.0.1", "--webui-port", "0")
        self._start("master", "master.Master", *at, "--port", str(port))
        _wait_for(port)
        for name in workers:
            self.start(name)

    def start(self, name: str) -> None:
        """Starts a worker."""
        work = str(self._folder / f"work-{name}")
        at = ("--host", "127.0.0.1", "--webui-port", "0", "--work-dir", work)
        self._start(name, "worker.Worker", *at, "--cores", "1", "--memory", "1100m", self.address)

    def kill(self, name: str) -> None:
        """Ends a worker and what it runs, as a machine that goes down."""
        process = self._running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def logs(self) -> str:
        """All that master, workers and executors wrote down."""
        return "\n".join(
            file.read_text(errors="replace")
            for file in self._folder.rglob("*")
            if file.is_file() and (file.suffix == ".log" or file.name in ("stderr", "stdout"))
        )

    def remove(self) -> None:
        """Ends everything."""
        for name in list(self._running):
            self.kill(name)

    def _start(self, name: str, kind: str, *words: str) -> None:
        log = self._folder / f"{name}.log"
        self._running[name] = _run(log, f"org.apache.spark.deploy.{kind}", *words)


class Connect:
    """A server of Spark Connect on this machine.

    address: where it listens.
    master: who does the work; this machine if nothing else is said.
    """

    def __init__(self, folder: Path, master: str = "local[2]") -> None:
        port = _free_port()
        self.address = f"sc://127.0.0.1:{port}"
        settings = {
            "spark.master": master,
            "spark.ui.enabled": "false",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }
        words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self._process = _run(
            folder / "connect.log",
            "org.apache.spark.deploy.SparkSubmit",
            *("--class", server, *words, "spark-internal"),
        )
        _wait_for(port)

    def remove(self) -> None:
        """Ends it."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _run(log: Path, *words: str) -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    with log.open("ab") as written:
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), *words],
            env=environment,
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            start_new_session=True,
        )


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.1)
    raise TimeoutError("nobody listens")
