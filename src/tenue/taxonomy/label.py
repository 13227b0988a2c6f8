"""Which labels rows may hold, which concept each of them means, and in which order they come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from ..errors import nearest, refuse
from ..frozen import dataclass
from .given import pair, refuse_repeated, sequence, shown, text
from .graph import Graph

Categories = Mapping[str, str] | Iterable[str | tuple[str, str]]


def attached(
    categories: Categories | None, children: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[str, str], ...]:
    """Each label with its concept, in declared order; without categories, the leaves.

    Example
        >>> attached({"Katze": "cat"}, {"animal": ("cat", "dog"), "cat": (), "dog": ()})
        (('Katze', 'cat'),)
        >>> attached(None, {"animal": ("cat", "dog"), "cat": (), "dog": ()})
        (('cat', 'cat'), ('dog', 'dog'))
    """
    if categories is None:
        return tuple((leaf, leaf) for leaf in children if not children[leaf])
    given = categories.items() if isinstance(categories, Mapping) else categories
    labels = []
    for entry in sequence(given, "categories"):
        both = (entry, entry) if isinstance(entry, str) else entry
        label, concept = pair(both, "A category", "label, concept")
        labels.append((text(label), text(concept)))
    if not labels:
        raise refuse("taxonomy.taxonomy-without-category")
    refuse_repeated((label for label, _ in labels), "Each category is declared once")
    for label, concept in labels:
        if concept not in children:
            near = nearest(concept, children)
            raise refuse("taxonomy.unknown-concept", label=label, concept=concept, nearest=near)
        if label != concept and label in children:
            raise refuse("taxonomy.concept-and-category", label=label, concept=concept)
    return tuple(labels)


@dataclass(frozen=True, eq=False)
class Names:
    """All names of a taxonomy: its concepts, and its labels with the concepts they mean.

    Example
        >>> names = Names(Graph.of([("cat", "animal"), ("dog", "animal")]), (("Katze", "cat"),))
        >>> names.concept_of("Katze"), names.concept_of("dog"), names.rank("cat")
        ('cat', 'dog', 0)
    """

    graph: Graph
    labels: tuple[tuple[str, str], ...]

    @cached_property
    def attached(self) -> dict[str, str]:
        """The concept of each label."""
        return dict(self.labels)

    @cached_property
    def depth_first(self) -> tuple[str, ...]:
        """The labels as a walk from the root meets their concepts, else in declared order."""
        place = {concept: index for index, concept in enumerate(self.graph.concepts)}
        return tuple(sorted(self.attached, key=lambda label: place[self.attached[label]]))

    def concept_of(self, name: str) -> str:
        """The concept a label is attached to; a concept is its own."""
        if isinstance(name, str):
            if name in self.attached:
                return self.attached[name]
            if name in self.graph.children:
                return name
        word = name if isinstance(name, str) else shown(name)
        asked = f"`{name:.60}`" if isinstance(name, str) else word
        near = nearest(word, {*self.attached, *self.graph.children})
        graph, many = self.graph, len(self.labels)
        raise refuse(
            "taxonomy.unknown-taxonomy-name",
            asked=asked,
            many=many,
            many2=len(graph.concepts),
            root=graph.root,
            nearest=near,
        )

    def rank(self, name: str) -> int:
        """The place in `depth_first` of a label, or of the first label of a concept."""
        self.concept_of(name)
        if name not in self._ranks:
            raise refuse(
                "taxonomy.concept-not-storable", name=name, nearest=nearest(name, self.attached)
            )
        return self._ranks[name]

    @cached_property
    def _ranks(self) -> dict[str, int]:
        labels = {label: rank for rank, label in enumerate(self.depth_first)}
        # of several labels of a concept the first one is written last, and stays
        return {self.attached[label]: labels[label] for label in reversed(labels)} | labels
