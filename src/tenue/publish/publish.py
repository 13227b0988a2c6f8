"""The path of a release, on one page.

schema → method → register → validate → plan → pay → read → make → measure → certificate → release
and, when a table leaves: files → ledger → table

What can be refused without a value of a row is refused before any is paid for or read: options, an
earlier release in the ledger, a folder that cannot be written, a table that is not well formed (an
engine validates it in one pass). Only a method that has a price is planned and paid for. A release
is registered when its table leaves, not when it is made. A refusal comes before a table exists.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
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
    Purchase,
    Register,
    Registration,
    Target,
    check_first,
    check_payable,
    check_rows,
    given_register,
    paid,
)
from .release import Leaving, Release, leave_for
from .row_fingerprint import Marking
from .save import check_target
from .synthetic.plan import ReleasePlan
from .table.input_table import kind_of, open_original

AS_STORED = (
    "Identifiers are compared as they are stored, byte by byte: two spellings of one name count as "
    "two persons."
)
LEFT_OUT = "It does not contain every row: rows with a missing value in {names} are left out."
UNPROTECTED = (
    "It does not protect {names}, of role other: the column is published unchanged, and an "
    "intruder who knows a person's value may find the person's row by it."
)
UNPROTECTED_ALL = (
    "It does not protect {names}, of role other: these columns are published unchanged, and an "
    "intruder who knows a person's values may find the person's row by them."
)
UNREGISTERED = "It does not prevent a second release of the table: no ledger registers this one."
UNSEALED = "It does not identify the schema by which it was made: that requires a ledger's key."
PREVIEWED = "It promises nothing about a released table: this was a preview, which has no table."
COUNTED = "It does not hide the number of published rows, whatever neighbours the schema declares."
ROWS_OF_ONE = (
    "It does not hide how many rows a person has. A person counts once for each different value in "
    "their rows: a value that every member of a group has in some row is disclosed, as if it were "
    "the group's only value."
)


def certify(
    method: Method, *, registered: bool, seal: str = "", preview: bool = False
) -> Certificate:
    """The certificate of a release, which never depends on rows. It names the table and the day.

    registered: whether a ledger registers the release when it leaves.
    seal: the schema as that ledger seals it.
    """
    schema = method.schema
    assumptions, limits = [STREAM], list(method.limits)
    if schema.unit == RECORD:
        assumptions.append(ONE_RECORD)
    if schema.identifiers or schema.unit != RECORD:
        assumptions.append(AS_STORED)
    if method.unprotected:
        limit = UNPROTECTED if len(method.unprotected) == 1 else UNPROTECTED_ALL
        limits.append(limit.format(names=named(method.unprotected)))
    gaps = [name for name in method.compared if schema.columns[name].missing is None]
    if gaps:
        limits.append(LEFT_OUT.format(names=named(gaps)))
    if schema.unit == RECORD or not method.hides_rows:
        limits += [ROWS_OF_ONE, COUNTED] if schema.unit != RECORD else [COUNTED]
    if preview:
        limits.insert(0, PREVIEWED)
        register = "no, a preview"
    elif method.repeatable:
        register = "Its price is in the ledger."
    else:
        register = "yes" if registered else "no, in no ledger"
    if not (preview or registered):
        limits += [UNREGISTERED, UNSEALED]
    return certified(
        method.promise,
        schema,
        method.way.mechanism,
        {
            "method": method.name,
            **method.parameters,
            "override": ", ".join(sorted(method.override)),
            "registered": register,
        },
        [method.way.source],
        [*assumptions, *method.assumptions],
        limits,
        seal,
        name=schema.name,
        date=today(),
    )


def today() -> str:
    """The day of a release, in UTC."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


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
        "generalise": the same, by intervals and categories that are true of every row.
        "local-suppression": the same, by leaving out single cells. A missing cell is a value of its
        own, as for `check`: the rows of a combination have the same cells missing.
        "swap": a confidential value in a unit's row originates from that unit's record with
        probability at most 1/k, provided the intruder considers every assignment of the group's
        records to its members equally likely. The value itself is known where all of a group share
        it; and an intruder who learns from the release how columns relate reassigns more values
        (`risk.rematched`).
        "anatomy": the same for the records of a group, in two tables that are linked by group.
        "t-close": in every group of at least `k` units each bucket of a confidential column is at
        most `t` times as frequent, or as rare, as in the table. It does not protect against an
        intruder who knows more about people than these shares.
        All of these count units, not rows, and none is differential privacy.
        "perturb": nothing. Values are changed at random by a stated law, from which no bound
        follows; `risk` has the re-identification measured on this one table, for the holder.
        "private": the table is epsilon-differentially private when one record takes any other
        value, and the number of rows is public; or for all rows of a person, of which at most
        `rows_per_unit` count, and their number has noise. Rows are drawn, and describe no one
        person. `epsilon` is debited before a row is read; `tn.plan_release` states the plan without
        reading rows.
        Identifiers and undeclared columns are not in the release, and rows are in random order.
        Numbers and dates are on the declared grid and clipped to the declared bounds, as for
        questions. The certificate states what is not promised.

    Parameters
        source: the table: a path, a data frame or a connection; None for the schema's own source.
        schema: a `Schema`, or the path of its file; the roles of the columns decide what is done.
        method: "microaggregate" (quasi-identifiers of similar people replaced by the centre of
            their group), "generalise" (intervals for numbers and dates, more general categories),
            "local-suppression" (few single cells of quasi-identifiers left out),
            "swap" (confidential values permuted within groups), "anatomy" (quasi-identifiers and
            confidential values in two tables that are linked by group), "t-close" (likewise, with
            values in buckets), "perturb" (PRAM and additive noise, without a formal promise) or
            "private" (a table drawn from noisy numbers).
        epsilon: the price of "private".
        k: the least number of units in a group. For "private", the rows in a cluster, which selects
            microaggregation. For a swap in which each column has its own groups, also a mapping
            from column to k. The certificate then promises the least k, for each column separately.
        by: how groups are formed; None for the first of these. "microaggregate": "mdav", "v-mdav"
            or "each-quasi-identifier" (individual ranking: similar values of each). "generalise":
            "multidimensional" (Mondrian) or "full-domain" (each column on one level, with the least
            loss). "swap": "quasi-identifiers" (MDAV-SWAP), "each-confidential" (IR-SWAP: similar
            values of the column itself, which must be ordered) or "other-attributes" (all other
            columns, in turn: values stay plausible beside them, and an intruder who knows a
            confidential column may learn about others from who shared a group). "anatomy":
            "quasi-identifiers" or "confidential" (similar confidential values). "private": "tree",
            "two-stage", "columns", "copula", "network" or "microaggregation"; None for what suits
            the number of rows, epsilon and the types of columns.
        l, t: groups grow until each has at least l different values, or is within earth mover's
            distance t of the table, in each sensitive column, or each confidential one if none is
            declared sensitive. For t they are formed from strata of such a column where that keeps
            similar people closer together. How groups were formed reveals something about their
            members. "generalise" instead splits no group into parts that lack l or t.
            For "t-close", `t` is not a distance from 0 to 1 but a ratio of shares, at least 1.
        groups: "shown" or "hidden". Hidden groups of "t-close" are released as one table, with
            buckets permuted within each group.
        gamma: the gain factor of "v-mdav".
        suppress: the share of rows that "generalise" may leave out, where the others gain by it.
        minimise: the loss that "full-domain" minimises: "ncp", "discernibility" or
            "average-class-size" (`tn.evaluate` has each).
        widths: for "full-domain", the widths of a column's intervals, each a multiple of the one
            before: {"age": [5, 10, 20]}. By default they double, from the bounds.
        importance: for "local-suppression", how many cells a suppressed cell of a column counts
            for, a whole number: {"age": 5} keeps ages where five other cells would do. By default
            every cell counts for one, and the fewest cells are sought.
        retain: for "perturb", the probability that a category or boolean is kept; otherwise it
            becomes that of a row drawn at random, so that expected frequencies stay (invariant
            PRAM). A number for all quasi-identifiers and confidential columns, or one by column.
        transition: for "perturb", by column, the matrix of PRAM instead: row i has the
            probabilities of all values where the declared value i was; false before true.
        noise: for "perturb", the standard deviation of the noise added to numbers and dates, as a
            share of the column's own: 0.1. A number for all, or one by column.
        correlated: whether noise has the covariance of the columns, so that correlations stay in
            expectation; otherwise it is independent for each column.
        memory: how many bytes of a stored table may be held. A larger table is read in passes, with
            the same promise; the numbers of rows and columns decide. "private" holds 1 GiB by
            default. The option also applies to "microaggregate" by "each-quasi-identifier", "swap"
            by "each-confidential", "anatomy" by "confidential" of one column, "t-close", and
            "generalise" by "multidimensional" without l, t and suppress, where every row is a unit:
            there nothing is limited by default, and in passes risk and utility are measured on rows
            drawn at random.
        ledger: where the release is registered when its table is first handed out or saved, so that
            a second one is refused: a ledger or its path. None for the ledger of the table, as for
            questions (`protect`); a table and a schema in no file are then not registered. False
            for no ledger.
        override: "second-release" or "homogeneous-groups"; recorded in the certificate.
        progress: receives the name of each step when it begins; in passes also, in brackets, how
            far the step has come.
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
    """As `publish`, and saved at once where there is a target; returns the manifest too.

    Guarantee
        The files are complete on the disk, in a hidden folder, before the release is registered,
        and renamed after it: nothing leaves unregistered. If renaming fails, the ledger records
        that the release never left, and the next attempt is not a second release.
    """
    described, file = _publishable(schema)
    way = chosen_method(described, method, override=override, **options)
    if flag(preview, "preview") and way.price:
        raise refuse("publish.preview-with-price", method=way.name)
    if target is not None:
        check_target(target.folder, target.kind, replace=target.replace)
    given = source if source is not None else described.location
    tell = _Steps(progress)
    place = NOWHERE
    if ledger is None and not preview:
        place = Place(described.ledger_location, ledger_places(source, described), file)
    books = None if preview else given_register(ledger, place)
    with books or nullcontext():
        way, made, marks = _made(way, given, books, tell)
        tell("certificate")
        release = _release(way, made, given, books, marks, preview=preview)
        return release, {} if target is None else leave_for(release, target)


