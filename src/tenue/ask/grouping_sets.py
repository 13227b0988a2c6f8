"""The answer to one SELECT by ROLLUP, CUBE or GROUPING SETS: several tables, merged into one.

Each table is a question of one workload: one price, one reading of the rows, one set of rows kept
of each person. So totals of counts and sums are the sums of their parts wherever a key is in every
row and the number of rows is not public anyway.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..arguments import Number as Given
from ..privacy import Certificate
from ..schema import Schema
from ..text import exactly, html_table, notes, text_table
from .answer import Answer
from .answers import Answers
from .cells import Row, arranged, in_64_bits
from .certify import certify_together
from .paid_request import Inquiry, identity_of, inquire_many
from .plan.truncation import Limit
from .question import GroupingOutput, GroupingSets, KeyOutput
from .workload.explain import WorkloadPlan

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_ALL = "(all)"
_MOST_SHOWN = 40


@dataclass(frozen=True, repr=False)
class GroupedAnswer:
    """What an analyst gets for several grouping sets: the rows of all tables, as one.

    Guarantee
        Everything here is computed from the released whole numbers, the question and the schema.

    A key is None in rows that are about all of it; GROUPING says the same in numbers.

    question, sql: what was asked.
    parts: the answer by each set of keys, in the order of the question, before HAVING, ORDER BY and
        LIMIT; `parts.covariance` and `parts.combine` are about these.
    certificate: what is promised.
    """

    question: GroupingSets
    sql: str
    parts: Answers
    certificate: Certificate

    @cached_property
    def _order(self) -> list[int]:
        """The rows that are shown, by their numbers before HAVING, ORDER BY and LIMIT."""
        rows: list[Row] = list(enumerate(self._merged(lambda part: part.exact)))
        return [number for number, _ in arranged(rows, self.question)]

    def _merged(self, read: Callable[[Answer], Any]) -> list[dict[str, Any]]:
        """Whatever is read of each part, for all rows of all parts."""
        found = []
        for part, grouped in zip(self.parts, self.question.sets, strict=True):
            for row in _listed(part, read(part)):
                found.append({o.alias: _cell(o, row, grouped) for o in self.question.outputs})
        return found

    def _shown(self, read: Callable[[Answer], Any]) -> list[dict[str, Any]]:
        rows = self._merged(read)
        return [rows[number] for number in self._order]

    @property
    def value(self) -> Any:
        """A dict by alias for each row: ints, or the doubles nearest to exact values."""
        return self._shown(lambda part: part.value)

    @property
    def exact(self) -> Any:
        """The same with exact Fractions."""
        return self._shown(lambda part: part.exact)

    def interval(self, level: Given) -> Any:
        """Where each true value lies with probability at least `level`; as `Answer.interval`."""
        return self._shown(lambda part: part.interval(level))

    @property
    def expected_error(self) -> Any:
        """The mean absolute error of each value; None where unknown."""
        return self._shown(lambda part: part.expected_error)

    def rank_error(self, level: Given) -> Any:
        """By how many ranks each value with a rank is off at most; as `Answer.rank_error`."""
        return self._shown(lambda part: part.rank_error(level))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the answer's columns, in the order asked."""
        return tuple(output.alias for output in self.question.outputs)

    @property
    def price(self) -> Fraction:
        """The epsilon debited for all tables together; 0 if it was answered before."""
        return self.parts.price

    @property
    def replayed(self) -> bool:
        """Whether it is a stored answer."""
        return self.parts[0].replayed

    @property
    def limits(self) -> tuple[Limit, ...]:
        """What may have been cut of each person; no ± covers it."""
        return tuple(dict.fromkeys(limit for part in self.parts for limit in part.limits))

    # -- other shapes --------------------------------------------------------------------------

    def _table(self) -> dict[str, list[Any]]:
        rows = self.value
        return {name: [row[name] for row in rows] for name in self.columns}

    def to_arrow(self) -> pa.Table:
        """A pyarrow table: keys and aggregates in the order asked."""
        import pyarrow as pa

        return pa.table(in_64_bits(self._table()))

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self._table())

    def to_polars(self) -> pl.DataFrame:
        """A polars data frame."""
        import polars as pl

        return pl.DataFrame(in_64_bits(self._table()))

    def to_dict(self) -> dict[str, Any]:
        def written(value: object) -> Any:
            return json.loads(json.dumps(value, default=str))

        return {
            "question": self.sql,
            "value": written(self.value),
            "interval_95": written(self.interval(0.95)),
            "expected_error": written(self.expected_error),
            "rank_95": written(self.rank_error(0.95)),
            "limits": [limit.to_dict() for limit in self.limits],
            "price": exactly(self.price),
            "saved": self.parts.saved,
            "replayed": self.replayed,
            "mechanisms": [part.plan.chosen.mechanism for part in self.parts],
            "certificate": self.certificate.to_dict(),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _cells_as_text(self, most: int | None = None) -> list[list[str]]:
        """The header and the first rows people see: each value with its 95 % reach."""
        places = [
            (part, row)
            for part, answer in enumerate(self.parts)
            for row in range(len(answer._rows))
        ]
        header: list[str] = []
        body: list[list[str]] = []
        for part, row in (places[number] for number in self._order[:most]):
            answer, grouped = self.parts[part], self.question.sets[part]
            names, (line,) = answer._cells_as_text([answer._rows[row]])
            widths, left = _widths(names), iter(line)
            header, shown = [], list[str]()
            for output in self.question.outputs:
                width = widths.get(output.alias, 0)
                header += [output.alias, *["±"] * (width - 1)]
                if width:
                    shown += [next(left) for _ in range(width)]
                elif isinstance(output, KeyOutput):
                    shown.append(_ALL)
                else:
                    shown.append(str(_cell(output, {}, grouped)))
            body.append(shown)
        return [header or list(self.columns), *body]

    def _notes(self, word: str) -> list[str]:
        *said, last = dict.fromkeys(note for part in self.parts for note in part._notes(False))
        costs = dict.fromkeys(part._cost(word) for part in self.parts)
        return [*said, "\n".join([last, *costs])]

    def __str__(self) -> str:
        lines = text_table(self._cells_as_text(_MOST_SHOWN))
        if len(self._order) > _MOST_SHOWN:
            lines.append(f"… and {len(self._order) - _MOST_SHOWN:,} rows more")
        return "\n".join([*lines, *notes(self._notes("epsilon "))])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._cells_as_text(), after=self._notes("ε = "))


