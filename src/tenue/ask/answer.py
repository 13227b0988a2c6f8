"""A private answer: what was released, and everything that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..arguments import Number as Given
from ..arguments import fraction_of_one
from ..privacy import Certificate
from ..schema import Schema
from ..text import exactly, html_table, notes, plain, readable, sentence, shortly, text_table
from .aggregates.reading import SHOWN_LEVEL, Interval, Noisy, Reading
from .aggregates.registry import FAMILY_OF
from .aggregates.windows import InTable
from .cells import Cell, Row, Tabular, arranged, as_json, cell_labels, shaped
from .plan.plan import Plan
from .plan.truncation import NOT_COVERED, Limit
from .possible import (
    BELOW_ZERO,
    LEGEND,
    TOO_NOISY,
    Domain,
    any_value_in,
    domain_of,
    is_count,
    lacks_count,
)
from .question import Aggregate, KeyOutput, Output, seen_by

if TYPE_CHECKING:
    import pandas as pd

    from ..estimate.posterior import Posterior
    from .consistent_answer import Consistent
    from .release import Released


MOST_SHOWN = 40
"""How many rows of an answer, or answers that were asked together, are shown."""


@dataclass(frozen=True)
class Earlier:
    """A stored answer that is of the rows as they were on a day.

    known: whether the rows have changed since; False where that is not recorded.
    """

    date: str
    known: bool

    def __str__(self) -> str:
        anew = "fresh=True (--fresh) draws and pays anew."
        if self.known:
            return (
                f"This is the answer of {self.date}, of the rows as they were then. They have "
                f"changed since: {anew}"
            )
        return (
            f"This is the answer of {self.date}, and whether the rows have changed since is not "
            f"recorded for this kind of table: {anew}"
        )

    def to_dict(self) -> dict[str, Any]:
        return {"date": self.date, "rows_changed": True if self.known else None}


@dataclass(frozen=True, repr=False)
class Answer(Tabular):
    """What an analyst gets.

    Guarantee
        Everything here is computed from the released whole numbers, the question and the schema.

    Attributes
        value: a scalar if one cell, a dict by alias if one row, else a list of dicts; ints, or the
            doubles nearest to exact values. Counts and sums as they were drawn, which may be below
            0; anything else moved to the nearest value that is possible.
        exact: the same with exact Fractions.
        raw: the same as `exact`, and nothing is moved.
        too_noisy: which numbers say nothing, in the same shape: their margin of error is no less
            than the range of possible values, or than the number of rows in the group.
        expected_error: the mean absolute error of `raw`, in the same shape; None where unknown.
            That of `value` is no larger.
        price: the epsilon debited for it; 0 if it was answered before.
        certificate: what is promised.
        replayed: whether it is a stored answer.
        together: how many answers the price is for.
        earlier: of which day it is, if it is a stored answer and the rows have changed since, or
            may have; None otherwise.
    """

    plan: Plan
    schema: Schema
    released: Released
    certificate: Certificate
    price: Fraction
    replayed: bool = False
    together: int = 1
    earlier: Earlier | None = None

    # -- the table of the answer ---------------------------------------------------------------

    @cached_property
    def _outputs(self) -> list[tuple[Output, Reading]]:
        outputs = [o for o in self.plan.question.outputs if isinstance(o, Output)]
        return list(zip(outputs, self.plan.readings, strict=True))

    @cached_property
    def _readings(self) -> dict[str, Reading]:
        """By the alias of each output that is no key."""
        return {output.alias: reading for output, reading in self._outputs}

    @cached_property
    def _cells(self) -> Sequence[Noisy]:
        """The released numbers of each cell; with windows, each knows those of all."""
        cells = self.released.cells
        return InTable.all_of(cells) if self.plan.question.windows else cells

    @cached_property
    def _rows(self) -> list[Row]:
        def cell_of(output: KeyOutput | Output, keys: Sequence[Cell], noisy: Noisy) -> Cell:
            if isinstance(output, KeyOutput):
                return keys[output.key]
            value = self._drawn(output, noisy)
            kept = None if value is None else self._domains[output.alias].kept(value)
            return self._as_column_holds(output, kept)

        labels = cell_labels(self.plan.question, self.schema)
        rows = [
            {o.alias: cell_of(o, keys, noisy) for o in self.plan.question.outputs}
            for keys, noisy in zip(labels, self._cells, strict=True)
        ]
        return arranged(list(enumerate(rows)), self.plan.question, self._is_too_noisy)

    def _drawn(self, output: Output, noisy: Noisy) -> Fraction | None:
        """An output of a cell, whether or not it is possible."""
        return self._readings[output.alias].value(noisy, self.released.rows)

    @cached_property
    def _domains(self) -> dict[str, Domain]:
        return {o.alias: domain_of(o.expression, self._seen) for o, _ in self._outputs}

    def _as_column_holds(self, output: Output, value: Cell) -> Cell:
        asked = output.expression
        if isinstance(asked, Aggregate) and isinstance(value, Fraction):
            return FAMILY_OF[asked.kind].as_held(asked, value, self._seen)  # type: ignore[no-any-return]
        return value

    @cached_property
    def _seen(self) -> Schema:
        return seen_by(self.plan.question, self.schema)

    def rank_error(self, level: Given) -> Any:
        """By how many ranks each value with a rank is off at most, with probability `level`.

        In the shape of `value`; None for answers that are not values of the column.
        """
        wanted = fraction_of_one(level, "level")
        return self._per_output(lambda output, reading, cell: reading.rank_error(wanted))

    @property
    def raw(self) -> Any:
        return self._shaped([row for _, row in self._raw_rows])

    @cached_property
    def _raw_rows(self) -> list[Row]:
        cells = self.released.cells

        def drawn(output: Output, cell: int) -> Cell:
            return self._as_column_holds(output, self._drawn(output, cells[cell]))

        return [
            (cell, row | {output.alias: drawn(output, cell) for output, _ in self._outputs})
            for cell, row in self._rows
        ]

    @property
    def too_noisy(self) -> Any:
        return self._per_output(
            lambda output, reading, cell: self._is_too_noisy(cell, output.alias)
        )

    @cached_property
    def _known_noisy(self) -> dict[tuple[int, str], bool]:
        return {}

    def _is_too_noisy(self, cell: int, alias: str) -> bool:
        """Whether an output of a cell says nothing; no key does."""
        reading = self._readings.get(alias)
        if reading is None or self.plan.free or reading.alone:
            return False
        key = cell, alias
        if key not in self._known_noisy:
            self._known_noisy[key] = self._says_nothing(cell, alias, reading)
        return self._known_noisy[key]

    def _may_be_too_noisy(self, alias: str) -> bool:
        """Whether an output could be marked; the question decides, not the noise."""
        reading, domain = self._readings[alias], self._domains[alias]
        ranked = reading.rows_off(SHOWN_LEVEL) is not None
        bounded = domain.width is not None and not domain.adds_up
        return not (reading.alone or self.plan.free) and (ranked or bounded)

    def _says_nothing(self, cell: int, alias: str, reading: Reading) -> bool:
        domain, rows_off = self._domains[alias], reading.rows_off(SHOWN_LEVEL)
        if rows_off is not None:
            rows, paid = self._rows_in(cell), self.plan.interval
            if rows is not None and rows_off >= rows:
                return True
            found = None if paid is None else self._interval(reading, cell, paid)
            return found is not None and domain.says_nothing(found)
        if domain.adds_up:
            return False
        found = self._interval(reading, cell, SHOWN_LEVEL)
        return found is not None and domain.says_nothing(found)

    def _rows_in(self, cell: int) -> Fraction | None:
        """How many rows a cell has, if the answer tells."""
        for output, _ in self._outputs:
            if is_count(output.expression):
                return self._drawn(output, self.released.cells[cell])
        question, rows = self.plan.question, self.released.rows
        if not question.keys and question.where is None and question.persons is None:
            rows = self.schema.rows if rows is None else rows
        return None if rows is None else Fraction(rows)

    def _shaped(self, rows: Sequence[dict[str, Any]]) -> Any:
        return shaped(rows, self.plan.question)

    @property
    def value(self) -> Any:
        return self._shaped([{name: plain(v) for name, v in row.items()} for _, row in self._rows])

    @property
    def exact(self) -> Any:
        return self._shaped([row for _, row in self._rows])

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the answer's columns, in the order asked."""
        return tuple(output.alias for output in self.plan.question.outputs)

    def _per_output(self, compute: Callable[[Output, Reading, int], Any]) -> Any:
        """A fact about each output of each cell, in the shape of `value`; keys stay."""
        return self._shaped(
            [
                {name: plain(value) for name, value in row.items()}
                | {o.alias: plain(compute(o, reading, cell)) for o, reading in self._outputs}
                for cell, row in self._rows
            ]
        )

    def interval(self, level: Given) -> Any:
        """A confidence interval for the true value at `level`, in the shape of `value`.

        It is about the table as it is declared: values clipped to their bounds, and of each person
        the rows that count. None where the released numbers do not give one: a value with a rank
        has an interval if `ask(..., interval=0.95)` paid for one, at that level or more.
        """
        wanted = fraction_of_one(level, "level")
        return self._per_output(
            lambda output, reading, cell: self._ends(output, reading, cell, wanted)
        )

    def spans(self, level: Given) -> list[tuple[str, str, Any, tuple[Any, Any] | None]]:
        """For each number of the answer: its keys as text, its name, its value, and its interval
        or None."""
        wanted = fraction_of_one(level, "level")
        keys = [name for name in self.columns if name not in self._readings]
        return [
            (
                ", ".join(str(plain(row[key])) for key in keys),
                output.alias,
                plain(row[output.alias]),
                self._ends(output, reading, cell, wanted),
            )
            for cell, row in self._rows
            for output, reading in self._outputs
        ]

    @property
    def spans_too_noisy(self) -> list[bool]:
        """Which of the numbers of `spans` say nothing."""
        return [
            self._is_too_noisy(cell, o.alias) for cell, _ in self._rows for o, _ in self._outputs
        ]

    def _interval(self, reading: Reading, cell: int, level: Fraction) -> Interval | None:
        released = self.released
        return reading.interval(self.plan.parts, level, self._cells[cell], released.rows)

    def _possible_interval(
        self, output: Output, reading: Reading, cell: int, level: Fraction
    ) -> Interval | None:
        interval = self._interval(reading, cell, level)
        value = self._drawn(output, self._cells[cell])
        if interval is None or value is None:
            return interval
        return self._domains[output.alias].kept_interval(interval, value)

    def _ends(
        self, output: Output, reading: Reading, cell: int, level: Fraction
    ) -> tuple[Any, Any] | None:
        interval = self._possible_interval(output, reading, cell, level)
        if interval is None:
            return None
        low, high = (plain(self._as_column_holds(output, end)) for end in interval)
        return low, high

    @property
    def expected_error(self) -> Any:
        parts, released = self.plan.parts, self.released
        return self._per_output(
            lambda output, reading, cell: reading.expected_error(
                parts, self._cells[cell], released.rows
            )
        )

    def estimate(self, prior: Any) -> Posterior:
        """The posterior of an analyst whose prior was `prior`, by Bayes' rule. Post-processing.

        Example
            `data.ask("SELECT COUNT(*) FROM census WHERE sick", epsilon=0.1)
            .estimate(tn.prior.Binomial(1080, 0.3)).mean`
        """
        from .belief.plan import estimate

        return estimate(self.plan, self.released.cells[0], self.certificate.promise, prior)

    def consistent(self) -> Consistent:
        """The answer as whole numbers that are not negative, with its own error. Post-processing.

        For counts, and sums of columns that are never negative. The raw answer stays unbiased: add
        up, or average over, raw answers; show consistent ones.
        """
        from .consistent_answer import make_consistent

        return make_consistent([self])[0]

    # -- other shapes --------------------------------------------------------------------------

    def _table(self) -> dict[str, list[Any]]:
        return {name: [plain(row[name]) for _, row in self._rows] for name in self.columns}

    def to_pandas(self, interval: Given | None = None) -> pd.DataFrame:
        """A pandas data frame.

        Parameters
            interval: a level such as 0.95: each aggregate is followed by the ends of its confidence
                interval, in columns named after it with _low and _high; missing where there is
                none. Where a contribution limit applies, a column `limits` names it. Where
                numbers can be too noisy, a column named with _too_noisy tells which are.
                `.attrs["caveats"]` has the `caveats`, if there are any.
        """
        return self._frame(self._table() if interval is None else self._with_ends(interval))

    def _table_with_ends(self, level: Given) -> dict[str, list[Any]]:
        return self._with_ends(level, limited=False)

    def _source(self) -> str:
        return f"{self.plan.sql}; {self._cost('epsilon ')}"

    def _with_ends(self, level: Given, *, limited: bool = True) -> dict[str, list[Any]]:
        wanted, values, table = fraction_of_one(level, "interval"), self._table(), {}

        def add(name: str, column: list[Any]) -> None:
            while name in values or name in table:
                name += "_"
            table[name] = column

        for output in self.plan.question.outputs:
            table[output.alias] = values[output.alias]
            if isinstance(output, Output):
                reading = self._readings[output.alias]
                intervals = [self._ends(output, reading, cell, wanted) for cell, _ in self._rows]
                for side, end in enumerate(("low", "high")):
                    ends = [None if pair is None else pair[side] for pair in intervals]
                    add(f"{output.alias}_{end}", ends)
                if self._may_be_too_noisy(output.alias):
                    noisy = [self._is_too_noisy(cell, output.alias) for cell, _ in self._rows]
                    add(f"{output.alias}_too_noisy", noisy)
        if self.limits and limited:
            add("limits", [self._limits_as_text] * len(self._rows))
        return table

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The contribution limits that may have truncated the answer: no ± covers that.

        Empty where nothing can be truncated. Each has `.above`, how many persons are above it, if
        `ask(..., measure_cut=0.1)` paid for that.
        """
        plan, cut = self.plan, self.plan.cut
        if cut is None:
            return plan.limits
        return (*cut.read(self.released.above), *plan.limits[len(plan.truncating) :])

    @property
    def _limits_as_text(self) -> str:
        return ", and ".join(
            limit.words if limit.above is None else f"{limit.words} (above that: {limit.above})"
            for limit in self.limits
        )

    def to_dict(self) -> dict[str, Any]:
        plan = self.plan
        paid = None
        if plan.interval is not None:
            paid = {
                "level": exactly(plan.interval),
                "epsilon": exactly(plan.interval_epsilon),
                "interval": as_json(self.interval(plan.interval)),
            }
        return {
            "question": plan.sql,
            "value": as_json(self.value),
            **self._marks(),
            "interval_95": as_json(self.interval(SHOWN_LEVEL)),
            "expected_error": as_json(self.expected_error),
            "rank_95": as_json(self.rank_error(SHOWN_LEVEL)),
            "interval_bought": paid,
            "limits": [limit.to_dict() for limit in self.limits],
            **({"remarks": remarks} if (remarks := self._remarks()) else {}),
            "price": exactly(self.price),
            **({"price_for_answers": self.together} if self.together > 1 else {}),
            "replayed": self.replayed,
            **({} if self.earlier is None else {"earlier": self.earlier.to_dict()}),
            "mechanism": plan.chosen.mechanism,
            "certificate": self.certificate.to_dict(),
        }

    def _marks(self) -> dict[str, Any]:
        """What JSON says besides the values: those as drawn, and which say nothing, if any do."""
        noisy = any(
            self._is_too_noisy(cell, name) for cell, _ in self._rows for name in self._readings
        )
        marks = {"raw": self._raw_rows != self._rows, "too_noisy": noisy}
        return {name: as_json(self._marked(name)) for name, some in marks.items() if some}

    def _marked(self, name: str) -> Any:
        if name == "too_noisy":
            return self.too_noisy
        rows = ({name: plain(value) for name, value in row.items()} for _, row in self._raw_rows)
        return self._shaped(list(rows))

    def _cells_as_text(self, rows: Sequence[Row]) -> list[list[str]]:
        """The header and the rows that people see."""
        beside = {name for name, reading in self._readings.items() if not reading.alone}
        header = chain(*([name, "±"] if name in beside else [name] for name in self.columns))
        lines = (chain(*self._line(cell, row).values()) for cell, row in rows)
        return [list(line) for line in (header, *lines)]

    def _line(self, cell: int, row: Mapping[str, Cell]) -> dict[str, list[str]]:
        """By alias a value and, beside an aggregate, its 95 % margin of error."""
        line = {name: [str(plain(value))] for name, value in row.items()}
        for output, reading in self._outputs:
            value = row[output.alias]
            line[output.alias] = [readable(value)]
            if not reading.alone:
                beside = reading.beside(
                    value,
                    partial(self._possible_interval, output, reading, cell),
                    partial(self._as_column_holds, output),
                    self.plan.interval,
                )
                if self._is_too_noisy(cell, output.alias):
                    beside = ", ".join(filter(None, [beside, TOO_NOISY]))
                line[output.alias].append(beside)
        return line

    def __str__(self) -> str:
        lines, texts = self._page()
        texts[-1] += f"\n{self._cost('epsilon ')}"
        return "\n".join([*lines, *notes(texts)])

    def _page(self) -> tuple[list[str], list[str]]:
        """The lines of the table, and the notes on it but for the price."""
        table = self._cells_as_text(self._rows[:MOST_SHOWN])
        lines = text_table(table)
        if len(self._rows) > MOST_SHOWN:
            lines.append(f"… and {len(self._rows) - MOST_SHOWN:,} rows more")
        return lines, self._notes(table[1:])

    def _notes(self, lines: Sequence[Sequence[str]]) -> list[str]:
        """What may have been truncated; then the meaning of ±.

        lines: the rows of the table, as they are shown.
        """
        texts = self.caveats
        if self.plan.cut is not None:
            texts.append(
                "The number of persons above a limit bounds how many persons were truncated, not "
                "how many rows."
            )
        texts += self._remarks_on(lines)
        if lacks_count(self.plan.question):
            off = (
                (output.alias, reading.rows_off(SHOWN_LEVEL)) for output, reading in self._outputs
            )
            texts += [any_value_in(alias, rows) for alias, rows in off if rows is not None]
        return [*texts, self._meaning_of_noise(any("" in line for line in lines))]

    @property
    def caveats(self) -> list[str]:
        """What no rendering may leave out: limits that may have truncated, and bounds at which
        values were clipped."""
        limits = self._limits_as_text
        earlier = [] if self.earlier is None else [str(self.earlier)]
        return [
            *earlier,
            *([sentence(f"{limits}; {NOT_COVERED}.")] if limits else []),
            *self._remarks(),
        ]

    def _of_earlier_rows(self, earlier: Earlier) -> Answer:
        return replace(self, earlier=earlier)

    def _remarks_on(self, lines: Sequence[Sequence[str]]) -> list[str]:
        """What a table marks as too noisy, and numbers in it that are not possible."""
        noisy = any(cell.endswith(TOO_NOISY) for line in lines for cell in line)
        below = any(
            isinstance(row[alias], Fraction) and domain.impossible(row[alias])  # type: ignore[arg-type]
            for _, row in self._rows[: len(lines)]
            for alias, domain in self._domains.items()
            if domain.low == 0
        )
        return [LEGEND] * noisy + [BELOW_ZERO] * below

    def _remarks(self) -> list[str]:
        """What the readings add about each output; the same in every cell."""
        return [*self._clippings(), *self._clippings(alone=True)]

    def _clippings(self, *, alone: bool = False) -> list[str]:
        """Those of numbers with a margin of error, which they narrow; or of the others."""
        cells = self._cells
        if not cells:
            return []
        remarks = (r.remark(o.alias, cells[0]) for o, r in self._outputs if r.alone == alone)
        return list(filter(None, remarks))

    def _cost(self, word: str) -> str:
        shared = f" for {self.together} answers together" if self.together > 1 else ""
        return cost(
            f"{word}{exactly(self.price)}{shared}", self.plan.chosen.mechanism, self.replayed
        )

    def _meaning_of_noise(self, blanks: bool) -> str:
        if self.plan.free:
            return "The number of rows is public, and no row was read."
        caveats = [draw.caveat for draw in self.plan.strategy.draws]
        caveats += [reading.caveat for reading in self.plan.readings]
        if caveat := next(filter(None, caveats), ""):
            return caveat
        about = " of what counts" if self.limits or self._clippings() else ""
        note = f"± is the margin of error{about}, at a confidence of at least 95 %."
        if self.plan.interval is not None:
            epsilon = shortly(float(self.plan.interval_epsilon))
            level = f"{float(100 * self.plan.interval):.10g} %"
            note += f" Epsilon {epsilon} paid for intervals in values, at a confidence of {level}."
        if blanks:
            note += " Where it is blank, the noise allows any value."
        return note

    def _repr_html_(self) -> str:
        return self._html(cost=True)

    def _html(self, *, cost: bool) -> str:
        table = self._cells_as_text(self._rows)
        *texts, last = self._notes(table[1:])
        paid = f"\n{self._cost('ε = ')}" * cost
        return html_table(table, after=[*texts, f"{last}{paid}"])


def cost(paid: str, mechanism: str, replayed: bool) -> str:
    """The price of an answer, and its mechanism.

    Example
        >>> cost("epsilon 0.5", "discrete Laplace", False)
        'Cost: epsilon 0.5 (discrete Laplace).'
        >>> cost("epsilon 0.5", "discrete Laplace", True)
        'Cost: nothing, it was answered before (discrete Laplace).'
    """
    return f"Cost: {'nothing, it was answered before' if replayed else paid} ({mechanism})."
