"""Which labels rows may hold, and which concept each of them means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import nearest, refuse
from .given import pair, refuse_repeated, sequence, text

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
    entries: Iterable[object] = (
        categories.items()
        if isinstance(categories, Mapping)
        else sequence(categories, "categories")
    )
    labels = []
    for entry in entries:
        label, concept = (
            (entry, entry)
            if isinstance(entry, str)
            else pair(entry, "A category", "label, concept")
        )
        labels.append((text(label), text(concept)))
    if not labels:
        raise refuse("taxonomy.taxonomy-has-no-category")
    refuse_repeated((label for label, _ in labels), "Each category is declared once")
    for label, concept in labels:
        if concept not in children:
            raise refuse(
                "taxonomy.category-is-attached-to-which-is-no",
                label=label,
                concept=concept,
                nearest=nearest(concept, children),
            )
        if label != concept and label in children:
            raise refuse("taxonomy.both-concept-category-attached", label=label, concept=concept)
    return tuple(labels)
