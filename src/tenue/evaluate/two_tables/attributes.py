"""An original table and its masked version, attribute by attribute; row i is the same record unless
`related` is false.

The distance of two values is that of section 6.4.2: the difference of numbers (dates in days,
datetimes in seconds) and the semantic distance of categories, which without a taxonomy are all
equally far apart. The distance is the largest of the attribute if a value is missing on one side
only, and 0 if it is missing on both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...arguments import moderate
from ...errors import refuse
from ...schema import Bounded, Category, Column, Date, Table
from ...taxonomy import Taxonomy
from ..column_types import Values, column_of, typed
from ..factorize import Real, Whole
from ..rows import Rows, open_rows

Names = Iterable[str | int] | None

_MOST_WORDS = 4000
_STEP = 2.0**-31
_FLAT = float(np.log2(5 / 3))
"""The semantic distance of two categories directly below one root."""


@dataclass(frozen=True, eq=False)
class Numeric:
    """An attribute of numbers or times; NaN is missing.

    declared: the width of the declared domain.
    time: whether these are days or seconds since 1970.
    origin: is subtracted from all values: 0, unless some are beyond 2^53, where doubles cannot hold
        all whole numbers. Differences are then exact up to 2^53.
    """

    name: str
    original: Real
    masked: Real
    declared: float | None = None
    time: bool = False
    origin: int = 0

    @cached_property
    def complete(self) -> bool:
        """Whether no value is missing."""
        return not (np.isnan(self.original).any() or np.isnan(self.masked).any())

    @cached_property
    def reach(self) -> float:
        """The largest distance: of the declared domain, else of the values that occur, else 1."""
        if self.declared is not None:
            return self.declared
        both = np.concatenate([self.original, self.masked])
        both = both[~np.isnan(both)]
        spread = float(both.max() - both.min()) if both.size else 0.0
        return spread or 1.0  # a missing value differs from a constant

    def squared(self, masked: Whole, original: Whole, scale: float = 1.0) -> Real:
        """Squared distances of masked to original rows, broadcast."""
        with np.errstate(over="ignore"):
            apart = self.masked[masked] / scale - self.original[original] / scale
            squares: Real = apart * apart
        if not self.complete:
            gone = np.isnan(self.masked)[masked], np.isnan(self.original)[original]
            squares = np.where(gone[0] ^ gone[1], (self.reach / scale) ** 2, squares)
            squares = np.where(gone[0] & gone[1], 0.0, squares)
        return squares


@dataclass(frozen=True, eq=False)
class Nominal:
    """An attribute of categories: codes into `words`, -1 where missing."""

    name: str
    original: Whole
    masked: Whole
    words: tuple[str, ...]
    taxonomy: Taxonomy | None = None

    @cached_property
    def reach(self) -> float:
        """The largest distance: of the taxonomy's categories, or of any two different ones."""
        if self.taxonomy is None:
            return _FLAT
        return float(self.taxonomy.marginality_sensitivity) or _FLAT  # of one category

    @property
    def count(self) -> int:
        return len(self.words)

    @cached_property
    def distances(self) -> Real:
        """The semantic distance of every two words; last row and column are for missing values."""
        words = self._semantic(self.taxonomy) if self.taxonomy else _FLAT * (1 - np.eye(self.count))
        # `reach` is rounded up: words at the largest distance are as far apart as a missing value
        far = words.max(initial=0)
        far = far if self.reach - far < _STEP else self.reach
        table = np.pad(words, (0, 1), constant_values=far)
        table[self.count, self.count] = 0
        return table

    def squared(self, masked: Whole, original: Whole, scale: float = 1.0) -> Real:
        """Squared distances of masked to original rows, broadcast."""
        one, other = self.masked[masked], self.original[original]
        if self.taxonomy is None:
            apart = np.where(one == other, 0.0, _FLAT / scale)
        else:
            apart = self.distances[one, other] / scale
        return apart * apart

    def _semantic(self, taxonomy: Taxonomy) -> Real:
        if self.count > _MOST_WORDS:
            raise refuse(
                "evaluate.taxonomy-column-too-varied", name=self.name, most_words=_MOST_WORDS
            )
        above = [taxonomy.ancestors(word) for word in self.words]
        index = {concept: i for i, concept in enumerate(sorted(set().union(*above)))}
        member = np.zeros((len(above), len(index)))
        for row, concepts in zip(member, above, strict=True):
            row[[index[concept] for concept in concepts]] = 1
        common = member @ member.T
        sizes = member.sum(axis=1)
        union = sizes[:, None] + sizes[None, :] - common
        return np.asarray(np.log2((2 * union - common) / union))


