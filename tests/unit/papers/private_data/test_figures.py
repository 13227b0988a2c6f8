from __future__ import annotations

import numpy as np

from exhibits import assert_as_expected
from tenue.papers.private_data import figures as module

EXPECTED = {
    "fig6.1": "equal",
    "fig6.2": "equal",
    "fig6.3": "equal",
    "fig6.4": "equal",
    "fig6.5": "equal",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_groups_are_compared_as_well_as_can_be() -> None:
    one, other = np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])
    assert module.differing(one, other) == 0
    assert module.differing(one, np.array([0, 1, 1, 0])) == 1


def test_distances_order_all_records() -> None:
    labels = module.by_distance(module.TOY, 5)
    assert np.bincount(labels).tolist() == [5, 5, 5]
    far = (module.TOY**2).sum(axis=1)
    assert far[labels == 0].max() <= far[labels == 1].min()
