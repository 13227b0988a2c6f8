"""One thread that writes for all: many requests share one durable commit.

While a commit waits for the disk, requests gather; the next commit takes them all. Each caller is
let go only after the commit that holds its request has returned.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ..errors import LedgerFault
from .desk import Desk

__all__ = ["Request", "Writer"]

T = TypeVar("T")
_LARGEST_BATCH = 512


class Request(Generic[T]):
    """Work to be done in a transaction, and what came of it."""

    __slots__ = ("_done", "error", "result", "work")

    def __init__(self, work: Callable[[Desk], T]) -> None:
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
        self.begin_anew()

    def begin_anew(self) -> None:
        """In a forked child, which has neither the thread nor those who waited for it."""
        self._waiting: deque[Request[Any]] = deque()
        self._change = threading.Condition(threading.Lock())
        self._thread: threading.Thread | None = None

    def submit(self, work: Callable[[Desk], T]) -> T:
        """Runs `work` in the next transaction; returns when that is durable."""
        request: Request[T] = Request(work)
        with self._change:
            if self._stopped:
                raise LedgerFault("the ledger is closed")
            self._waiting.append(request)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tenue-ledger", daemon=True)
                self._thread.start()
            self._change.notify()
        return request.wait()

    def stop(self) -> None:
        """Carries out what is waiting, then ends the thread."""
        with self._change:
            self._stopped = True
            self._change.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while True:
            with self._change:
                while not self._waiting and not self._stopped:
                    self._change.wait()
                count = min(len(self._waiting), _LARGEST_BATCH)
                batch = [self._waiting.popleft() for _ in range(count)]
            if not batch:
                return
            try:
                self._carry_out(batch)
            except BaseException as error:
                for request in batch:
                    request.error = LedgerFault(str(error))
            for request in batch:
                request.finish()
