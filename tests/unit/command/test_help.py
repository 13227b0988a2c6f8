"""Pages of help fit the screen and lose no word."""

from __future__ import annotations

import pytest

from tenue.command.help import in_short, page, width

LONG = "How groups are formed, in words that need more than one line of any screen there is."


@pytest.mark.parametrize(("columns", "wide"), [("300", 78), ("80", 78), ("60", 58), ("10", 50)])
def test_lines_fit_the_screen(columns: str, wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width() == wide
    text = page("x", LONG * 3, {"Options": [("--by <str>", LONG), ("--k", "Few.")]})
    assert max(map(len, text.splitlines())) <= wide
    assert " ".join(text.split()).count("any screen there is.") == 4


def test_meanings_stand_in_one_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = page("x", "y", {"Options": [("--by <str>", LONG), ("--k", "Few."), ("-" * 40, "Wide.")]})
    lines = text.splitlines()[5:]
    assert [
        line.find(word) for line in lines for word in ("How", "Few", "Wide") if word in line
    ] == [
        34,
        34,
        34,
    ]
    assert "  " + "-" * 40 in lines


def test_an_empty_section_is_left_out() -> None:
    assert "Arguments" not in page("x", "y", {"Arguments": [], "Options": [("--k", "Few.")]})


def test_short_is_the_first_sentence_or_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert in_short("Do it. Then more.", ["a"]) == "Do it."
    cut = in_short(LONG, ["a" * 20])
    assert cut.endswith("...")
    assert len(cut) <= 78 - 6 - 20
    assert LONG.startswith(cut[:-3])
