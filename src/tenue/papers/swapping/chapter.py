"""Thesis, chapter 3: probabilistic k-anonymity by swapping."""

from __future__ import annotations

from ..exhibit import Chapter
from . import errata, tables

CHAPTER = Chapter(
    id="swapping",
    title="Hiding among k by swapping",
    paper="Soria-Comas and Domingo-Ferrer, thesis, chapter 3",
    idea="Instead of averaging the records of a group, exchange their confidential values at "
    "random inside the group. An intruder who finds the group still has one chance in k.",
    buys="Every value stays a true value of somebody, and correlations survive far better than "
    "with averages: by a factor of ten if groups are formed of similar confidential values.",
    never="It promises nothing against whoever knows how columns relate, or holds two releases. "
    "Values stay close to the truth: where the value itself must be hidden, use noise.",
    exhibits=(*tables.EXHIBITS, *errata.EXHIBITS),
)
