"""What `check` found: k, l and t of one table, what limits them, and how people read it.

No value of any row is printed, only names, sizes and shares.
"""

from __future__ import annotations

import json
import math
import textwrap
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any, Literal

from ..arguments import exact, whole
from ..errors import refuse
from ..text import WIDTH, exactly, many, named, percent, sentence, shortly

HERE = "this process"


@dataclass(frozen=True, kw_only=True)
class Confidential:
    """What the groups tell of one confidential column.

    l: the least number of different values in a group; 1 is bad. Where a column names persons with
        several rows, how many values it takes so that everybody in a group has one of them.
    l_entropy: the least effective number of values in a group, from 1 (bad) to l.
    t: the largest earth mover's distance of a group from the whole table, from 0 (good) to 1.
    t_ratio: the largest quotient of shares, from 1 (good); infinite if a group lacks a value.
    distance: "ordered" for numbers and dates, "equal" for categories.
    homogeneous_groups: how many groups have one value only, or one that all their persons have.
    homogeneous_share: the share of rows in them.
    size_of_farthest: how many rows the group has in which t is reached.
    exact_t, exact_t_ratio: the same as fractions; None where infinite.
    """

    name: str
    l: int
    l_entropy: float
    t: float
    t_ratio: float
    distance: str
    homogeneous_groups: int
    homogeneous_share: float
    size_of_farthest: int
    exact_t: Fraction
    exact_t_ratio: Fraction | None


@dataclass(frozen=True)
class Reading:
    """Where a table was counted, and what of it was read into this process.

    by: "this process", or the engine that counted: "DuckDB", "PostgreSQL" or "Spark".
    counts: how many numbers of rows it gave, each with the values that it belongs to.
    rows: how many rows were read; of a table that is counted elsewhere 50,000 at most, for the
        warnings about columns that follow from others.
    columns: the columns of such a table that were read as wholes.
    """

    by: str = HERE
    counts: int = 0
    rows: int = 0
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.by == HERE:
            return f"Counted in this process, which read {many(self.rows, 'row')}."
        read = many(self.counts, "count")
        if self.rows:
            read += f", and {many(self.rows, 'row')} to compare columns"
        if self.columns:
            read += f", and all of {named(self.columns)}"
        return f"Counted by {self.by}; this process read {read}."


