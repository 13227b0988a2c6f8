"""Which strategy a block gets, and how blocks share the price."""

from __future__ import annotations

import pytest

from tenue.query.workload.choose import _shares
from unit.query.workload.small import planned, schema, thresholds


def names(*texts: str, **terms: object) -> list[str]:
    return [block.strategy.name for block in planned(*texts, **terms).blocks]  # type: ignore[arg-type]


def test_every_shape_has_its_strategy() -> None:
    assert names(*thresholds()) == ["tents"]
    tables = [
        "SELECT c, COUNT(*) FROM t GROUP BY c",
        "SELECT BIN(x, 10), COUNT(*) FROM t GROUP BY 1",
        "SELECT c, BIN(x, 10), COUNT(*) FROM t GROUP BY 1, 2",
    ]
    assert names(*tables, minimise="mean") in (["marginals"], ["atoms"])
    total = ["SELECT COUNT(*) FROM t", "SELECT BIN(x, 2), COUNT(*) FROM t GROUP BY 1"]
    assert names(*total) == ["questions and atoms"]
    assert names(*total, minimise="mean") == ["atoms"]


def test_blocks_share_by_need_and_by_what_it_is_worth() -> None:
    even = _shares([(1.0, 0.1), (1.0, 0.1)], 1.0, bounded=True)
    assert even == pytest.approx([0.5, 0.5])
    heavy = _shares([(8.0, 0.0), (1.0, 0.0)], 1.0, bounded=False)
    assert heavy == pytest.approx([2 / 3, 1 / 3])
    needy = _shares([(8.0, 0.1), (1.0, 0.6)], 1.0, bounded=True)
    assert needy == pytest.approx([0.4, 0.6])
    assert sum(_shares([(1.0, 0.9), (1.0, 0.8)], 1.0, bounded=True)) == pytest.approx(1)


def test_shares_are_all_that_is_paid() -> None:
    texts = [
        "SELECT c, COUNT(*), SUM(y) FROM t GROUP BY c",
        "SELECT COUNT(*), SUM(y), AVG(x) FROM t",
    ]
    for neighbours in ("add-or-remove", "replace"):
        workload = planned(*texts, minimise="mean", described=schema(neighbours))
        for way in workload.ways:
            if way.blocks:
                assert sum(block.price.units for block in way.blocks) == 10**9
