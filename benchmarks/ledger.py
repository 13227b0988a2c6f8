"""How fast the ledger is: durable spends, latency, many processes, and the audit of its chain.

    python benchmarks/ledger.py [--quick]

Prints the figures and writes them to benchmarks/results/ledger.json. Times depend on the disk and
on what else runs; the ratio to one plain SQLite insert per commit on the same disk does not.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from tenue.ledger import Charge, Reservation, SQLite, digest
from tenue.ledger.transactions import reserve
from tenue.ledger.transactions import reserve as cashier
from tenue.ledger.transactions.journal import Journal
from tenue.ledger.transactions.reserve import Purchase

CHARGE = Charge.of(epsilon="0.000001", neighbours="replace")
QUESTION = digest("SELECT COUNT(*) FROM census")
ANSWER = bytes(200)
RESULTS = Path(__file__).parent / "results" / "ledger.json"
Figures = dict[str, float]


def opened(path: Path) -> SQLite:
    ledger = SQLite(path)
    ledger.open_dataset("census", total=10**6, per_analyst=10**5, neighbours="replace")
    return ledger


def spend(ledger: SQLite, analyst: str, key: str) -> Reservation:
    return ledger.reserve("census", analyst, CHARGE, key, QUESTION, cache_key=key)


def spread(seconds: list[float], *, prefix: str = "") -> Figures:
    ordered = sorted(seconds)
    return {
        f"{prefix}p50_ms": round(statistics.median(ordered) * 1e3, 3),
        f"{prefix}p99_ms": round(ordered[int(len(ordered) * 0.99)] * 1e3, 3),
    }


def plain_sqlite(folder: Path, count: int = 100) -> Figures:
    """One insert per commit, WAL and synchronous=FULL: what the disk allows without sharing."""
    connection = sqlite3.connect(folder / "plain.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE t (a TEXT)")
    times = []
    for _ in range(count):
        start = time.perf_counter()
        connection.execute("INSERT INTO t VALUES (?)", ("x" * 400,))
        times.append(time.perf_counter() - start)
    connection.close()
    return {"per_second": round(count / sum(times)), **spread(times)}


def one_caller(folder: Path, count: int = 100) -> Figures:
    with opened(folder / "one.ledger") as ledger:
        reserving, committing = [], []
        for number in range(count):
            start = time.perf_counter()
            paid = spend(ledger, "ann", f"key-{number}")
            middle = time.perf_counter()
            ledger.commit(paid, ANSWER)
            reserving.append(middle - start)
            committing.append(time.perf_counter() - middle)
    return {**spread(reserving, prefix="reserve_"), **spread(committing, prefix="commit_")}


def many_threads(folder: Path, threads: int, *, commit: bool, count: int = 20_000) -> Figures:
    each = count // threads
    times: list[float] = []
    with opened(folder / f"threads-{threads}-{commit}.ledger") as ledger:
        barrier = threading.Barrier(threads + 1)

        def work(number: int) -> None:
            barrier.wait()
            for turn in range(each):
                start = time.perf_counter()
                paid = spend(ledger, f"analyst-{number}", f"key-{turn}")
                times.append(time.perf_counter() - start)
                if commit:
                    ledger.commit(paid, ANSWER)

        workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
        for worker in workers:
            worker.start()
        cpu = time.process_time()
        barrier.wait()
        start = time.perf_counter()
        for worker in workers:
            worker.join()
        elapsed, cpu = time.perf_counter() - start, time.process_time() - cpu
        assert ledger.balance().spent == Fraction(each * threads * CHARGE.nano, 10**9)
    done = each * threads
    return {
        "per_second": round(done / elapsed),
        "cpu_us_each": round(cpu / done * 1e6, 1),
        **spread(times, prefix="reserve_"),
    }


def many_processes(folder: Path, processes: int, each: int = 40) -> Figures:
    path = folder / f"processes-{processes}.ledger"
    opened(path).close()
    start_read, start_write = os.pipe()
    times_read, times_write = os.pipe()
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            os.close(start_write)
            ledger = opened(path)
            os.read(start_read, 1)
            for turn in range(each):
                start = time.perf_counter()
                spend(ledger, f"analyst-{number}", f"key-{turn}")
                os.write(times_write, b"%16d" % ((time.perf_counter() - start) * 1e9))
            os._exit(0)
        children.append(child)
    time.sleep(0.5 + processes / 50)  # let them open the file; they then wait for the pipe
    start = time.perf_counter()
    os.close(start_write)
    times = [int(os.read(times_read, 16)) / 1e9 for _ in range(processes * each)]
    elapsed = time.perf_counter() - start
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    with SQLite(path) as ledger:
        assert ledger.verify()
    return {"per_second": round(processes * each / elapsed), **spread(times)}


def audit(folder: Path, entries: int) -> Figures:
    """Verifies a ledger of so many entries: half reserved, half answered, 64 analysts."""

    def fill(journal: Journal, first: int, last: int) -> None:
        for number in range(first, last):
            wanted = Purchase(
                dataset="census",
                analyst=f"analyst-{number % 64}",
                charge=CHARGE,
                key=f"key-{number}",
                question_digest=QUESTION,
                cache_key=f"key-{number}",
                column="dp",
                question_name=None,
                times=None,
            )
            paid = cashier.reserve(journal, wanted)
            assert isinstance(paid, Reservation)
            reserve.commit(journal, paid, ANSWER)

    with opened(folder / f"audit-{entries}.ledger") as ledger:
        for first in range(0, entries // 2, 5000):
            last = min(first + 5000, entries // 2)
            ledger._write(lambda journal, first=first, last=last: fill(journal, first, last))  # type: ignore[misc]
        cpu, start = time.process_time(), time.perf_counter()
        found = ledger.verify()
        elapsed, cpu = time.perf_counter() - start, time.process_time() - cpu
        assert found, found
    return {
        "entries": found.entries,
        "seconds": round(elapsed, 2),
        "cpu_seconds": round(cpu, 2),
        "megabytes": round((folder / f"audit-{entries}.ledger").stat().st_size / 1e6),
    }


def measure(folder: Path, *, quick: bool) -> dict[str, object]:
    figures: dict[str, object] = {}

    def note(name: str, found: Figures) -> None:
        figures[name] = found
        print(f"{name:34}", "  ".join(f"{key} {value:,}" for key, value in found.items()))

    note("plain SQLite, one per commit", plain_sqlite(folder))
    note("one caller", one_caller(folder))
    for threads in (16, 64, 128):
        note(f"{threads} threads, reserve", many_threads(folder, threads, commit=False))
        note(f"{threads} threads, reserve and commit", many_threads(folder, threads, commit=True))
    for processes in (8, 32):
        note(f"{processes} processes, reserve", many_processes(folder, processes))
    note("audit of 100,000 entries", audit(folder, 100_000))
    if not quick:
        note("audit of 1,000,000 entries", audit(folder, 1_000_000))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the million entries")
    quick = parser.parse_args().quick
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), quick=quick)
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "load_before": round(load, 1),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }
    print(about, file=sys.stderr)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({**about, "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
