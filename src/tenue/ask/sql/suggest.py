"""A refusal leads to a working question in one step: the asker's question, rewritten.

Each part of the refused text is kept if the grammar answers it, exchanged for what comes nearest
(`rephrase.py`), or left out. Every candidate is read by the grammar itself, so that what a refusal
suggests is answered. Text and schema decide, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ...errors import InvalidQuestion
from ...schema import Bounded, Table
from ...schema.case_insensitive import is_column_name
from ..question import GroupingSets, Question
from .constant import sql_name
from .pieces import Pieces, pieces_of, written
from .rephrase import Rephrase, constant_of, unique

Read = Callable[[str], Question | GroupingSets]
"""Reads a text as a question; refuses whatever is none."""

_LONGEST = 2_000
"""Longer texts, and longer suggestions, help nobody."""
_TOO_LARGE = (
    "question-too-deep",
    "question-too-long",
    "question-too-many-parts",
    "expression-too-large",
    "too-many-conditions",
)
"""What is refused for its size is not read again: that would take long."""
_MOST_PARTS = 12
_MOST_TRIES = 150
_DEEPEST = 3


def with_suggestion(
    refusal: InvalidQuestion, sql: object, schema: Table, read: Read
) -> InvalidQuestion:
    """The refusal whose last sentence is a question that is answered, if one is found."""
    if not isinstance(sql, str) or len(sql) > _LONGEST or refusal.code in _TOO_LARGE:
        return refusal
    try:
        offered = _Suggester(schema, read).offer(sql)
    except RecursionError:
        return refusal
    if not offered or any(len(one) > _LONGEST or "`" in one for one in offered):
        return refusal
    if len(offered) == 1:
        words = f"This is answered: `{offered[0]}`"
    else:
        first, second, constant = offered
        words = (
            f"Ask two questions, in this order and each with half of epsilon: `{first}`, and then, "
            f"with its answer in place of {constant}, `{second}`"
        )
    return InvalidQuestion(
        refusal.what, refusal.allowed, f"{refusal.fix} {words}", code=refusal.code, **refusal.facts
    )


@dataclass
class _Suggester:
    """Tries candidates, as many as it may."""

    schema: Table
    read: Read
    tries: int = _MOST_TRIES
    known: dict[str, bool] = field(default_factory=dict)

    def works(self, text: str) -> bool:
        """Whether a text is a question that is answered."""
        if text not in self.known:
            if self.tries <= 0:
                return False
            self.tries -= 1
            try:
                self.read(text)
                self.known[text] = True
            except InvalidQuestion:
                self.known[text] = False
        return self.known[text]

    def offer(self, sql: str, depth: int = 0) -> list[str]:
        """One question; or two, the first of which was inside the other, and the constant in the
        second that stands for its answer; none if nothing works."""
        pieces = pieces_of(sql)
        inner = self._grouped_inside(pieces)
        if inner is not None and depth < _DEEPEST:
            return [inner] if self.works(inner) else self.offer(inner, depth + 1)
        source, own = self._source(pieces)
        if not self.works(f"SELECT COUNT(*) FROM {source[1]}"):  # noqa: S608 - read, not run
            return []
        builder = _Builder(self, Rephrase(self.schema, strip=not own), *source)
        return builder.build(pieces)

    def _source(self, pieces: Pieces) -> tuple[tuple[str, str], bool]:
        """WITH and FROM as they are, if they are answered; else the table."""
        plain = sql_name(self.schema.name)
        if pieces.source is not None:
            joins = "".join(f" {written(one).strip()}" for one in pieces.joins)
            with_ = "" if pieces.with_ is None else f"{written(pieces.with_)} "
            text = f"{written(pieces.source)}{joins}"
            if self.works(f"{with_}SELECT COUNT(*) FROM {text}"):  # noqa: S608 - read, not run
                return (with_, text), True
        return ("", plain), False

    def _grouped_inside(self, pieces: Pieces) -> str | None:
        """A derived table with groups, which is a question by itself, where FROM cannot have it."""
        _, own = self._source(pieces)
        if own or pieces.source is None:
            return None
        inner = pieces.source.find(exp.Select)
        if inner is None and pieces.with_ is not None:
            inner = pieces.with_.find(exp.Select)
        grouped = inner is not None and (inner.args.get("group") or inner.args.get("distinct"))
        if inner is None or not (grouped or inner.find(exp.AggFunc)):
            return None
        return written(inner)


@dataclass
class _Builder:
    """Puts a question together, part by part."""

    suggester: _Suggester
    rephrase: Rephrase
    with_: str
    source: str
    where: list[str] = field(default_factory=list)
    first: tuple[str, str] | None = None

    def build(self, pieces: Pieces) -> list[str]:
        of_groups = [node for node in pieces.where if node.find(exp.AggFunc)]
        pieces.having += [node for node in of_groups if not node.find(exp.Select)]
        for node in pieces.where[:_MOST_PARTS]:
            found = self._condition(node)
            if found is not None:
                self.where.append(found)
        keys, outputs = self._columns(pieces)
        asked = _Asked(keys, outputs, sets=pieces.sets if keys else "")
        if asked.sets and not self._works(asked):
            asked = replace(asked, sets="")
        while not self.suggester.works(self.text(asked)) and asked.keys:
            asked = replace(asked, keys=asked.keys[:-1])  # too many cells, for instance
        if not self.suggester.works(self.text(asked)):
            asked = _Asked([], ["COUNT(*)"])
        asked = self._after(pieces, asked)
        text = self.text(asked)
        if not self.suggester.works(text):
            return []
        return [text] if self.first is None else [self.first[0], text, self.first[1]]

    def text(self, asked: _Asked, where: Iterable[str] = ()) -> str:
        """The question as SQL."""
        conditions = [*self.where, *where]
        if len(conditions) > 1:
            conditions = [f"({one})" if " OR " in one else one for one in conditions]
        clauses = [
            f"{self.with_}SELECT {', '.join(unique([*asked.keys, *asked.outputs]))}",
            f"FROM {self.source}",
        ]
        if conditions:
            clauses.append(f"WHERE {' AND '.join(conditions)}")
        if asked.keys:
            keys = ", ".join(_bare(key) for key in asked.keys)
            clauses.append(f"GROUP BY {asked.sets} ({keys})" if asked.sets else f"GROUP BY {keys}")
        if asked.having:
            clauses.append(f"HAVING {' AND '.join(asked.having)}")
        if asked.order:
            clauses.append(f"ORDER BY {', '.join(asked.order)}")
        if asked.limit is not None:
            clauses.append(f"LIMIT {asked.limit}")
        return " ".join(clauses)

    def _works(self, asked: _Asked, where: Iterable[str] = ()) -> bool:
        return self.suggester.works(self.text(asked, where))

    # -- rows ----------------------------------------------------------------------------------

    def _condition(self, node: exp.Expr) -> str | None:
        """The nearest condition that is answered; None if there is none."""
        inside = node.find(exp.Select)
        if inside is not None:
            return self._compared_with_answer(node, inside)
        if node.find(exp.AggFunc):
            return None
        counted = _Asked([], ["COUNT(*)"])
        candidates = self.rephrase.conditions(node)
        return next((one for one in candidates if self._works(counted, [one])), None)

    def _compared_with_answer(self, node: exp.Expr, inside: exp.Expr) -> str | None:
        """x > (SELECT AVG(x) …): two questions, the inner one first."""
        inner = written(inside)
        columns = [c for c in self.rephrase.columns_in(inside) if isinstance(c, Bounded)]
        compared = isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE | exp.EQ | exp.NEQ)
        subquery = inside.parent
        single = compared and type(subquery) is exp.Subquery and subquery.parent is node
        if not single or not columns or self.first is not None or not self.suggester.works(inner):
            return None
        constant = constant_of(columns[0])
        self.first = inner, constant
        copy = node.copy()
        (place,) = copy.find_all(exp.Subquery)
        place.replace(exp.Var(this=constant))
        text = written(self.rephrase.repaired(copy))
        if self._works(_Asked([], ["COUNT(*)"]), [text]):
            return text
        self.first = None
        return None

    # -- columns -------------------------------------------------------------------------------

    def _columns(self, pieces: Pieces) -> tuple[list[str], list[str]]:
        """The keys and the aggregates."""
        entries = [_entry(node) for node in pieces.selected[:_MOST_PARTS]]
        grouped = [node.unnest() for node in pieces.group[:_MOST_PARTS]]
        names = {alias.lower() for alias, _ in entries if alias}
        numbers = {one.name for one in grouped if isinstance(one, exp.Literal)}
        aliased = {one.name.lower() for one in grouped if isinstance(one, exp.Column)} & names
        aggregates = any(node.find(exp.AggFunc) for _, node in entries)
        keys, outputs, windows = list[str](), list[str](), list[tuple[str, exp.Expr]]()
        taken: set[str] = set()
        for number, (alias, node) in enumerate(entries, start=1):
            if node not in grouped and self._inside(node, grouped):
                continue  # GROUP BY has a key of this column
            as_key = str(number) in numbers or alias.lower() in aliased or node in grouped
            named = _alias(alias, taken)
            if isinstance(node, exp.Window) or node.find(exp.Window):
                windows.append((named, node))
                continue
            found = self._key(node) if as_key else self._aggregate(node)
            if found is None and not as_key and self._may_be_key(node, bool(grouped) or aggregates):
                found, as_key = self._key(node), True
            elif found is None and as_key:
                found, as_key = self._aggregate(node), False
            if found is None and not as_key:
                found = self._nearest_aggregate(node)
            if found is not None:
                (keys if as_key else outputs).append(found + named)
        for node in grouped:
            plain = isinstance(node, exp.Literal)
            if plain or (isinstance(node, exp.Column) and node.name.lower() in names):
                continue
            found = self._key(node)
            if found is not None and found not in map(_bare, keys):
                keys.insert(0, found)
        for named, node in windows:
            self._window(keys, outputs, named, node)
        return unique(keys), unique(outputs) or ["COUNT(*)"]

    def _inside(self, node: exp.Expr, grouped: list[exp.Expr]) -> bool:
        """Whether it is a column of which GROUP BY has an expression."""
        if not isinstance(node, exp.Column) or any(isinstance(g, exp.Column) for g in grouped):
            return False
        return any(
            self.rephrase.column(node.name) in self.rephrase.columns_in(one) for one in grouped
        )

    def _window(self, keys: list[str], outputs: list[str], named: str, node: exp.Expr) -> None:
        """A window over groups as it is; one over rows as the aggregate of each group."""
        text = written(self.rephrase.repaired(node))
        if keys and self._works(_Asked(keys, [*outputs, text])):
            outputs.append(text + named)
            return
        window = node.find(exp.Window)
        for part in (window.args.get("partition_by") or []) if window is not None else []:
            found = self._key(part)
            if found is not None and found not in map(_bare, keys):
                keys.append(found)
        found = None
        if window is not None and isinstance(window.this, exp.AggFunc):
            inner = window.this.find(exp.AggFunc)
            nested = [one for one in window.this.find_all(exp.AggFunc) if one is not window.this]
            found = self._aggregate(nested[0] if nested else inner or window.this)
        if found is not None and found not in map(_bare, outputs):
            outputs.append(found + named)

    def _may_be_key(self, node: exp.Expr, grouped: bool) -> bool:
        """Whether an expression without an aggregate is more likely a key than a value."""
        if node.find(exp.AggFunc):
            return False
        columns = self.rephrase.columns_in(node)
        numbers = any(isinstance(column, Bounded) for column in columns)
        return grouped or not numbers

    def _aggregate(self, node: exp.Expr) -> str | None:
        if isinstance(node, exp.Star) or not (
            node.find(exp.AggFunc) or isinstance(node, exp.Anonymous)
        ):
            return None
        return self._nearest_aggregate(node)

    def _nearest_aggregate(self, node: exp.Expr) -> str | None:
        if isinstance(node, exp.Star | exp.Literal):
            return None
        candidates = self.rephrase.outputs(node)
        return next((one for one in candidates if self._works(_Asked([], [one]))), None)

    def _key(self, node: exp.Expr) -> str | None:
        candidates = self.rephrase.keys(node)
        return next((one for one in candidates if self._works(_Asked([one], ["COUNT(*)"]))), None)

    # -- afterwards ----------------------------------------------------------------------------

    def _after(self, pieces: Pieces, asked: _Asked) -> _Asked:
        """The question with its HAVING, ORDER BY and LIMIT, as far as they are answered."""
        for node in pieces.having[:_MOST_PARTS]:
            for one in self._havings(node):
                more = replace(asked, having=[*asked.having, one])
                wider = [] if node.find(exp.AggFunc) is None else list(self._missing(node))
                both = replace(more, outputs=unique([*asked.outputs, *wider]))
                chosen = next((each for each in (more, both) if self._works(each)), None)
                if chosen is not None:
                    asked = chosen
                    break
            else:
                row = None if node.find(exp.AggFunc) else self._condition(node)
                if row is not None and self._works(asked, [row]):
                    self.where.append(row)
        for node in pieces.order[:_MOST_PARTS]:
            for one in self._orders(node):
                more = replace(asked, order=[*asked.order, one])
                wider = [] if node.find(exp.AggFunc) is None else list(self._missing(node))
                both = replace(more, outputs=unique([*asked.outputs, *wider]))
                chosen = next((each for each in (more, both) if self._works(each)), None)
                if chosen is not None:
                    asked = chosen
                    break
        limit = pieces.limit
        if limit is not None and isinstance(limit, exp.Literal) and asked.keys:
            more = replace(asked, limit=limit.name)
            asked = more if self._works(more) else asked
        return asked

    def _havings(self, node: exp.Expr) -> Iterator[str]:
        yield written(self.rephrase.repaired(node))
        yield from self.rephrase.conditions(node) if isinstance(node, exp.Like) else ()
        if isinstance(node, exp.Or):
            yield from (written(self.rephrase.repaired(one)) for one in node.flatten())

    def _orders(self, node: exp.Expr) -> Iterator[str]:
        if not isinstance(node, exp.Ordered):
            return
        yield written(self.rephrase.repaired(node.this)) + " DESC" * bool(node.args.get("desc"))

    def _missing(self, node: exp.Expr) -> Iterator[str]:
        """The aggregates that HAVING or ORDER BY names and SELECT does not."""
        for one in node.find_all(exp.AggFunc):
            found = self._aggregate(one)
            if found is not None:
                yield found


@dataclass(frozen=True)
class _Asked:
    """Keys and aggregates, each perhaps with AS and a name, and what follows."""

    keys: list[str]
    outputs: list[str]
    having: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    limit: str | None = None
    sets: str = ""


def _entry(node: exp.Expr) -> tuple[str, exp.Expr]:
    """The name of an entry of SELECT, and what it is."""
    if isinstance(node, exp.Alias):
        return node.alias, node.this.unnest()
    return "", node.unnest()


_AS = " AS "


def _alias(alias: str, taken: set[str]) -> str:
    if not alias or not is_column_name(alias) or alias.lower() in taken:
        return ""
    taken.add(alias.lower())
    return f"{_AS}{sql_name(alias)}"


def _bare(entry: str) -> str:
    """An entry of SELECT without its name."""
    return entry.rpartition(_AS)[0] if _AS in entry and not entry.endswith(")") else entry
