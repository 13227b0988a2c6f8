"""One thread that writes for all: many requests share one durable commit.

While a commit waits for the disk, requests queue up; the next commit takes them all. Each caller
waits for the commit of its own request.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from ...errors import LedgerFault
from .journal import Journal

T = TypeVar("T")
_LARGEST_BATCH = 512


class Request(Generic[T]):
    """Work to be done in a transaction, and its result."""

    __slots__ = ("_done", "error", "result", "work")

    def __init__(self, work: Callable[[Journal], T]) -> None:
        self.work = work
        self.result: T
        self.error: BaseException | None = None
        self._done = threading.Lock()
        self._done.acquire()

    def finish(self) -> None:
        self._done.release()

    def wait(self) -> T:
        self._done.acquire()
        if self.error is not None:
            raise self.error
        return self.result


class Writer:
    """Hands batches of requests to `carry_out`, one batch at a time, from a thread of its own.

    Guarantee
        Every request is answered exactly once: with its result or refusal if `carry_out` returned,
        with a `LedgerFault` if it raised.
    """

    def __init__(self, carry_out: Callable[[list[Request[Any]]], None]) -> None:
        self._carry_out = carry_out
        self._stopped = False
        self.afterwards: Callable[[], None] = lambda: None
        self.begin_anew()

    def begin_anew(self) -> None:
        """In a forked child, which has neither the thread nor its callers."""
        self._waiting: SimpleQueue[Request[Any] | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, work: Callable[[Journal], T]) -> T:
        """Runs `work` in the next transaction; returns when that is durable."""
        request: Request[T] = Request(work)
        with self._gate:
            if self._stopped:
                raise LedgerFault("the ledger is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tenue-ledger", daemon=True)
                self._thread.start()
            self._waiting.put(request)
        return request.wait()

    def stop(self) -> bool:
        """Carries out waiting requests, then ends the thread; returns whether it has ended.

        It has not if the thread stops itself, because the last user's object is collected there; it
        then calls `afterwards` when it ends.
        """
        with self._gate:
            self._stopped = True
            thread, self._thread = self._thread, None
            self._waiting.put(None)
        if thread is threading.current_thread():
            return False
        if thread is not None:
            thread.join()
        return True

    def _run(self) -> None:
        going = True
        while going:
            batch = [self._waiting.get()]
            with suppress(Empty):
                while batch[-1] is not None and len(batch) < _LARGEST_BATCH:
                    batch.append(self._waiting.get_nowait())
            going = batch[-1] is not None
            self._answer([request for request in batch if request is not None])
        self.afterwards()

    def _answer(self, batch: list[Request[Any]]) -> None:
        try:
            if batch:
                self._carry_out(batch)
        except BaseException as error:
            for request in batch:
                request.error = LedgerFault(str(error))
        for request in batch:
            request.finish()
