"""Marks meet if a whole source is the same, or a quarter of the rows that left marks."""

from __future__ import annotations

import pytest

from tenue.ledger.overlap import overlapped

EARLIER = {
    "3 whole:a row:1 row:2 row:3 row:4 row:5 row:6 row:7 row:8": 3,
    "9 whole:b row:9": 9,
}


@pytest.mark.parametrize(
    ("marks", "entry"),
    [
        ("whole:a", 3),
        ("whole:b", 9),
        ("whole:a whole:b", 9),
        ("whole:c row:1 row:2 row:3 row:20 row:21 row:22 row:23 row:24", 3),
        ("whole:c row:1 row:2 row:20 row:21 row:22 row:23 row:24 row:25", None),
        ("whole:c row:9", None),  # one mark is shared by many conceivable rows
        ("whole:c", None),
        ("", None),
    ],
)
def test_marks_that_meet(marks: str, entry: int | None) -> None:
    assert overlapped(marks, EARLIER) == entry


def test_the_number_of_an_entry_is_no_mark() -> None:
    assert overlapped("3 9", EARLIER) is None
