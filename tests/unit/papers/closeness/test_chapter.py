from __future__ import annotations

from collections import Counter

from tenue.papers.closeness.chapter import CHAPTER


def test_it_has_all_its_parts() -> None:
    assert CHAPTER.id == "closeness"
    counted = Counter(one.kind for one in CHAPTER.exhibits)
    assert counted == {"table": 5, "figure": 7, "erratum": 3}
