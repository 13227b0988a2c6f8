"""Swapping: confidential values change places inside groups of similar people.

A value stays in the table; only whose it is becomes uncertain. Inside a group of |G| units every
assignment of records to units is equally likely, so a value in a unit's row came from that unit's
record with probability 1/|G|, at most 1/k. What the value is may be known all the same: all of a
group may have it, and whoever knows more than quasi-identifiers may weigh the assignments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import refuse
from ...evaluate.certificate import SWAPPED
from ...noise.source import Source
from ...promise import ProbabilisticKAnonymity
from ...schema import Boolean, Category, Column
from ...screen.number import percent
from ...screen.page import sentence
from ..partition.individual_ranking import individual_ranking
from ..partition.mdav import mdav
from ..permute import permuted
from ..table.cells import Cells
from ..table.original import Original
from ..table.records import rank_of, records_of
from .contract import Published
from .groups import HOMOGENEOUS, Grouped, GroupWay

if TYPE_CHECKING:
    from ...evaluate import Check, Risk


KNOWN = (
    "The intruder knows quasi-identifiers and how groups are formed, and of confidential columns "
    "nothing by which some records of a group are likelier than others."
)
INFORMED = (
    "Groups were formed from confidential columns too. Whoever knows one of them may see in the "
    "release who shared a group, and with it learn about the columns by which groups were formed: "
    "more than 1/k, up to certainty in small groups."
)
CROSSED = (
    "Columns have groups of different sizes. Where one column tells much about another, as income "
    "does about tax, the groups of both together leave fewer than k records, down to one; equal "
    "sizes, or groups nested in each other, do not."
)
PRESENCE = (
    "That a person is in the release is not hidden: columns that are not confidential are "
    "published as they are, and every confidential value of a published row is in the release, "
    "rounded to its grid and kept between its declared bounds."
)
CLOSE = "A published value can be close to the true one, or equal to it."
VERY_CLOSE = (
    "A published value is close to the true one: on the Census reference table with k = 10, 95 % "
    "of the values miss the truth by at most 1 % of their column's range, 66 % by at most 1 % of "
    "the value itself."
)
GUESS = (
    "Whoever can guess a value from what else is known of a person may recognise it among the "
    "values of the group."
)
LAST = "Whoever knows the values of all other members of a group knows the last one."
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

Labels = NDArray[np.int64]
Grouping = Callable[[str, Mapping[str, Cells]], Labels]
"""The groups in which a column's values change places, given the table as it is by then."""


class Swap(Grouped):
    """A confidential value in a unit's row came from that unit's record with probability at most
    1/k, for whoever knows the quasi-identifiers and the groups.

    Source
        Thesis, chapter 3.
    """

    name = "swap"
    ways: ClassVar[dict[str, GroupWay]] = {
        ALIKE: GroupWay(
            "swapping in MDAV groups of the quasi-identifiers", "Soria-Comas, thesis, section 3.3.1"
        ),
        VALUES: GroupWay(
            "swapping in groups of similar values of each confidential column",
            "Soria-Comas, thesis, section 3.3.3",
            similar=False,
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
        flat = [name for name in self.confidential if _without_order(self.schema.columns[name])]
        if flat:
            names = ", ".join(f"`{name}`" for name in flat)
            raise refuse("microdata.values-no-order-groups", columns=tuple(flat), names=names)

    @property
    def compared(self) -> tuple[str, ...]:
        return self.confidential if self.by == VALUES else self.quasi + self.confidential

    @property
    def changed(self) -> tuple[str, ...]:
        return self.confidential

    def publish(self, original: Original, source: Source) -> Published:
        _check_one_value_each(original, self.confidential)
        shared = self.similar_groups(original) if self.way.similar else None

        def grouping(name: str, table: Mapping[str, Cells]) -> Labels:
            if shared is not None:
                return shared
            if self.by == VALUES:
                line = original.of_persons(rank_of(table[name]))
                return original.of_rows(individual_ranking(line, self.k[name]).labels)
            others = [table[other] for other in self.compared if other != name]
            records = records_of(others, original.persons)
            return original.of_rows(mdav(records, self.k[name]).labels)

        cells, groups = swap(original.cells, self.confidential, grouping, source, original.persons)
        self.check_homogeneous(original, groups)
        return Published(cells, groups)

    def verify(self, table: Any, persons: Labels | None) -> None:
        """Nothing: a probability cannot be measured on one table."""

    def explained(self, check: Check) -> Check:
        return replace(check, notes=(SWAPPED.format(k=self.least), *check.notes), swapped=True)

    @property
    def promise(self) -> ProbabilisticKAnonymity:
        return ProbabilisticKAnonymity(self.least)

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (KNOWN,)

    @property
    def limits(self) -> list[str]:
        limits = super().limits
        if self.by == OTHERS:
            limits.append(INFORMED)
        if len(set(self.k.values())) > 1:
            limits.append(CROSSED)
        near = VERY_CLOSE if self.by == VALUES else CLOSE
        return [*limits, PRESENCE, near, GUESS, LAST, RELATIONS]

    def instead_of_k(self, check: Check) -> str:
        known = ", ".join(check.quasi_identifiers)
        return sentence(
            f"{percent(check.unique_share)} of the rows share {known} with nobody; a swap leaves "
            "that as it is."
        )

    def remarks(self) -> tuple[str, ...]:
        """Why one who knows less of a swapped table may link more of it."""
        return (FOUND,)

    def warnings(self, risk: Risk) -> list[str]:
        return [
            f"{sentence(percent(share))} of the rows still show their own true value of `{name}`: "
            "whoever believes what the release shows is mostly right. Choose a larger k if its "
            "values are many, or do not publish it."
            for name, share in risk.own_values.items()
            if share > _MUCH
        ]


def swap(
    cells: Mapping[str, Cells],
    confidential: tuple[str, ...],
    grouping: Grouping,
    source: Source,
    persons: Labels | None = None,
) -> tuple[dict[str, Cells], dict[str, Labels]]:
    """The table after each confidential column was permuted inside its groups.

    Guarantee
        For each column a fresh permutation, uniform inside every group and independent of those of
        the other columns. Columns that are not confidential stay as they are, and so does the
        multiset of values of each column in each group.

    Parameters
        cells: the columns, by name.
        confidential: which of them are permuted, in this order.
        grouping: gives the groups of a column. It sees the columns permuted before it as they are
            by then, as in the thesis, section 3.3.2.
        source: where uniform words come from.
        persons: whose each row is; values then move between persons, and a person's rows must agree
            in each confidential column. None if each row is a person.

    Source
        Thesis, section 3.3; the permutations are independent by soundness.md, section 6.
    """
    table = dict(cells)
    groups = {}
    for name in confidential:
        labels = grouping(name, table)
        groups[name] = labels
        if persons is None:
            table[name] = table[name].take(permuted(labels, source))
        else:
            table[name] = _between_persons(table[name], labels, persons, source)
    return table, groups


def _between_persons(column: Cells, labels: Labels, persons: Labels, source: Source) -> Cells:
    first = np.unique(persons, return_index=True)[1]  # one row of each person stands for all
    giver = permuted(labels[first], source)
    return column.take(first[giver][persons])


def _without_order(column: Column) -> bool:
    flat = isinstance(column, Category) and isinstance(column.stated, tuple)
    return flat or isinstance(column, Boolean)


def _check_one_value_each(original: Original, confidential: tuple[str, ...]) -> None:
    for name in confidential:
        column = original.cells[name]
        own = original.of_rows(original.of_persons(column.numbers))
        if (column.numbers != own).any():
            raise refuse("microdata.some-persons-have-several-values-of", column=name)
