"""The answer to one SELECT by ROLLUP, CUBE or GROUPING SETS: several tables, merged into one.

Each table is a question of one workload: one price, one reading of the rows, the same rows kept of
each person. So totals of counts and sums are the sums of their parts wherever every row has the key
and the number of rows is not public anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from operator import methodcaller
from typing import Any

from ..arguments import Number as Given
from ..privacy import Certificate
from ..schema import Schema
from ..text import exactly, html_table, notes, text_table
from .aggregates.reading import SHOWN_LEVEL
from .answer import MOST_SHOWN, Answer, Earlier, cost
from .answers import Answers
from .cells import Row, Tabular, arranged, as_json
from .certify import certify_together
from .paid_request import Inquiry, identity_of, inquire_many
from .plan.truncation import Limit
from .question import GroupingOutput, GroupingSets, KeyOutput, Output
from .workload.explain import WorkloadPlan

_ALL = "(all)"


@dataclass(frozen=True, repr=False)
class GroupedAnswer(Tabular):
    """What an analyst gets for several grouping sets: the rows of all tables, as one.

    Guarantee
        Everything here is computed from the released whole numbers, the question and the schema.

    A key is None in rows that are totals over it; GROUPING says the same in numbers.

    Attributes
        question, sql: what was asked.
        parts: the answer by each set of keys, in the order of the question, before HAVING, ORDER BY
            and LIMIT; `parts.covariance` and `parts.combine` are about these.
        value: a dict by alias for each row: ints, or the doubles nearest to exact values.
        exact, raw, too_noisy, expected_error, interval, rank_error, columns, limits, caveats,
            earlier: as of an `Answer`.
        price: the epsilon debited for all tables together; 0 if it was answered before.
        certificate: what is promised.
        replayed: whether it is a stored answer.
    """

    question: GroupingSets
    sql: str
    parts: Answers
    certificate: Certificate

    @cached_property
    def _order(self) -> list[int]:
        """The rows that are shown, by their numbers before HAVING, ORDER BY and LIMIT."""
        rows: list[Row] = list(enumerate(self._merged(lambda part: part.exact)))
        cells = [(part, cell) for part in self.parts for cell, _ in part._rows]

        def too_noisy(number: int, alias: str) -> bool:
            part, cell = cells[number]
            return part._is_too_noisy(cell, alias)

        return [number for number, _ in arranged(rows, self.question, too_noisy)]

    def _merged(self, read: Callable[[Answer], Any]) -> list[dict[str, Any]]:
        """The rows of all parts, with what `read` gives of each part in the shape of its value."""
        return [
            {o.alias: _cell(o, row, grouped) for o in self.question.outputs}
            for part, grouped in zip(self.parts, self.question.sets, strict=True)
            for row in _rows_of(part, read(part))
        ]

    def _shown(self, read: Callable[[Answer], Any]) -> list[dict[str, Any]]:
        rows = self._merged(read)
        return [rows[number] for number in self._order]

    @property
    def value(self) -> Any:
        return self._shown(lambda part: part.value)

    @property
    def exact(self) -> Any:
        return self._shown(lambda part: part.exact)

    @property
    def raw(self) -> Any:
        return self._shown(lambda part: part.raw)

    @property
    def too_noisy(self) -> Any:
        return self._shown(lambda part: part.too_noisy)

    def interval(self, level: Given) -> Any:
        return self._shown(lambda part: part.interval(level))

    @property
    def expected_error(self) -> Any:
        return self._shown(lambda part: part.expected_error)

    def rank_error(self, level: Given) -> Any:
        return self._shown(lambda part: part.rank_error(level))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(output.alias for output in self.question.outputs)

    @property
    def price(self) -> Fraction:
        return self.parts.price

    @property
    def replayed(self) -> bool:
        return self.parts[0].replayed

    @property
    def limits(self) -> tuple[Limit, ...]:
        return tuple(dict.fromkeys(limit for part in self.parts for limit in part.limits))

    def _of_earlier_rows(self, earlier: Earlier) -> GroupedAnswer:
        return replace(self, parts=self.parts._of_earlier_rows(earlier))

    @property
    def earlier(self) -> Earlier | None:
        return self.parts[0].earlier

    @property
    def caveats(self) -> list[str]:
        return list(dict.fromkeys(one for part in self.parts for one in part.caveats))

    # -- other shapes --------------------------------------------------------------------------

    def _table(self) -> dict[str, list[Any]]:
        rows = self.value
        return {name: [row[name] for row in rows] for name in self.columns}

    def _table_with_ends(self, level: Given) -> dict[str, list[Any]]:
        table, ends, noisy = self._table(), self.interval(level), self.too_noisy
        made: dict[str, list[Any]] = {}

        def add(name: str, column: list[Any]) -> None:
            while name in table or name in made:
                name += "_"
            made[name] = column

        for output in self.question.outputs:
            made[output.alias] = table[output.alias]
            if not isinstance(output, Output):
                continue
            pairs = [row[output.alias] for row in ends]
            for side, end in enumerate(("low", "high")):
                add(
                    f"{output.alias}_{end}",
                    [None if pair is None else pair[side] for pair in pairs],
                )
            if any(part._may_be_too_noisy(output.alias) for part in self.parts):
                add(f"{output.alias}_too_noisy", [row[output.alias] for row in noisy])
        return made

    def _source(self) -> str:
        return f"{self.sql}; {self._cost('epsilon ')}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.sql,
            "value": as_json(self.value),
            **self._marks(),
            "interval_95": as_json(self.interval(SHOWN_LEVEL)),
            "expected_error": as_json(self.expected_error),
            "rank_95": as_json(self.rank_error(SHOWN_LEVEL)),
            "limits": [limit.to_dict() for limit in self.limits],
            "price": exactly(self.price),
            "saved": self.parts.saved,
            "replayed": self.replayed,
            **({} if self.earlier is None else {"earlier": self.earlier.to_dict()}),
            "mechanisms": [part.plan.chosen.mechanism for part in self.parts],
            "certificate": self.certificate.to_dict(),
        }

    def _marks(self) -> dict[str, Any]:
        """As of an `Answer`."""
        marks = [part._marks() for part in self.parts]
        names = dict.fromkeys(name for one in marks for name in one)
        return {name: as_json(self._shown(methodcaller("_marked", name))) for name in names}

    def _cells_as_text(self, most: int | None = None) -> list[list[str]]:
        """The header and the first rows people see: each value with its 95 % margin of error."""
        rows = [(p, row) for p, answer in enumerate(self.parts) for row in answer._rows]
        header: list[str] = []
        body: list[list[str]] = []
        for part, (cell, row) in (rows[number] for number in self._order[:most]):
            line = self.parts[part]._line(cell, row)
            header, shown = [], list[str]()
            for output in self.question.outputs:
                if output.alias in line:
                    cells = line[output.alias]
                elif isinstance(output, KeyOutput):
                    cells = [_ALL]
                else:
                    cells = [str(_cell(output, {}, self.question.sets[part]))]
                header += [output.alias, *["±"] * (len(cells) - 1)]
                shown += cells
            body.append(shown)
        return [header or list(self.columns), *body]

    def _notes(self, word: str, lines: Sequence[Sequence[str]]) -> list[str]:
        *texts, last = dict.fromkeys(note for part in self.parts for note in part._notes(()))
        texts += dict.fromkeys(note for part in self.parts for note in part._remarks_on(lines))
        return [*texts, f"{last}\n{self._cost(word)}"]

    def _cost(self, word: str) -> str:
        """The price of all tables, once."""
        mechanisms = "; ".join(dict.fromkeys(part.plan.chosen.mechanism for part in self.parts))
        together = f" for {len(self.parts)} answers together" if len(self.parts) > 1 else ""
        return cost(f"{word}{exactly(self.price)}{together}", mechanisms, self.replayed)

    def __str__(self) -> str:
        table = self._cells_as_text(MOST_SHOWN)
        lines = text_table(table)
        if len(self._order) > MOST_SHOWN:
            lines.append(f"… and {len(self._order) - MOST_SHOWN:,} rows more")
        return "\n".join([*lines, *notes(self._notes("epsilon ", table[1:]))])

    def _repr_html_(self) -> str:
        table = self._cells_as_text()
        return html_table(table, after=self._notes("ε = ", table[1:]))


def inquire_sets(plan: WorkloadPlan, schema: Schema, seal: str = "") -> Inquiry[GroupedAnswer]:
    """One SELECT by several grouping sets, at one price."""
    asked, sql, many = plan.asked, plan.sql, inquire_many(plan.workload, schema, seal)
    assert asked is not None  # noqa: S101 - who plans grouping sets says which
    plans = plan.workload.plans

    def read(stored: bytes, replayed: bool) -> GroupedAnswer:
        parts = many.read(stored, replayed)
        certificate = certify_together(plans, sql, plan.workload.price, schema, seal)
        return GroupedAnswer(asked, sql, parts, certificate)

    identity = identity_of(many.identity, asked.canonical)
    return replace(many, identity=identity, asked=sql, read=read)  # type: ignore[arg-type, return-value]


def _rows_of(part: Answer, shaped: Any) -> list[dict[str, Any]]:
    if part.plan.question.keys:
        return list(shaped)
    return [shaped if len(part.columns) > 1 else {part.columns[0]: shaped}]


def _cell(output: object, row: dict[str, Any], grouped: tuple[int, ...]) -> Any:
    if isinstance(output, GroupingOutput):
        return output.of(grouped)
    return row.get(output.alias)  # type: ignore[attr-defined]
