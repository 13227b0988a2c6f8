"""The arithmetic of a derived column.

    sum      ->  product (("+" | "-") product)*
    product  ->  factor (("*" | "/") factor)*
    factor   ->  ("+" | "-") factor | number | name | '"' name '"' | "(" sum ")"

There is no function, no comparison and no text, so that every engine can compute an expression. A
missing value makes the result missing, and so does a division by 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from ..arguments import exact
from ..errors import InvalidArgument, refuse
from .toml_values import literal, show

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r'|"(?P<quoted>[^"]+)"'
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>[-+*/()]))"
)
_LONGEST = 1000
_MOST_TOKENS = 200
_DEEPEST = 50
_ALLOWED = "An expression adds, subtracts, multiplies and divides numbers and number columns"


@dataclass(frozen=True)
class Constant:
    """A number, exact."""

    value: Fraction

    def __str__(self) -> str:
        return literal(self.value)


@dataclass(frozen=True)
class Name:
    """The value of a column."""

    name: str

    def __str__(self) -> str:
        return f'"{self.name.lower()}"'


@dataclass(frozen=True)
class Negative:
    """A value with the other sign."""

    of: Tree

    def __str__(self) -> str:
        return f"(-{self.of})"


@dataclass(frozen=True)
class Operation:
    """Two values and the operator between them: + - * or /."""

    sign: str
    left: Tree
    right: Tree

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.right})"


Tree = Constant | Name | Negative | Operation


@dataclass(frozen=True)
class Expression:
    """An expression as the holder wrote it, and its tree.

    Example
        >>> expression = Expression.parse("Price*(quantity + 1) / 2")
        >>> expression.names, str(expression.tree)
        (('Price', 'quantity'), '(("price" * ("quantity" + 1)) / 2)')
    """

    text: str
    tree: Tree

    @classmethod
    def parse(cls, text: str) -> Expression:
        """Reads one expression."""
        tokens = list(_tokens(text)) if len(text) <= _LONGEST else []
        if len(text) > _LONGEST or len(tokens) > _MOST_TOKENS:
            raise refuse("schema.expression-too-long", longest=_LONGEST, most_tokens=_MOST_TOKENS)
        return cls(text, _Parser(tokens).whole())

    @property
    def names(self) -> tuple[str, ...]:
        """The columns it uses, as written, without repetition."""
        return tuple(dict.fromkeys(_names(self.tree)))


def _names(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Name):
        yield tree.name
    elif isinstance(tree, Negative):
        yield from _names(tree.of)
    elif isinstance(tree, Operation):
        yield from _names(tree.left)
        yield from _names(tree.right)


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def whole(self) -> Tree:
        tree = self._sum()
        if self._peek():
            raise _refused(f"The expression continues after its end with {self._peek()}")
        return tree

    def _peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def _sum(self) -> Tree:
        tree = self._product()
        while self._peek() in ("+", "-"):
            tree = Operation(self._sign(), tree, self._product())
        return tree

    def _product(self) -> Tree:
        tree = self._factor()
        while self._peek() in ("*", "/"):
            sign, right = self._sign(), self._factor()
            if sign == "/" and isinstance(right, Constant) and right.value == 0:
                raise _refused("The expression divides by 0")
            tree = Operation(sign, tree, right)
        return tree

    def _sign(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def _factor(self) -> Tree:
        if self.at == len(self.tokens):
            raise _refused("The expression ends where a number or a column should follow")
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _refused(f"The expression is nested more than {_DEEPEST} deep")
        kind, word = self.tokens[self.at]
        self.at += 1
        tree = self._after(kind, word)
        self.depth -= 1
        return tree

    def _after(self, kind: str, word: str) -> Tree:
        if kind == "number":
            return Constant(exact(word, "expression"))
        if kind in ("name", "quoted"):
            return Name(word)
        if word == "-":
            return Negative(self._factor())
        if word == "+":
            return self._factor()
        if word == "(":
            tree = self._sum()
            if self._peek() != ")":
                raise _refused("A parenthesis is opened and not closed")
            self.at += 1
            return tree
        raise _refused(f"{word} stands where a number or a column should be")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at, text = 0, text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise _refused(f"The expression cannot be read at {show(text[at:].lstrip()[:12])}")
        yield match.lastgroup, match.group(match.lastgroup)
        at = match.end()


def _refused(what: str) -> InvalidArgument:
    return InvalidArgument(what, _ALLOWED, 'Write something like "price * quantity"')
