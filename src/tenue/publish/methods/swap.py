"""Swapping: confidential values change places inside groups of similar people.

A value stays in the table; only whose it is becomes uncertain. For whoever holds every assignment
of a group's |G| records to its units equally likely, a value in a unit's row came from that unit's
record with probability 1/|G|, at most 1/k. What the value is may be known all the same: all of a
group may have it. And whoever knows how columns relate, or learns it from the release, weighs the
assignments: `risk.rematched` says how far one such intruder comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...engine.contract import Passes
from ...errors import refuse
from ...evaluate.certificate import explained
from ...noise.source import Source
from ...privacy import ProbabilisticKAnonymity
from ...text import many, percent, sentence
from ..assessment import Assessment, Step
from ..partition.individual_ranking import Classes, whole_values
from ..partition.mdav import mdav
from ..partition.tied_partition_in_passes import Cuts, column_cuts
from ..table.cells import Cells, Numbers
from ..table.input_table import Original, Validated
from ..table.records import classes_of, records_of
from .contract import Look, Made, Published, sizes_counted
from .groups import HOMOGENEOUS, Grouped, GroupWay, homogeneous_text, units_in_each
from .permuted_columns import (
    GUESS,
    LAST,
    PRESENCE,
    VOIDED,
    Sides,
    as_moved,
    check_one_value_each,
    moved,
    undone,
    undone_in_passes,
    without_order,
)
from .streamed import Prepared, check_of, finished, prepared

if TYPE_CHECKING:
    from ...evaluate import Check, Risk


EXCHANGEABLE = (
    "The intruder knows quasi-identifiers and how groups are formed. Given all that is published "
    "unswapped, every assignment of whole confidential records to the people of a group is equally "
    "likely to him."
)
ANY_ORDER = (
    "Given all else that the intruder knows, every assignment of a column's values to the people "
    "of a group is equally likely to him."
)
INDEPENDENT = (
    "The intruder knows quasi-identifiers and how groups are formed. To him confidential columns "
    "are independent of each other, and every assignment inside a group is equally likely."
)
RELATED = (
    "Nothing is promised against whoever knows how columns relate, or learns it from the release "
    "itself: he can put values back inside their groups. On the Census reference table with k = 5 "
    "one such intruder restored 66 to 74 % of a column swapped by quasi-identifiers, and 48 % of "
    "one swapped among similar values."
)
INFORMED = (
    "Groups were formed from confidential columns too. Whoever knows one of them may see in the "
    "release who shared a group, and with it learn about the columns by which groups were formed: "
    "more than 1/k, up to certainty in small groups."
)
EACH_COLUMN = (
    "It holds for each confidential column: that a person's own value stands in at least one of "
    "several is likelier."
)
CROSSED = (
    "The groups of several columns together may hold fewer than k records, down to one, whatever "
    "their k: whoever knows the records, but not whose they are, may then tell whose they are."
)
IN_RELEASE = (
    f"{PRESENCE.removesuffix('.')}, and every confidential value of a published row is in the "
    "release, rounded to its grid and kept between its declared bounds."
)
CLOSE = "A published value can be close to the true one, or equal to it."
VERY_CLOSE = (
    "A published value is close to the true one: on the Census reference table with k = 10, 95 % "
    "of the values miss the truth by at most 1 % of their column's range, 66 % by at most 1 % of "
    "the value itself."
)
RELATIONS = (
    "Each confidential column changes places on its own: relations between them inside a group are "
    "lost."
)
FOUND = (
    "A swap leaves quasi-identifiers as they are, so whoever has them finds rows; what stands "
    "there besides may come from others. Whoever compares all columns is misled by it."
)

ALIKE, VALUES, OTHERS = "quasi-identifiers", "each-confidential", "other-attributes"

_MUCH = 0.5


class Swap(Grouped):
    """A confidential value in a unit's row came from that unit's record with probability at most
    1/k, for whoever holds the records of a group to be equally likely anybody's in it.

    Source
        Thesis, chapter 3; equal values stay in one group, which the thesis does not ask.
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
            raise self.no_role("confidential", "A swap moves confidential values between people")
        super().check_needs()
        if self.by == OTHERS and len(self.quasi + self.confidential) < 2:
            raise self.no_role("quasi-identifier", "Groups are formed by the other columns")

    def check_values(self) -> None:
        """Groups of similar values of a column without order hold one value each."""
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
    def changed(self) -> tuple[str, ...]:
        return self.confidential

    @property
    def different(self) -> int:
        """How many different values a group of similar values has at least."""
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
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Look
    ) -> Made:
        with (
            prepared(self, table, self.room_for_rows, tell, look) as found,
            ExitStack() as swapping,
        ):
            tell(self.step)
            after, cuts = found.passes, {}
            for name in self.confidential:
                j = found.place(name)
                column = found.coding.column(name)
                cuts[name] = column_cuts(found.passes.only(j), column, self.k[name], self.different)
                label = _of_column(cuts[name].label, j)
                after = swapping.enter_context(after.permute([j], label, source))
            check = check_of(self, found, after)
            return finished(
                self,
                found,
                after,
                found.coding.cells,
                check,
                source,
                tell,
                steps=list(self._cut_steps(cuts)),
                sizes=sizes_counted({name: one.sizes for name, one in cuts.items()}),
                attacked=lambda told: self._attacked(told, found, after, cuts, source),
            )

    def _attacked(
        self,
        told: Assessment,
        found: Prepared,
        after: Passes,
        cuts: Mapping[str, Cuts],
        source: Source,
    ) -> Assessment:
        """As `undone`: each column has groups of its own."""
        labels = {n: _of_column(one.label, found.place(n)) for n, one in cuts.items()}
        moved = [
            Sides([name], found.passes, after, labels[name], one.sizes)
            for name, one in cuts.items()
        ]
        cells, width = found.coding.cells, len(found.coding.columns)
        leave = (*self.quasi, *self.confidential, *self.unprotected)
        told = undone_in_passes(told, cells, cells, leave, moved, width, source)
        if told.risk is None:
            return told
        every = list(labels.values())
        tallied = after.tally(lambda rows: [label(rows) for label in every])
        together = sum(counts.size for *_, counts in tallied)
        # the mean of 1/n over units, n of which share all groups, is the share of such cells
        risk = replace(told.risk, in_all_groups=together / after.rows)
        return told._replace(risk=risk)

    def _cut_steps(self, cuts: Mapping[str, Cuts]) -> Iterator[Step]:
        """What `group_steps` says of groups that were found in passes."""
        for name, one in cuts.items():
            text = f"{many(one.sizes.size, 'group')} of {name}, {units_in_each(one.sizes)}"
            yield Step("partition", text)
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
        """What is said of a value that very many have."""
        if most >= self.k[name]:
            text = f"{most} of {units} units have one and the same `{name}`"
            yield Step("heap", f"{text}: they and their neighbours are one group")

    def verify(self, table: Any, persons: Numbers | None) -> None:
        """Nothing: a probability cannot be measured on one table."""

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        found = super().assess(before, after, source, original, made)
        leave = (*self.quasi, *self.confidential, *self.unprotected)
        seen = as_moved(original.cells, made, leave)
        return undone(found, original, seen, source, together=self.way.similar)

    def explained(self, check: Check) -> Check:
        return explained(check, self.promise)

    @property
    def promise(self) -> ProbabilisticKAnonymity:
        return ProbabilisticKAnonymity(self.least)

    @property
    def assumptions(self) -> tuple[str, ...]:
        return ({ALIKE: EXCHANGEABLE, VALUES: ANY_ORDER, OTHERS: INDEPENDENT}[self.by],)

    @property
    def limits(self) -> list[str]:
        limits = [*super().limits, RELATED]
        if self.l is not None or self.t is not None:
            limits.append(VOIDED)
        if self.by == OTHERS:
            limits.append(INFORMED)
        if len(self.confidential) > 1:
            limits.append(CROSSED if self.by == VALUES else EACH_COLUMN)
        near = VERY_CLOSE if self.by == VALUES else CLOSE
        return [*limits, IN_RELEASE, near, GUESS, LAST, RELATIONS]

    def instead_of_k(self, check: Check) -> str:
        known = ", ".join(check.quasi_identifiers)
        return sentence(
            f"{percent(check.unique_share)} of the rows share {known} with nobody; a swap leaves "
            "that as it is."
        )

    def remarks(self) -> tuple[str, ...]:
        """Why one who knows less of a swapped table may link more of it."""
        return (FOUND,)

    def warnings(self, risk: Risk | None) -> list[str]:
        if risk is None:
            return []
        most = Fraction(2, self.least)
        restored = [
            f"An intruder who learns from the release how `{name}` relates to {found.by} puts "
            f"{percent(found.records)} of its values back to their own records, where 1/k is "
            f"{percent(1 / self.least)}. Choose a larger k, leave out what tells about `{name}`, "
            "or do not publish it."
            for name, found in risk.rematched.items()
            if found.records > most
        ]
        return restored + [
            f"{sentence(percent(share))} of the rows still show their own true value of `{name}`: "
            "whoever believes what the release shows is mostly right. Choose a larger k if its "
            "values are many, or do not publish it."
            for name, share in risk.own_values.items()
            if share > _MUCH
        ]


def _of_column(label: Callable[[Numbers], Numbers], column: int) -> Callable[[Numbers], Numbers]:
    """The group of each row, by one of its numbers."""
    return lambda rows: label(rows[:, column])
