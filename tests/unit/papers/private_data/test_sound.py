from __future__ import annotations

import pytest

from exhibits import anew, assert_as_expected, cell
from tenue.papers.cell import Verdict
from tenue.papers.private_data import sound as module
from tenue.sensitivity import chain

EXPECTED = {
    "6.sound": "equal",
    "6.moments": "not printed",
    "6.scales": "equal",
    "err.loss": "corrected",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected((*module.EXHIBITS, *module.ERRATA), EXPECTED)


def test_the_printed_noise_costs_k_times_its_epsilon() -> None:
    for k, groups in ((5, 3), (30, 36)):
        row = f"{groups} groups of {k}, one number"
        assert cell("err.loss", row, "loss at ε = 1, noise per record").ours == pytest.approx(k)


def test_all_centroids_together_move_by_the_range_over_k() -> None:
    total, most, changed = module.moved_centroids(10, 10)
    assert total == pytest.approx(0.1)
    assert changed == 10
    assert most < total


def test_a_looser_bound_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = chain.hilbert
    monkeypatch.setattr(chain, "hilbert", lambda columns, groups: 2 * right(columns, groups))
    assert anew("6.scales") is Verdict.DIFFERENT
