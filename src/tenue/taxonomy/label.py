"""Which labels rows may hold, and which concept each of them means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import InvalidTaxonomy, nearest
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
        raise InvalidTaxonomy(
            "The taxonomy has no category",
            "At least one category must be attached to a concept",
            "Leave `categories` out to take the leaves",
        )
    refuse_repeated((label for label, _ in labels), "Each category is declared once")
    for label, concept in labels:
        if concept not in children:
            raise InvalidTaxonomy(
                f"The category `{label:.60}` is attached to `{concept:.60}`, which is no concept",
                "Each category is attached to a concept of the taxonomy",
                nearest(concept, children),
            )
        if label != concept and label in children:
            raise InvalidTaxonomy(
                f"`{label:.60}` is both a concept and a category attached to `{concept:.60}`",
                "One name means one thing",
                "Attach the category to the concept of its name, or rename one of them",
            )
    return tuple(labels)
