"""Thesis, chapter 6: private data sets through microaggregation."""

from __future__ import annotations

from ..exhibit import Chapter
from . import adult, figures, sound, tables

CHAPTER = Chapter(
    id="private",
    title="Private tables through microaggregation",
    paper="Soria-Comas, Domingo-Ferrer, Sánchez and Martínez, VLDB Journal 2014; thesis, chapter 6",
    idea="Average groups of k records before adding noise: what one person can change is then "
    "divided by k, and so is the noise.",
    buys="Made sound (one fixed order of the domain, noise for all groups together) it needs ten "
    "to a hundred times less noise than noise on records. Trees and two-stage methods do better "
    "still.",
    never="Never as printed: one record can change every group, so the printed noise costs many "
    "times the ε it names. Never with domains read off the data.",
    exhibits=(
        *tables.EXHIBITS,
        *adult.EXHIBITS,
        *sound.EXHIBITS,
        *figures.EXHIBITS,
        *sound.ERRATA,
        *tables.ERRATA,
    ),
)
