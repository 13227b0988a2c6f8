"""What leaves unchanged and undoes what was done to other columns."""

from __future__ import annotations

import pyarrow as pa

from tenue.evaluate.pair.attributes import paired
from tenue.evaluate.pair.disclosure import Disclosure, disclosure

N = 60
A, B = [i * i % 17 for i in range(N)], [i * 7 % 13 for i in range(N)]
ORIGINAL = pa.table({"a": A, "b": B, "total": [x + y for x, y in zip(A, B, strict=True)]})


def masked(*names: str) -> pa.Table:
    table = ORIGINAL
    for name in names:
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array([5] * N))
    return table


def told(table: pa.Table, known: list[str]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    found = disclosure(paired(ORIGINAL, table), known)
    shown = [[(one.name, *one.by) for one in part] for part in found]
    return shown[0], shown[1]


def test_a_masked_part_is_told_by_the_rest_of_a_total() -> None:
    assert told(masked("a"), []) == ([("a", "b", "total")], [])


def test_masked_parts_find_the_row_by_their_total() -> None:
    """Neither part is told by the release; whoever knows both finds the row."""
    assert told(masked("a", "b"), ["a", "b"]) == ([], [("total", "a", "b")])


def test_what_was_masked_altogether_or_not_at_all_is_no_news() -> None:
    assert told(masked("a", "b", "total"), ["a", "b"]) == ([], [])
    assert told(ORIGINAL, ["a", "b"]) == ([], [])
    assert disclosure(paired(ORIGINAL, masked("a")), ["b"]).recomputed == ()


def test_words_and_blanks() -> None:
    code = [f"p{i * 7 % 30}" for i in range(N)]
    town = [f"t{int(word[1:]) // 10}" for word in code]
    gaps = [None if i % 5 == 0 else float(i % 4) for i in range(N)]
    original = pa.table({"code": code, "town": town, "gaps": gaps})
    hidden = original.set_column(1, "town", pa.array(["t0"] * N))
    found = disclosure(paired(original, hidden), [])
    assert [(one.name, one.by) for one in found.determined] == [("town", ("code",))]
    assert disclosure(paired(original, original), ["code"]) == Disclosure((), ())
