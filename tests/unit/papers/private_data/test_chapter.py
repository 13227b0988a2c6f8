from __future__ import annotations

from collections import Counter

from tenue.papers.private_data.chapter import CHAPTER


def test_it_has_all_its_parts() -> None:
    assert CHAPTER.id == "private"
    counted = Counter(one.kind for one in CHAPTER.exhibits)
    assert counted == {"table": 5, "beyond": 3, "figure": 5, "erratum": 2}
