"""A taxonomy: concepts below one root, the labels attached to them, and their distances."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from ..arguments import whole
from ..errors import nearest, refuse
from .distance import DISTANCE_STEPS, Ancestry, furthest, rounded_up_steps
from .file import drawn, nested_edges, read
from .graph import Categories, Edge, Graph, attached, sequence, shown, text

Sample = Mapping[str, int] | Iterable[str]


@dataclass(frozen=True, init=False, repr=False)
class Taxonomy:
    """Concepts below one root, and the category labels attached to them.

    Guarantee
        Frozen, and compared and hashed by content. The same edges, siblings in the same order, and
        the same categories give the same value and the same `digest`, whichever file they come
        from. Every method accepts category labels and concepts.

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
        """The taxonomy written as nested tables, with leaves in lists or as empty tables.

        A concept with several parents is written below each of them, its own children only once.
        At most 1,000 tables may be nested.

        Example
            >>> Taxonomy.from_nested({"animal": {"pet": ["cat", "dog"], "wolf": {}}}).categories
            ('cat', 'dog', 'wolf')
        """
        return cls(nested_edges(nested), categories)

    @classmethod
    def flat(cls, categories: Iterable[str]) -> Taxonomy:
        """All categories directly below one root, for a column without a taxonomy.

        The root is called `any`, with underscores appended until no category has that name.

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
        """The taxonomy in a JSON or CSV file; the suffix of its name says which.

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

    @cached_property
    def depth_first(self) -> tuple[str, ...]:
        """The categories in the order in which a walk from the root meets their concepts.

        Labels of one concept follow each other in declared order.
        """
        position = {concept: index for index, concept in enumerate(self.concepts)}
        return tuple(sorted(self._attached, key=lambda label: position[self._attached[label]]))

    def rank(self, name: str) -> int:
        """The position of a category in `depth_first`, from 0.

        A concept stands for the first of its labels, and is refused if it has none.
        """
        self.concept_of(name)
        if name not in self._ranks:
            near = nearest(name, self._attached)
            raise refuse("taxonomy.concept-not-storable", name=name, nearest=near)
        return self._ranks[name]

    def concept_of(self, name: str) -> str:
        """The concept a label is attached to; a concept is its own."""
        if isinstance(name, str):
            if name in self._attached:
                return self._attached[name]
            if name in self._graph.children:
                return name
        word = name if isinstance(name, str) else shown(name)
        raise refuse(
            "taxonomy.unknown-taxonomy-name",
            asked=f"`{name:.60}`" if isinstance(name, str) else word,
            many=len(self.labels),
            many2=len(self.concepts),
            root=self.root,
            nearest=nearest(word, {*self._attached, *self._graph.children}),
        )

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

        A metric: 0 between labels of one concept only. For display; releases use
        `rational_distance`.

        Source
            Thesis, equation 6.6.
        """
        return math.log2(1 + self.jaccard(a, b))

    def rational_distance(self, a: str, b: str) -> Fraction:
        """The distance rounded up to a multiple of 2**-32: the only table that releases use.

        Guarantee
            At least the true distance and less than 2**-32 above it; monotone in the true distance;
            0 only for one and the same concept. Rounding up keeps the triangle inequality, so the
            table is a metric too, and replacing v by w in a sample moves a marginality by at most
            `rational_distance(v, w)`.

        Example
            >>> Taxonomy.flat(["x", "y"]).rational_distance("x", "y")
            Fraction(1582621563, 2147483648)
        """
        steps = self._ancestry.steps(self.concept_of(a), self.concept_of(b))
        return Fraction(steps, DISTANCE_STEPS)

    @cached_property
    def diameter(self) -> float:
        """The largest distance between two concepts, categories or not.

        Computed on first use: at once if the taxonomy resembles a tree; in some minutes at worst,
        where 10,000 concepts have thousands of ancestors each.
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
        well below `rational_diameter`, because rows hold no general concepts; never below the
        distance of the `boundaries`, which the thesis uses and which can be too small.

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
        steps = self._marginality(self.concept_of(name), self._counted(sample))
        return Fraction(steps, DISTANCE_STEPS)

    def least_marginal(self, counts: Sample) -> str:
        """The concept of the whole taxonomy with the least marginality towards a sample.

        Ties go to the first in `concepts`. Not private: a function of the sample. The candidates
        are all concepts, not only those above the sample's values as in the thesis.

        Source
            Thesis, equation 6.4.
        """
        sample = self._counted(counts)
        if not any(sample.values()):
            raise refuse("taxonomy.sample-empty")
        return min(self.concepts, key=lambda concept: self._marginality(concept, sample))

    def boundaries(self) -> tuple[str, str]:
        """The most marginal category a_b, and the category a_t furthest from it.

        Ties go to the category declared first. Their distance is *not* the diameter in general, and
        must not be used as a sensitivity.

        Source
            Thesis, equations 6.2 and 6.3.
        """
        labels, steps = self._attached, self._ancestry.steps
        domain = Counter(labels.values())
        margins = {concept: self._marginality(concept, domain) for concept in domain}
        bottom = max(labels, key=lambda label: margins[labels[label]])
        return bottom, max(labels, key=lambda label: steps(labels[label], labels[bottom]))

    def to_edges(self) -> tuple[tuple[str, str], ...]:
        """The (child, parent) pairs in canonical order, from which `from_edges` rebuilds it."""
        return self.edges

    def to_nested(self) -> dict[str, object]:
        """Nested tables, from which `from_nested` rebuilds the concepts, if at most 1,000 deep.

        The children of a concept with several parents are written below the first of them.

        Example
            >>> Taxonomy.from_edges([("cat", "pet"), ("pet", "animal")]).to_nested()
            {'animal': {'pet': ['cat']}}
        """
        return drawn(self._graph)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the content, in hexadecimal, whatever format it was written in."""
        content = json.dumps(["tenue-taxonomy-1", self.edges, self.labels], separators=(",", ":"))
        return hashlib.sha256(content.encode("ascii")).hexdigest()

    @cached_property
    def _attached(self) -> dict[str, str]:
        return dict(self.labels)

    @cached_property
    def _ranks(self) -> dict[str, int]:
        labels = {label: rank for rank, label in enumerate(self.depth_first)}
        # of several labels of a concept the first one is written last, and stays
        return {self._attached[label]: labels[label] for label in reversed(labels)} | labels

    @cached_property
    def _ancestry(self) -> Ancestry:
        return Ancestry(self._graph)

    @cached_property
    def _furthest(self) -> tuple[int, int]:
        return furthest(self._ancestry, self.concepts)

    def _counted(self, sample: Sample) -> Counter[str]:
        counts: Counter[str] = Counter()
        if isinstance(sample, Mapping):
            for name, count in sample.items():
                counts[self.concept_of(name)] += whole(count, "count")
        else:
            counts.update(self.concept_of(name) for name in sequence(sample, "sample"))
        return counts

    def _marginality(self, concept: str, counts: Mapping[str, int]) -> int:
        """In multiples of 2**-32."""
        return sum(n * self._ancestry.steps(concept, value) for value, n in counts.items())
