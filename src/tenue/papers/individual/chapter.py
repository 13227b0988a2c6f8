"""Individual differential privacy: noise for the table at hand."""

from __future__ import annotations

from ..exhibit import Chapter
from . import census, errata, tables

CHAPTER = Chapter(
    id="individual",
    title="Noise for the table at hand",
    paper="Soria-Comas, Domingo-Ferrer, Sánchez and Megías, 2017",
    idea="Differential privacy fears the worst table of all. Individual differential privacy adds "
    "noise for what one record can move in this table: its local sensitivity.",
    buys="Medians, extremes and quantiles with little noise where the data lie densely, often none "
    "at all.",
    never="It is not differential privacy: how much noise there is tells about the table, exact "
    "answers say that they are exact, and a few thousand of them rebuild a column. Do not offer it "
    "to strangers; for counts and medians there are answers at the same price that are private.",
    exhibits=(*tables.EXHIBITS, *census.EXHIBITS, *errata.EXHIBITS),
)