def inquire_sets(plan: WorkloadPlan, schema: Schema, seal: str = "") -> Inquiry[GroupedAnswer]:
    """One SELECT by several grouping sets, at one price."""
    asked, sql, many = plan.asked, plan.sql, inquire_many(plan.workload, schema, seal)
    assert asked is not None  # noqa: S101 - who plans grouping sets says which
    plans = plan.workload.plans

    def read(stored: bytes, replayed: bool) -> GroupedAnswer:
        parts = many.read(stored, replayed)
        certificate = certify_together(plans, sql, plan.workload.price, schema, seal)
        return GroupedAnswer(asked, sql, parts, certificate)

    return Inquiry(
        price=many.price,
        identity=identity_of(many.identity, asked.canonical),
        asked=sql,
        draw=many.draw,
        read=read,
        check=many.check,
        public=many.public,
    )


def _listed(part: Answer, shaped: Any) -> list[dict[str, Any]]:
    """What an answer says in its own shape, as a list of rows."""
    if part.plan.question.keys:
        return list(shaped)
    return [shaped if len(part.columns) > 1 else {part.columns[0]: shaped}]


def _cell(output: object, row: dict[str, Any], grouped: tuple[int, ...]) -> Any:
    if isinstance(output, GroupingOutput):
        return output.of(grouped)
    return row.get(output.alias)  # type: ignore[attr-defined]


def _widths(header: list[str]) -> dict[str, int]:
    """How many columns each name has: itself, and ± if that follows."""
    found: dict[str, int] = {}
    for place, name in enumerate(header):
        if name != "±" or not place:
            found[name] = 1 + (header[place + 1 : place + 2] == ["±"])
    return found
