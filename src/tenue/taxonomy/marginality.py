"""How far a concept lies from the values of a sample, in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from ..errors import refuse
from ..number import whole
from .distance import Ancestry
from .given import sequence

Sample = Mapping[str, int] | Iterable[str]


def counted(sample: Sample, concept_of: Callable[[str], str]) -> Counter[str]:
    """How often each concept occurs in a sample of names."""
    counts: Counter[str] = Counter()
    if isinstance(sample, Mapping):
        for name, count in sample.items():
            counts[concept_of(name)] += whole(count, "count")
    else:
        counts.update(concept_of(name) for name in sequence(sample, "sample"))
    return counts


def marginality(ancestry: Ancestry, concept: str, counts: Mapping[str, int]) -> int:
    """The sum of the rational distances to the values of the sample, in multiples of 2**-32."""
    return sum(count * ancestry.steps(concept, value) for value, count in counts.items())


def least_marginal(ancestry: Ancestry, counts: Mapping[str, int]) -> str:
    """The first concept, depth first, with the least marginality."""
    if not any(counts.values()):
        raise refuse("taxonomy.sample-is-empty")
    return min(ancestry.graph.concepts, key=lambda c: marginality(ancestry, c, counts))


def boundaries(ancestry: Ancestry, labels: Mapping[str, str]) -> tuple[str, str]:
    """The first most marginal label, and the first of the labels furthest from it."""
    domain = Counter(labels.values())
    margins = {concept: marginality(ancestry, concept, domain) for concept in domain}
    bottom = max(labels, key=lambda label: margins[labels[label]])
    top = max(labels, key=lambda label: ancestry.steps(labels[label], labels[bottom]))
    return bottom, top
