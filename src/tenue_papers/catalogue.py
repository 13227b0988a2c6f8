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
    title="What one noisy count still reveals",
    paper="Naldi and D'Acquisto, Differential privacy for counting queries: can Bayes estimation "
    "help uncover the true value?",
    idea="An analyst who knows the number of records, and roughly the share that counts, can "
    "correct a noisy count by Bayes' rule. That is post-processing and costs nothing.",
    buys="Where the noise is large, the error is hardly larger than with the prior alone; the "
    "estimate is never below 0 or above n, and never worse on average than the noisy count.",
    never="Useless where ε is large. Not allowed where the noise itself depends on the data, as "
    "with smooth or local sensitivity: there it would use a law that must not be known.",
    exhibits=(*bayes.TABLES, *bayes.FIGURES, *bayes.ERRATA),
)

SWAPPING = Chapter(
    id="swapping",
    title="Hiding among k by swapping",
    paper="Soria-Comas and Domingo-Ferrer, thesis, chapter 3",
    idea="Instead of averaging the records of a group, exchange their confidential values at "
    "random inside the group. An intruder who finds the group still has one chance in k.",
    buys="Every value remains a true value of some record, and correlations survive far better "
    "than with averages: by a factor of ten if groups have similar confidential values.",
    never="It promises nothing against intruders who know how columns relate, or have two "
    "releases. Values stay close to the truth: where the value itself must be hidden, use noise.",
    exhibits=(*swapping.TABLES, *swapping.ERRATA),
)

OPTIMAL_NOISE = Chapter(
    id="noise",
    title="The least noise for a promise",
    paper="Soria-Comas and Domingo-Ferrer, Information Sciences 250 (2013); thesis, chapter 4",
    idea="Laplace noise is not the least that differential privacy allows. The best noise has a "
    "density like a staircase: flat near the truth, then one step down for every sensitivity.",
    buys="For one answer a few per cent less variance, more where ε is large. For several answers "
    "at once half the variance or less, because one noise is shaped to all of them together.",
    never="Do not add it independently to many answers that one person affects together: even the "
    "smallest shift costs the full ε, so the losses add up. Use Laplace noise there.",
    exhibits=(*optimal_noise.TABLES, *optimal_noise.FIGURES, *optimal_noise.ERRATA),
)

REFINEMENT = Chapter(
    id="refinement",
    title="Refining what the analyst believes",
    paper="Soria-Comas and Domingo-Ferrer, PASSAT 2012; thesis, chapter 5",
    idea="The analyst states a prior. The answer is drawn from this prior, raised near the truth "
    "and lowered elsewhere, each by at most the factor that ε allows.",
    buys="No sensitivity is needed, categories are as easy as numbers, and no answer is an "
    "impossible value. For one person's attribute it is far closer to the truth than Laplace "
    "noise.",
    never="Do not use it for statistics whose sensitivity is small compared with the spread of the "
    "prior: noise is better there. An answer never shows a value that the prior rules out.",
    exhibits=(*refinement.THESIS, *refinement.PASSAT, *refinement.ERRATA),
)

INDIVIDUAL = Chapter(
    id="individual",
    title="Noise for the table at hand",
    paper="Soria-Comas, Domingo-Ferrer, Sánchez and Megías, 2017",
    idea="Differential privacy adds noise for the worst possible table. Individual differential "
    "privacy adds noise for the local sensitivity of this table.",
    buys="Medians, extremes and quantiles with little noise where the data are dense, often none "
    "at all.",
    never="It is not differential privacy: the amount of noise reveals facts about the table, "
    "exact answers can be recognised as exact, and a few thousand of them rebuild a column. Do not "
    "offer it to strangers; counts and medians have private answers at the same price.",
    exhibits=(*individual.TABLES, *individual.ON_CENSUS, *individual.ERRATA),
)

PRIVATE_DATA = Chapter(
    id="private",
    title="Private tables through microaggregation",
    paper="Soria-Comas, Domingo-Ferrer, Sánchez and Martínez, VLDB Journal 2014; thesis, chapter 6",
    idea="Average groups of k records before adding noise: the influence of one person is then "
    "divided by k, and so is the noise.",
    buys="A sound version (one fixed order of the domain, noise for all groups together) needs ten "
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

CLOSENESS = Chapter(
    id="closeness",
    title="Groups that resemble the whole table",
    paper="Domingo-Ferrer and Soria-Comas, Knowledge-Based Systems 2015; thesis, chapter 7",
    idea="Hide a confidential value in a group in which every bucket of values is about as "
    "frequent as in the whole table, within a factor t. Quasi-identifiers stay as they are.",
    buys="An intruder who finds a person's group learns at most a factor t about the value. "
    "Nothing is averaged and nothing generalised but the confidential value, to a bucket.",
    never="It is not differential privacy: the promise holds against intruders who know nothing "
    "but the marginal distribution. Those who know the other members of a group learn the last.",
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
    """All exhibits, or those with these names of exhibits or chapters.

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
