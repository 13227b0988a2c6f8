from __future__ import annotations

import threading
from typing import Any

import pytest

from tenue.errors import InvalidArgument, LedgerFault
from tenue.ledger.transaction.journal import Journal
from tenue.ledger.transaction.writer import Request, Writer


class Disk:
    """Carries out batches when it is let, and remembers them."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.arrived = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.broken = False

    def __call__(self, batch: list[Request[Any]]) -> None:
        self.arrived.release()
        self.go.acquire()
        self.batches.append(len(batch))
        for request in batch:
            try:
                request.result = request.work(None)  # type: ignore[arg-type]
            except InvalidArgument as refusal:
                request.error = refusal
        if self.broken:
            raise OSError("disk full")


def submit(writer: Writer, work: Any, outcomes: list[object]) -> threading.Thread:
    def run() -> None:
        try:
            outcomes.append(writer.submit(work))
        except (InvalidArgument, LedgerFault) as error:
            outcomes.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def refuse(_: Journal) -> None:
    raise InvalidArgument("no", "no", "no")


def queued(writer: Writer, count: int) -> None:
    while writer._waiting.qsize() < count:
        threading.Event().wait(0.001)


def test_requests_that_gather_share_one_commit_and_wait_for_it() -> None:
    disk, outcomes = Disk(), list[object]()
    writer = Writer(disk)
    threads = [submit(writer, lambda _: 0, outcomes)]
    disk.arrived.acquire()
    for number in range(1, 10):
        threads.append(submit(writer, lambda _, n=number: n, outcomes))
    threads.append(submit(writer, refuse, outcomes))
    queued(writer, 10)
    assert outcomes == []  # nobody was let go before the commit returned
    disk.go.release()
    disk.arrived.acquire()
    threads[0].join()
    assert outcomes == [0]
    disk.go.release()
    for thread in threads:
        thread.join()
    assert disk.batches == [1, 10]
    values = [outcome for outcome in outcomes if isinstance(outcome, int)]
    assert sorted(values) == list(range(10))
    assert sum(isinstance(outcome, InvalidArgument) for outcome in outcomes) == 1
    writer.stop()


def test_a_commit_that_fails_fails_for_all_of_its_batch() -> None:
    disk, outcomes = Disk(), list[object]()
    writer = Writer(disk)
    threads = [submit(writer, lambda _: 0, outcomes)]
    disk.arrived.acquire()
    threads += [submit(writer, lambda _: 1, outcomes), submit(writer, refuse, outcomes)]
    queued(writer, 2)
    disk.broken = True
    for _ in range(2):
        disk.go.release()
    for thread in threads:
        thread.join()
    assert [type(outcome) for outcome in outcomes] == [LedgerFault] * 3
    assert len({id(outcome) for outcome in outcomes}) == 3
    writer.stop()


def test_stopping_carries_out_what_waits_and_takes_no_more() -> None:
    disk, outcomes, carried = Disk(), list[object](), list[int]()

    def work(number: int) -> int:
        carried.append(number)
        return number

    writer = Writer(disk)
    threads = [submit(writer, lambda _: work(0), outcomes)]
    disk.arrived.acquire()
    threads.append(submit(writer, lambda _: work(1), outcomes))
    queued(writer, 1)
    for _ in range(2):
        disk.go.release()
    writer.stop()
    for thread in threads:
        thread.join()
    assert carried == [0, 1]
    assert sorted(map(str, outcomes)) == ["0", "1"]  # which caller wakes first is not promised
    with pytest.raises(LedgerFault):
        writer.submit(lambda _: 2)
