"""All chapters and exhibits, in the order of the book."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache

from tenue.errors import refuse

from . import (
    bayes,
    closeness,
    individual,
    optimal_noise,
    private_data_adult,
    private_data_figures,
    private_data_tables,
    refinement,
    swapping,
)
from .exhibit import Chapter, Exhibit

BAYES = Chapter(
    id="bayes",
    title="What one noisy count still tells",
    paper="Naldi and D'Acquisto, Differential privacy for counting queries: can Bayes estimation "
    "help uncover the true value?",
    idea="Whoever knows how many records there are, and about what share of them counts, can "
    "correct a noisy count by Bayes' rule. It costs nothing: the answer was paid for.",
    buys="Where the noise is large the error falls to what was known before asking; never below "
    "0 or above n, and never worse on average than the noisy count.",
    never="Useless where ε is large. Not allowed where the noise itself depends on the data, as "
    "with smooth or local sensitivity: there it would use a law that must not be known.",
    exhibits=(*bayes.TABLES, *bayes.FIGURES, *bayes.ERRATA),
)


# -- Thesis, chapter 3: probabilistic k-anonymity by swapping --------------------------------------

SWAPPING = Chapter(
    id="swapping",
    title="Hiding among k by swapping",
    paper="Soria-Comas and Domingo-Ferrer, thesis, chapter 3",
    idea="Instead of averaging the records of a group, exchange their confidential values at "
    "random inside the group. An intruder who finds the group still has one chance in k.",
    buys="Every value stays a true value of somebody, and correlations survive far better than "
    "with averages: by a factor of ten if groups are formed of similar confidential values.",
    never="It promises nothing against whoever knows how columns relate, or holds two releases. "
    "Values stay close to the truth: where the value itself must be hidden, use noise.",
    exhibits=(*swapping.TABLES, *swapping.ERRATA),
)


# -- Thesis, chapter 4: the optimal noise for one answer and for many ------------------------------

OPTIMAL_NOISE = Chapter(
    id="noise",
    title="The least noise for a promise",
    paper="Soria-Comas and Domingo-Ferrer, Information Sciences 250 (2013); thesis, chapter 4",
    idea="Laplace noise is not the least that differential privacy allows. The best noise has a "
    "density like a staircase: flat near the truth, then one step down for every sensitivity.",
    buys="For one answer a few per cent of variance, more where ε is large. For several answers at "
    "once half the variance or less, because one noise is shaped to all of them together.",
    never="Do not add it independently to many answers that one person touches together: it pays "
    "the full ε for the smallest shift, so there the losses add up. Laplace noise is right there.",
    exhibits=(*optimal_noise.TABLES, *optimal_noise.FIGURES, *optimal_noise.ERRATA),
)


# -- Thesis, chapter 5, and PASSAT 2012: knowledge refinement --------------------------------------

REFINEMENT = Chapter(
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
    exhibits=(*refinement.THESIS, *refinement.PASSAT, *refinement.ERRATA),
)


# -- Individual differential privacy: noise for the table at hand ----------------------------------

INDIVIDUAL = Chapter(
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
    exhibits=(*individual.TABLES, *individual.ON_CENSUS, *individual.ERRATA),
)


# -- Thesis, chapter 6: private data sets through microaggregation ---------------------------------

PRIVATE_DATA = Chapter(
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
        *private_data_tables.EXHIBITS,
        *private_data_adult.ON_ADULT,
        *private_data_adult.SOUND,
        *private_data_figures.EXHIBITS,
        *private_data_adult.ERRATA,
        *private_data_tables.ERRATA,
    ),
)


# -- Thesis, chapter 7: t-closeness, Anatomy, and their link to differential privacy ---------------

CLOSENESS = Chapter(
    id="closeness",
    title="Groups that look like everybody",
    paper="Domingo-Ferrer and Soria-Comas, Knowledge-Based Systems 2015; thesis, chapter 7",
    idea="Hide a confidential value in a group in which every bucket of values is about as "
    "frequent as in the whole table, within a factor t. Quasi-identifiers stay as they are.",
    buys="Whoever finds a person's group learns at most a factor t about the value. Nothing is "
    "averaged and nothing generalised but the confidential value, to a bucket.",
    never="It is not differential privacy: the promise holds against intruders who know nothing "
    "but the marginal distribution. Who knows the other members of a group learns the last one.",
    exhibits=(*closeness.TABLES, *closeness.FIGURES, *closeness.ERRATA),
)


# -- All chapters and exhibits, in the order of the book -------------------------------------------

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
