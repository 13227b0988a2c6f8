"""All chapters and exhibits, in the order of the book."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache

from ..errors import refuse
from .bayes.chapter import CHAPTER as BAYES
from .closeness.chapter import CHAPTER as CLOSENESS
from .exhibit import Chapter, Exhibit
from .individual.chapter import CHAPTER as INDIVIDUAL
from .optimal_noise.chapter import CHAPTER as OPTIMAL_NOISE
from .private_data.chapter import CHAPTER as PRIVATE_DATA
from .refinement.chapter import CHAPTER as REFINEMENT
from .swapping.chapter import CHAPTER as SWAPPING

CHAPTERS: tuple[Chapter, ...] = (
    OPTIMAL_NOISE,
    REFINEMENT,
    INDIVIDUAL,
    BAYES,
    SWAPPING,
    PRIVATE_DATA,
    CLOSENESS,
)


@cache
def exhibits() -> dict[str, Exhibit]:
    """Every exhibit by its name."""
    return {one.id: one for chapter in CHAPTERS for one in chapter.exhibits}


def chosen(only: str | Iterable[str] | None) -> list[Exhibit]:
    """The exhibits that are meant: all, or those named, by exhibit or chapter.

    Example
        >>> [one.id for one in chosen("4.1")], len(chosen("noise")) > 10
        (['4.1'], True)
    """
    if only is None:
        return list(exhibits().values())
    names = [only] if isinstance(only, str) else list(only)
    wanted = {one.id for name in names for one in _named(name.strip())}
    return [one for one in exhibits().values() if one.id in wanted]


def _named(name: str) -> Iterable[Exhibit]:
    if name in exhibits():
        return [exhibits()[name]]
    for chapter in CHAPTERS:
        if chapter.id == name:
            return chapter.exhibits
    known = [*exhibits(), *(chapter.id for chapter in CHAPTERS)]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.3) or ["4.1"]
    raise refuse("papers.unknown-exhibit", name=name, near=near[0])
