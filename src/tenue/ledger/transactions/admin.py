"""The holder's decisions: budgets, adjacency, versions, releases. Spent stays spent."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import refuse
from ...privacy import Neighbours
from ...privacy.loss import EpsilonDelta
from ...text import exactly
from .. import facts
from ..composition import REPLACE
from ..totals import EVERYONE, Dataset, Source
from .journal import Journal
from .reserve import known_dataset

BY = " by "
"""In the words of a unit: precedes the column that names it."""


def open_dataset(
    journal: Journal,
    wanted: facts.DatasetOpened,
    individual: EpsilonDelta | None = None,
    protocol: str = "",
    unit: str = "",
    *,
    dry: bool = False,
) -> tuple[facts.Fact, ...]:
    """Opens a data set, or writes one fact for each thing that changed; spent stays spent.

    Names that differ only in case are the same. If `dry`, nothing is written.
    """
    folded = wanted.dataset.lower()
    name = next((n for n in journal.totals.shelf.datasets() if n.lower() == folded), wanted.dataset)
    held = journal.totals.dataset(name)
    changes: list[facts.Fact] = []
    if held is None:
        changes.append(wanted)
        held = Dataset.of(wanted)
    if wanted.neighbours != held.neighbours:
        changes.append(_neighbours_changed(journal, name, wanted.neighbours))
    if wanted.caps != held.caps:
        changes.append(facts.CapChanged(dataset=name, **facts.stored_caps(*wanted.caps)))
    if wanted.schema_digest != held.schema_digest:
        changes.append(facts.SchemaChanged(dataset=name, schema_digest=wanted.schema_digest))
    if wanted.data_version != held.data_version:
        changes.append(facts.DataChanged(dataset=name, data_version=wanted.data_version))
    if individual != held.individual_budget:
        changes.append(facts.IndividualCapped.at(name, individual))
    if unit and unit != held.unit:
        if held.unit:
            _refuse_another_unit(journal, name, held.unit, unit)
        changes.append(facts.UnitStated(dataset=name, unit=unit))
    if protocol != journal.totals.protocol(name):
        changes.append(facts.ProtocolChanged(dataset=name, protocol=protocol))
    for fact in () if dry else changes:
        journal.write(fact)
    return tuple(changes)


def _refuse_another_unit(journal: Journal, name: str, before: str, unit: str) -> None:
    """A price that was paid for one unit says nothing about another, which may have more rows."""
    account = journal.totals.account(name, EVERYONE)
    same = before.partition(BY)[0] == unit.partition(BY)[0]
    if account.persons or (account.spent and not same):
        spent = exactly(account.spent.epsilon)
        raise refuse("ledger.unit-changed", name=name, decimal=spent, before=before, unit=unit)


def _neighbours_changed(journal: Journal, name: str, neighbours: Neighbours) -> facts.Fact:
    account = journal.totals.account(name, EVERYONE)
    if neighbours != REPLACE and account.spent:
        raise refuse("ledger.neighbours-changed", name=name, decimal=exactly(account.spent.epsilon))
    return facts.NeighboursChanged(dataset=name, neighbours=neighbours)


def record_schema(journal: Journal, wanted: facts.SchemaChanged) -> None:
    """Records under which schema a data set is published, unless it is on record."""
    if known_dataset(journal, wanted.dataset).schema_digest != wanted.schema_digest:
        journal.write(wanted)


def record_validation(journal: Journal, wanted: facts.SourceValidated) -> None:
    """Records which files the holder opened, unless they are on record."""
    known_dataset(journal, wanted.dataset)
    new = Source(wanted.mark, wanted.reading, wanted.digest)
    if journal.totals.source(wanted.dataset) != new:
        journal.write(wanted)


def register_release(journal: Journal, wanted: facts.ReleaseRegistered | facts.RowsReleased) -> int:
    """Registers a release; a second one of the same data is refused unless overridden."""
    known_dataset(journal, wanted.dataset)
    earlier = journal.totals.releases_of(wanted.dataset)
    if wanted.release_digest in earlier:
        return earlier[wanted.release_digest]
    if earlier and not wanted.override:
        last = max(earlier.values())
        raise refuse("ledger.dataset-released-before", earlier=last, dataset=wanted.dataset)
    if isinstance(wanted, facts.RowsReleased) and not wanted.override:
        before = overlapped(wanted.marks, journal.totals.releases_of(EVERYONE))
        if before is not None:
            raise refuse("ledger.rows-registered-before", earlier=before, dataset=wanted.dataset)
    return journal.write(wanted)


def record_saved(journal: Journal, wanted: facts.ReleaseSaved) -> None:
    """Records where the files of a release are."""
    known_dataset(journal, wanted.dataset)
    journal.write(wanted)


def withdraw_release(journal: Journal, wanted: facts.ReleaseWithdrawn) -> None:
    """Records that a registered release was never published; another may then be registered."""
    known_dataset(journal, wanted.dataset)
    if wanted.release_digest in journal.totals.releases_of(wanted.dataset):
        journal.write(wanted)


WHOLE = "whole:"
_PART = 4
_LEAST = 3


def overlapped(marks: str, earlier: Mapping[str, int]) -> int | None:
    """The number of the last earlier release with common rows, or None.

    Parameters
        marks: fingerprints of rows, separated by spaces.
        earlier: entry numbers by the number and the fingerprints of a release.

    Example
        >>> overlapped("whole:ab row:1", {"7 whole:cd row:1": 7, "9 whole:ab": 9})
        9
    """
    mine = set(marks.split())
    found = [number for text, number in earlier.items() if _meet(mine, set(text.split()[1:]))]
    return max(found, default=None)


def _meet(one: set[str], other: set[str]) -> bool:
    common = one & other
    if any(mark.startswith(WHOLE) for mark in common):
        return True
    rows = min(sum(not mark.startswith(WHOLE) for mark in marks) for marks in (one, other))
    return len(common) >= max(_LEAST, -(-rows // _PART))
