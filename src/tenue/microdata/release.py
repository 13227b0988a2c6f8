"""The journey of a release, on one page.

schema → read → partition → publish → evaluate → certificate → ledger → release

Nothing half-protected is returned: whatever is refused is refused before a table exists.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import Fault, refuse
from ..evaluate import check
from ..evaluate.check import check_persons
from ..ledger.contract import Ledger
from ..noise.source import SYSTEM
from ..number import checked_call
from ..promise import Certificate
from ..schema import Schema
from .assessment import assessed
from .certify import certify
from .history import Step, history_of
from .leave.leave import Registration, Target, digest_of, file_kind, leave
from .leave.mark import marks_of
from .leave.registry import check_first, check_rows, opened
from .leave.save import write_release
from .method.method import Method, chosen_method
from .protect import prepared, protected
from .publish.permute import shuffled
from .screen import brief_text, full_text, release_html
from .table.cells import Cells, Numbers
from .table.frame import kind_of, native
from .table.original import read_original

if TYPE_CHECKING:
    from ..evaluate import Risk, Utility


Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A protected copy of a table.

    table: the rows that may leave, as the kind of data frame that came in. It is the caller's own:
        what `save` writes and `digest` stands for is a copy that changes to it do not touch.
    certificate: what is promised, and what is not; it may leave too.
    risk, utility: what the original and the release have to do with each other. They were computed
        from the original and are for the holder alone.
    history: the steps that led here, for the holder alone.
    """

    table: Any
    certificate: Certificate
    risk: Risk
    utility: Utility
    history: tuple[Step, ...]
    _published: Any
    _kind: str

    @property
    def digest(self) -> str:
        """The SHA-256 of table and certificate, by which a ledger knows the release."""
        return digest_of(self._published, self.certificate)

    def save(
        self, folder: str | os.PathLike[str], *, kind: str | None = None, replace: bool = False
    ) -> dict[str, Any]:
        """Writes the table, `certificate.json` and `manifest.json`, all or nothing.

        Parameters
            folder: a new or empty one.
            kind: "csv" or "parquet"; None for that of the source, Parquet if it was no file.
            replace: whether a folder that holds something may be replaced as a whole.
        """
        if not isinstance(folder, str | os.PathLike):
            raise refuse("microdata.folder-is-of-type", type=type(folder).__name__)
        text, chosen = self.certificate.to_json(), file_kind(kind, self._kind)
        return write_release(Path(folder), self._published, text, chosen, replace=replace)

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self._published.num_rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return tuple(self._published.column_names)

    def report(self) -> str:
        """All there is to say, in words: promise, limits, steps, risk and utility."""
        return full_text(self)

    def __str__(self) -> str:
        return brief_text(self)

    def __repr__(self) -> str:
        return brief_text(self)

    def _repr_html_(self) -> str:
        return release_html(self)


@checked_call
def publish(
    source: object = None,
    *,
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any],
    method: str,
    k: int | Mapping[str, int],
    by: str | None = None,
    l: int | None = None,
    t: object = None,
    gamma: object = None,
    ledger: Ledger | str | os.PathLike[str] | Literal[False] | None = None,
    override: str | tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Release:
    """A protected copy of a table, with its certificate.

    Guarantee
        "microaggregate": every combination of quasi-identifiers is shared by at least `k` units.
        "swap": a confidential value in a unit's row came from that unit's record with probability
        at most 1/k, for whoever knows the quasi-identifiers and the groups. The value itself may be
        the same for all of a group, and is then known. Both count units, not rows. Identifiers and
        columns that the schema does not declare are not in the release, and rows are in random
        order.
        Numbers and dates are on the declared grid and within the declared bounds, as they are for
        questions. What is not promised stands in the certificate.

    Parameters
        source: the table: a path, a data frame or a connection; None for the schema's own source.
        schema: a `Schema`, or the path of its file; the roles of the columns decide what is done.
        method: "microaggregate" (centres of groups of similar people instead of their
            quasi-identifiers) or "swap" (confidential values change places inside such groups).
        k: the least number of units in a group. For a swap in which each column has its own groups,
            also a mapping from column to k. The certificate then promises the least, of each column
            by itself: columns that tell much about each other leave fewer records together, unless
            their k are equal.
        by: how groups are formed. "microaggregate": "mdav" or "v-mdav". "swap":
            "quasi-identifiers" (MDAV-SWAP), "each-confidential" (IR-SWAP: similar values of the
            column itself; none for columns without order) or "other-attributes" (all other columns,
            in turn: values then stay plausible beside them, and whoever knows a confidential column
            may learn about others from who shared a group). None for the first.
        l, t: groups grow until each has at least l different values, or is within earth mover's
            distance t of the table, in each sensitive column, or each confidential one if none is
            declared sensitive. That a group had to grow tells something of its first members.
        gamma: the gain factor of "v-mdav".
        ledger: where the release is registered, so that a second one of the table is refused: a
            ledger or its path. None for `<schema>.ledger` beside the schema's file, as for
            questions; a schema without a file is then not registered. False for none at all.
        override: "second-release" or "homogeneous-groups", to insist; recorded in the certificate.
        progress: is told the name of each step when it begins.

    Source
        Thesis, section 2.8 and chapter 3; soundness.md, section 6.
    """
    described = _schema(schema)
    way = chosen_method(described, method, k, by, l, t, gamma, override)
    return _journey(source, described, way, (ledger, _file(schema)), progress, None)[0]


