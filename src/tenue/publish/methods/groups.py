"""Methods that put similar people into groups: how they read k, l and t, and what they share.

A promise about groups of k is syntactic: it says how a table looks, not what it tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...arguments import above_zero, exact, whole
from ...errors import Fault, Refused, nearest, refuse
from ...evaluate.check import check_groups
from ...evaluate.one_table.cell_equality import word_codes
from ...evaluate.one_table.diversity import single_valued
from ...schema import Category, Schema
from ...schema.table import RECORD
from ...text import exactly, many
from ..assessment import Step
from ..partition.grow import Wanted, close_groups
from ..partition.mdav import GAIN, mdav, v_mdav
from ..partition.mdav_reference import Euclidean, Space
from ..partition.mixed_records import Mixed
from ..table.cells import Cells, Numbers
from ..table.input_table import Original
from ..table.records import records_of
from .contract import Passable, Published, Way, one_of

if TYPE_CHECKING:
    from ...evaluate import Check

EVERY = ""
"""The key of groups that hold for every column."""
HOMOGENEOUS = "homogeneous-groups"

NOT_PRIVACY = "It is not differential privacy."
TWICE = (
    "It does not survive a second publication of the table or of a changed one: the record that "
    "changed is recovered exactly."
)
DISCLOSED = "Where all of a group share one confidential value, that value is disclosed."
GROWN = (
    "Groups were made larger where {asked} was not reached. Whoever knows the method can tell "
    "which groups were, and so that their first members lacked it: with a small l that can be the "
    "one value which they share."
)
FORMED = (
    "For t, groups may have been formed by confidential values rather than by quasi-identifiers "
    "alone. Whoever knows the method may learn about these values from who shares a group."
)
DIFFERENT = "at least {l} different values of {names} in each group"
NEEDED = "it takes at least {l} values of {names} for everybody of a group to have one of them"


@dataclass(frozen=True)
class GroupWay(Way):
    """By what groups are formed.

    similar: by quasi-identifiers. One partition then holds for all columns, and its groups can
        grow for l and t; otherwise each confidential column has groups of its own, with its own k.
    gain: they are those of V-MDAV, with its gain factor gamma.
    in_order: they follow from counts that come in order, so that the table need not be held.
    """

    similar: bool = True
    gain: bool = False
    in_order: bool = False


@dataclass(frozen=True, kw_only=True)
class Grouped(Passable):
    """A method that forms groups.

    by: one of `ways`; the first of them is taken if none is named.
    k: how many units each group has at least; by column where each has its own groups.
    l, t: what else must hold of each group.
    gamma: the gain factor of V-MDAV.
    """

    ways: ClassVar[Mapping[str, GroupWay]]
    overrides = (HOMOGENEOUS,)
    one_partition: ClassVar[bool] = False
    """Whether one partition holds for all columns whatever forms it."""

    by: str
    k: Mapping[str, int] = field(default_factory=dict)
    l: int | None = None
    t: Fraction | None = None
    gamma: Fraction | None = None

    @classmethod
    def read(
        cls,
        schema: Schema,
        override: object,
        *,
        k: int | Mapping[str, int],
        by: str | None = None,
        l: int | None = None,
        t: object = None,
        gamma: object = None,
        memory: int | None = None,
    ) -> Self:
        way = next(iter(cls.ways)) if by is None else one_of(by, "by", cls.ways)
        asked = cls(schema=schema, by=way)
        asked.check_needs()
        if gamma is not None and not asked.way.gain:
            raise refuse("publish.gamma-without-v-mdav")
        if l is not None or t is not None:
            if not asked.way.similar:
                word = "l" if l is not None else "t"
                raise refuse("publish.condition-not-by-groups", word=word, way=way)
            if not asked.confidential:
                raise asked.no_role("confidential", "l and t speak of confidential columns")
        made = replace(asked, override=cls.insisted(override), k=asked.sizes(k))
        made.check_values()
        return replace(
            made,
            l=None if l is None else whole(l, "l", least=2),
            t=None if t is None else _distance(t),
            gamma=None if gamma is None else above_zero(gamma, "gamma"),
            held=made.room(memory),
        )

    @property
    def in_order(self) -> bool:
        return self.way.in_order

    def check_needs(self) -> None:
        """Refuses a schema that lacks the columns by which groups are formed."""
        if not self.quasi and self.way.similar:
            raise self.no_role("quasi-identifier", "Groups are formed by quasi-identifiers")

    def check_values(self) -> None:
        """Refuses columns whose values cannot be grouped so."""

    def sizes(self, k: object) -> Mapping[str, int]:
        """Each group's k, by confidential column where each has its own groups."""
        names = self.confidential
        if not isinstance(k, Mapping):
            size = whole(k, "k", least=2)
            return {EVERY: size} if self.shared else dict.fromkeys(names, size)
        if self.shared:
            raise refuse("publish.k-per-column")
        known = {column.lower(): column for column in names}
        given = {str(column).lower(): size for column, size in k.items()}
        if len(given) < len(k):
            raise refuse("publish.k-column-twice")
        for column in given:
            if column not in known:
                raise refuse(
                    "publish.k-column-unknown", column=column, nearest=nearest(column, known)
                )
        for column in known:
            if column not in given:
                raise refuse("publish.k-column-missing", known=known[column])
        return {known[name]: whole(size, f"k[{name}]", least=2) for name, size in given.items()}

    @property
    def way(self) -> GroupWay:
        return self.ways[self.by]

    @property
    def shared(self) -> bool:
        """Whether one partition holds for all columns."""
        return self.way.similar or self.one_partition

    @property
    def label(self) -> str:
        return f"{self.name} by {self.by}"

    @property
    def least(self) -> int:
        """The smallest k of all."""
        return min(self.k.values())

    @property
    def grown(self) -> tuple[str, ...]:
        """The columns for which groups grow."""
        return self.sensitive or self.confidential

    # -- groups ------------------------------------------------------------------------------------

    @property
    def fewest(self) -> int:
        return max(self.k.values())

    def similar_groups(self, original: Original) -> Numbers:
        """The group of each row: similar people, as far as l and t allow."""
        records = records_of([original.cells[name] for name in self.quasi], original.persons)
        if self.way.gain:
            labels = v_mdav(records, self.least, self.gamma or GAIN).labels
        else:
            labels = mdav(records, self.least).labels
        if self.l is not None or self.t is not None:
            wanted = []
            for column in (original.cells[name] for name in self.grown):
                where, ordered = places(column), not isinstance(column.column, Category)
                asked = Wanted(column.name, where, ordered, self.l, self.t, original.persons)
                wanted.append(asked)
            space: Space
            if records.semantic:
                space = Mixed(records.coordinates, records.semantic)
            else:
                space = Euclidean(records.coordinates)
            labels = close_groups(space, labels, self.least, wanted, original.persons)
        return original.of_rows(labels)

    def check_homogeneous(self, original: Original, groups: Mapping[str, Numbers]) -> None:
        """Refuses groups that tell a sensitive value which all of their members have."""
        # a wide t allows groups of one value; l of at least 2 does not
        if (self.l or 0) >= 2 or HOMOGENEOUS in self.override:
            return
        for name in self.sensitive:
            if single_valued(places(original.cells[name]), groups[name], original.persons):
                raise self.tells_a_value(name)

    def check_alone(self, found: Check | None) -> None:
        """As `check_homogeneous`, of groups that were found in passes."""
        columns = () if found is None or HOMOGENEOUS in self.override else found.confidential
        for column in columns:
            if column.name in self.sensitive and column.homogeneous_groups:
                raise self.tells_a_value(column.name)

    def tells_a_value(self, name: str) -> Refused:
        """The refusal of groups that tell a sensitive value which all of their members have."""
        alike = next(name for name, way in self.ways.items() if way.similar)
        more = "Add l=2" if self.way.similar else f'Use by="{alike}" with l=2'
        return refuse("publish.sensitive-homogeneous-groups", column=name, way_out=more)

    def measure_again(self, table: Any, persons: Numbers | None) -> None:
        """Measures k, l and t, with the persons beside the table."""
        found = check_groups(table, self.schema, persons, self.grown)
        far = max((column.exact_t for column in found.confidential), default=0)
        if (
            found.k < self.least
            or (self.l is not None and (found.l or 0) < self.l)
            or (self.t is not None and far > self.t)
        ):
            raise Fault("a release was about to leave without what it promises")

    def group_steps(self, original: Original, made: Published) -> Iterator[Step]:
        """The sizes of groups; and, always, how many tell the one value that all members have."""
        for name, labels in made.groups.items():
            sizes = np.bincount(original.of_persons(labels))
            of = "" if self.shared else f" of {name}"
            text = f"{many(sizes.size, 'group')}{of}, {units_in_each(sizes)}"
            yield Step("partition", text)
            if self.shared:
                break
        for name in self.confidential:
            labels = made.groups[name if name in made.groups else EVERY]
            alone = single_valued(places(original.cells[name]), labels, original.persons)
            groups = int(labels.max()) + 1
            yield Step("homogeneous", homogeneous_text(alone, groups, name))

    # -- the certificate ---------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, str]:
        sizes = list(dict.fromkeys(self.k.values()))
        each = ", ".join(f"{name}: {size}" for name, size in self.k.items())
        found = {
            "by": self.by,
            "k": str(sizes[0]) if len(sizes) == 1 else each,
            "quasi-identifiers": ", ".join(self.quasi),
            "confidential": ", ".join(self.confidential),
            "unprotected": ", ".join(self.unprotected),
        }
        names = ", ".join(self.grown)
        if self.gamma is not None:
            found["gamma"] = exactly(self.gamma)
        if self.l is not None:
            said = DIFFERENT if self.schema.unit == RECORD else NEEDED
            found["l"] = said.format(l=self.l, names=names)
        if self.t is not None:
            far = exactly(self.t)
            found["t"] = f"earth mover's distance of {names} at most {far} in each group"
        return found

    @property
    def limits(self) -> list[str]:
        asked = [name for name, given in (("l", self.l), ("t", self.t)) if given is not None]
        more = [GROWN.format(asked=" or ".join(asked))] if asked else []
        more += [] if self.t is None else [FORMED]
        return [NOT_PRIVACY, TWICE, DISCLOSED, *more]


