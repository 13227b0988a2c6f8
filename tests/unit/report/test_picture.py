from __future__ import annotations

from typing import get_args

from tenue.report import picture
from tenue.report.vega import _DRAW


def test_every_mark_can_be_drawn() -> None:
    assert set(get_args(picture.Mark)) == set(_DRAW)


def test_facts_do_not_change() -> None:
    one = picture.Picture("a", [picture.Panel([picture.Rule(0)])])
    assert one == picture.Picture("a", [picture.Panel([picture.Rule(0)])])
    assert one != picture.Picture("a", [picture.Panel([picture.Rule(1)])])