Attribute = Numeric | Nominal


def paired(
    original: object,
    masked: object,
    columns: Names = None,
    schema: Table | None = None,
    *,
    related: bool = True,
    recoded: bool = False,
) -> list[Attribute]:
    """The attributes of the two tables.

    Parameters
        columns: by default, all that both tables have; with a schema, without identifiers.
        schema: the types, domains and taxonomies of the columns.
        related: whether row i of both is the same record. If not, one table may have more rows, and
            the sides must not be compared row by row.
        recoded: whether undeclared categories, such as sets of declared ones, are allowed. All
            different ones are then equally far apart.
    """
    first, second = open_rows(original), open_rows(masked)
    names = _chosen(first, second, columns, schema)
    before = first.read([one for one, _ in names])
    after = second.read([other for _, other in names])
    rows = {len(column) for column in (*before.values(), *after.values())}
    if related and len(rows) > 1:
        raise refuse("evaluate.tables-differ-in-rows")
    found = []
    for one, other in names:
        declared = column_of(schema, one)
        left = typed(one, before[one], declared, written=first.written)
        right = typed(other, after[other], declared, written=second.written)
        found.append(_attribute(left, right, declared, recoded=recoded))
    return found


def divisors(attributes: list[Attribute], scale: object) -> list[float]:
    """One divisor for each attribute: 1 without a scale.

    Parameters
        scale: a number for each attribute, in order or by name.
    """
    if scale is None:
        return [1.0] * len(attributes)
    if isinstance(scale, Mapping):
        given = [scale.get(attribute.name) for attribute in attributes]
    else:
        try:
            given = [] if isinstance(scale, str) else list(scale)  # type: ignore[call-overload]
        except TypeError:
            given = []
    if len(given) != len(attributes):
        raise refuse("evaluate.scale-length", many=len(attributes))
    return [
        float(moderate(value, f"scale[{attribute.name}]"))
        for value, attribute in zip(given, attributes, strict=True)
    ]


def _chosen(
    first: Rows, second: Rows, columns: Names, schema: Table | None
) -> list[tuple[str, str]]:
    if columns is not None:
        given = [columns] if isinstance(columns, str | int) else list(columns)
        chosen = [(first.spelled(name), second.spelled(name)) for name in given]
    else:
        hidden = set() if schema is None else {c.name.lower() for c in schema.identifiers}
        shared = [(name, second.find(name)) for name in first.names if name.lower() not in hidden]
        chosen = [(name, other) for name, other in shared if other is not None]
        if schema is not None:
            chosen = [(name, other) for name, other in chosen if name in schema.columns]
    if not chosen:
        raise refuse("evaluate.no-common-columns")
    return list(dict.fromkeys(chosen))


def _attribute(left: Values, right: Values, declared: Column | None, *, recoded: bool) -> Attribute:
    if left.kind == right.kind and left.kind != "category":
        days = isinstance(declared, Date) or (declared is None and left.days and right.days)
        width = float(declared.high - declared.low) if isinstance(declared, Bounded) else None
        origin = left.least_of_large or right.least_of_large
        one, other = (side.numbers(days=days, origin=origin) for side in (left, right))
        return Numeric(left.name, one, other, width, left.kind == "time", origin)
    sides = left.words(), right.words()
    words = sorted({word for side in sides for word in side if word is not None})
    taxonomy = declared.taxonomy if isinstance(declared, Category) else None
    if taxonomy is not None and not {*taxonomy.categories, *taxonomy.concepts}.issuperset(words):
        if not recoded:
            raise refuse("evaluate.value-outside-taxonomy", column=left.name)
        taxonomy = None
    code: dict[Any, int] = {word: i for i, word in enumerate(words)} | {None: -1}
    before, after = (np.array([code[word] for word in side], np.int64) for side in sides)
    return Nominal(left.name, before, after, tuple(words), taxonomy)
