"""No test fails by chance: whose random bits a test gets.

    unmarked              bits that follow from the test's name, the same in every run
    @random               the system's own; it takes a share of the false-alarm budget (`alarm.py`)
    @any_draw("why")      the system's own; what it asserts holds for every draw

`--stream 7` gives unmarked tests other bits, to find what holds for most draws only. Another
process draws from the system, for nothing outside Tenue may weaken its randomness: a test that
starts Python is refused unless it is marked. `tests/again.py` runs all that draws, many times.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import sys
import threading
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import pytest

import alarm
import tenue.noise.source

SYSTEM = os.urandom
UNMARKED = (
    "This test starts Python, which draws from the system's entropy, and is not marked. Assert "
    'what holds for every draw, and mark it: @pytest.mark.any_draw("why").'
)
NO_SHARE = "This test is marked random and takes no share of the budget. Call alarm.claim."
NO_REASON = 'any_draw needs its reason: @pytest.mark.any_draw("why it holds for every draw").'


class Bits:
    """Stands where `noise/source.py` has the operating system."""

    def __init__(self) -> None:
        self.stream = 0
        self.real = False
        self.running = False
        self.claims = 0
        self._name = ""
        self._drawn = 0
        self._lock = threading.Lock()

    def urandom(self, size: int, /) -> bytes:
        if self.real or os.urandom is not SYSTEM:  # goldens replace the operating system itself
            return os.urandom(size)
        with self._lock:
            self._drawn += 1
            text = f"{self.stream} {self._name} {self._drawn}"
        return hashlib.shake_256(text.encode()).digest(size)

    @contextlib.contextmanager
    def named(self, name: str) -> Iterator[None]:
        """The bits of a name, from their begin; afterwards those before go on."""
        before = self._name, self._drawn
        self._name, self._drawn = name, 0
        try:
            yield
        finally:
            self._name, self._drawn = before


BITS = Bits()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stream", type=int, default=0, help="other bits for unmarked tests")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "random: draws the system's bits, within the budget")
    config.addinivalue_line("markers", "any_draw(why): draws the system's bits, holds for all")
    BITS.stream = config.getoption("--stream")
    tenue.noise.source.os = BITS  # type: ignore[assignment]
    sys.addaudithook(_watch)


def _watch(event: str, given: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen" and BITS.running and not BITS.real:
        words = given[1] if isinstance(given[1], list | tuple) else [given[1]]
        if words and os.fspath(words[0]) == sys.executable:
            raise RuntimeError(UNMARKED)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    any_draw = item.get_closest_marker("any_draw")
    BITS.real = any_draw is not None or item.get_closest_marker("random") is not None
    BITS.running, BITS.claims = True, alarm.claims()
    seed = seed_of(item.nodeid)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the generator that nobody seeds
    try:
        with BITS.named(item.nodeid):
            return (yield)
    finally:
        BITS.real = BITS.running = False


def seed_of(name: str) -> int:
    """A seed from a name and the stream."""
    return int.from_bytes(hashlib.sha256(f"{BITS.stream} {name}".encode()).digest()[:4], "big")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    any_draw = item.get_closest_marker("any_draw")
    if any_draw is not None and not any_draw.args:
        pytest.fail(NO_REASON)
    found = yield
    if item.get_closest_marker("random") is not None and alarm.claims() == BITS.claims:
        pytest.fail(NO_SHARE)
    return found


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
    """A shared fixture has its own bits, whichever test needs it first."""
    if fixturedef.scope == "function":
        return (yield)
    which = getattr(request, "param_index", "")
    with BITS.named(f"{fixturedef.baseid}::{fixturedef.argname}[{which}]"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """So has whatever a file draws while it is loaded."""
    with BITS.named(collector.nodeid):
        return (yield)
