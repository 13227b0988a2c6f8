"""What a certificate says of a workload's noise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.errors import Fault
from tenue.noise.source import SYSTEM
from unit.query.workload.small import planned, session, thresholds


def test_a_certificate_names_every_level_and_scale() -> None:
    with session() as data:
        answer = data.ask_many(thresholds(), epsilon=1)[3]
    said = answer.certificate.to_json()
    (block,) = planned(*thresholds()).blocks
    for many, law in zip(block.strategy.lengths, block.laws, strict=True):
        assert f"{many:,} of scale {law.scale:.6g}" in said
    assert "tents" in said
    assert "2010" in said


def test_a_certificate_says_what_has_no_noise() -> None:
    with session("replace") as data:
        said = data.ask_many(thresholds(), epsilon=1)[3].certificate.to_json()
    assert "number of all rows, which is public, without noise" in said


def test_it_is_drawn_by_its_blocks_alone() -> None:
    (draw,) = planned(*thresholds()).plans[0].strategy.draws
    assert draw.epsilon == Fraction(1)
    with pytest.raises(Fault):
        draw.released(None, [0], SYSTEM)  # type: ignore[arg-type]
