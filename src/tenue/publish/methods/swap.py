"""Swapping: confidential values are permuted within groups of similar people.

Values stay in the table; only their assignment to people becomes uncertain. To an intruder who
considers every assignment of a group's |G| records to its members equally likely, a value in a
unit's row originates from that unit's record with probability 1/|G|, at most 1/k. The value may be
known all the same, if all of a group share it; and an intruder who knows or learns how columns
relate does not consider assignments equally likely: `risk.rematched` measures one such attack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.contract import Passes
from ...errors import refuse
from ...noise.source import Source
from ...privacy import ProbabilisticKAnonymity
from ...text import percent, sentence
from ..assessment import Assessment, Step
from ..partition.individual_ranking import Classes, whole_values
from ..partition.mdav import mdav
from ..partition.tied_partition_in_passes import Cuts, column_cuts
from ..row_fingerprint import Marking
from ..table.cells import Cells, Numbers
from ..table.input_table import Original, Validated
from ..table.records import classes_of, records_of
from .contract import Made, Published, sizes_counted
from .groups import HOMOGENEOUS, Grouped, GroupWay, homogeneous_text, sizes_text
from .linked_tables import standing_alone
from .permuted_columns import (
    GUESS,
    LAST,
    PRESENCE,
    VOIDED,
    Sides,
    check_one_value_each,
    moved,
    reassigned,
    undone_in_passes,
    without_order,
)
from .streamed import check_of, finished, prepared

if TYPE_CHECKING:
    from ...evaluate import Check, Risk


EXCHANGEABLE = (
    "The intruder knows the quasi-identifiers and how groups are formed. Given everything that is "
    "published unswapped, they consider every assignment of whole confidential records to the "
    "members of a group equally likely."
)
ANY_ORDER = (
    "Given everything else that the intruder knows, they consider every assignment of a column's "
    "values to the members of a group equally likely."
)
INDEPENDENT = (
    "The intruder knows the quasi-identifiers and how groups are formed, takes confidential "
    "columns to be independent of each other, and considers every assignment within a group "
    "equally likely."
)
RELATED = (
    "It does not protect against an intruder who knows, or learns from the release, how columns "
    "relate: they can reassign values within groups to their original records. On the Census "
    "reference table with k = 5, one such intruder correctly reassigned 66 to 74 % of a column "
    "swapped by quasi-identifiers, and 48 % of one swapped among similar values."
)
INFORMED = (
    "It does not protect against an intruder who knows a confidential column. Groups were formed "
    "from confidential columns too: such an intruder may recognise in the release who shared a "
    "group, and learn about the columns by which groups were formed with probability above 1/k, up "
    "to certainty in small groups."
)
EACH_COLUMN = (
    "It does not hold for several confidential columns together, only for each: the probability "
    "that some value in a person's row originates from that person's record can exceed 1/k."
)
CROSSED = (
    "It does not hold for the groups of several columns together: these may share fewer than k "
    "records, down to one, for any k of each column. An intruder who knows the records, but not "
    "whose they are, may then learn whose they are."
)
IN_RELEASE = (
    f"{PRESENCE} Nor does it hide which values occur: every confidential value of a published row "
    "is in the release, rounded to its grid and clipped to its declared bounds."
)
CLOSE = "It does not keep a published value away from the true one: the two can be close or equal."
VERY_CLOSE = (
    "It does not keep a published value away from the true one: on the Census reference table with "
    "k = 10, 95 % of the values differ from the truth by at most 1 % of their column's range, and "
    "66 % by at most 1 % of the value itself."
)
RELATIONS = (
    "It does not preserve relations between confidential columns within a group: each column is "
    "permuted separately."
)
FOUND = (
    "Swapping leaves quasi-identifiers unchanged, so an intruder who knows them finds rows, whose "
    "confidential values may come from other people. The swapped values mislead an intruder who "
    "matches on all columns."
)

ALIKE, VALUES, OTHERS = "quasi-identifiers", "each-confidential", "other-attributes"

_MUCH = 0.5


class Swap(Grouped):
    """A confidential value in a unit's row originates from that unit's record with probability at
    most 1/k, provided the intruder considers every assignment of the group's records to its members
    equally likely.

    Source
        Thesis, chapter 3; equal values stay in one group, which the thesis does not require.
    """

    name = "swap"
    ways: ClassVar[dict[str, GroupWay]] = {
        ALIKE: GroupWay(
            "swapping in MDAV groups of the quasi-identifiers", "Soria-Comas, thesis, section 3.3.1"
        ),
        VALUES: GroupWay(
            "swapping in groups of similar values of each confidential column, equal ones together",
            "Soria-Comas, thesis, section 3.3.3, corrected: no value lies in two groups",
            similar=False,
            in_order=True,
        ),
        OTHERS: GroupWay(
            "swapping in MDAV groups of all other columns, one column after another",
            "Soria-Comas, thesis, section 3.3.2",
            similar=False,
        ),
    }

    def check_needs(self) -> None:
        if not self.confidential:
            raise self.no_role("confidential", "Swapping permutes confidential values")
        super().check_needs()
        if self.by == OTHERS and len(self.quasi + self.confidential) < 2:
            raise self.no_role("quasi-identifier", "Groups are formed by the other columns")

    def check_values(self) -> None:
        """Refuses columns without order: their groups of similar values are homogeneous."""
        if self.by != VALUES or HOMOGENEOUS in self.override:
            return
        flat = [name for name in self.confidential if without_order(self.schema.columns[name])]
        if flat:
            names = ", ".join(f"`{name}`" for name in flat)
            raise refuse("publish.homogeneous-groups", columns=tuple(flat), names=names)

    @property
    def compared(self) -> tuple[str, ...]:
        return self.confidential if self.by == VALUES else self.quasi + self.confidential

    @property
    def different(self) -> int:
        """The least number of different values in a group of similar values."""
        return 1 if HOMOGENEOUS in self.override else 2

    def publish(self, original: Original, source: Source) -> Published:
        check_one_value_each(original, self.confidential)
        shared = self.similar_groups(original) if self.way.similar else None

        def grouping(name: str, table: Mapping[str, Cells]) -> Numbers:
            if shared is not None:
                return shared
            if self.by == VALUES:
                found = classes_of(table[name])
                units = Classes(original.of_persons(found.codes), found.line)
                return original.of_rows(whole_values(units, self.k[name], self.different).labels)
            others = [table[other] for other in self.compared if other != name]
            records = records_of(others, original.persons)
            return original.of_rows(mdav(records, self.k[name]).labels)

        cells, groups = moved(original.cells, self.confidential, grouping, source, original.persons)
        self.check_homogeneous(original, groups)
        return Published(cells, groups)

    def stream(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Marking
    ) -> Made:
        with prepared(self, table, source, tell, look) as found, ExitStack() as swapping:
            after, cuts, labels = found.passes, {}, {}
            cells, width = found.coding.cells, len(found.coding.columns)
            for name in self.confidential:
                j, column = found.place(name), found.coding.column(name)
                cuts[name] = column_cuts(found.passes.only(j), column, self.k[name], self.different)
                labels[name] = _of_column(cuts[name].label, j)
                after = swapping.enter_context(after.permute([j], labels[name], source))

            def attacked(assessment: Assessment) -> Assessment:
                partitions = [
                    Sides([name], found.passes, after, labels[name], one.sizes)
                    for name, one in cuts.items()
                ]
                assessment = undone_in_passes(
                    assessment, cells, self.released, partitions, width, source
                )
                return _in_all_groups(assessment, after, list(labels.values()))

            return finished(
                found,
                after,
                cells,
                check_of(found, after),
                steps=list(self._cut_steps(cuts)),
                sizes=sizes_counted({name: one.sizes for name, one in cuts.items()}),
                attacked=attacked,
            )

    def _cut_steps(self, cuts: Mapping[str, Cuts]) -> Iterator[Step]:
        """`group_steps` for groups that were formed in passes."""
        for name, one in cuts.items():
            yield Step("partition", sizes_text(one.sizes, f" of {name}"))
        for name, one in cuts.items():
            alone = int((one.values == 1).sum())
            yield Step("homogeneous", homogeneous_text(alone, one.sizes.size, name))
        for name, one in cuts.items():
            yield from self._heap(name, one.heap, int(one.sizes.sum()))

    def group_steps(self, original: Original, made: Published) -> Iterator[Step]:
        yield from super().group_steps(original, made)
        for name in self.confidential if self.by == VALUES else ():
            held = np.bincount(original.of_persons(classes_of(original.cells[name]).codes))
            yield from self._heap(name, int(held.max()), int(held.sum()))

    def _heap(self, name: str, most: int, units: int) -> Iterator[Step]:
        """A value that k or more units share."""
        if most >= self.k[name]:
            text = f"{most} of {units} units have the same `{name}`"
            yield Step("heap", f"{text}: they and the units with adjacent values form one group")

    def verify(self, table: Any, persons: Numbers | None) -> None:
        """Nothing: a probability cannot be measured on one table."""

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        found = super().assess(before, after, source, original, made)
        together, cells = self.way.similar, original.cells
        return reassigned(self, found, original, cells, made, source, together=together)

    @property
    def promise(self) -> ProbabilisticKAnonymity:
        return ProbabilisticKAnonymity(self.least)

    @property
    def assumptions(self) -> tuple[str, ...]:
        return ({ALIKE: EXCHANGEABLE, VALUES: ANY_ORDER, OTHERS: INDEPENDENT}[self.by],)

    @property
    def limits(self) -> list[str]:
        limits = [*super().limits, RELATED]
        if self.conditions:
            limits.append(VOIDED)
        if self.by == OTHERS:
            limits.append(INFORMED)
        if len(self.confidential) > 1:
            limits.append(CROSSED if self.by == VALUES else EACH_COLUMN)
        near = VERY_CLOSE if self.by == VALUES else CLOSE
        return [*limits, IN_RELEASE, near, GUESS, LAST, RELATIONS]

    def instead_of_k(self, check: Check) -> str:
        return standing_alone(check.quasi_identifiers, check.unique_share)

    def remarks(self) -> tuple[str, ...]:
        """Why an intruder who knows less of a swapped table may link more of it."""
        return (FOUND,)

    def warnings(self, risk: Risk | None) -> list[str]:
        if risk is None:
            return []
        most = Fraction(2, self.least)
        restored = [
            f"An intruder who learns from the release how `{name}` relates to {found.by} correctly "
            f"reassigns {percent(found.records)} of its values, where 1/k is "
            f"{percent(1 / self.least)}. Choose a larger k, leave out columns that predict "
            f"`{name}`, or do not publish it."
            for name, found in risk.rematched.items()
            if found.records > most
        ]
        return restored + [
            f"{sentence(percent(share))} of the rows keep their true value of `{name}`: an "
            "intruder who trusts the release is right for most people. Choose a larger k if the "
            "column has many values, or do not publish it."
            for name, share in risk.own_values.items()
            if share > _MUCH
        ]


def _of_column(label: Callable[[Numbers], Numbers], column: int) -> Callable[[Numbers], Numbers]:
    return lambda rows: label(rows[:, column])


def _in_all_groups(
    found: Assessment, after: Passes, labels: Sequence[Callable[[Numbers], Numbers]]
) -> Assessment:
    """Adds the mean of 1/n over units, n of which share all groups: the share of such cells."""
    if found.risk is None:
        return found
    tallied = after.tally(lambda rows: [label(rows) for label in labels])
    cells = sum(counts.size for *_, counts in tallied)
    return found._replace(risk=replace(found.risk, in_all_groups=cells / after.rows))
