"""The values asked for last are kept, whatever many threads do."""

from __future__ import annotations

import sys
import threading
from contextlib import nullcontext
from typing import Any

import pytest

from tenue.query.plan.kept import Kept


def test_the_one_that_nobody_asked_for_goes_first() -> None:
    kept: Kept[int, int] = Kept(3)
    made: list[int] = []

    def get(key: int) -> int:
        return kept.get(key, lambda: made.append(key) or key * 10)  # type: ignore[func-returns-value]

    assert [get(key) for key in (1, 2, 3, 1, 4, 1, 2)] == [10, 20, 30, 10, 40, 10, 20]
    assert made == [1, 2, 3, 4, 2]
    assert list(kept) == [4, 1, 2]  # the wrong one that clears when it is full would have two
    assert len(kept) == 3


def test_what_fails_is_not_kept() -> None:
    kept: Kept[int, int] = Kept(3)
    with pytest.raises(ZeroDivisionError):
        kept.get(1, lambda: 1 // 0)
    assert kept.get(1, lambda: 7) == 7


def test_two_threads_that_make_one_value_get_one() -> None:
    kept: Kept[str, object] = Kept(3)
    gate, found = threading.Barrier(2), []

    def make() -> object:
        gate.wait()  # both find nothing
        return object()

    threads = [threading.Thread(target=lambda: found.append(kept.get("k", make))) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1]


class Meddling:
    """A key: when it is looked up for the third time, another thread puts it out of the store."""

    def __init__(self, kept: Kept[Any, Any]) -> None:
        self.kept, self.looks = kept, 0

    def __hash__(self) -> int:
        self.looks += 1
        if self.looks == 5:  # after `in`, before `move_to_end`
            other = threading.Thread(target=lambda: self.kept.get("other", object), daemon=True)
            other.start()
            other.join(0.2)
        return 7


@pytest.mark.parametrize("locked", [True, False], ids=["right", "without a lock"])
def test_no_thread_puts_out_what_another_is_about_to_take(locked: bool) -> None:
    kept: Kept[Any, Any] = Kept(1)
    if not locked:
        kept._turn = nullcontext()  # type: ignore[assignment]
    key = Meddling(kept)
    value = kept.get(key, object)
    key.looks = 3
    if locked:
        assert kept.get(key, object) is value
    else:
        with pytest.raises(KeyError):
            kept.get(key, object)


def test_many_threads_find_what_they_asked_for() -> None:
    kept: Kept[int, int] = Kept(4)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    wrong: list[object] = []

    def work(start: int) -> None:
        try:
            for turn in range(300):
                key = (start + turn) % 9
                if kept.get(key, lambda key=key: key * 10) != key * 10:  # type: ignore[misc]
                    wrong.append(key)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []
    assert len(kept) == 4


def test_a_child_does_not_wait_for_a_thread_that_it_has_not() -> None:
    kept: Kept[int, int] = Kept(4)
    kept._turn.acquire()
    kept.begin_anew()
    assert kept.get(1, lambda: 2) == 2
