"""The report of a release, through `publish`: canaries, what is public, what each method shows."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest

import tenue as tn
from tenue.report.picture import Picture
from unit.microdata.census import people, schema

CANARY = "<img src=x onerror=alert(1)>"
FORMULA = '=HYPERLINK("http://x","y")'


@pytest.fixture(scope="module")
def release() -> Any:
    return tn.publish(people(), schema=schema(), method="swap", k=4)


def test_no_row_of_the_original_is_kept(release: Any) -> None:
    shown = release._published.shown
    assert shown.compared
    assert shown.sizes
    assert all(len(one.after) < 30 for one in shown.compared)


def test_a_chart_shows_columns_before_and_after(release: Any) -> None:
    made = release.picture()
    assert isinstance(made, Picture)
    assert "for the holder alone" in made.subtitle
    assert not release.left  # looking registers nothing
    assert "<svg" in tn.report.plot(release).svg()


def test_the_page_is_whole_and_the_public_one_is_less(release: Any) -> None:
    page = release.page()
    assert "for the holder" in page
    assert not release.left
    public = release.page(public=True)
    assert "for the holder" not in public
    assert len(public) < len(page)
    assert release.left  # it may be handed on


def described(**column: Any) -> tn.Schema:
    return tn.Schema.from_dict(
        {
            "table": {"name": "people", "unit": "record", "neighbours": "replace"},
            "columns": {
                "age": {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"},
                "said": {"type": "category", "role": "confidential", **column},
            },
            "budget": {"total": 5},
        }
    )


def told(size: int = 40) -> pa.Table:
    ages = [20 + i % 7 for i in range(size)]
    return pa.table({"age": ages, "said": [CANARY if i % 3 else FORMULA for i in range(size)]})


def test_values_stay_text() -> None:
    """Names of columns cannot hold such signs where there is a schema; `compare` tries them."""
    words = described(categories=[CANARY, FORMULA])
    page = tn.publish(told(), schema=words, method="swap", k=4, ledger=False).page()
    assert "<img" not in page
    assert "&lt;img src=x onerror" in page
    assert "=HYPERLINK(&quot;" in page or '=HYPERLINK("' in page
    assert not re.search(r"<[^>]*\son[a-z]+=", page)
    assert not re.search(r"(?:href|src)=.http", page)


def test_a_private_table_has_a_public_report_only() -> None:
    words = described(categories=[CANARY, FORMULA])
    books = tn.ledger.Memory()
    release = tn.publish(told(600), schema=words, method="private", epsilon=1, ledger=books)
    page = release.page()
    assert "for the holder" not in page
    assert page == release.page(public=True)
    assert "What is not promised" in page
    assert not release._published.shown.compared


def test_a_preview_has_a_page_and_cannot_be_saved(tmp_path: Any) -> None:
    made = tn.publish(people(), schema=schema(), method="swap", k=4, preview=True)
    assert "preview" in made.page()
    with pytest.raises(tn.Refused, match="preview"):
        made.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
