"""Where random bits come from: never repeated across forks and threads, unless asked."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest

from alarm import claim
from tenue.errors import NotPromised, Refused
from tenue.noise import DiscreteLaplace, Laplace, OptimalBox, Seeded
from tenue.noise.source import SYSTEM, OperatingSystem, require_safe

pytestmark = pytest.mark.random
WIDTHS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


@pytest.fixture(autouse=True)
def _share(request: pytest.FixtureRequest) -> None:
    """Words of 64 bits that meet by chance, or a bit that is never set, are far rarer than this."""
    claim("unit/noise/test_source.py", request.function.__name__)


@pytest.mark.parametrize("source", [SYSTEM, Seeded(1)], ids=["system", "seeded"])
@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("count", [0, 1, 3, 32, 33, 4097, 300_001])
def test_words_have_the_width_and_number_asked_for(source: Any, bits: Any, count: int) -> None:
    words = source.words(count, bits)
    assert words.shape == (count,)
    assert words.dtype == WIDTHS[bits]
    if count > 300_000:  # every bit of the word is used, none is stuck
        assert int(np.bitwise_or.reduce(words)) == (1 << bits) - 1
        assert int(np.bitwise_and.reduce(words)) == 0


def test_no_words_repeat_between_calls() -> None:
    for source in (OperatingSystem(), Seeded(3)):
        blocks = [source.words(4, 64).tobytes() for _ in range(200)]
        blocks += [source.words(1000, 64)[:4].tobytes() for _ in range(200)]
        assert len(set(blocks)) == 400
        for count, bits in ((1, 64), (3, 32), (5, 16), (9, 8)):  # less than one block of the cipher
            few = [source.words(count, bits).tobytes() for _ in range(50)]
            assert len(set(few)) == 50


def test_a_long_request_does_not_repeat_its_own_stream() -> None:
    """The stream is stretched piece by piece: pieces must follow, not restart."""
    words = SYSTEM.words(1 << 17, 64)
    assert np.unique(words).size > words.size - 3


@pytest.mark.parametrize("count", [2, 5000])
def test_a_forked_child_differs_from_its_parent(count: int) -> None:
    SYSTEM.words(count, 64)  # whatever could be kept is kept by now
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, SYSTEM.words(count, 64)[:2].tobytes())
        os._exit(0)
    parent = SYSTEM.words(count, 64)[:2].tobytes()
    os.waitpid(child, 0)
    assert os.read(read, 16) != parent
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("source", [SYSTEM, Seeded(9)], ids=["system", "seeded"])
def test_threads_never_share_a_stream(source: Any) -> None:
    seen: list[bytes] = []
    lock = threading.Lock()
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        mine = [source.words(2, 64).tobytes() for _ in range(300)]
        with lock:
            seen.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 2400


def test_seeded_is_repeatable_and_seeds_differ() -> None:
    for bits in (8, 16, 32, 64):
        assert Seeded(7).words(50, bits).tolist() == Seeded(7).words(50, bits).tolist()
    assert Seeded(7).words(50).tolist() != Seeded(8).words(50).tolist()
    law = DiscreteLaplace(sensitivity=3, epsilon=1)
    assert law.sample(100, Seeded(7)).tolist() == law.sample(100, Seeded(7)).tolist()
    assert law.sample(100).tolist() != law.sample(100).tolist()


def test_whatever_releases_refuses_a_seed() -> None:
    assert require_safe(SYSTEM) is SYSTEM
    with pytest.raises(NotPromised) as refusal:
        require_safe(Seeded(7))
    assert "Seeded" in refusal.value.what
    assert refusal.value.allowed
    assert refusal.value.fix


def test_a_source_that_only_claims_to_be_one_is_refused() -> None:
    for law in (
        Laplace(sensitivity=1, epsilon=1),
        DiscreteLaplace(sensitivity=1, epsilon=1),
        OptimalBox(sensitivities=[1, 1], epsilon=1),
    ):
        for source in (7, "os", object(), np.random.default_rng):
            with pytest.raises(Refused):
                law.sample(3, source)  # type: ignore[arg-type]
