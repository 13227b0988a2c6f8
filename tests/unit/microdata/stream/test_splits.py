"""Groups that are split in passes are those of the table in memory, number by number."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tenue.engine import held
from tenue.engine.held import Held
from tenue.microdata.recode.multidimensional import multidimensional, runs_of
from tenue.microdata.recode.need import Need
from tenue.microdata.recode.scale import Scale
from tenue.microdata.stream import splits
from tenue.microdata.stream.splits import Groups, split_in_passes
from unit.microdata.recode.columns import NUMBER, SPORTS, TOWN, scale, sports

WIDE = {"type": "number", "bounds": [0, 2**40]}


def table(seed: int) -> list[Scale]:
    rng = random.Random(seed)
    size = rng.randint(8, 150)
    made = [
        scale(NUMBER, [min(15, int(rng.expovariate(0.3))) for _ in range(size)], "age"),
        sports(*rng.choices(SPORTS, [9, 5, 2, 2, 1], k=size)),
        scale(TOWN, rng.choices(range(4), [6, 3, 2, 1], k=size), "town"),
        scale(WIDE, [rng.randint(0, 2**40) for _ in range(size)], "wide"),
    ]
    return rng.sample(made, rng.randint(1, 4))


def split(scales: list[Scale], k: int, batch: int = 1 << 18) -> tuple[Groups, np.ndarray]:
    codes = np.stack([one.codes for one in scales], axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held, "BATCH", batch)
        found = split_in_passes(Held(codes), scales, [2**41] * len(scales), k)
    return found, found.labels(codes)


@pytest.mark.parametrize("batch", [1, 2, 7, 1 << 18])
@pytest.mark.parametrize("seed", range(25))
def test_every_row_has_the_group_that_it_has_in_memory(seed: int, batch: int) -> None:
    scales = table(seed)
    k = 2 + seed % 4
    expected = multidimensional(scales, Need(k))
    found, labels = split(scales, k, batch)
    assert labels.tolist() == expected.tolist()
    assert found.sizes.tolist() == np.bincount(expected).tolist()
    for one, run in zip(scales, found.runs, strict=True):
        wanted = runs_of(one, expected)
        assert [end.tolist() for end in run] == [end.tolist() for end in wanted]


def test_what_a_batch_begins_with_may_be_the_value_behind_a_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant takes the last value of a batch for the one that follows it."""
    scales = [scale(WIDE, [0, 1, 2, 2**39, 2**40 - 2, 2**40 - 1])]
    real, _ = split(scales, 2, 3)

    def short(counts):  # type: ignore[no-untyped-def]
        for node, code, rows in counts:
            yield node, code, rows, np.append(code[1:], code[-1:])

    gains = []

    def gained(*given):  # type: ignore[no-untyped-def]
        gains.append(in_two(*given).gain.tolist())
        return in_two(*given)

    in_two = splits.in_two
    monkeypatch.setattr(splits, "in_two", gained)
    split(scales, 2, 3)
    right = list(gains)
    gains.clear()
    monkeypatch.setattr(splits, "_with_next", short)
    split(scales, 2, 3)
    assert gains != right
    assert real.sizes.min() >= 2
