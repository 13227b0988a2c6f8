"""Random TOML texts of a given tree, with the line on which each key was written.

The layouts are meant to mislead: keys in strings and comments, sections out of order, dotted and
quoted keys, inline tables, arrays over many lines.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

COMMENTS = ["", "", "  # note", '# [fake] key = "x', "  # ] } '''", '# """']
BETWEEN = ["", "", "\n", "# [columns.fake]\n", "\n# key = 1\n\n", "  \t\n"]


class Text:
    """A text that grows, and remembers where it put what."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.parts: list[str] = []
        self.line = 1
        self.lines: dict[tuple[str | int, ...], int] = {}

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.line += text.count("\n")

    def some(self, options: list[str]) -> None:
        self.add(self.draw(st.sampled_from(options)))

    def end(self) -> None:
        self.some(COMMENTS)
        self.add("\n")
        self.some(BETWEEN)

    def key(self, name: str) -> str:
        bare = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
        quoted = json.dumps(name)
        forms = [quoted] if not bare else [name, name, name, quoted, f"'{name}'"]
        blank = self.draw(st.sampled_from(["", "", " "]))
        return f"{blank}{self.draw(st.sampled_from(forms))}{blank}"

    def value(self, value: Any, path: tuple[str | int, ...]) -> None:
        if isinstance(value, dict):
            self.inline(value, path)
        elif isinstance(value, list):
            self.array(value, path)
        elif isinstance(value, str):
            self.add(self.draw(st.sampled_from(string_forms(value))))
        elif isinstance(value, bool):
            self.add("true" if value else "false")
        else:
            self.add(value.isoformat() if hasattr(value, "isoformat") else str(value))

    def inline(self, table: dict[str, Any], path: tuple[str | int, ...]) -> None:
        self.add("{")
        for place, (name, item) in enumerate(table.items()):
            self.add(", " if place else " ")
            self.pair(name, item, path)
        self.add(" }")

    def array(self, items: list[Any], path: tuple[str | int, ...]) -> None:
        gaps = ["", " ", "\n", "\n  # fake = [1\n  "]
        self.add("[")
        for place, item in enumerate(items):
            self.some(gaps)
            self.lines[(*path, place)] = self.line
            self.value(item, (*path, place))
            self.some(gaps)
            self.add("," if place < len(items) - 1 or self.draw(st.booleans()) else "")
        self.some(gaps)
        self.add("]")

    def pair(self, name: str, item: Any, path: tuple[str | int, ...]) -> None:
        self.lines[(*path, name)] = self.line
        self.add(f"{self.key(name)}=")
        self.some([" ", "", "\t"])
        self.value(item, (*path, name))

    def keys(self, table: dict[str, Any], path: tuple[str, ...], prefix: str) -> None:
        for name, item in table.items():
            dotted = isinstance(item, dict) and item and self.draw(st.booleans())
            if dotted:
                self.keys(item, (*path, name), f"{prefix}{self.key(name)}.")
            else:
                self.some(["", "", "  "])
                self.lines[(*path, name)] = self.line
                self.add(f"{prefix}{self.key(name)} = ")
                self.value(item, (*path, name))
                self.end()


def string_forms(value: str) -> list[str]:
    forms = [json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")]
    if "'" not in value and value.isprintable():
        forms += [f"'{value}'", f"'''{value}'''", f"'''\n{value}'''"]
    if not set(value) & set('"\\') and value.isprintable():
        forms += [f'"""{value}"""', f'"""\n{value}"""', f'"""\\\n   {value}"""'][
            : 3 if value.strip() == value else 2
        ]
    return forms


@st.composite
def layouts(draw: Any, tree: dict[str, Any]) -> tuple[str, dict[tuple[str | int, ...], int]]:
    """A TOML text that means `tree`, and the lines of its keys, headers and array entries."""
    text = Text(draw)
    sections: list[tuple[tuple[str, ...], dict[str, Any]]] = []

    def place(table: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        """Chooses which tables get a header of their own; gives back what is left in this one."""
        here = {}
        for name, item in table.items():
            if isinstance(item, dict) and draw(st.integers(0, 5)):
                rest = place(item, (*path, name))
                if rest or not item or draw(st.booleans()):
                    sections.append(((*path, name), rest))
            else:
                here[name] = item
        return here

    text.some(BETWEEN)
    text.keys(place(tree, ()), (), "")
    for path, rest in draw(st.permutations(sections)):
        text.some(["", "  "])
        text.lines[path] = text.line
        text.add("[" + ".".join(map(text.key, path)) + "]")
        text.end()
        text.keys(rest, path, "")
    return "".join(text.parts), text.lines
