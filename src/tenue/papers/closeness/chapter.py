"""Thesis, chapter 7: t-closeness, Anatomy, and their link to differential privacy."""

from __future__ import annotations

from ..exhibit import Chapter
from . import errata, figures, tables

CHAPTER = Chapter(
    id="closeness",
    title="Groups that look like everybody",
    paper="Domingo-Ferrer and Soria-Comas, Knowledge-Based Systems 2015; thesis, chapter 7",
    idea="Hide a confidential value in a group in which every bucket of values is about as "
    "frequent as in the whole table, within a factor t. Quasi-identifiers stay as they are.",
    buys="Whoever finds a person's group learns at most a factor t about the value. Nothing is "
    "averaged and nothing generalised but the confidential value, to a bucket.",
    never="It is not differential privacy: the promise holds against intruders who know nothing "
    "but the marginal distribution. Who knows the other members of a group learns the last one.",
    exhibits=(*tables.EXHIBITS, *figures.EXHIBITS, *errata.EXHIBITS),
)
