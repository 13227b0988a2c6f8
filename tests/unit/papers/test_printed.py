from __future__ import annotations

import pytest

from tenue.papers.printed import printed


@pytest.mark.parametrize(
    ("chapter", "table", "cells"),
    [
        *[("swapping", name, 63) for name in ("3.6", "3.7", "3.8", "3.9")],
        *[("swapping", name, 54) for name in ("3.10", "3.11")],
        *[("private_data", name, 56) for name in ("6.1", "6.3")],
        *[("private_data", name, 44) for name in ("6.2", "6.4")],
        ("private_data", "6.5", 240),
    ],
)
def test_no_printed_cell_is_missing(chapter: str, table: str, cells: int) -> None:
    found = printed(chapter, table)
    assert len(found) == cells
    assert all(float(cell.text) == float(cell.text) for cell in found.values())


def test_a_cell_keeps_its_digits() -> None:
    assert printed("swapping", "3.8")["A10 A13"].text == "0.87"
    assert printed("private_data", "6.1")["k=2 SSE_0"].text == "3.07E+09"
    assert printed("private_data", "6.1")["k=15 SSE_0"].right is None
