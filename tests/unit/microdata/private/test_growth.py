"""A tree cuts the domain into boxes and counts records, the same however far a pass looks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.engine.held import Held
from tenue.microdata.private import growth
from tenue.microdata.private.growth import Line, grown, parts
from tenue.microdata.private.tree_loss import SplitLaw
from tenue.noise.source import Seeded


@pytest.mark.parametrize(
    "lines",
    [
        [Line(7)],
        [Line(8, 1), Line(5)],
        [Line(1), Line(6, 2), Line(3)],
        [Line(2)] * 6,
        [Line(9), Line(1), Line(2), Line(4), Line(3)],
    ],
    ids=str,
)
def test_leaves_cover_every_place_once_and_count_its_rows(lines: list[Line]) -> None:
    sizes = [line.size for line in lines]
    rows = np.stack([np.arange(400) * (7 + j) % size for j, size in enumerate(sizes)], axis=1)
    law = SplitLaw.within(Fraction(2), parts(lines))
    boxes, counts = grown(Held(rows), lines, law, Seeded(4))
    assert boxes.many > 1
    held = np.zeros(sizes, np.int64)
    for low, high in zip(boxes.low, boxes.high, strict=True):
        held[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] += 1
    assert (held == 1).all()
    inside = (boxes.low[:, None] <= rows) & (rows < boxes.high[:, None])
    assert inside.all(axis=2).sum(axis=1).tolist() == counts.tolist()


def test_what_is_apart_never_shares_a_box_once_the_first_is_split() -> None:
    rows = np.full((5000, 1), 98)
    boxes, _ = grown(Held(rows), [Line(100, 1)], SplitLaw.within(Fraction(1), 2), Seeded(1))
    assert boxes.many > 1
    assert (boxes.low[:, 0] == 99).sum() == 1


def test_at_most_sixteen_parts() -> None:
    assert [parts([Line(9)] * d) for d in (1, 2, 3, 4, 5, 20)] == [2, 4, 8, 16, 16, 16]
    assert parts([Line(1), Line(3)]) == 2
    assert parts([Line(1)]) == 2


@pytest.mark.parametrize("lines", [[Line(5000)], [Line(900, 1), Line(70)], [Line(9)] * 6], ids=str)
def test_how_far_a_pass_looks_decides_nothing(
    lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same decisions about the same counts, whether a pass counts one depth or many; the
    passes are fewer."""
    rng = np.random.default_rng(3)
    rows = np.stack([rng.integers(0, line.size, 3000) ** 2 // line.size for line in lines], axis=1)
    law = SplitLaw.within(Fraction(2), parts(lines))
    found, passes = [], []

    class Watched(Held):
        def sum(self, measure):  # type: ignore[no-untyped-def]
            passes.append(1)
            return super().sum(measure)

    for ahead in (1, 64, 1 << 18):
        monkeypatch.setattr(growth, "_AHEAD", ahead)
        boxes, counts = grown(Watched(rows), lines, law, Seeded(9))
        found.append((boxes.low.tolist(), boxes.high.tolist(), counts.tolist(), len(passes)))
        passes.clear()
    assert found[0][:3] == found[1][:3] == found[2][:3]
    assert found[0][3] > found[2][3]
    assert sum(found[0][2]) == 3000
