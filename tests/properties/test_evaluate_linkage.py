"""Record linkage of any small table is its definition, through blocks and by brute force."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.evaluate.two_tables import linkage
from tenue.evaluate.two_tables.attributes import paired
from tenue.evaluate.two_tables.linkage import linked_share
from unit.evaluate import oracle

NUMBERS = st.integers(0, 8)
BLANKS = st.none() | st.integers(0, 4)
WORDS = st.none() | st.sampled_from("abc")


@st.composite
def pairs(draw: Callable[[Any], Any]) -> tuple[pa.Table, pa.Table]:
    rows = draw(st.integers(1, 30))
    kinds = {"x": (NUMBERS, pa.int64()), "y": (NUMBERS, pa.float64())}
    if draw(st.booleans()):
        kinds |= {"z": (BLANKS, pa.int64()), "w": (WORDS, pa.string())}
    if draw(st.booleans()):
        kinds.pop("x")
    made = []
    for _ in range(2):
        columns = {
            name: pa.array(draw(st.lists(kind, min_size=rows, max_size=rows)), stored)
            for name, (kind, stored) in kinds.items()
        }
        made.append(pa.table(columns))
    return made[0], made[1]


def squares(original: pa.Table, masked: pa.Table) -> list[list[float]]:
    """All squared distances, in one defined order: numbers without blanks first."""
    before, after = original.to_pydict(), masked.to_pydict()
    flat = float(np.log2(5 / 3))
    plain = [n for n in before if None not in before[n] + after[n] and n != "w"]
    rest = [n for n in before if n not in plain]

    def apart(name: str, one: Any, other: Any) -> float:
        if one == other:
            return 0.0
        if name == "w":
            return flat * flat
        values = [v for v in before[name] + after[name] if v is not None]
        if one is None or other is None:
            return float(max(values) - min(values) or 1) ** 2
        return float(one - other) ** 2

    rows = range(original.num_rows)
    return [
        [float(sum((apart(n, after[n][i], before[n][j]) for n in plain + rest), 0.0)) for j in rows]
        for i in rows
    ]


@settings(max_examples=200)
@given(pairs(), st.sampled_from([2, 64]), st.sampled_from([2**21, 7]))
def test_linkage_is_its_definition(pair: Any, room: int, cells: int) -> None:
    original, masked = pair
    attributes = paired(original, masked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linkage, "_ROOM", room)
        patch.setattr(linkage, "_MOST_CELLS", cells)
        found = linked_share(attributes, [1.0] * len(attributes))
    assert isinstance(found, Fraction)
    assert found == oracle.linkage(squares(original, masked))
    assert 0 <= found <= 1


@settings(max_examples=50)
@given(pairs())
def test_an_unmasked_table_links_each_record_to_its_doubles(pair: Any) -> None:
    original, _ = pair
    attributes = paired(original, original)
    distinct = len({tuple(row.values()) for row in original.to_pylist()})
    share = linked_share(attributes, [1.0] * len(attributes))
    assert share == Fraction(distinct, original.num_rows)
