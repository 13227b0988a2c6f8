"""A request is a value: it can be compared, kept and never changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from tenue.engine.request import (
    All,
    Among,
    Bin,
    Factor,
    Group,
    Measure,
    Not,
    People,
    RankRequest,
    Request,
    Window,
    Within,
)


def request() -> Request:
    return Request(
        (Measure("rows"), Measure("moment", factors=(Factor("x", 1, 2),))),
        All((Within("x", 0, None), Not(Among("c", ("a",))))),
        (Group("c", 2), Bin("x", 5, 0, 3)),
        People("who", 3, None),
    )


def test_equal_requests_are_one_key() -> None:
    assert {request(): 1}[request()] == 1
    ranks = [RankRequest("x", (Window(2, 1, 0, 0, reach),)) for reach in (1, 1, 2)]
    assert len(set(ranks)) == 2


def test_a_request_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        request().people = None  # type: ignore[misc]
