"""The value: concepts below one root, their labels, and what follows from them alone."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from ..arguments import whole
from ..errors import refuse
from .distance import DISTANCE_STEPS, Ancestry, furthest, rounded_up_steps
from .file import drawn, nested_edges, read
from .graph import Categories, Edge, Graph, Names, attached, sequence, text

Sample = Mapping[str, int] | Iterable[str]


@dataclass(frozen=True, init=False, repr=False)
class Taxonomy:
    """Concepts below one root, and the category labels attached to them.

    Guarantee
        Frozen, and compared and hashed by content. The same edges, siblings in the same order, and
        the same categories give the same value and the same `digest`, whatever file held them.
        Every method takes category labels and concepts alike.

    Parameters
        edges: (child, parent) pairs; the parent None declares a concept without giving it a parent.
        categories: what rows may hold, in order: concepts, (label, concept) pairs, or a mapping
            from label to concept. Without it the leaves are the categories, in depth-first order.

    Example
        >>> sport = Taxonomy.from_nested({"sport": {"water": ["sailing", "surfing"], "snow": []}})
        >>> sport.categories
        ('sailing', 'surfing', 'snow')
        >>> sport.jaccard("sailing", "surfing"), sport.jaccard("sailing", "snow")
        (Fraction(1, 2), Fraction(3, 4))
        >>> sport.least_marginal({"sailing": 2, "surfing": 1, "snow": 1})
        'sailing'

    Source
        Thesis, section 6.3.4.
    """

    edges: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str], ...]
    _graph: Graph = field(compare=False)

    def __init__(self, edges: Iterable[Edge], categories: Categories | None = None) -> None:
        graph = Graph.of(edges)
        object.__setattr__(self, "edges", graph.edges)
        object.__setattr__(self, "labels", attached(categories, graph.children))
        object.__setattr__(self, "_graph", graph)

    @classmethod
    def from_edges(cls, edges: Iterable[Edge], categories: Categories | None = None) -> Taxonomy:
        """The taxonomy with these (child, parent) pairs.

        Example
            >>> Taxonomy.from_edges([("cat", "animal"), ("dog", "animal")], {"Katze": "cat"})
            Taxonomy(root='animal', categories=1, concepts=3)
        """
        return cls(edges, categories)

    @classmethod
    def from_nested(
        cls, nested: Mapping[str, object], categories: Categories | None = None
    ) -> Taxonomy:
        """The taxonomy drawn by tables inside tables, their leaves in lists or as empty tables.

        A concept with several parents is drawn below each of them; its own children need to be
        drawn only once. Tables may stand inside each other 1,000 deep.

        Example
            >>> Taxonomy.from_nested({"animal": {"pet": ["cat", "dog"], "wolf": {}}}).categories
            ('cat', 'dog', 'wolf')
        """
        return cls(nested_edges(nested), categories)

    @classmethod
    def flat(cls, categories: Iterable[str]) -> Taxonomy:
        """All categories directly below one root, for a column without a taxonomy.

        The root is called `any`, with as many underscores as it takes to be nobody's category.

        Example
            >>> Taxonomy.flat(["Sales", "Tech-support"]).distance("Sales", "Tech-support")
            0.7369655941662062
        """
        names = [text(name) for name in sequence(categories, "categories")]
        root = "any"
        while root in names:
            root += "_"
        return cls([(name, root) for name in names], names)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Taxonomy:
        """The taxonomy in a JSON or CSV file, told apart by the ending of its name.

        In a plain file the leaves are the categories. A JSON object with `edges` and `categories`
        attaches each category to its concept, leaf or not.
        """
        return cls(*read(path))

    def __repr__(self) -> str:
        return (
            f"Taxonomy(root={self.root!r}, categories={len(self.labels)}, "
            f"concepts={len(self.concepts)})"
        )

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The labels rows may hold, in declared order."""
        return tuple(label for label, _ in self.labels)

    @property
    def concepts(self) -> tuple[str, ...]:
        """All concepts, depth first from the root, siblings in declared order, each once."""
        return self._graph.concepts

    @property
    def root(self) -> str:
        """The one concept without a parent."""
        return self._graph.root

    @property
    def depth_first(self) -> tuple[str, ...]:
        """The categories in the order in which a walk from the root meets their concepts.

        Labels of one concept follow each other in declared order.
        """
        return self._names.depth_first

    def rank(self, name: str) -> int:
        """The place of a category in `depth_first`, from 0.

        A concept stands for the first of its labels, and is refused if it has none.
        """
        return self._names.rank(name)

    def concept_of(self, name: str) -> str:
        """The concept a label is attached to; a concept is its own."""
        return self._names.concept_of(name)

    def parents(self, name: str) -> tuple[str, ...]:
        """The concepts directly above, in the order of `concepts`; none above the root."""
        return self._graph.parents[self.concept_of(name)]

    def children(self, name: str) -> tuple[str, ...]:
        """The concepts directly below, in declared order."""
        return self._graph.children[self.concept_of(name)]

    def ancestors(self, name: str) -> frozenset[str]:
        """The concept, its parents, their parents, up to the root: the thesis' phi.

        Example
            >>> sorted(Taxonomy.from_nested({"animal": {"pet": ["cat"]}}).ancestors("cat"))
            ['animal', 'cat', 'pet']
        """
        return self._graph.ancestors(self.concept_of(name))

    def jaccard(self, a: str, b: str) -> Fraction:
        """The share of their ancestors that the two do not have in common, exact, in [0, 1)."""
        return Fraction(*self._ancestry.apart(self.concept_of(a), self.concept_of(b)))

    def distance(self, a: str, b: str) -> float:
        """The semantic distance log2(1 + Jaccard distance of the ancestor sets), in [0, 1).

        A metric: 0 between labels of one concept only. For reading; what is released rests on
        `rational_distance`.

        Source
            Thesis, equation 6.6.
        """
        return math.log2(1 + self.jaccard(a, b))

    def rational_distance(self, a: str, b: str) -> Fraction:
        """The distance rounded up to a multiple of 2**-32: the one table that releases rest on.

        Guarantee
            At least the true distance and less than 2**-32 above it; never smaller for a pair that
            is truly further apart; 0 for one and the same concept only. Rounding up keeps the
            triangle inequality, so the table is a metric too, and replacing v by w in a sample
            moves a marginality by at most `rational_distance(v, w)`.

        Example
            >>> Taxonomy.flat(["x", "y"]).rational_distance("x", "y")
            Fraction(1582621563, 2147483648)
        """
        steps = self._ancestry.steps(self.concept_of(a), self.concept_of(b))
        return Fraction(steps, DISTANCE_STEPS)

    @cached_property
    def diameter(self) -> float:
        """The largest distance between two concepts, categories or not.

        Found when first asked for: at once in what resembles a tree, at worst, where 10,000
        concepts have thousands of ancestors each, in some minutes.
        """
        return math.log2(1 + Fraction(*self._furthest))

    @cached_property
    def rational_diameter(self) -> Fraction:
        """The largest entry of the rational table."""
        return Fraction(rounded_up_steps(*self._furthest), DISTANCE_STEPS)

    @cached_property
    def marginality_sensitivity(self) -> Fraction:
        """How far one replaced value can move the marginality of any concept.

        The diameter of the domain: the largest rational distance between two *categories*. Often
        well below `rational_diameter`, for rows hold no general concepts; and never below the
        distance of the `boundaries`, which the thesis takes and which can be too small.

        Source
            Tenue's own, after thesis, equations 6.2 and 6.3.
        """
        domain = (concept for _, concept in self.labels)
        return Fraction(rounded_up_steps(*furthest(self._ancestry, domain)), DISTANCE_STEPS)

    def marginality(self, name: str, sample: Sample) -> Fraction:
        """The exact sum of the rational distances from a concept to the values of a sample.

        Parameters
            name: any concept or category.
            sample: values, repeated as often as they occur, or a mapping from value to count.

        Source
            Thesis, equation 6.1.
        """
        concept = self.concept_of(name)
        steps = marginality(self._ancestry, concept, counted(sample, self.concept_of))
        return Fraction(steps, DISTANCE_STEPS)

    def least_marginal(self, counts: Sample) -> str:
        """The concept of the whole taxonomy with the least marginality towards a sample.

        Ties go to the concept that comes first in `concepts`. Not private: a function of the
        sample. The candidates are all concepts, not only those above the sample's values as in the
        thesis.

        Source
            Thesis, equation 6.4.
        """
        return least_marginal(self._ancestry, counted(counts, self.concept_of))

    def boundaries(self) -> tuple[str, str]:
        """The most marginal category a_b, and the category a_t furthest from it.

        Ties go to the category declared first. Their distance is *not* the diameter in general, and
        must not be used as a sensitivity.

        Source
            Thesis, equations 6.2 and 6.3.
        """
        return boundaries(self._ancestry, self._names.attached)

    def to_edges(self) -> tuple[tuple[str, str], ...]:
        """The (child, parent) pairs in canonical order: `from_edges` gives the concepts back."""
        return self.edges

    def to_nested(self) -> dict[str, object]:
        """Tables inside tables: `from_nested` gives the concepts back, if at most 1,000 deep.

        The children of a concept with several parents are drawn below the first of them.

        Example
            >>> Taxonomy.from_edges([("cat", "pet"), ("pet", "animal")]).to_nested()
            {'animal': {'pet': ['cat']}}
        """
        return drawn(self._graph)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the content, in hexadecimal: the same for every way of writing it down."""
        content = json.dumps(["tenue-taxonomy-1", self.edges, self.labels], separators=(",", ":"))
        return hashlib.sha256(content.encode("ascii")).hexdigest()

    @cached_property
    def _names(self) -> Names:
        return Names(self._graph, self.labels)

    @cached_property
    def _ancestry(self) -> Ancestry:
        return Ancestry(self._graph)

    @cached_property
    def _furthest(self) -> tuple[int, int]:
        return furthest(self._ancestry, self.concepts)


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
        raise refuse("taxonomy.sample-empty")
    return min(ancestry.graph.concepts, key=lambda c: marginality(ancestry, c, counts))


def boundaries(ancestry: Ancestry, labels: Mapping[str, str]) -> tuple[str, str]:
    """The first most marginal label, and the first of the labels furthest from it."""
    domain = Counter(labels.values())
    margins = {concept: marginality(ancestry, concept, domain) for concept in domain}
    bottom = max(labels, key=lambda label: margins[labels[label]])
    top = max(labels, key=lambda label: ancestry.steps(labels[label], labels[bottom]))
    return bottom, top
