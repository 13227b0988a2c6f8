"""The result of `check`: k, l and t of one table, their limits, and the printed report.

No value of any row is printed, only names, sizes and shares.
"""

from __future__ import annotations

import json
import math
import textwrap
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from ..arguments import Number, exact, whole
from ..errors import refuse
from ..text import WIDTH, exactly, many, named, percent, sentence, shortly
from .one_table.diversity import MOST_VALUES

if TYPE_CHECKING:
    from .population import Population

HERE = "this process"
_SEVERAL = ("seem", "they do not, declare their roles")


class Printed:
    """A result that prints as text and converts to JSON."""

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        raise NotImplementedError

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict())

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, kw_only=True)
class Confidential:
    """l and t of one confidential column.

    l: the least number of different values in a group; 1 is bad. Where a column names persons with
        several rows, how many values it takes so that everybody in a group has one of them.
    l_entropy: the least effective number of values in a group, from 1 (bad) to l.
    t: the largest earth mover's distance of a group from the whole table, from 0 (good) to 1.
    t_ratio: the largest quotient of shares, from 1 (good); infinite if a group lacks a value.
    distance: "ordered" for numbers and dates, "equal" for categories.
    homogeneous_groups, homogeneous_share: the number of groups with a single value, or with one
        that all their persons have, and the share of rows in them.
    size_of_farthest: the number of rows of the group at distance t.
    exact_t, exact_t_ratio: the same as fractions; None where infinite.
    alpha: the largest share of a group's units that have one value, from above 0 to 1 (bad): the
        least of (alpha, k)-anonymity.
    beta: the largest relative gain (q - p) / p of a value whose share is p in the table and q in a
        group, from 0 (good): the least of basic beta-likeness.
    beta_enhanced: the same for enhanced beta-likeness, whose gains are at most -ln p too; infinite
        if one is larger.
    exact_alpha, exact_beta: the same as fractions.
    recursive: for l = 2, 3, … (up to 64) the number above which every c gives recursive
        (c, l)-diversity; as many as are finite.
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
    alpha: float
    beta: float
    beta_enhanced: float
    exact_alpha: Fraction
    exact_beta: Fraction
    recursive: tuple[Fraction, ...]

    def least_c(self, l: Number | None) -> Fraction | None:
        """Every c above it gives recursive (c, l)-diversity; None if no c does."""
        least = whole(l, "l", least=2)
        if least > MOST_VALUES:
            raise refuse("evaluate.recursive-l-too-large", most=MOST_VALUES)
        return self.recursive[least - 2] if least - 2 < len(self.recursive) else None


@dataclass(frozen=True)
class Reading:
    """Where a table was counted, and what of it was read into this process.

    by: "this process", or the engine that counted: "DuckDB", "PostgreSQL" or "Spark".
    counts: the number of counts it returned, each with the values it belongs to.
    rows: the number of rows read; of a table counted elsewhere at most 50,000, for the warnings
        about columns that follow from others.
    columns: the columns of such a table that were read completely.
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
class Check(Printed):
    """k, l and t of one file. It promises nothing.

    quasi_identifiers: the columns by which rows were grouped.
    unit: what is counted: "record", or the column that names a person.
    k: the least number of units in a group; 1 is bad.
    smallest_groups: the number of groups with no more than k units.
    smallest_rows: the least number of rows in a group.
    unique_share: the share of rows whose group has one unit only, from 0 (good) to 1.
    homogeneous_groups, homogeneous_share: the number of groups, and the share of rows in them, with
        a single value of some confidential column.
    confidential: l, t and more of each confidential column.
    notes: limits of these numbers, in sentences.
    warnings: what defeats them, in sentences: a column that names persons, is unique for nearly
        everybody or follows from others; a certificate that does not fit.
    identifiers: the columns declared to name persons.
    apparent_identifiers: the undeclared columns that seem to.
    certificate_fits: whether the certificate beside the file belongs to it; None if there is none.
    k_from: how k was obtained: "units" were counted; where units are persons whom the file does not
        name, k counts "rows", divided by the most rows that questions count of each person, which
        proves nothing about persons; or it is stated by the "certificate".
    swapped: whether confidential values are known to be exchanged between people, so that the
        values in a group need not be those of its members.
    drawn: whether rows are known to be drawn under differential privacy, so that none is the row of
        a person.
    reading: where the rows were counted, and what was read of them; None for a release measured
        while it was made.
    population: uniques and individual risk in a population of which the file is a sample; None if
        no sampling fraction was stated.
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
    population: Population | None = None

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

    @property
    def alpha(self) -> float | None:
        """The largest alpha of all confidential columns; None without such a column."""
        return max((column.alpha for column in self.confidential), default=None)

    @property
    def beta(self) -> float | None:
        """The largest beta of all confidential columns; None without such a column."""
        return max((column.beta for column in self.confidential), default=None)

    def meets(
        self,
        k: Number | None = None,
        l: Number | None = None,
        t: Number | None = None,
        *,
        alpha: Number | None = None,
        c: Number | None = None,
        beta: Number | None = None,
        risk: Number | None = None,
    ) -> bool:
        """Whether the file meets all requirements: nothing is `unmet`.

        Example
            >>> from tenue.evaluate import check
            >>> town = [[30, 1], [30, 2], [40, 1], [40, 2]]
            >>> found = check(town, quasi_identifiers=["0"], confidential=["1"])
            >>> found.meets(k=2, l=2, t=0), found.meets(k=3)
            (True, False)
        """
        return not self.unmet(k, l, t, alpha=alpha, c=c, beta=beta, risk=risk)

    def unmet(
        self,
        k: Number | None = None,
        l: Number | None = None,
        t: Number | None = None,
        *,
        alpha: Number | None = None,
        c: Number | None = None,
        beta: Number | None = None,
        risk: Number | None = None,
    ) -> tuple[str, ...]:
        """The requirements that fail, a sentence each.

        A file meets nothing if it names persons, has an undeclared column that seems to, has a
        certificate that does not fit, or if its units are persons who cannot be counted because
        neither a column nor a certificate says whose a row is.

        Parameters
            k, l: at least; None if nothing is required.
            t, alpha, beta: at most, exactly: 0.1 is one tenth. beta is that of basic likeness.
            c: recursive (c, l)-diversity, with `l`.
            risk: at most, the individual risk of every record; requires a sampling fraction.
        """
        asked = {"l": l, "t": t, "alpha": alpha, "c": c, "beta": beta}
        words = [word for word, given in asked.items() if given is not None]
        if words and not self.confidential:
            raise refuse("evaluate.nothing-confidential", word=words[-1])
        if c is not None and l is None:
            raise refuse("evaluate.c-without-l")
        if risk is not None and self.population is None:
            raise refuse("evaluate.risk-without-sampling-fraction")
        failures = []
        if self.identifiers:
            failures.append(f"The file names persons: {named(self.identifiers)}.")
        if self.apparent_identifiers:
            one = len(self.apparent_identifiers) == 1
            verb, role = ("seems", "it does not, declare its role") if one else _SEVERAL
            failures.append(
                f"{named(self.apparent_identifiers)} {verb} to name persons or rows. If {role} in "
                "a schema."
            )
        if self.k_from == "rows":
            advice = "" if self.certificate_fits else " If nobody has two rows, the unit is record."
            failures.append(
                f"Persons cannot be counted: no column `{self.unit}` says whose a row is.{advice}"
            )
        if self.certificate_fits is False:
            failures.append("The certificate beside the file does not fit it.")
        if k is not None and self.k < (least := whole(k, "k", least=1)):
            failures.append(f"k is {self.k}; at least {least} is required.")
        if l is not None:
            least = whole(l, "l", least=1)
            failures += [
                f"l of {column.name} is {column.l}; at least {least} is required."
                for column in self.confidential
                if column.l < least
            ]
        if t is not None:
            most = exact(t, "t")
            failures += [
                f"t of {column.name} is {_short(column.t)}; at most {exactly(most)} is required."
                for column in self.confidential
                if column.exact_t > most
            ]
        for word, limit in (("alpha", alpha), ("beta", beta)):
            if limit is not None:
                most = exact(limit, word)
                failures += [
                    f"{word} of {column.name} is {_short(getattr(column, word))}; at most "
                    f"{exactly(most)} is required."
                    for column in self.confidential
                    if getattr(column, f"exact_{word}") > most
                ]
        if c is not None:
            above = exact(c, "c")
            failures += [
                f"{column.name} has no recursive (c, l)-diversity with c = {exactly(above)}, "
                f"l = {l}: {_least_c(column.least_c(l))}."
                for column in self.confidential
                if (least_c := column.least_c(l)) is None or least_c >= above
            ]
        if risk is not None and self.population is not None:
            most = exact(risk, "risk")
            if self.population.largest_risk > most:
                found = _short(self.population.largest_risk)
                failures.append(
                    f"The largest individual risk is {found}; at most {exactly(most)} is required."
                )
        if failures and (self.swapped or self.drawn):
            failures.append("The certificate promises something else, not measured by k, l and t.")
        return tuple(failures)

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them: fractions as text, infinity as "inf"."""
        facts = dict(vars(self))
        facts |= {
            name: plain(getattr(self, name))
            for name in ("l", "l_entropy", "t", "t_ratio", "alpha", "beta")
        }
        names = ("quasi_identifiers", "notes", "warnings", "identifiers", "apparent_identifiers")
        facts |= {name: list(facts[name]) for name in names}
        facts["confidential"] = [
            {name: plain(value) for name, value in vars(column).items()}
            for column in self.confidential
        ]
        if self.population is None:
            del facts["population"]
        else:
            facts["population"] = self.population.to_dict()
        if self.reading is None:
            del facts["reading"]
        else:
            facts["reading"] = asdict(self.reading) | {"columns": list(self.reading.columns)}
        return facts

    def __str__(self) -> str:
        return check_text(self)


