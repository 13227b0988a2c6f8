from __future__ import annotations

import re

import pyarrow as pa

import tenue as tn
from tenue.report.plot import plot
from tenue.report.subject.comparison import compared, document

NAME = '<img src=x onerror=alert(1)> =HYPERLINK("x")'


def found() -> tn.evaluate.Comparison:
    before = pa.table({NAME: [NAME, "b", "b", NAME], "x": [1.5, 2, 3, 4]})
    after = pa.table({NAME: ["b", "b", NAME, NAME], "x": [2.5, 2, 3, 4]})
    return tn.compare(before, after, quasi_identifiers=[NAME], confidential=["x"])


def test_names_and_values_stay_text() -> None:
    page = document(found()).html()
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror") > 3
    assert not re.search(r"<[^>]*\son[a-z]+=", page)
    assert "<img" not in plot(found()).svg()


def test_nothing_is_promised_and_all_is_for_the_holder() -> None:
    made = document(found())
    assert "What is promised" not in made.html()
    assert "certificate.json" not in made.html()
    assert made.for_holder
    assert "original" in compared(found()).subtitle
