"""A private answer: what was released, and all that may be said about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..arguments import Number as Given
from ..arguments import fraction_of_one
from ..privacy import Certificate
from ..schema import Schema
from ..text import exactly, html_table, notes, plain, readable, sentence, shortly, text_table
from .aggregates.reading import Interval, Reading
from .aggregates.registry import FAMILY_OF
from .cells import Cell, Row, arranged, cell_labels, in_64_bits, shaped
from .plan.plan import Plan
from .plan.truncation import NOT_COVERED, Limit
from .question import Aggregate, KeyOutput, Output, seen_by

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from ..estimate.posterior import Posterior
    from .consistent_answer import Consistent, Raw
    from .release import Released


MOST_SHOWN = 40
"""How many rows of an answer, or answers that were asked together, are shown."""


@dataclass(frozen=True, repr=False)
class Answer:
    """What an analyst gets.

    Guarantee
        Everything here is computed from the released whole numbers, the question and the schema.

    Attributes
        value: a scalar if one cell, a dict by alias if one row, else a list of dicts; ints, or the
            doubles nearest to exact values.
        exact: the same with exact Fractions.
        expected_error: the mean absolute error, in the same shape; None where unknown.
        price: the epsilon debited for it; 0 if it was answered before.
        certificate: what is promised.
        replayed: whether it is a stored answer.
        together: how many answers the price is for.
    """

    plan: Plan
    schema: Schema
    released: Released
    certificate: Certificate
    price: Fraction
    replayed: bool = False
    together: int = 1

    # -- the table of the answer ---------------------------------------------------------------

    @cached_property
    def _columns(self) -> list[tuple[KeyOutput | Output, Reading | None]]:
        """The outputs in the order asked, each with its reading; keys have none."""
        made = iter(self.plan.readings)
        outputs = self.plan.question.outputs
        return [(o, None if isinstance(o, KeyOutput) else next(made)) for o in outputs]

    @cached_property
    def _rows(self) -> list[Row]:
        """The rows shown: the cell's number and its exact values, after HAVING, ORDER and LIMIT."""
        labels = cell_labels(self.plan.question, self.schema)
        rows: list[Row] = []
        for cell, (keys, noisy) in enumerate(zip(labels, self.released.cells, strict=True)):
            row: dict[str, Cell] = {}
            for output, reading in self._columns:
                if isinstance(output, KeyOutput):
                    row[output.alias] = keys[output.key]
                elif reading is not None:
                    value = reading.value(noisy, self.released.rows)
                    row[output.alias] = self._as_held(output, value)
            rows.append((cell, row))
        return arranged(rows, self.plan.question)

    def _as_held(self, output: Output, value: Cell) -> Cell:
        """A chosen day, second or category as such; anything else as it is."""
        asked = output.expression
        if isinstance(asked, Aggregate) and isinstance(value, Fraction):
            return FAMILY_OF[asked.kind].as_held(asked, value, self._seen)  # type: ignore[no-any-return]
        return value

    @cached_property
    def _seen(self) -> Schema:
        """The schema with the columns that the question computes."""
        return seen_by(self.plan.question, self.schema)

    def rank_error(self, level: Given) -> Any:
        """By how many ranks each value with a rank is off at most, with probability `level`.

        In the shape of `value`; None for answers that are not values of the column.
        """
        wanted = fraction_of_one(level, "level")
        return self._per_output(lambda output, reading, cell: reading.rank_error(wanted))

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
        """Whatever is computed of each output of each cell, in the shape of `value`."""
        rows = []
        for cell, row in self._rows:
            found = {}
            for output, reading in self._columns:
                if isinstance(output, Output) and reading is not None:
                    made = compute(output, reading, cell)
                    found[output.alias] = made if isinstance(made, tuple) else plain(made)
                else:
                    found[output.alias] = plain(row[output.alias])
            rows.append(found)
        return self._shaped(rows)

    def interval(self, level: Given) -> Any:
        """Where the true value lies with probability at least `level`, in the shape of `value`.

        True of the table as it is declared: values kept between their bounds, and of each person
        the rows that are counted. None where it cannot be told from what was released: a value with
        a rank has an interval if one was bought, `ask(..., interval=0.95)`, for that level or more.
        """
        wanted = fraction_of_one(level, "level")
        return self._per_output(
            lambda output, reading, cell: self._ends(output, reading, cell, wanted)
        )

    def spans(self, level: Given) -> list[tuple[str, str, Any, tuple[Any, Any] | None]]:
        """Each number of the answer: its keys in words, its name, its value, its interval or None
        where that cannot be told."""
        wanted = fraction_of_one(level, "level")
        found = []
        for cell, row in self._rows:
            keys = [str(plain(row[o.alias])) for o, reading in self._columns if reading is None]
            for output, reading in self._columns:
                if isinstance(output, Output) and reading is not None:
                    ends = self._ends(output, reading, cell, wanted)
                    value = plain(row[output.alias])
                    found.append((", ".join(keys), output.alias, value, ends))
        return found

    def _interval(self, reading: Reading, cell: int, level: Fraction) -> Interval | None:
        released = self.released
        return reading.interval(self.plan.parts, level, released.cells[cell], released.rows)

    def _ends(
        self, output: Output, reading: Reading, cell: int, level: Fraction
    ) -> tuple[Any, Any] | None:
        """The ends of one output's interval, as plain values; days and seconds as dates."""
        found = self._interval(reading, cell, level)
        if found is None:
            return None
        low, high = (plain(self._as_held(output, end)) for end in found)
        return low, high

    @property
    def expected_error(self) -> Any:
        parts, released = self.plan.parts, self.released
        return self._per_output(
            lambda output, reading, cell: reading.expected_error(
                parts, released.cells[cell], released.rows
            )
        )

    def estimate(self, prior: Any) -> Posterior:
        """What the answer tells somebody who believed `prior` before: Bayes' rule, for free.

        Example
            `data.ask("SELECT COUNT(*) FROM census WHERE sick", epsilon=0.1)
            .estimate(tn.prior.Binomial(1080, 0.3)).mean`
        """
        from .belief.compare import estimate

        return estimate(self.plan, self.released.cells[0], self.certificate.promise, prior)

    def consistent(self) -> Consistent:
        """The answer made whole and not negative, for free, with its own error.

        For counts, and sums of what is never negative. The raw answer stays unbiased: add up, or
        average over, raw answers; show consistent ones.
        """
        from .consistent_answer import make_consistent

        return make_consistent([self._raw])[0]

    @property
    def _raw(self) -> Raw:
        from .consistent_answer import Raw

        given = (self.plan, self.schema, self.released, self._rows)
        return Raw(*given, self.limits, self._cut_in_words)

    # -- other shapes --------------------------------------------------------------------------

    def _table(self) -> dict[str, list[Any]]:
        return {name: [plain(row[name]) for _, row in self._rows] for name in self.columns}

    def to_arrow(self) -> pa.Table:
        """A pyarrow table: keys and aggregates in the order asked."""
        import pyarrow as pa

        return pa.table(in_64_bits(self._table()))

    def to_pandas(self, interval: Given | None = None) -> pd.DataFrame:
        """A pandas data frame.

        Parameters
            interval: a level such as 0.95: each aggregate is followed by the two ends of its
                interval, in columns named after it with _low and _high; missing where none can be
                told. Where something may have been cut, a column `limits` says what.
        """
        import pandas as pd

        return pd.DataFrame(self._table() if interval is None else self._with_ends(interval))

    def _with_ends(self, level: Given) -> dict[str, list[Any]]:
        """The table with both ends of every interval."""
        wanted, found = fraction_of_one(level, "interval"), dict[str, list[Any]]()
        for output, reading in self._columns:
            found[output.alias] = [plain(row[output.alias]) for _, row in self._rows]
            if isinstance(output, KeyOutput) or reading is None:
                continue
            ends = [
                self._ends(output, reading, cell, wanted) or (None, None) for cell, _ in self._rows
            ]
            for place, end in enumerate(("low", "high")):
                name = f"{output.alias}_{end}"
                while name in self.columns or name in found:
                    name += "_"
                found[name] = [pair[place] for pair in ends]
        if self.limits:
            name = "limits"
            while name in found:
                name += "_"
            found[name] = [self._cut_in_words] * len(self._rows)
        return found

    def to_polars(self) -> pl.DataFrame:
        """A polars data frame."""
        import polars as pl

        return pl.DataFrame(in_64_bits(self._table()))

    @property
    def limits(self) -> tuple[Limit, ...]:
        """What may have been cut of each person, in words and numbers: no ± covers it.

        Empty where nothing can be cut, so that ± is about what was asked. Each has `.above`, how
        many persons are above it, if `ask(..., measure_cut=0.1)` bought that.
        """
        cut = self.plan.cut
        return self.plan.limits if cut is None else cut.read(self.released.above)

    @property
    def _cut_in_words(self) -> str:
        """What may have been cut and, if that was bought, how many persons are above each limit."""
        return ", and ".join(
            limit.words if limit.above is None else f"{limit.words} (above that: {limit.above})"
            for limit in self.limits
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.plan.sql,
            "value": json.loads(json.dumps(self.value, default=str)),
            "interval_95": json.loads(json.dumps(self.interval(0.95), default=str)),
            "expected_error": json.loads(json.dumps(self.expected_error, default=str)),
            "rank_95": json.loads(json.dumps(self.rank_error(Fraction(19, 20)), default=str)),
            "interval_bought": self._bought(),
            "limits": [limit.to_dict() for limit in self.limits],
            **({"remarks": remarks} if (remarks := self._remarks()) else {}),
            "price": exactly(self.price),
            "replayed": self.replayed,
            "mechanism": self.plan.chosen.mechanism,
            "certificate": self.certificate.to_dict(),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _bought(self) -> dict[str, Any] | None:
        """The intervals that part of the price bought, at which level and for how much."""
        level = self.plan.interval
        if level is None:
            return None
        return {
            "level": exactly(level),
            "epsilon": exactly(self.plan.interval_epsilon),
            "interval": json.loads(json.dumps(self.interval(level), default=str)),
        }

    def _cells_as_text(
        self, rows: Sequence[Row] | None = None
    ) -> tuple[list[str], list[list[str]]]:
        """The header and rows people see: each value with its 95 % reach; all rows if not given."""
        alone = any(reading.alone for reading in self.plan.readings)
        header: list[str] = []
        for output, reading in self._columns:
            header += [output.alias] if alone or reading is None else [output.alias, "±"]
        body = []
        for cell, row in self._rows if rows is None else rows:
            line: list[str] = []
            for output, reading in self._columns:
                value = row[output.alias]
                line.append(str(plain(value)) if reading is None else readable(value))
                if isinstance(output, Output) and reading is not None and not reading.alone:
                    line.append(self._beside(output, reading, cell, value))
            body.append(line)
        return header, body

    def _beside(self, output: Output, reading: Reading, cell: int, value: Cell) -> str:
        return reading.beside(
            value,
            lambda level: self._interval(reading, cell, level),
            lambda end: self._as_held(output, end),
            self.plan.interval,
        )

    def __str__(self) -> str:
        lines, said = self._page()
        said[-1] += f"\n{self._cost('epsilon ')}"
        return "\n".join([*lines, *notes(said)])

    def _page(self) -> tuple[list[str], list[str]]:
        """The lines of the table, and the notes on it but for the price."""
        header, body = self._cells_as_text(self._rows[:MOST_SHOWN])
        lines = text_table([header, *body])
        if len(self._rows) > len(body):
            lines.append(f"… and {len(self._rows) - len(body):,} rows more")
        return lines, self._notes(any("" in line for line in body))

    def _notes(self, blanks: bool) -> list[str]:
        """What may have been cut; then what ± means.

        blanks: whether an answer stands without any ±.
        """
        words = self._cut_in_words
        cut = [sentence(f"{words}; {NOT_COVERED}.")] if words else []
        cut += self._remarks()
        if self.plan.cut is not None:
            cut.append("Who is above a limit bounds how many persons were cut, not how many rows.")
        return [*cut, self._of_noise(blanks)]

    def _remarks(self) -> list[str]:
        """What the readings say of each output besides; the same in every cell."""
        cells = self.released.cells
        if not cells:
            return []
        said = (
            reading.remark(output.alias, cells[0])
            for output, reading in self._columns
            if reading is not None
        )
        return list(filter(None, said))

    def _cost(self, word: str) -> str:
        shared = f" for {self.together} answers together" if self.together > 1 else ""
        return cost(
            f"{word}{exactly(self.price)}{shared}", self.plan.chosen.mechanism, self.replayed
        )

    def _of_noise(self, blanks: bool) -> str:
        if self.plan.free:
            return "The number of rows is public, and no row was read."
        caveats = [draw.caveat for draw in self.plan.strategy.draws]
        caveats += [reading.caveat for reading in self.plan.readings]
        if caveat := next(filter(None, caveats), ""):
            return caveat
        of = "Of what counts, the" if self.limits or self._remarks() else "The"
        note = f"{of} true answer is within ± with a probability of at least 95 %."
        if self.plan.interval is not None:
            bought = shortly(float(self.plan.interval_epsilon))
            level = f"{float(100 * self.plan.interval):.10g} %"
            note += f" Intervals in values were bought for epsilon {bought} and hold with {level}."
        if blanks:
            note += " A blank is where the noise allows anything."
        return note

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        header, body = self._cells_as_text()
        *said, last = self._notes(any("" in line for line in body))
        return html_table([header, *body], after=[*said, f"{last}\n{self._cost('ε = ')}"])


def cost(paid: str, mechanism: str, replayed: bool) -> str:
    """What an answer cost, and what it was paid for.

    Example
        >>> cost("epsilon 0.5", "discrete Laplace", False)
        'Cost: epsilon 0.5 (discrete Laplace).'
        >>> cost("epsilon 0.5", "discrete Laplace", True)
        'Cost: nothing, it was answered before (discrete Laplace).'
    """
    return f"Cost: {'nothing, it was answered before' if replayed else paid} ({mechanism})."
