from __future__ import annotations

from collections import Counter

from tenue.papers.individual.chapter import CHAPTER


def test_it_has_all_its_parts() -> None:
    assert CHAPTER.id == "individual"
    counted = Counter(one.kind for one in CHAPTER.exhibits)
    assert counted == {"table": 2, "figure": 2, "example": 2, "beyond": 3, "erratum": 7}