@dataclass(frozen=True, kw_only=True, repr=False)
class Check:
    """What a table shows of its groups. It describes one file, and promises nothing.

    rows: how many rows were read.
    quasi_identifiers: the columns by which rows were grouped.
    unit: who is counted: "record", or the column that names a person.
    groups: how many groups there are.
    k: the least number of units in a group; 1 is bad.
    smallest_groups: how many groups have no more than k units.
    smallest_rows: how many rows the group with the fewest has.
    unique_share: the share of rows whose group has one unit only, from 0 (good) to 1.
    homogeneous_groups, homogeneous_share: how many groups, and the share of rows in them, have only
        one value of some confidential column.
    confidential: l, t and more of each confidential column.
    notes: what limits these numbers, in sentences.
    warnings: what undoes them, in sentences: a column that names persons, one that tells nearly
        everybody apart, one that follows from others, a certificate that does not fit.
    identifiers: the columns that name persons, as declared.
    apparent_identifiers: those that look like it, and of which nothing is declared.
    certificate_fits: whether the certificate beside the file belongs to it; None if there is none.
    k_from: how k was found: "units" were counted. Where units are persons and the file does not say
        whose a row is, "rows", over how many of them questions count of each, which proves nothing
        of persons; or what the "certificate" says.
    swapped: whether confidential values are known to have changed places between people; what a
        group shows is then not known to be its members'.
    drawn: whether rows are known to be drawn under differential privacy, so that none is anybody's.
    reading: where the rows were counted, and what was read of them; None where a release was
        measured as it was made.
    """

    rows: int
    quasi_identifiers: tuple[str, ...]
    unit: str
    groups: int
    k: int
    smallest_groups: int
    smallest_rows: int
    unique_share: float
    homogeneous_groups: int
    homogeneous_share: float
    confidential: tuple[Confidential, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    apparent_identifiers: tuple[str, ...] = ()
    certificate_fits: bool | None = None
    k_from: Literal["units", "rows", "certificate"] = "units"
    swapped: bool = False
    drawn: bool = False
    reading: Reading | None = None

    @property
    def l(self) -> int | None:  # noqa: E743 - the paper's name
        """The least distinct l of all confidential columns; None without such a column."""
        return min((column.l for column in self.confidential), default=None)

    @property
    def l_entropy(self) -> float | None:
        """The least entropy l of all confidential columns; None without such a column."""
        return min((column.l_entropy for column in self.confidential), default=None)

    @property
    def t(self) -> float | None:
        """The largest earth mover's t of all confidential columns; None without such a column."""
        return max((column.t for column in self.confidential), default=None)

    @property
    def t_ratio(self) -> float | None:
        """The largest ratio t of all confidential columns; None without such a column."""
        return max((column.t_ratio for column in self.confidential), default=None)

    def meets(self, k: object = None, l: object = None, t: object = None) -> bool:
        """Whether the file is as required: nothing is `unmet`.

        Example
            >>> from tenue.evaluate import check
            >>> town = [[30, 1], [30, 2], [40, 1], [40, 2]]
            >>> found = check(town, quasi_identifiers=["0"], confidential=["1"])
            >>> found.meets(k=2, l=2, t=0), found.meets(k=3)
            (True, False)
        """
        return not self.unmet(k, l, t)

    def unmet(self, k: object = None, l: object = None, t: object = None) -> tuple[str, ...]:
        """What is required and does not hold, a sentence each.

        A file that names persons, or has a column that looks like it and of which nothing is
        declared, or whose certificate does not fit, meets nothing. Nor does one whose units are
        persons that cannot be counted: neither a column nor a certificate says whose a row is.

        Parameters
            k, l: at least; None if nothing is required.
            t: at most, exactly: 0.1 is one tenth.
        """
        return unmet(self, k, l, t)

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them: fractions as text, and "inf" for what is infinite."""
        facts: dict[str, Any] = {part.name: getattr(self, part.name) for part in fields(self)}
        worst = ("l", "l_entropy", "t", "t_ratio")
        facts.update({name: plain(getattr(self, name)) for name in worst})
        facts["quasi_identifiers"] = list(self.quasi_identifiers)
        for name in ("notes", "warnings", "identifiers", "apparent_identifiers"):
            facts[name] = list(facts[name])
        facts["confidential"] = [
            {part.name: plain(getattr(column, part.name)) for part in fields(column)}
            for column in self.confidential
        ]
        if self.reading is None:
            del facts["reading"]
        else:
            facts["reading"] = asdict(self.reading) | {"columns": list(self.reading.columns)}
        return facts

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict())

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return check_text(self)


def plain(value: Any) -> Any:
    """A number as JSON has it: a fraction as text, and "inf" for what is infinite."""
    if isinstance(value, Fraction):
        return str(value)
    return "inf" if value == math.inf else value


def _short(number: float) -> str:
    return shortly(number, digits=4)


def check_text(check: Check, width: int = WIDTH) -> str:
    """The screen of `tenue check`; narrower where it is part of another one."""
    who = "row" if check.unit == "record" else check.unit
    lines = [
        *(line for text in check.warnings for line in (f"WARNING: {text}", "")),
        f"{many(check.rows, 'row')} in {many(check.groups, 'group')} that share "
        f"{', '.join(check.quasi_identifiers)}",
        *(line for note in check.notes for line in ("", f"Note: {note}")),
        "",
        f"k = {check.k}",
        f"  {_smallest(check, who)} {_alone(check)}".rstrip(),
    ]
    for column in check.confidential:
        lines += [
            "",
            f"{column.name}: l = {column.l} (entropy {_short(column.l_entropy)}), "
            f"t = {_short(column.t)} (ratio {_short(column.t_ratio)})",
            f"  l: {_diversity(column, check)}",
            f"  t: {_closeness(column)}",
        ]
    if not check.confidential:
        lines += ["", "No confidential column was named, so l and t were not measured."]
    here = check.reading is None or check.reading.by == HERE
    lines += [
        "",
        f"This is about this {'file' if here else 'table'}, and about an intruder who knows these "
        "columns and no others. A second release of the same people may undo it.",
        *(() if check.reading is None else ("", str(check.reading))),
    ]
    return "\n".join(_wrapped(line, width) for line in lines)


def _wrapped(line: str, width: int) -> str:
    indent = "  " if line.startswith("  ") else ""
    return textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)


def unmet(check: Check, k: object, l: object, t: object) -> tuple[str, ...]:
    """What is required of a file and does not hold."""
    if not check.confidential and (l is not None or t is not None):
        raise refuse("evaluate.nothing-confidential", word="l" if t is None else "t")
    said = []
    if check.identifiers:
        said.append(f"The file names persons: {named(check.identifiers)}.")
    if check.apparent_identifiers:
        verb, it = (
            ("looks", "it is") if len(check.apparent_identifiers) == 1 else ("look", "they are")
        )
        said.append(
            f"{named(check.apparent_identifiers)} {verb} like names of persons or rows. If {it} "
            "none, declare that in a schema."
        )
    if check.k_from == "rows":
        advice = "" if check.certificate_fits else " If nobody has two rows, the unit is record."
        no_column = f"no column `{check.unit}` says whose a row is."
        said.append(f"Persons cannot be counted: {no_column}{advice}")
    if check.certificate_fits is False:
        said.append("The certificate beside the file does not fit it.")
    if k is not None and check.k < (least := whole(k, "k", least=1)):
        said.append(f"k is {check.k}; at least {least} is required.")
    if l is not None:
        least = whole(l, "l", least=1)
        said += [
            f"l of {column.name} is {column.l}; at least {least} is required."
            for column in check.confidential
            if column.l < least
        ]
    if t is not None:
        most = exact(t, "t")
        said += [
            f"t of {column.name} is {_short(column.t)}; at most {exactly(most)} is required."
            for column in check.confidential
            if column.exact_t > most
        ]
    if said and (check.swapped or check.drawn):
        said.append("The certificate promises another thing, which k, l and t do not measure.")
    return tuple(said)


def _smallest(check: Check, who: str) -> str:
    if check.k_from == "certificate":
        return (
            "The file does not say whose each row is. By its certificate everybody is among at "
            f"least {many(check.k, who)} that look alike; the smallest group has "
            f"{many(check.smallest_rows, 'row')}."
        )
    if check.k_from == "rows":
        return (
            "The file does not say whose each row is, so persons were not counted; the smallest "
            f"group has {many(check.smallest_rows, 'row')}."
        )
    if check.k == 1:
        return f"{many(check.smallest_groups, 'group')} of one {who} only."
    verb = "is" if check.smallest_groups == 1 else "are"
    return (
        f"Everybody is among at least {many(check.k, who)} that look alike; "
        f"{many(check.smallest_groups, 'group')} {verb} no larger."
    )


def _alone(check: Check) -> str:
    share = check.unique_share
    if share == 0:
        return "" if check.k_from == "rows" else "Nobody stands alone."
    told = (
        "which are nobody's" if check.drawn else "who knows these columns of a person finds the row"
    )
    return (
        f"{sentence(percent(share))} of the rows stand alone{',' if check.drawn else ':'} {told}."
    )


def _diversity(column: Confidential, check: Check) -> str:
    if column.l > 1:
        return (
            f"every group has at least {column.l} different values, so none shows one value for "
            "all. A group that was made larger to reach that may still give away what its first "
            "members had in common."
        )
    groups = column.homogeneous_groups
    what = "has one value only" if groups == 1 else "have one value only"
    told = ": whoever is known to be in such a group has it"
    if check.drawn:
        told = ", which is nobody's"
    elif check.swapped:
        told = ", which may be somebody else's"
    return (
        f"{many(groups, 'group')} ({percent(column.homogeneous_share)} of the rows) {what}{told}."
    )


def _closeness(column: Confidential) -> str:
    kind = "ordered values" if column.distance == "ordered" else "categories"
    farthest = many(column.size_of_farthest, "row")
    text = (
        f"0 if every group is distributed like the whole table, 1 at most ({kind}). The group "
        f"farthest from it has {farthest}. "
    )
    if column.t_ratio == math.inf:
        return text + "Some group lacks a value that the table has, so the ratio is infinite."
    return (
        text + f"A value is up to {_short(column.t_ratio)} times rarer or more frequent in a group."
    )
