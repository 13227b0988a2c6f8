"""Thesis, chapter 5, and PASSAT 2012: knowledge refinement."""

from __future__ import annotations

from ..exhibit import Chapter
from . import errata, figures, quality, tables

CHAPTER = Chapter(
    id="refinement",
    title="Refining what the analyst believes",
    paper="Soria-Comas and Domingo-Ferrer, PASSAT 2012; thesis, chapter 5",
    idea="The analyst says what she believes. The answer is drawn from her own belief, raised "
    "near the truth and lowered elsewhere, each by at most the factor that ε allows.",
    buys="No sensitivity is needed, categories are as easy as numbers, and no answer is an "
    "impossible value. For one person's attribute it is far closer to the truth than Laplace "
    "noise.",
    never="Do not use it for statistics whose sensitivity is small compared with what is known "
    "about them: there noise is better. What the belief rules out, no answer will ever show.",
    exhibits=(
        *tables.THESIS,
        *figures.THESIS,
        *quality.EXHIBITS,
        *tables.PASSAT,
        *figures.PASSAT,
        *errata.EXHIBITS,
    ),
)
