"""All chapters and exhibits."""

from __future__ import annotations

from collections import Counter

import pytest

import tenue as tn
from tenue_papers.catalogue import (
    BAYES,
    CHAPTERS,
    CLOSENESS,
    INDIVIDUAL,
    OPTIMAL_NOISE,
    PRIVATE_DATA,
    REFINEMENT,
    SWAPPING,
    chosen,
    exhibits,
)


def test_bayes_it_has_all_its_parts() -> None:
    assert BAYES.id == "bayes"
    counted = Counter(one.kind for one in BAYES.exhibits)
    assert counted == {"example": 2, "figure": 8, "erratum": 4}


# -- chapter ---------------------------------------------------------------------------------------


def test_swapping_it_has_all_its_parts() -> None:
    assert SWAPPING.id == "swapping"
    counted = Counter(one.kind for one in SWAPPING.exhibits)
    assert counted == {"table": 6, "erratum": 2}


# -- chapter ---------------------------------------------------------------------------------------


def test_optimal_noise_it_has_all_its_parts() -> None:
    assert OPTIMAL_NOISE.id == "noise"
    counted = Counter(one.kind for one in OPTIMAL_NOISE.exhibits)
    assert counted == {"table": 4, "example": 2, "beyond": 1, "figure": 7, "erratum": 3}


# -- chapter ---------------------------------------------------------------------------------------


def test_refinement_it_has_all_its_parts() -> None:
    assert REFINEMENT.id == "refinement"
    counted = Counter(one.kind for one in REFINEMENT.exhibits)
    assert counted == {"example": 6, "table": 7, "figure": 11, "beyond": 1, "erratum": 4}


# -- chapter ---------------------------------------------------------------------------------------


def test_individual_it_has_all_its_parts() -> None:
    assert INDIVIDUAL.id == "individual"
    counted = Counter(one.kind for one in INDIVIDUAL.exhibits)
    assert counted == {"table": 2, "figure": 2, "example": 2, "beyond": 3, "erratum": 7}


# -- chapter ---------------------------------------------------------------------------------------


def test_private_data_it_has_all_its_parts() -> None:
    assert PRIVATE_DATA.id == "private"
    counted = Counter(one.kind for one in PRIVATE_DATA.exhibits)
    assert counted == {"table": 5, "beyond": 3, "figure": 5, "erratum": 2}


# -- chapter ---------------------------------------------------------------------------------------


def test_it_has_all_its_parts() -> None:
    assert CLOSENESS.id == "closeness"
    counted = Counter(one.kind for one in CLOSENESS.exhibits)
    assert counted == {"table": 5, "figure": 7, "erratum": 3}


# -- catalogue -------------------------------------------------------------------------------------

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
