"""What a name means: a label that rows may hold, or a concept; and in which order labels come."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..errors import nearest, refuse
from .given import shown
from .graph import Graph


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
        asked = f"`{name:.60}`" if isinstance(name, str) else shown(name)
        raise refuse(
            "taxonomy.is-neither-category-nor-concept-of-this",
            asked=asked,
            many=len(self.labels),
            many2=len(self.graph.concepts),
            root=self.graph.root,
            nearest=nearest(
                name if isinstance(name, str) else asked, {*self.attached, *self.graph.children}
            ),
        )

    def rank(self, name: str) -> int:
        """The place in `depth_first` of a label, or of the first label of a concept."""
        self.concept_of(name)
        if name not in self._ranks:
            raise refuse("taxonomy.concept-no-row", name=name, nearest=nearest(name, self.attached))
        return self._ranks[name]

    @cached_property
    def _ranks(self) -> dict[str, int]:
        labels = {label: rank for rank, label in enumerate(self.depth_first)}
        # of several labels of a concept the first one is written last, and stays
        return {self.attached[label]: labels[label] for label in reversed(labels)} | labels
