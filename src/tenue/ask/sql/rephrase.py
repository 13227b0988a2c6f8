"""What comes nearest, in the grammar, to a part of a refused question: from text and schema alone.

Each function gives candidates, the nearest first. Whether one is answered is for the grammar to
say (`suggest.py`).
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction

from sqlglot import exp

from ...schema import Boolean, Bounded, Category, Column, Date, Datetime, Identifier, Number, Table
from .constant import sql_name, sql_number
from .output import PARTS
from .pieces import written
from .predicate import is_like

_SAME = {
    "AVG": "MEAN AVERAGE GEOMEAN GEOMETRIC_MEAN FAVG",
    "SUM": "TOTAL FSUM SUMIF",
    "STDDEV": "STD STDEV STDDEV_SAMP SD",
    "VARIANCE": "VAR VAR_SAMP KURTOSIS SKEWNESS",
    "MEDIAN": "MED APPROX_MEDIAN QUANTILE QUANTILE_CONT QUANTILE_DISC PERCENTILE PERCENTILE_DISC "
    "PERCENTILE_CONT APPROX_QUANTILE",
    "MAX": "ARG_MAX ARGMAX MAX_BY MAXIMUM LAST LAST_VALUE",
    "MIN": "ARG_MIN ARGMIN MIN_BY MINIMUM",
    "MODE": "FIRST ANY_VALUE FIRST_VALUE STRING_AGG LISTAGG GROUP_CONCAT ARRAY_AGG LIST",
    "COUNT": "COUNT_IF COUNTIF NUNIQUE APPROX_COUNT_DISTINCT APPROX_DISTINCT",
    "CORR": "CORREL PEARSON",
    "COVAR_SAMP": "COVAR COV",
    "REGR_SLOPE": "SLOPE LINREG",
}
_OF = {name: known for known, names in _SAME.items() for name in (known, *names.split())}
_ONE = ("COUNT", "SUM", "AVG", "MEDIAN", "MIN", "MAX", "STDDEV", "VARIANCE")
_FIELDS = {
    "year": ("%Y", "yyyy", "year"),
    "month": ("%m", "mm", "month", "%b"),
    "isodow": ("weekday", "dayofweek", "dayname", "dow", "isodow", "%a"),
    "hour": ("hour", "hh", "%h"),
}
_FORMATTED = ("TO_CHAR", "STRFTIME", "DATE_FORMAT", "FORMAT", "TIME_TO_STR", "FORMAT_DATE")
_SIGNS: dict[type[exp.Expr], str] = {
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.EQ: "=",
    exp.NEQ: "<>",
}
_MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
_CLOSE = 0.6


@dataclass(frozen=True)
class Rephrase:
    """The candidates for parts of a question about one table.

    strip: whether names before a column, as in t.age, are left out.
    """

    table: Table
    strip: bool = True

    # -- names ---------------------------------------------------------------------------------

    def column(self, name: str) -> Column | None:
        """The column of that name, or of one that is nearly the same."""
        known = self.table.columns.get(name)
        if known is not None:
            return known
        folded = {_letters(one): one for one in self.table.columns}
        close = difflib.get_close_matches(_letters(name[:100]), folded, n=1, cutoff=_CLOSE)
        return self.table.columns[folded[close[0]]] if close else None

    def repaired(self, node: exp.Expr) -> exp.Expr:
        """The same with names of columns as the schema has them."""
        odd = {
            _letters(name): column
            for name, column in self.table.columns.items()
            if not name.isidentifier()
        }

        def change(one: exp.Expr) -> exp.Expr:
            if odd and isinstance(one, exp.Sub | exp.Alias | exp.Column | exp.Dot):
                known = odd.get(_letters(written(one)))
                if known is not None:
                    return _named(known)
            if type(one) is not exp.Column or not isinstance(one.this, exp.Identifier):
                return one
            column = self.column(one.name)
            if column is None:
                return one
            if one.args.get("table") is not None and not self.strip:
                return one
            return _named(column)

        return node.transform(change)

    def columns_in(self, node: exp.Expr) -> list[Column]:
        """The columns that it names, or nearly names, each once."""
        names = [one.name for one in node.find_all(exp.Column)]
        names += [one.name for one in node.find_all(exp.Identifier) if one.name not in names]
        found = (self.column(name) for name in names if name)
        return list(dict.fromkeys(column for column in found if column is not None))

    def usable(self, column: Column) -> bool:
        """Whether a question may contain it."""
        unit = column.name.lower() == self.table.unit.lower()
        return not (unit or isinstance(column, Identifier) or column.role == "identifier")

    # -- conditions ----------------------------------------------------------------------------

    def conditions(self, node: exp.Expr) -> Iterator[str]:
        """Conditions of rows that come nearest to one."""
        node = self.repaired(node.unnest())
        yield written(node)
        yield from self._logical(node)
        several = [column for column in self.columns_in(node) if self.usable(column)]
        sides = [node.args.get("this"), node.args.get("expression")]
        if (
            len(several) == 2
            and type(node) in _SIGNS
            and all(isinstance(c, Number) for c in several)
        ):
            left, right = (written(one) for one in sides if isinstance(one, exp.Expr))
            yield f"{left} - {right} {_SIGNS[type(node)]} 0"
        for column in several[:2]:
            yield from self._about(column, node)

    def _logical(self, node: exp.Expr) -> Iterator[str]:
        if isinstance(node, exp.Or):
            several = [one for one in node.flatten() if isinstance(one, exp.Expr)]
            values = [one for one in several[1:] if isinstance(one, exp.Literal)]
            if values and isinstance(several[0], exp.EQ):
                first = several[0]
                listed = [first.expression, *values]
                whole = exp.In(this=first.this.copy(), expressions=[v.copy() for v in listed])
                yield from self.conditions(whole)
        if isinstance(node, exp.EQ | exp.NEQ) and isinstance(node.expression, exp.Null):
            word = "IS NULL" if isinstance(node, exp.EQ) else "IS NOT NULL"
            yield f"{written(node.this)} {word}"
        if isinstance(node, exp.Not):
            yield from (f"NOT ({one})" for one in self.conditions(node.this))
        if isinstance(node, exp.Between) and node.args.get("symmetric"):
            ends = sorted((written(node.args[end]) for end in ("low", "high")), key=_size)
            yield f"{written(node.this)} BETWEEN {ends[0]} AND {ends[1]}"

    def _about(self, column: Column, node: exp.Expr) -> Iterator[str]:
        name = sql_name(column.name)
        texts = [one.this for one in node.find_all(exp.Literal) if isinstance(one.this, str)]
        texts += [one.name for one in node.find_all(exp.Column) if one.name != column.name]
        sign = _sign(node, column)
        if isinstance(column, Category):
            found = list(dict.fromkeys(self._categories(column, node, texts, sign)))
            if len(found) == 1:
                yield f"{name} {'<>' if sign == '<>' else '='} {_text(found[0])}"
            elif found:
                yield f"{name} IN ({', '.join(map(_text, found))})"
        elif isinstance(column, Boolean):
            no = any(text.lower() in ("0", "false", "no", "n", "f") for text in texts)
            yield f"NOT {name}" if no != isinstance(node, exp.Not | exp.NEQ) else name
        elif isinstance(column, Bounded):
            values = [v for text in texts if (v := _value(column, text)) is not None]
            if isinstance(node, exp.Between) and len(values) >= 2:
                yield f"{name} BETWEEN {values[0]} AND {values[1]}"
            if isinstance(node, exp.In) and values:
                yield f"{name} IN ({', '.join(values)})"
            between = isinstance(node, exp.Between | exp.In)
            if isinstance(column, Number) and not node.find(exp.Literal) and not between:
                yield f"{name} <> 0"
            sign = ">=" if isinstance(node, exp.Between) else sign
            yield f"{name} {sign} {values[0] if values else _middle(column)}"

    def _categories(
        self, column: Category, node: exp.Expr, texts: list[str], sign: str
    ) -> Iterator[str]:
        known = list(column.categories)
        nearest = [found for text in texts if (found := _nearest(text, known)) is not None]
        pattern = _pattern(node, texts)
        if pattern is not None:
            yield from (one for one in known if is_like(one.casefold(), pattern.casefold()))
            return
        if isinstance(node, exp.Between) and len(nearest) == 2:
            first, last = sorted(map(known.index, nearest))
            yield from known[first : last + 1]
            return
        if sign in _MIRRORED and nearest:
            at = known.index(nearest[0])
            some = known[at:] if sign[0] == ">" else known[: at + 1]
            yield from ([one for one in some if sign[1:] or one != nearest[0]] or nearest[:1])
            return
        yield from nearest or known[:1]

    # -- columns of the answer -----------------------------------------------------------------

    def outputs(self, node: exp.Expr) -> Iterator[str]:
        """Aggregates that come nearest to an entry of SELECT."""
        node = self.repaired(node.unnest())
        yield written(node)
        if isinstance(node, exp.Grouping):
            return
        if isinstance(node, exp.Window):
            yield from self.outputs(node.this)
            return
        if isinstance(node, exp.Filter):
            whens = list(self.conditions(node.expression.this))
            for text in self.outputs(node.this):
                yield from (f"{text} FILTER (WHERE {when})" for when in whens)
            node = node.this
        within = node if isinstance(node, exp.WithinGroup) else node.find(exp.WithinGroup)
        asked: exp.Expr = within or node.find(exp.AggFunc) or node
        for one in node.find_all(exp.Func) if within is None else ():
            if isinstance(one, exp.AggFunc) or _known(_function(one)):
                asked = one
                break
        name = "MEDIAN" if within else _known(_function(asked))
        condition = asked.find(exp.Predicate, exp.And, exp.Or)
        if condition is not None and not isinstance(condition, exp.SubqueryPredicate):
            for when in self.conditions(condition):
                if name in ("SUM", "COUNT"):
                    yield f"COUNT(*) FILTER (WHERE {when})"
                yield f"AVG(CASE WHEN {when} THEN 1 ELSE 0 END)"
        several = self.columns_in(asked)
        if not several and isinstance(asked, exp.Func):
            yield "COUNT(*)"
        for column in several:
            yield from self._aggregates(column, name, [c for c in several if c != column], asked)

    def _aggregates(
        self, column: Column, name: str, others: list[Column], asked: exp.Expr
    ) -> Iterator[str]:
        text = sql_name(column.name)
        if not self.usable(column):
            if column.name.lower() == self.table.unit.lower():
                yield f"COUNT(DISTINCT {text})"
            yield "COUNT(*)"
        elif name == "COUNT":
            if asked.find(exp.Distinct):
                yield f"COUNT(DISTINCT {text})"
            yield f"COUNT({text})"
        elif isinstance(column, Category):
            yield f"MODE({text})"
        elif isinstance(column, Date | Datetime):
            yield f"{name if name in ('MIN', 'MAX') else 'MEDIAN'}({text})"
        else:
            share = next((s for one in asked.find_all(exp.Literal) if (s := _share(one))), None)
            if name == "MEDIAN" and share is not None:
                yield f"QUANTILE({text}, {share})"
            numbers = [other for other in others if isinstance(other, Number)]
            if name in ("CORR", "COVAR_SAMP", "REGR_SLOPE"):
                numbers = numbers or [
                    other
                    for other in self.table.columns.values()
                    if isinstance(other, Number) and other.name != column.name
                ]
                yield from (f"{name}({text}, {sql_name(other.name)})" for other in numbers[:1])
            if others and numbers and asked.find(exp.Div):
                yield f"SUM({text}) / SUM({sql_name(numbers[0].name)})"
            yield f"{name if name in _ONE else 'AVG'}({text})"

    # -- keys ----------------------------------------------------------------------------------

    def keys(self, node: exp.Expr) -> Iterator[str]:
        """Keys that come nearest to an expression."""
        node = self.repaired(node.unnest())
        yield written(node)
        if isinstance(node, exp.If) and node.args.get("false") is not None:
            when, then, other = (written(node.args[part]) for part in ("this", "true", "false"))
            yield f"CASE WHEN {when} THEN {then} ELSE {other} END"
        if isinstance(node, exp.Predicate | exp.Connector):
            for when in self.conditions(node):
                yield f"CASE WHEN {when} THEN 'yes' ELSE 'no' END"
        for column in self.columns_in(node):
            if not self.usable(column):
                continue
            name = sql_name(column.name)
            if isinstance(column, Category | Boolean):
                yield name
            elif isinstance(column, Number):
                yield from (f"BIN({name}, {width})" for width in _widths(column, node))
            else:
                yield from _moments(name, node)


def _named(column: Column) -> exp.Expr:
    name = column.name
    return exp.Column(this=exp.Identifier(this=name, quoted=sql_name(name).startswith('"')))


def _letters(text: str) -> str:
    return "".join(one for one in text.casefold() if one.isalnum())


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _function(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper()
    return node.sql_name().upper() if isinstance(node, exp.Func) else ""


def _known(function: str) -> str:
    """The aggregate that a function is, or nearly has the name of."""
    close = difflib.get_close_matches(function[:100], _OF, n=1, cutoff=0.75)
    return _OF.get(function) or (_OF[close[0]] if close else "")


def _nearest(text: str, known: list[str]) -> str | None:
    """The name that a text nearly is, or begins."""
    folded = {one.casefold(): one for one in reversed(known)}
    if not _letters(text):
        return None
    begins = [one for one in known if one.casefold().startswith(text.casefold())]
    close = difflib.get_close_matches(text[:100].casefold(), folded, n=1, cutoff=_CLOSE)
    return folded[close[0]] if close else begins[0] if begins else None


def _pattern(node: exp.Expr, texts: list[str]) -> str | None:
    """The pattern of LIKE that a condition on text comes nearest to."""
    if not texts:
        return None
    if isinstance(node, exp.RegexpLike | exp.RegexpILike):
        plain = re.sub(r"[^\w\s/-]", "", texts[0])
        begin, end = texts[0].startswith("^"), texts[0].endswith("$")
        return f"{'' if begin else '%'}{plain}{'' if end else '%'}"
    if node.find(exp.Like, exp.ILike, exp.SimilarTo):
        return texts[0]
    if node.find(exp.Left, exp.Substring, exp.StartsWith):
        words = [text for text in texts if not text.isdigit()]
        return f"{words[0]}%" if words else None
    if node.find(exp.Contains):
        return f"%{texts[0]}%"
    return None


def _sign(node: exp.Expr, column: Column) -> str:
    sign = _SIGNS.get(type(node), "=")
    left = node.args.get("this")
    named = isinstance(left, exp.Expr) and any(
        one.name.lower() == column.name.lower() for one in left.find_all(exp.Column)
    )
    if sign == "=" and type(node) is not exp.EQ and isinstance(column, Bounded):
        return ">="
    return sign if named else _MIRRORED.get(sign, sign)


def _size(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _share(node: exp.Expr) -> str | None:
    """A number between 0 and 1, or a percentage, as a share."""
    value = _size(str(node.this))
    value = value / 100 if 1 < value < 100 else value
    return f"{value:g}" if 0 < value < 1 else None


def _value(column: Bounded, text: str) -> str | None:
    """A text as a constant of the column."""
    if isinstance(column, Number):
        found = re.fullmatch(r"\s*(-?\d{1,15}(\.\d{1,9})?)\s*\D*", text)
        return found[1] if found else None
    found = re.match(r"\s*(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", text)
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    try:
        moment = date(year, min(max(month, 1), 12), 1)
        moment = date(year, month, day)
    except ValueError:
        return None if not 1 <= year <= 9999 else _moment(column, moment)
    return _moment(column, moment)


def _moment(column: Bounded, moment: date) -> str:
    if isinstance(column, Datetime):
        return f"TIMESTAMP '{moment.isoformat()} 00:00:00'"
    return f"DATE '{moment.isoformat()}'"


def _middle(column: Bounded) -> str:
    """A constant in the middle of the bounds."""
    middle = column.grid * (int((column.low + column.high) / 2 / column.grid))
    if isinstance(column, Number):
        return sql_number(middle)
    epoch = datetime(1970, 1, 1)
    seconds = middle if isinstance(column, Datetime) else middle * 86_400
    return _moment(column, (epoch + timedelta(seconds=int(seconds))).date())


def _widths(column: Number, node: exp.Expr) -> Iterator[str]:
    """Widths of bins: one that the text names, or one that makes about ten."""
    for one in node.find_all(exp.Literal):
        value = _size(str(one.this))
        if not one.is_string and value > 0:
            steps = max(1, math.ceil(Fraction(str(value)) / column.grid))
            yield sql_number(steps * column.grid)
    span = column.high - column.low
    for power in range(-9, 30):
        for digit in (1, 2, 5):
            width = digit * Fraction(10) ** power
            if width * 12 >= span and (width / column.grid).denominator == 1:
                yield sql_number(width)
                return
    yield sql_number(max(column.grid, column.grid * round(span / column.grid / 10)))


def _moments(name: str, node: exp.Expr) -> Iterator[str]:
    """Keys of a date: a field of it, or a period that a format or function names."""
    words = [str(one.this) for one in node.find_all(exp.Literal, exp.Var)]
    words += [_function(one) for one in node.find_all(exp.Func)]
    said = " ".join(words).lower()
    for word in words:
        close = difflib.get_close_matches(word[:100].lower(), PARTS, n=1, cutoff=0.75)
        if close:
            yield f"DATE_TRUNC('{close[0]}', {name})"
    formatted = any(_function(one) in _FORMATTED for one in node.find_all(exp.Func))
    for field, marks in _FIELDS.items():
        if any(mark.lower() in said for mark in marks) and not ("%y" in said or "yyyy" in said):
            yield f"EXTRACT({field} FROM {name})"
    if any(word in said for word in ("%d", "dd", "day", "date")) and not formatted:
        yield f"DATE_TRUNC('day', {name})"
    if any(word in said for word in ("minute", "second", "hour")):
        yield f"DATE_TRUNC('hour', {name})"
        yield f"DATE_TRUNC('day', {name})"
    if "week" in said:
        yield f"DATE_TRUNC('week', {name})"
    if "decade" in said or "century" in said:
        yield f"DATE_TRUNC('year', {name})"
    yield f"DATE_TRUNC('month', {name})"
    yield f"DATE_TRUNC('year', {name})"


def unique(several: Iterable[str]) -> list[str]:
    """Each text once, in order."""
    return list(dict.fromkeys(several))


def constant_of(column: Bounded) -> str:
    """A constant to put in place of an answer."""
    return _middle(column)