def plain(value: Any) -> Any:
    """A number as JSON has it: a fraction as text, infinity as "inf"."""
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if isinstance(value, Fraction):
        return str(value)
    return "inf" if value == math.inf else value


def _short(number: float) -> str:
    return shortly(number, digits=4)


def _classes(count: int) -> str:
    return f"{count:,} equivalence class{'' if count == 1 else 'es'}"


def check_text(check: Check, width: int = WIDTH) -> str:
    """The screen of `tenue check`; narrower as part of another one."""
    who = "row" if check.unit == "record" else check.unit
    lines = [
        *(line for text in check.warnings for line in (f"WARNING: {text}", "")),
        f"{many(check.rows, 'row')} in {_classes(check.groups)} by "
        f"{', '.join(check.quasi_identifiers)}",
        *(line for note in check.notes for line in ("", f"Note: {note}")),
        "",
        f"k = {check.k}",
        f"  {_smallest(check, who)} {_alone(check, who)}".rstrip(),
    ]
    for column in check.confidential:
        lines += [
            "",
            f"{column.name}: l = {column.l} (entropy {_short(column.l_entropy)}), "
            f"t = {_short(column.t)} (ratio {_short(column.t_ratio)})",
            f"  l: {_diversity(column, check)}",
            f"  t: {_closeness(column)}",
            f"  {_likeness(column)}",
        ]
    if not check.confidential:
        lines += ["", "No confidential column was named, so l and t were not measured."]
    if check.population is not None:
        lines += ["", *check.population.sentences()]
    here = check.reading is None or check.reading.by == HERE
    lines += [
        "",
        f"This holds for this {'file' if here else 'table'}, and for an intruder who knows these "
        "columns and no others. A second release of the same people may defeat it.",
        *(() if check.reading is None else ("", str(check.reading))),
    ]
    return "\n".join(
        textwrap.fill(
            line,
            width,
            subsequent_indent="  " if line.startswith("  ") else "",
            break_on_hyphens=False,
        )
        for line in lines
    )


