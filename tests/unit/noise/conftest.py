"""Shared by the tests of noise: nothing may loop for ever or take all of the memory."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

MOST_SECONDS = 20  # of processor time, so that a busy machine is no failure


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"still running after {MOST_SECONDS} seconds of processor time")

    old = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, old)


@pytest.fixture
def two_gigabytes() -> Iterator[None]:
    """No more memory than this, so that a test of frugality cannot harm the machine."""
    old = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (2 << 30), old[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, old)
