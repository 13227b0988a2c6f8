"""Every row is in exactly one piece, and a piece costs few comparisons."""

from __future__ import annotations

from itertools import product

import pytest

from tenue.engine.request import Pieces
from tenue.engine.sql.piece import piece
from tenue.errors import InvalidArgument, Refused
from unit.engine.sql.test_cell import CONNECTION, table

NUMBERS = "SELECT unnest([-99, -7, -3, 0, 1, 6, 7, 99, NULL]) AS n"
STEPS = [-7, -7, -3, 0, 1, 6, 7, 7, None]
STARTS = [(), (0,), (-7, 8), (-3, 1), (-4, -1, 2, 5), (-99, -3, 0, 3, 6), (-5, -4, 0, 6)]


def found(key: Pieces, rows: str) -> list[int]:
    logical = table(rows)
    sql = logical.select([piece(key, logical)])
    return [row[0] for row in CONNECTION.execute(sql).fetchall()]


@pytest.mark.parametrize("starts", STARTS)
def test_a_piece_counts_the_starts_that_are_not_above(starts: tuple[int, ...]) -> None:
    missing = len(starts) + 1
    wanted = [missing if n is None else sum(start <= n for start in starts) for n in STEPS]
    assert found(Pieces("n", missing + 1, starts=starts), NUMBERS) == wanted


@pytest.mark.parametrize("classes", [*product(range(2), repeat=2)])
def test_categories_have_the_piece_of_their_class(classes: tuple[int, int]) -> None:
    rows = "SELECT unnest(['a', 'b', 'x', NULL]) AS c"
    assert found(Pieces("c", 3, classes=classes), rows) == [*classes, 2, 2]


def test_the_depth_is_the_logarithm_of_the_number_of_pieces() -> None:
    logical = table(NUMBERS)
    uneven = tuple(start for start in range(-6, 8) if start != 2)
    sql = piece(Pieces("n", 15, starts=uneven), logical)
    depth = deepest = 0
    for word in sql.replace("(", " ").replace(")", " ").split():
        depth += (word == "CASE") - (word == "END")
        deepest = max(deepest, depth)
    assert deepest <= 2 + 4
    even = piece(Pieces("n", 16, starts=tuple(range(-6, 8))), logical)
    assert len(even) < len(sql) / 2, "equally wide pieces are a quotient"


def test_an_identifier_has_no_pieces() -> None:
    with pytest.raises(Refused) as refused:
        found(Pieces("who", 2), NUMBERS)
    assert isinstance(refused.value, InvalidArgument)
