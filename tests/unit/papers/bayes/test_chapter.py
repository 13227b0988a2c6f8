from __future__ import annotations

from collections import Counter

from tenue.papers.bayes.chapter import CHAPTER


def test_it_has_all_its_parts() -> None:
    assert CHAPTER.id == "bayes"
    counted = Counter(one.kind for one in CHAPTER.exhibits)
    assert counted == {"example": 2, "figure": 8, "erratum": 4}
