from __future__ import annotations

import json
from pathlib import Path

import pytest

import tenue as tn
from tenue.papers.book import save as module
from tenue.papers.book.save import save
from tenue.papers.reproduce import reproduce


def test_pages_pictures_and_numbers_are_written(tmp_path: Path) -> None:
    names = save(reproduce(["fig4.1", "err.shells"]), tmp_path / "new")
    assert sorted(names) == [
        *("errata.html", "figures/fig4.1.png", "figures/fig4.1.svg", "index.html", "noise.html"),
        "papers.json",
    ]
    folder = tmp_path / "new"
    assert (folder / "figures/fig4.1.png").read_bytes().startswith(b"\x89PNG")
    assert "var(--main" in (folder / "noise.html").read_text()
    assert json.loads((folder / "papers.json").read_text())["verdicts"]


def test_without_the_extra_there_are_pages_without_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "can_draw", lambda: False)
    names = save(reproduce("fig4.1"), tmp_path)
    assert sorted(names) == ["index.html", "noise.html", "papers.json"]


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(tn.Refused, match="cannot be written"):
        reproduce("4.1").save(tmp_path / "taken")
