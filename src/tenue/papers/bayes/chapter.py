"""Bayes estimation of one noisy count."""

from __future__ import annotations

from ..exhibit import Chapter
from . import figures, tables

CHAPTER = Chapter(
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
    exhibits=(*tables.EXHIBITS, *figures.EXHIBITS, *tables.ERRATA),
)