def places(column: Cells) -> Numbers:
    """The place of each value among the different values, in order; -1 where it is missing.

    Categories that differ only in the way they are written, as flu and Flu do, are one value, as
    they are to `check`.
    """
    import pyarrow

    codes = np.full(column.size, -1, np.int64)
    values: NDArray[Any] = column.numbers[column.present]
    if isinstance(column.column, Category):
        values = word_codes(pyarrow.array(column.labels), column.column)[values]
    codes[column.present] = np.unique(values, return_inverse=True)[1].reshape(-1)
    return codes


def _distance(t: object) -> Fraction:
    value = exact(t, "t")
    if not 0 <= value <= 1:
        raise refuse("publish.t-above-one", t=t)
    return value


def homogeneous_text(alone: int, groups: int, name: str) -> str:
    """How many groups tell the one value that all members have."""
    return f"{alone:,} of {groups:,} groups have one `{name}` only"


def units_in_each(sizes: Numbers) -> str:
    """How large groups are, from the smallest to the largest."""
    least, most = int(sizes.min()), int(sizes.max())
    return f"{f'{least:,} to ' if least < most else ''}{many(most, 'unit')} in each"


def homogeneous_steps(found: Check | None, sizes: Numbers) -> Iterator[Step]:
    """What `group_steps` says of groups that were found in passes.

    Parameters
        found: what was measured of the groups.
        sizes: how large they are; sizes that several have may be told once.
    """
    if found is None:
        return
    yield Step("partition", f"{many(found.groups, 'group')}, {units_in_each(sizes)}")
    for one in found.confidential:
        text = homogeneous_text(one.homogeneous_groups, found.groups, one.name)
        yield Step("homogeneous", text)
