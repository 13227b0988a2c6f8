from __future__ import annotations

from collections import Counter

from tenue.papers.refinement.chapter import CHAPTER


def test_it_has_all_its_parts() -> None:
    assert CHAPTER.id == "refinement"
    counted = Counter(one.kind for one in CHAPTER.exhibits)
    assert counted == {"example": 6, "table": 7, "figure": 11, "beyond": 1, "erratum": 4}
