from __future__ import annotations

from collections import Counter

from tenue.papers.swapping.chapter import CHAPTER


def test_it_has_all_its_parts() -> None:
    assert CHAPTER.id == "swapping"
    counted = Counter(one.kind for one in CHAPTER.exhibits)
    assert counted == {"table": 6, "erratum": 2}
