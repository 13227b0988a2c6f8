"""The journey of a release, on one page.

schema → method → register → validate → plan → pay → read → make → measure → certificate → release
and, when a table leaves: files → ledger → table

What can be refused without a value of a row is refused before any is paid for or read: options, an
earlier release in the ledger, a folder that cannot be written, a table that is not well formed (an
engine validates it by looking at it once). Only a method that has a price is planned and paid for.
A release is registered when its table leaves, not when it is made. Nothing half-protected is
returned: whatever is refused is refused before a table exists.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack

from ..arguments import flag
from ..engine.source.location import ledger_places
from ..errors import refuse
from ..ledger.contract import Ledger
from ..ledger.locate import NOWHERE, Place
from ..noise.source import SYSTEM
from ..privacy import Certificate
from ..privacy.certificate import ONE_RECORD, STREAM
from ..privacy.certificate import certify as certified
from ..schema import Schema
from ..schema.schema import given_schema
from ..schema.table import RECORD
from ..text import named
from .methods.catalogue import Options, chosen_method, takes_options
from .methods.contract import Made, Method
from .numba_kernels import compilation_told
from .register import (
    Departure,
    Preview,
    Register,
    Registration,
    Target,
    check_first,
    check_known,
    check_payable,
    given_register,
    paid,
)
from .release import Leaving, Release, leave_for
from .row_fingerprint import Marking
from .save import check_target
from .synthetic.plan import ReleasePlan
from .table.input_table import kind_of, open_original

AS_STORED = (
    "Identifiers are compared as they are stored, byte by byte: two spellings of one name are two "
    "persons."
)
LEFT_OUT = "Completeness: rows without a value in {names} are not in the release."
UNPROTECTED = (
    "Nothing protects {names}: its role is other, and it is published as it is. Whoever knows it "
    "of a person may find the person's row by it."
)
UNPROTECTED_ALL = (
    "Nothing protects {names}: their role is other, and they are published as they are. Whoever "
    "knows them of a person may find the person's row by them."
)
UNREGISTERED = (
    "It is registered in no ledger, so nothing keeps a second release of the table from leaving."
)
UNSEALED = "It does not say by which schema it was made: that takes the key of a ledger."
PREVIEWED = "Anything of a table that left: this was a preview, and no table belongs to it."
COUNTED = "The number of published rows is not hidden, whatever neighbours the schema declares."
ROWS_OF_ONE = (
    "How many rows a person has is not hidden. Everybody counts once for each different value of "
    "his rows: a value that every person of a group has in some row is disclosed like the one "
    "value of a group."
)

_PREVIEWED = "no, a preview"


def certify(
    method: Method, *, registered: bool, seal: str = "", preview: bool = False
) -> Certificate:
    """What is promised: what the method says, and what holds of every release; never of rows.

    registered: whether a ledger will know it once it leaves.
    seal: by which schema, as that ledger seals it.
    """
    schema = method.schema
    assumptions, limits = [STREAM], list(method.limits)
    if schema.unit == RECORD:
        assumptions.append(ONE_RECORD)
    if schema.identifiers or schema.unit != RECORD:
        assumptions.append(AS_STORED)
    if method.unprotected:
        said = UNPROTECTED if len(method.unprotected) == 1 else UNPROTECTED_ALL
        limits.append(said.format(names=named(method.unprotected)))
    gaps = [name for name in method.compared if schema.columns[name].missing is None]
    if gaps:
        limits.append(LEFT_OUT.format(names=named(gaps)))
    if schema.unit != RECORD:
        limits.append(ROWS_OF_ONE)
    limits.append(COUNTED)
    if preview:
        limits.insert(0, PREVIEWED)
    elif not registered:
        limits += [UNREGISTERED, UNSEALED]
    return certified(
        method.promise,
        schema,
        method.way.mechanism,
        {
            "method": method.name,
            **method.parameters,
            "override": ", ".join(sorted(method.override)),
            "registered": _registered(method, registered, preview),
        },
        [method.way.source],
        [*assumptions, *method.assumptions],
        limits,
        seal,
    )


def _registered(method: Method, registered: bool, preview: bool) -> str:
    if preview:
        return _PREVIEWED
    if method.repeatable:
        return "Its price is in the ledger."
    return "yes" if registered else "no, in no ledger"


# -- The journey of a release, on one page ---------------------------------------------------------

Progress = Callable[[str], None]


@takes_options
def publish(
    source: object = None,
    *,
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any],
    method: str,
    ledger: Ledger | str | os.PathLike[str] | Literal[False] | None = None,
    override: str | tuple[str, ...] = (),
    progress: Progress | None = None,
    preview: bool = False,
    **options: Unpack[Options],
) -> Release:
    """A protected copy of a table, with its certificate.

    Guarantee
        "microaggregate": every combination of quasi-identifiers is shared by at least `k` units;
        by "each-quasi-identifier", every value of each of them.
        "generalise": the same, by intervals and concepts that are true of every row.
        "swap": a confidential value in a unit's row came from that unit's record with probability
        at most 1/k, for whoever holds the records of a group to be equally likely anybody's in it.
        The value itself may be the same for all of a group, and is then known; and whoever learns
        from the release how columns relate puts more values back than that (`risk.rematched`).
        "anatomy": the same of the records of a group, in two tables that are linked by group.
        "t-close": in every group of at least `k` units each bucket of a confidential column is at
        most `t` times as frequent, or as rare, as in the table. It says nothing against whoever
        knows more of people than these shares, and is not differential privacy.
        All of these count units, not rows.
        "private": the table is epsilon-differentially private when one record takes any other
        value; how many rows there are is public. Rows are drawn, and none is anybody's. `epsilon`
        is debited before a row is read; `tn.plan_release` says before what will be done.
        Identifiers and columns that the schema does not declare are not
        in the release, and rows are in random order.
        Numbers and dates are on the declared grid and within the declared bounds, as they are for
        questions. What is not promised stands in the certificate.

    Parameters
        source: the table: a path, a data frame or a connection; None for the schema's own source.
        schema: a `Schema`, or the path of its file; the roles of the columns decide what is done.
        method: "microaggregate" (centres of groups of similar people instead of their
            quasi-identifiers), "generalise" (intervals for numbers and dates, concepts that cover
            categories), "swap" (confidential values change places inside such groups), "anatomy"
            (quasi-identifiers and confidential values in two tables that are linked by group),
            "t-close" (likewise, with values in buckets) or "private" (a table drawn from noisy
            numbers).
        epsilon: what "private" may cost.
        k: the least number of units in a group. For "private", rows in a cluster, which asks for
            microaggregation. For a swap in which each column has its own groups,
            also a mapping from column to k. The certificate then promises the least, of each column
            by itself: together they may leave fewer records, whatever their k.
        by: how groups are formed. "microaggregate": "mdav", "v-mdav" or
            "each-quasi-identifier" (individual ranking: similar values of each). "generalise":
            "multidimensional" (split as far as k allows) or "full-domain" (each column on one
            level, those levels that lose least). "swap":
            "quasi-identifiers" (MDAV-SWAP), "each-confidential" (IR-SWAP: similar values of the
            column itself; none for columns without order) or "other-attributes" (all other columns,
            in turn: values then stay plausible beside them, and whoever knows a confidential column
            may learn about others from who shared a group). "anatomy": "quasi-identifiers" or
            "confidential" (similar confidential values). None for the first. "private": "tree",
            "two-stage", "columns", "copula", "network" or "microaggregation"; None for what suits
            the number of rows, epsilon and the types of columns.
        l, t: groups grow until each has at least l different values, or is within earth mover's
            distance t of the table, in each sensitive column, or each confidential one if none is
            declared sensitive. For t they are formed from strata of such a column where that keeps
            similar people closer together. How groups were made tells something of their members.
            "generalise" splits no group into parts that lack l or t instead.
            For "t-close", `t` is not a distance from 0 to 1 but a ratio of shares, at least 1.
        groups: "shown" or "hidden". Hidden groups of "t-close" leave as one table, in which the
            buckets of a group have changed places.
        gamma: the gain factor of "v-mdav".
        suppress: the share of rows that "generalise" may leave out, where the others gain by it.
        minimise: which loss "full-domain" makes least: "ncp", "discernibility" or
            "average-class-size" (`tn.evaluate` has each).
        widths: for "full-domain", the widths of a column's intervals, each a multiple of the one
            before: {"age": [5, 10, 20]}. If none are stated they double, from the bounds.
        memory: how many bytes of a stored table may be held. One that would need more is read in
            passes, with the same promise; which is done follows from the numbers of rows and
            columns. "private" keeps to 1 GiB if nothing is said. Also for "microaggregate" by
            "each-quasi-identifier", "swap" by "each-confidential", "anatomy" by "confidential" of
            one column, "t-close", and "generalise" by "multidimensional" without l, t and suppress,
            where every row is a unit: there nothing is limited if nothing is said, and risk and
            utility are measured on rows drawn at random.
        ledger: where the release is registered, so that a second one of the table is refused: a
            ledger or its path. None for the one of the table, as for questions (`protect`); a table
            and a schema in no file are then not registered. False for none at all. It is
            registered when its table is first handed out or saved.
        override: "second-release" or "homogeneous-groups", to insist; recorded in the certificate.
        progress: is told the name of each step when it begins; of a table that is read in passes
            also how far the step has come, in brackets.
        preview: only measure. Nothing is registered, and `table` and `save` are refused. A method
            that has a price cannot be measured without paying: see `tn.plan_release`.

    Source
        Thesis, section 2.8 and chapters 3 and 7, corrected where a docstring of the method says so.
    """
    return publish_into(
        None,
        source,
        schema=schema,
        method=method,
        ledger=ledger,
        override=override,
        progress=progress,
        preview=preview,
        **options,
    )[0]


@takes_options
def publish_into(
    target: Target | None,
    source: object = None,
    *,
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any],
    method: str,
    ledger: Ledger | str | os.PathLike[str] | Literal[False] | None = None,
    override: str | tuple[str, ...] = (),
    progress: Progress | None = None,
    preview: bool = False,
    **options: Unpack[Options],
) -> tuple[Release, dict[str, Any]]:
    """The same, saved at once where there is a target; returns the manifest too.

    Guarantee
        The files are complete on the disk, in a hidden folder, before the release is registered,
        and get their name after it: nothing leaves unregistered. If they cannot get it, the ledger
        records that the release never left, and the next attempt is not a second release.
    """
    described, file = _publishable(schema)
    way = chosen_method(described, method, override=override, **options)
    if flag(preview, "preview") and way.price:
        raise refuse("publish.preview-with-price", method=way.name)
    if target is not None:
        check_target(target.folder, target.kind, replace=target.replace)
    given = source if source is not None else described.location
    tell = _Steps(progress)
    with _register(ledger, source, described, file, preview=preview) as books:
        way, made, marks = _made(way, given, books, tell)
        tell("certificate")
        release = _release(way, made, given, books, marks, preview=preview)
        return release, {} if target is None else leave_for(release, target)


@contextmanager
def _register(
    ledger: object, source: object, schema: Schema, file: Path | None, *, preview: bool
) -> Iterator[Register | None]:
    """The ledger in which the release is registered; None for none."""
    place = NOWHERE
    if ledger is None and not preview:
        place = Place(schema.ledger_location, ledger_places(source, schema), file)
    books = None if preview else given_register(ledger, place)
    with books or nullcontext():
        yield books


def _made(
    way: Method, source: object, books: Register | None, tell: _Steps
) -> tuple[Method, Made, tuple[str, ...]]:
    """What the method makes of the rows, as it is done of them, and marks of these rows."""
    once = None if way.repeatable else books
    if once is not None and once.known is not None:
        check_first(once.known, way)
    tell("read")
    with open_original(source, way.schema, way.memory) as table:
        way = way.sized(table.rows)
        known = None if once is None else partial(check_known, once, way)
        look = Marking(source, way.schema.name, known)
        if way.in_passes(table):
            way = way.streamed()
        with paid(books, way), tell.compilations():
            return way, way.make(table, SYSTEM, tell, look), look.marks


def _release(
    way: Method,
    made: Made,
    source: object,
    books: Register | None,
    marks: tuple[str, ...],
    *,
    preview: bool,
) -> Release:
    """The release with its certificate, ready to leave."""
    seal = "" if books is None else books.made().seal(way.schema.digest)
    certificate = certify(way, registered=books is not None, seal=seal, preview=preview)
    leaving, told = Leaving.of(way, made, source), made.assessment
    facts = certificate, told.risk, told.utility, made.history
    if preview:
        return Release(*facts, leaving.without_rows(), Preview(certificate))
    once = None if way.repeatable or books is None else Registration(books, way, marks, seal)
    departure = Departure(
        leaving.tables, certificate, kind_of(source), once, repeatable=way.repeatable
    )
    return Release(*facts, leaving, departure)


@takes_options
def plan_of(
    source: object = None,
    *,
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any],
    method: str,
    override: str | tuple[str, ...] = (),
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> tuple[ReleasePlan, Certificate] | None:
    """What `publish` would do, and the certificate it would give; None of a method that has no
    price, which a preview measures.

    Guarantee
        Nothing is paid, and no value decides anything: rows are counted, and not even that where
        the schema states their number.
    """
    described, _ = _publishable(schema)
    way = chosen_method(described, method, override=override, **options)
    if not way.price:
        return None
    check_payable(way)
    rows = described.rows
    if rows is None:
        (progress or (lambda _: None))("count rows")
        with open_original(
            source if source is not None else described.location, described
        ) as open_:
            rows = open_.rows
    way = way.sized(rows)
    return way.planned, certify(way, registered=False, preview=True)


def _publishable(schema: object) -> tuple[Schema, Path | None]:
    described, file = given_schema(schema)
    if not described.private:
        raise refuse("publish.published-bounds-not-private", name=described.name)
    return described, file


class _Steps:
    """Tells whoever waits, if anybody does, the name of each step when it begins."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._now = progress, ""

    def __call__(self, step: str) -> None:
        self._now = step.partition(" (")[0]
        if self._progress is not None:
            self._progress(step)

    def compilations(self) -> AbstractContextManager[None]:
        """Inside, whoever waits is also told when a step compiles something."""
        progress = self._progress
        if progress is None:
            return nullcontext()
        return compilation_told(lambda word: progress(f"{self._now} ({word})"))
