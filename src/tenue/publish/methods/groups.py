"""Methods that form groups of similar people: their options k, l and t, and what they share.

A promise about groups of k is syntactic: it describes a table, and does not bound what is learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ...arguments import Number, above_zero, exact, whole
from ...errors import Refused, nearest, refuse
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
from .contract import Passable, Published, Way, check_kept, one_of

if TYPE_CHECKING:
    from ...evaluate import Check

EVERY = ""
"""The key of groups that apply to every column."""
HOMOGENEOUS = "homogeneous-groups"

NOT_PRIVACY = "It is not differential privacy."
TWICE = (
    "It does not withstand a second release of the table or of a changed version: the record that "
    "changed is recovered exactly."
)
DISCLOSED = (
    "It does not prevent attribute disclosure: where all members of a group have the same "
    "confidential value, that value is disclosed."
)
GROWN = (
    "It does not hide which groups were enlarged because {asked} was not reached. An intruder who "
    "knows the method can identify them, and infer that their first members lacked it: with a "
    "small l, this can reveal the one value that they share."
)
FORMED = (
    "It does not hide how groups were formed: for t, this may depend on confidential values and "
    "not on quasi-identifiers alone. An intruder who knows the method may learn about these values "
    "from who shares a group."
)
DIFFERENT = "at least {l} different values of {names} in each group"
NEEDED = "at least {l} values of {names} are needed for every member of a group to have one of them"


@dataclass(frozen=True)
class GroupWay(Way):
    """How groups are formed.

    similar: by quasi-identifiers. One partition then applies to all columns, and its groups can
        grow for l and t; otherwise each confidential column has groups of its own, with its own k.
    gain: by V-MDAV, with its gain factor gamma.
    in_order: from counts in sorted order, so that the table need not be held.
    """

    similar: bool = True
    gain: bool = False
    in_order: bool = False


@dataclass(frozen=True, kw_only=True)
class Grouped(Passable):
    """A method that forms groups.

    by: one of `ways`; the first of them by default.
    k: the least number of units in a group; by column where each has its own groups.
    l, t: further conditions on each group.
    gamma: the gain factor of V-MDAV.
    """

    ways: ClassVar[Mapping[str, GroupWay]]
    overrides = (HOMOGENEOUS,)
    one_partition: ClassVar[bool] = False
    """Whether one partition applies to all columns, however it is formed."""

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
        t: Number | None = None,
        gamma: Number | None = None,
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
        different = None if l is None else whole(l, "l", least=2)
        distance = None if t is None else exact(t, "t")
        if distance is not None and not 0 <= distance <= 1:
            raise refuse("publish.t-above-one", t=t)
        return replace(
            made,
            l=different,
            t=distance,
            gamma=None if gamma is None else above_zero(gamma, "gamma"),
            held=made.room(memory),
        )

    @property
    def in_order(self) -> bool:
        return self.way.in_order

    def check_needs(self) -> None:
        """Refuses a schema that lacks the columns by which groups are formed."""
        if not self.quasi and self.shared:
            raise self.no_role("quasi-identifier", "Groups are formed by quasi-identifiers")

    def check_values(self) -> None:
        """Refuses columns whose values cannot be grouped so."""

    def sizes(self, k: object) -> Mapping[str, int]:
        """k, by confidential column where each has its own groups."""
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
        """Whether one partition applies to all columns."""
        return self.way.similar or self.one_partition

    @property
    def label(self) -> str:
        return f"{self.name} by {self.by}"

    @property
    def least(self) -> int:
        return min(self.k.values())

    @property
    def grown(self) -> tuple[str, ...]:
        """The columns to which l and t apply."""
        return self.sensitive or self.confidential

    # -- groups ------------------------------------------------------------------------------------

    @property
    def fewest(self) -> int:
        return max(self.k.values())

    def similar_groups(self, original: Original) -> Numbers:
        """The group of each row: similar people, enlarged for l and t."""
        records = records_of([original.cells[name] for name in self.quasi], original.persons)
        if self.way.gain:
            labels = v_mdav(records, self.least, self.gamma or GAIN).labels
        else:
            labels = mdav(records, self.least).labels
        if self.l is not None or self.t is not None:
            wanted = [
                Wanted(name, codes, ordered, self.l, self.t, original.persons)
                for name, codes, ordered in self.conditioned(original)
            ]
            space: Space = Euclidean(records.coordinates)
            if records.semantic:
                space = Mixed(records.coordinates, records.semantic)
            labels = close_groups(space, labels, self.least, wanted, original.persons)
        return original.of_rows(labels)

    def conditioned(self, original: Original) -> list[tuple[str, Numbers, bool]]:
        """The columns to which l and t apply: name, codes, and whether these are ordered."""
        columns = [original.cells[name] for name in self.grown]
        return [(one.name, places(one), not isinstance(one.column, Category)) for one in columns]

    def check_homogeneous(self, original: Original, groups: Mapping[str, Numbers]) -> None:
        """Refuses homogeneous groups: all members have the same value of a sensitive column."""
        # a wide t allows groups of one value; l of at least 2 does not
        if (self.l or 0) >= 2 or HOMOGENEOUS in self.override:
            return
        for name in self.sensitive:
            if single_valued(places(original.cells[name]), groups[name], original.persons):
                raise self._homogeneous(name)

    def check_alone(self, found: Check | None) -> None:
        """As `check_homogeneous`, for groups that were formed in passes."""
        columns = () if found is None or HOMOGENEOUS in self.override else found.confidential
        for column in columns:
            if column.name in self.sensitive and column.homogeneous_groups:
                raise self._homogeneous(column.name)

    def _homogeneous(self, name: str) -> Refused:
        alike = next(name for name, way in self.ways.items() if way.similar)
        more = "Add l=2" if self.way.similar else f'Use by="{alike}" with l=2'
        return refuse("publish.sensitive-homogeneous-groups", column=name, way_out=more)

    def measure_again(
        self, table: Any, persons: Numbers | None, by: Sequence[str] | None = None
    ) -> None:
        """Measures k, l and t of the released table again.

        Parameters
            by: the columns that define groups; quasi-identifiers if None.
        """
        found = check_groups(table, self.schema, persons, self.grown, by)
        far = max((column.exact_t for column in found.confidential), default=0)
        check_kept(found.k >= self.least and (self.t is None or far <= self.t))
        check_kept(self.l is None or (found.l or 0) >= self.l)

    def group_steps(self, original: Original, made: Published) -> Iterator[Step]:
        """The sizes of groups, and how many groups are homogeneous."""
        for name, labels in made.groups.items():
            sizes = np.bincount(original.of_persons(labels))
            yield Step("partition", sizes_text(sizes, "" if self.shared else f" of {name}"))
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
            text = DIFFERENT if self.schema.unit == RECORD else NEEDED
            found["l"] = text.format(l=self.l, names=names)
        if self.t is not None:
            found["t"] = (
                f"earth mover's distance of {names} at most {exactly(self.t)} in each group"
            )
        return found

    @property
    def limits(self) -> list[str]:
        limits = [NOT_PRIVACY, TWICE, DISCLOSED]
        if self.conditions:
            limits.append(GROWN.format(asked=" or ".join(self.conditions)))
        return limits if self.t is None else [*limits, FORMED]

    @property
    def conditions(self) -> list[str]:
        """Which of l and t are required."""
        return [name for name, given in (("l", self.l), ("t", self.t)) if given is not None]


def places(column: Cells) -> Numbers:
    """The rank of each value among the different values; -1 where it is missing.

    Spellings of one category, such as flu and Flu, are one value, as for `check`.
    """
    import pyarrow

    codes = np.full(column.size, -1, np.int64)
    values: NDArray[Any] = column.numbers[column.present]
    if isinstance(column.column, Category):
        values = word_codes(pyarrow.array(column.labels), column.column)[values]
    codes[column.present] = np.unique(values, return_inverse=True)[1].reshape(-1)
    return codes


def homogeneous_text(alone: int, groups: int, name: str) -> str:
    """How many groups have a single value of a column."""
    return f"{alone:,} of {groups:,} groups have a single value of `{name}`"


def sizes_text(sizes: Numbers, of: str = "", groups: int | None = None) -> str:
    """How many groups there are, and how large they are.

    Parameters
        groups: how many; as many as `sizes` if None.
    """
    least, most = int(sizes.min()), int(sizes.max())
    each = f"{f'{least:,} to ' if least < most else ''}{many(most, 'unit')} in each"
    return f"{many(sizes.size if groups is None else groups, 'group')}{of}, {each}"


def homogeneous_steps(found: Check | None, sizes: Numbers) -> Iterator[Step]:
    """`group_steps` for groups that were formed in passes, with their check and their sizes."""
    if found is None:
        return
    yield Step("partition", sizes_text(sizes, groups=found.groups))
    for one in found.confidential:
        text = homogeneous_text(one.homogeneous_groups, found.groups, one.name)
        yield Step("homogeneous", text)
