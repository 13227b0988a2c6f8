from __future__ import annotations

from collections import Counter

from tenue.papers.optimal_noise.chapter import CHAPTER


def test_it_has_all_its_parts() -> None:
    assert CHAPTER.id == "noise"
    counted = Counter(one.kind for one in CHAPTER.exhibits)
    assert counted == {"table": 4, "example": 2, "beyond": 1, "figure": 7, "erratum": 3}
