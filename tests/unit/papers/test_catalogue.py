from __future__ import annotations

import pytest

import tenue as tn
from tenue.papers.catalogue import CHAPTERS, chosen, exhibits

WANTED = [
    *("passat.ex1", "passat.ex2", "passat.ex3", "passat.I", "passat.II"),
    *(f"passat.fig{i}" for i in range(1, 5)),
    *(f"5.{i}" for i in range(1, 6)),
    *(f"fig5.{i}" for i in range(1, 8)),
    *(f"4.{i}" for i in range(1, 5)),
    *(f"fig4.{i}" for i in range(1, 8)),
    *("ex5", "4.dimensions"),
    *("idp.1", "idp.2", "idp.fig1", "idp.fig2", "idp.ex1", "idp.ex2"),
    *("idp.median", "idp.maximum", "idp.range"),
    *(f"bayes.fig{i}" for i in range(1, 9)),
    *(f"3.{i}" for i in range(6, 12)),
    *(f"6.{i}" for i in range(1, 6)),
    *(f"fig6.{i}" for i in range(1, 6)),
    *(f"7.{i}" for i in range(2, 7)),
    *(f"fig7.{i}" for i in range(1, 8)),
    *("err.masses", "err.exponent", "err.shells", "err.scale", "err.parallel", "err.truncated"),
    *("err.exact", "err.loss", "err.ceiling"),
]


def test_nothing_that_was_promised_is_missing() -> None:
    assert [name for name in WANTED if name not in exhibits()] == []


def test_names_are_used_once() -> None:
    names = [one.id for chapter in CHAPTERS for one in chapter.exhibits]
    assert len(set(names)) == len(names)
    assert not {chapter.id for chapter in CHAPTERS} & set(names)


def test_a_figure_has_a_drawing_and_nothing_else_has() -> None:
    for one in exhibits().values():
        assert (one.figure is not None) is (one.kind == "figure"), one.id


def test_chapters_say_what_they_are_about() -> None:
    for chapter in CHAPTERS:
        for text in (chapter.idea, chapter.buys, chapter.never):
            assert text.endswith("."), chapter.id


def test_some_can_be_chosen() -> None:
    assert [one.id for one in chosen(["fig4.2", "4.1"])] == ["4.1", "fig4.2"]
    assert {one.id for one in chosen("bayes")} == {one.id for one in CHAPTERS[3].exhibits}
    assert chosen(None) == list(exhibits().values())


def test_what_there_is_not_is_refused_with_something_near() -> None:
    with pytest.raises(tn.Refused, match=r"called fig4\.22.*fig4\.2"):
        chosen("fig4.22")
