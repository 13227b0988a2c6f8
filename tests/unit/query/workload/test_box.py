"""One noise for counts and sums, where they are few and have no groups."""

from __future__ import annotations

from tenue.noise.criterion import VARIANCE
from tenue.promise.loss import EpsilonDelta
from tenue.query.workload.box import boxes
from unit.query.workload.small import asked, schema, thresholds


def found(texts: list[str], neighbours: str = "add-or-remove") -> list[str]:
    questions = dict(enumerate(asked(*texts)))
    made = boxes(questions, texts, schema(neighbours), EpsilonDelta(10**9), VARIANCE)
    for one in made:
        assert set(one.plans) == set(questions)
        assert len(one.owners) == len(one.noise.components)
    return [one.noise.name for one in made]


def test_counts_and_sums_share_a_box() -> None:
    assert found(thresholds(3)) == ["same-sign box", "box"]
    assert found([*thresholds(1), "SELECT SUM(y) FROM t"]) == ["box"], "y has both signs"


def test_groups_means_and_many_do_not() -> None:
    assert found(["SELECT AVG(x) FROM t", *thresholds(2)]) == []
    assert found(["SELECT c, COUNT(*) FROM t GROUP BY c", *thresholds(2)]) == []
    assert found(thresholds(33)) == []
    assert found(thresholds(1)) == []
