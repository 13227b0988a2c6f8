"""Thesis, chapter 4: the optimal noise for one answer and for many."""

from __future__ import annotations

from ..exhibit import Chapter
from . import errata, figures, tables

CHAPTER = Chapter(
    id="noise",
    title="The least noise for a promise",
    paper="Soria-Comas and Domingo-Ferrer, Information Sciences 250 (2013); thesis, chapter 4",
    idea="Laplace noise is not the least that differential privacy allows. The best noise has a "
    "density like a staircase: flat near the truth, then one step down for every sensitivity.",
    buys="For one answer a few per cent of variance, more where ε is large. For several answers at "
    "once half the variance or less, because one noise is shaped to all of them together.",
    never="Do not add it independently to many answers that one person touches together: it pays "
    "the full ε for the smallest shift, so there the losses add up. Laplace noise is right there.",
    exhibits=(*tables.EXHIBITS, *figures.EXHIBITS, *errata.EXHIBITS),
)
