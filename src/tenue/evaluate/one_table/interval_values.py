"""The text of a generalised value, and the share of its domain that it covers.

Numbers, dates and datetimes become intervals, `[30, 39]`, both ends included. A category becomes
the name of a concept that covers it; without a taxonomy a set, `{Bern, Genf}`, or a range in the
declared order, `{Bern … Genf}`. `*` covers the whole domain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ...errors import Refused, refuse
from ...schema import Boolean, Bounded, Category, Column
from ...schema.column import Value
from ...taxonomy.tree import Tree
from ...text import exactly

ANYTHING = "*"
MOST_LISTED = 8
"""A longer set is written as a range."""

_BETWEEN = " … "
_INTERVAL = re.compile(r"\[(.*), (.*)\]", re.DOTALL)
_QUOTE = re.compile(r'"(?:[^"\\]|\\.)*"')
_ITEM = re.compile(rf'\s*({_QUOTE.pattern}|[^,…"]+?)\s*(?:[,…]|$)')
_SPECIAL = re.compile(r'[{},"…]|^\s|\s$')


def interval(low: Value, high: Value) -> str:
    """The text of all values between two.

    Example
        >>> interval(30, 39), interval(Fraction(1, 2), Fraction(3, 4))
        ('[30, 39]', '[0.5, 0.75]')
    """
    return f"[{_written(low)}, {_written(high)}]"


def anything(labels: Collection[str]) -> str:
    """The text that covers all of these categories: a star, or more if that is one of them."""
    text = ANYTHING
    while text in labels:
        text += ANYTHING
    return text


def ends(column: Bounded, text: str) -> tuple[int, int]:
    """The ends of an interval in grid steps above the low bound; twice the value of a single one.

    Refused if they are not values of the column.
    """
    if text == ANYTHING:
        return 0, column.steps
    found = _INTERVAL.fullmatch(text)
    low, high = found.groups() if found else (text, text)
    return column.to_steps(low), column.to_steps(high)


def one_of(labels: Sequence[str], known: Collection[str] = ()) -> str:
    """The text of a set of categories; of one, the category itself.

    Parameters
        known: all categories; if one has the name of the set, the set gets more braces.

    Example
        >>> one_of(["Bern", "Genf"]), one_of(["Bern"]), one_of(["a, b", "c"])
        ('{Bern, Genf}', 'Bern', '{"a, b", c}')
    """
    if len(labels) == 1:
        return labels[0]
    if len(labels) > MOST_LISTED:
        text = f"{{{_item(labels[0])}{_BETWEEN}{_item(labels[-1])}}}"
    else:
        text = f"{{{', '.join(map(_item, labels))}}}"
    while text in known:
        text = f"{{{text}}}"
    return text


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of a declared column, and the share of them that a text covers."""

    column: Column

    def penalty(self, text: str) -> Fraction:
        """The normalised certainty penalty of a text: 0 for one value, 1 for the whole domain.

        For an interval its width over that of the bounds; for a category the share of all
        categories that it covers, or 0 if it covers one. Other texts are refused.
        """
        if text in self._sizes:
            return self._share(self._sizes[text])
        if text == anything(self._sizes):
            return Fraction(1)
        try:
            if isinstance(self.column, Bounded):
                low, high = ends(self.column, text)
                return Fraction(max(high - low, 0), max(self.column.steps, 1))
            if text.startswith("{") and text.endswith("}"):
                inside = text[1:-1]
                while inside in self._sizes and inside.startswith("{"):
                    inside = inside[1:-1]  # braces that distinguish it from the category
                return self._share(self._listed(inside))
        except (Refused, KeyError, ValueError):
            pass
        raise refuse("evaluate.cell-not-recoded", column=self.column.name, type=self.column.type)

    def _listed(self, inside: str) -> int:
        items = map(str.strip, _ITEM.findall(inside))
        labels = (str(json.loads(item)) if item.startswith('"') else item for item in items)
        found = {self._positions[label] for label in labels}
        if _BETWEEN in _QUOTE.sub("", inside):
            return max(found) - min(found) + 1
        return len(found)

    def _share(self, size: int) -> Fraction:
        return Fraction(size if size > 1 else 0, self._all)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(names_of(self.column))}

    @cached_property
    def _all(self) -> int:
        if isinstance(self.column, Category) and not isinstance(self.column.stated, tuple):
            return self._tree.leaves
        return max(len(names_of(self.column)), 1)

    @cached_property
    def _tree(self) -> Tree:
        assert isinstance(self.column, Category)  # noqa: S101 - asked of categories alone
        return Tree.of(self.column.taxonomy)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """The number of categories that each name covers."""
        if not isinstance(self.column, Category) or isinstance(self.column.stated, tuple):
            return dict.fromkeys(names_of(self.column), 1)
        tree = self._tree
        covered = (tree.last - tree.first + 1).tolist()
        return {**dict.fromkeys(tree.leaf_of, 1), **dict(zip(tree.names, covered, strict=True))}


def names_of(column: Column) -> tuple[str, ...]:
    """The values of a column without order or taxonomy, in the declared order."""
    if isinstance(column, Boolean):
        return ("false", "true")
    return column.categories if isinstance(column, Category) else ()


def _written(value: Value) -> str:
    if isinstance(value, int | Fraction):
        return exactly(Fraction(value))
    return value if isinstance(value, str) else value.isoformat()


def _item(label: str) -> str:
    return json.dumps(label, ensure_ascii=False) if _SPECIAL.search(label) else label