def _made(
    way: Method, source: object, books: Register | None, tell: _Steps
) -> tuple[Method, Made, tuple[str, ...]]:
    """The method as it was applied, what it made of the rows, and the fingerprints of these."""
    once = None if way.repeatable else books
    if once is not None and once.known is not None:
        check_first(once.known, way)
    tell("read")
    with open_original(source, way.schema, way.memory) as table:
        way = way.sized(table.rows)
        known = None if once is None else partial(check_rows, once, way)
        look = Marking(source, way.schema.name, known)
        if way.in_passes(table):
            way = way.streamed()
        with paid(books, way), tell.compilations():
            made = way.make(table, SYSTEM, tell, look)
            return made.way or way, made, look.marks


def _release(
    way: Method,
    made: Made,
    source: object,
    books: Register | None,
    marks: tuple[str, ...],
    *,
    preview: bool,
) -> Release:
    seal = "" if books is None else books.made().seal(way.schema.digest)
    certificate = certify(way, registered=books is not None, seal=seal, preview=preview)
    leaving, assessment = Leaving.of(way, made, source), made.assessment
    facts = certificate, assessment.risk, assessment.utility, made.history
    if preview:
        return Release(*facts, leaving.without_rows(), Preview(certificate))
    once = None if way.repeatable or books is None else Registration(books, way, marks, seal)
    departure = Departure(
        leaving.tables,
        certificate,
        kind_of(source),
        once,
        purchase=None if books is None else Purchase(books, way),
        repeatable=way.repeatable,
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
    """The plan and the certificate of `publish`; None for a method without a price, which a preview
    measures.

    Guarantee
        Nothing is paid, and no value of a row is used: rows are counted at most, and not even that
        where the schema states their number.
    """
    described, _ = _publishable(schema)
    way = chosen_method(described, method, override=override, **options)
    if not way.price:
        return None
    check_payable(way)
    rows = described.rows
    if rows is None:
        _Steps(progress)("count rows")
        given = source if source is not None else described.location
        with open_original(given, described) as table:
            rows = table.rows
    way = way.sized(rows)
    return way.planned, certify(way, registered=False, preview=True)


def _publishable(schema: object) -> tuple[Schema, Path | None]:
    described, file = given_schema(schema)
    if not described.private:
        raise refuse("publish.published-bounds-not-private", name=described.name)
    return described, file


class _Steps:
    """Reports the name of each step when it begins, if progress is wanted."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._now = progress, ""

    def __call__(self, step: str) -> None:
        self._now = step.partition(" (")[0]
        if self._progress is not None:
            self._progress(step)

    def compilations(self) -> AbstractContextManager[None]:
        """Inside, also reports that a step compiles something."""
        progress = self._progress
        if progress is None:
            return nullcontext()
        return compilation_told(lambda word: progress(f"{self._now} ({word})"))