def publish_into(
    target: Target,
    source: object = None,
    *,
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any],
    ledger: Ledger | str | os.PathLike[str] | Literal[False] | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> tuple[Release, dict[str, Any]]:
    """The same, saved at once; returns the manifest too.

    Guarantee
        The files are complete on the disk, in a hidden folder, before the release is registered,
        and get their name after it: nothing leaves unregistered. If they cannot get it, the ledger
        records that the release never left, and the next attempt is not a second release.

    Parameters
        settings: method, k, by, l, t, gamma and override, each of them.
    """
    described = _schema(schema)
    way = chosen_method(described, **settings)
    return _journey(source, described, way, (ledger, _file(schema)), progress, target)


def _journey(
    source: object,
    described: Schema,
    way: Method,
    ledger: tuple[object, Path | None],
    progress: Progress | None,
    target: Target | None,
) -> tuple[Release, dict[str, Any]]:
    tell = progress or (lambda _: None)
    with opened(*ledger) as books:
        if books is not None and books.known is not None:
            check_first(books.known, described, way)
        tell("read")
        given = source if source is not None else described.location
        read = read_original(given, described)
        marks = () if books is None else marks_of(given, read, described.name)
        if books is not None and books.known is not None:
            check_rows(books.known, described, way, marks)
        original, left_out = prepared(read, way, SYSTEM)
        tell("partition and publish")
        safe = protected(original, way, SYSTEM)
        tell("evaluate")
        before, after = (_table(cells, described) for cells in (original.cells, safe.cells))
        _hold_to(way, described, after, original.persons)
        swapped = way.least if way.name == "swap" else None
        harm, use, told = assessed(before, after, described, SYSTEM, original.persons, swapped)
        tell("certificate")
        certificate = certify(way, described, registered=books is not None)
        leaving = after.take(shuffled(after.num_rows, SYSTEM))
        kind = kind_of(given)
        release = Release(
            table=native(leaving, given, kind),
            certificate=certificate,
            risk=harm,
            utility=use,
            history=history_of(read, original, left_out, way, safe) + told,
            _published=leaving,
            _kind=kind,
        )
        registered = None if books is None else Registration(books, described, way, marks)
        manifest = leave(leaving, certificate, kind, registered, target)
    return release, manifest


def _file(schema: object) -> Path | None:
    return Path(schema) if isinstance(schema, str | os.PathLike) else None


def _schema(given: object) -> Schema:
    if isinstance(given, Schema):
        return given
    if isinstance(given, Mapping):
        return Schema.from_dict(given)
    if isinstance(given, str | os.PathLike):
        return Schema.load(given)
    raise refuse("microdata.schema-is-of-type", type=type(given).__name__)


def _table(cells: Mapping[str, Cells], schema: Schema) -> Any:
    """The columns that may leave, as an Arrow table without any metadata."""
    import pyarrow

    shown = {
        name: column.to_arrow()
        for name, column in cells.items()
        if column.column.role != "identifier" and name.lower() != schema.unit.lower()
    }
    return pyarrow.table(shown)


def _hold_to(way: Method, schema: Schema, table: Any, persons: Numbers | None) -> None:
    """Measures what was promised once more, on the table itself, with its persons beside it."""
    if way.name != "microaggregate":
        return
    wanted = way.sensitive or way.confidential
    if persons is None:
        found = check(table, schema, confidential=wanted)
    else:
        found = check_persons(table, schema, persons, wanted)
    far = max((column.exact_t for column in found.confidential), default=0)
    if (
        found.k < way.least
        or (way.l is not None and (found.l or 0) < way.l)
        or (way.t is not None and far > way.t)
    ):
        raise Fault("a release was about to leave without what it promises")