def _smallest(check: Check, who: str) -> str:
    smallest = many(check.smallest_rows, "row")
    if check.k_from == "certificate":
        return (
            "No column says whose a row is. By the certificate, every equivalence class has at "
            f"least {many(check.k, who)}; the smallest one has {smallest}."
        )
    if check.k_from == "rows":
        return (
            "No column says whose a row is, so persons were not counted; the smallest equivalence "
            f"class has {smallest}."
        )
    if check.k == 1:
        return f"{_classes(check.smallest_groups)} of one {who} only."
    few = check.smallest_groups
    verb = "class has" if few == 1 else "classes have"
    return f"Every equivalence class has at least {many(check.k, who)}; {few:,} {verb} no more."


def _alone(check: Check, who: str) -> str:
    if check.unique_share == 0:
        return ""
    meaning = ": an intruder who knows these columns of a person finds the row"
    if check.drawn:
        meaning = ", and none is the row of a person"
    share = sentence(percent(check.unique_share))
    return f"{share} of the rows are in a class of one {who}{meaning}."


def _diversity(column: Confidential, check: Check) -> str:
    if column.l > 1:
        return (
            f"every equivalence class has at least {column.l} different values. A class that was "
            "made larger to reach that may still reveal what its first members have in common."
        )
    groups = column.homogeneous_groups
    verb = "has" if groups == 1 else "have"
    meaning = ": an intruder who finds somebody there learns the value"
    if check.drawn:
        meaning = ", which is not the value of a person"
    elif check.swapped:
        meaning = ", which may be the value of somebody else"
    share = percent(column.homogeneous_share)
    return f"{_classes(groups)} ({share} of the rows) {verb} a single value{meaning}."


def _least_c(least: Fraction | None) -> str:
    return "no c is large enough" if least is None else f"c must be above {_short(float(least))}"


def _likeness(column: Confidential) -> str:
    recursive = "no c gives (c, 2)-diversity"
    if column.recursive:
        recursive = f"(c, 2)-diversity for c above {_short(float(column.recursive[0]))}"
    return f"alpha = {_short(column.alpha)}, beta = {_short(column.beta)}, {recursive}"


def _closeness(column: Confidential) -> str:
    kind = "ordered values" if column.distance == "ordered" else "categories"
    text = (
        "0 if every equivalence class is distributed like the whole table, at most 1 "
        f"({kind}). The farthest class has {many(column.size_of_farthest, 'row')}. "
    )
    if column.t_ratio == math.inf:
        return text + "Some class lacks a value of the table, so the ratio is infinite."
    times = _short(column.t_ratio)
    return text + f"A value is up to {times} times rarer or more frequent in a class."
