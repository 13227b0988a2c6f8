"""Anatomy: quasi-identifiers and confidential records in two tables, linked by groups of k.

Both tables are true; only the assignment of a group's records to its members is hidden. To an
intruder who considers every assignment equally likely, a record is a member's with probability
1/|G|, at most 1/k. What the records of a group have in common is known about all its members.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import refuse
from ...evaluate.certificate import explained
from ...noise.source import Source
from ...privacy import ProbabilisticKAnonymity
from ..assessment import Assessment
from ..partition.mdav import mdav
from ..row_fingerprint import Marking
from ..table.cells import Numbers
from ..table.input_table import Original, Validated
from ..table.records import classes_of, order_of, records_of
from .contract import Made, Published, check_kept
from .groups import HOMOGENEOUS, Grouped, GroupWay, homogeneous_steps
from .linked_tables import (
    FOUND,
    GROUP,
    LEARNED,
    InGroups,
    check_no_group,
    group_numbers,
    linked,
    numbered,
    standing_alone,
)
from .permuted_columns import (
    GUESS,
    LAST,
    PRESENCE,
    VOIDED,
    check_one_value_each,
    givers,
    reassigned,
    without_order,
)
from .streamed import check_of, prepared
from .swap import EXCHANGEABLE

if TYPE_CHECKING:
    from ...evaluate import Check

ALIKE, VALUES = "quasi-identifiers", "confidential"

EXCHANGED = (
    "The intruder knows how groups are formed, and considers every assignment of whole "
    "confidential records to the members of a group equally likely."
)
WHOLE = (
    "It does not separate the confidential values of a person, which stay together in one record: "
    "an intruder who knows one of them may find the record in the group and read the others."
)
NARROW = (
    "It does not hide the range of a confidential value: the members of a group have similar "
    "values, so an intruder who finds a person's group knows an interval that contains the value, "
    "even if k is large. Choose k as the share of the table in which a value is to be hidden."
)


class Anatomy(Grouped):
    """A record in a unit's group is that unit's with probability at most 1/k, provided the intruder
    considers every assignment of the group's records to its members equally likely.

    Source
        Thesis, section 7.1.
    """

    name = "anatomy"
    one_partition = True
    ways: ClassVar[dict[str, GroupWay]] = {
        ALIKE: GroupWay(
            "two tables linked by MDAV groups of the quasi-identifiers",
            "Soria-Comas, thesis, section 7.1.2",
        ),
        VALUES: GroupWay(
            "two tables linked by groups of similar confidential records",
            "Soria-Comas, thesis, sections 7.1.1 (Algorithm 7.1) and 7.1.2",
            similar=False,
            in_order=True,
        ),
    }

    def check_needs(self) -> None:
        if not self.confidential:
            raise self.no_role("confidential", "Confidential values have a table of their own")
        if not self.quasi:
            raise self.no_role("quasi-identifier", "Quasi-identifiers have a table of their own")
        check_no_group(self)

    def check_values(self) -> None:
        """Refuses columns without order: their groups of similar values are homogeneous."""
        if self.by != VALUES or HOMOGENEOUS in self.override:
            return
        flat = [name for name in self.confidential if without_order(self.schema.columns[name])]
        if flat:
            names = ", ".join(f"`{name}`" for name in flat)
            raise refuse("publish.homogeneous-anatomy-groups", columns=tuple(flat), names=names)

    @property
    def in_order(self) -> bool:
        """Records of several columns have no order."""
        return super().in_order and len(self.confidential) == 1

    def publish(self, original: Original, source: Source) -> Published:
        check_one_value_each(original, self.confidential)
        labels = self.similar_groups(original) if self.way.similar else self._by_values(original)
        groups = dict.fromkeys(self.confidential, labels)
        self.check_homogeneous(original, groups)
        group = numbered(labels, source)
        # one permutation for all columns: records stay whole
        rows = givers(labels, source, original.persons)
        moved = {name: original.cells[name].take(rows) for name in self.confidential}
        cells = {**original.cells, **moved}
        tables = linked(self, original, cells, group)
        return Published({**cells, GROUP: group}, groups, tables)

    def stream(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Marking
    ) -> Made:
        with prepared(self, table, source, tell, look) as found, ExitStack() as passing:
            (name,) = self.confidential
            at, width = found.place(name), len(found.coding.columns)
            rows, k = found.passes.rows, self.least
            order, count = order_of(found.coding.column(name)), groups_from_ends(rows, k)
            numbers = group_numbers(count, source)

            def grouped(batch: Numbers) -> Numbers:
                labels = label_from_ends(batch[:, width], rows, k)
                return np.column_stack([batch[:, :width], numbers[labels]])

            placed = found.passes.number(lambda batch: [order(batch[:, at])], source)
            sizes = [*found.coding.sizes, count + 1]
            before = passing.enter_context(passing.enter_context(placed).map(grouped, sizes))
            after = passing.enter_context(
                before.permute([at], lambda batch: batch[:, width], source)
            )
            made = InGroups.of(before, after, found.coding)
            shown = made.check(self.confidential)
            self.check_alone(shown)
            check_kept(shown.k >= k)
            steps = list(homogeneous_steps(shown, made.sizes))
            check = check_of(found, after)
            return made.on_disk(found, check, steps=steps)

    def _by_values(self, original: Original) -> Numbers:
        columns = [original.cells[name] for name in self.confidential]
        if len(columns) == 1:
            codes = original.of_persons(classes_of(columns[0]).codes)
            return original.of_rows(from_both_ends(codes, self.least))
        return original.of_rows(mdav(records_of(columns, original.persons), self.least).labels)

    def verify(self, table: Any, persons: Numbers | None) -> None:
        self.measure_again(table, persons, [GROUP])

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        found = super().assess(before, after.drop_columns([GROUP]), source, original, made)
        return reassigned(self, found, original, original.cells, made, source)

    def explained(self, check: Check) -> Check:
        return explained(check, self.promise, linked=True)

    @property
    def promise(self) -> ProbabilisticKAnonymity:
        return ProbabilisticKAnonymity(self.least)

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (EXCHANGEABLE if self.way.similar else EXCHANGED,)

    @property
    def limits(self) -> list[str]:
        limits = [*super().limits, LEARNED]
        if self.conditions:
            limits.append(VOIDED)
        if not self.way.similar:
            limits.append(NARROW)
        if len(self.confidential) > 1:
            limits.append(WHOLE)
        return [*limits, PRESENCE, GUESS, LAST]

    def instead_of_k(self, check: Check) -> str:
        return standing_alone(check.quasi_identifiers, check.unique_share)

    def remarks(self) -> tuple[str, ...]:
        return (FOUND,)


def from_both_ends(codes: Numbers, k: int) -> Numbers:
    """Groups of k units, from both ends of an order inwards; the last has up to 2k - 1.

    Parameters
        codes: the rank of each unit's value. Equal ones are taken in the order of rows, which must
            therefore be random.

    Example
        >>> from_both_ends(np.array([5, 1, 9, 3, 7, 2, 8]), k=2).tolist()
        [2, 0, 1, 2, 2, 0, 1]

    Source
        Thesis, Algorithm 7.1.
    """
    labels = np.empty(codes.size, np.int64)
    places = np.arange(codes.size)
    labels[np.argsort(codes, kind="stable")] = label_from_ends(places, codes.size, k)
    return labels


def label_from_ends(places: Numbers, units: int, k: int) -> Numbers:
    """The group of each rank among so many units, as `from_both_ends` forms them."""
    pairs = _pairs(units, k)
    low, high = places // k, (units - 1 - places) // k
    # one or two groups remain in the middle
    middle = 2 * pairs + ((low > pairs) & (groups_from_ends(units, k) > 2 * pairs + 1))
    found: Numbers = np.where(low < pairs, 2 * low, np.where(high < pairs, 2 * high + 1, middle))
    return found


def groups_from_ends(units: int, k: int) -> int:
    """How many groups `from_both_ends` forms."""
    pairs = _pairs(units, k)
    return 2 * pairs + (2 if units - 2 * k * pairs >= 2 * k else 1)


def _pairs(units: int, k: int) -> int:
    """How many groups are taken from each end."""
    return max(units - k, 0) // (2 * k)
