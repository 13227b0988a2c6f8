"""Parses the words after `tenue`: the signature of a verb declares its arguments and its help.

A parameter is `Annotated[type, Option(...)]` or `Annotated[type, Argument(...)]`. Types are str,
Path, int, list[str] for repeated options, Literal for one of a few words, and bool for a flag; each
may be `| None`. The docstring of the function is its help, and ends with an "Example".
"""

from __future__ import annotations

import argparse
import inspect
import shutil
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import Fault, nearest, refuse

Verb = Callable[..., None]
HELP = ("-h", "--help")
UNWRITTEN = "standard output cannot be written"
_HELP_ROW = (", ".join(HELP), "Show this page and exit.")
_OPTIONS = "Options"
WIDEST = 80
NARROWEST = 50
_NAMES = 30
_GAP = 2
_MARGIN = "  "

Rows = Sequence[tuple[str, str]]

_METAVARS = {Path: "FILE", int: "N"}


UNMET = 3
"""The exit code of a file that was measured, or a source that was examined, and is not as required.

It differs from a refusal (2: nothing was measured) and a fault (1: something broke).
"""


def say(text: str) -> None:
    """Writes a line on standard output."""
    with written():
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def conclude(text: str, *, met: bool) -> None:
    """Writes a line on standard output; unless `met`, the exit code is 3, written or not."""
    try:
        say(text)
    finally:
        if not met:
            raise SystemExit(UNMET)


@contextmanager
def written() -> Iterator[None]:
    """Standard output that is closed or full is a fault; a broken pipe is left to `main`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError:
        raise Fault(UNWRITTEN) from None


@dataclass(frozen=True)
class Option:
    """A parameter with a name, `--out FILE`.

    help: one or two sentences for the page of help.
    names: by default the parameter's own.
    least: the least whole number that it may be.
    value: the placeholder of its value on the page; "FILE" also completes names of files.
    suggest: values that the shell offers; the library may accept others.
    group: the heading under which the page lists it.
    """

    help: str
    names: tuple[str, ...] = ()
    least: int | None = None
    value: str | None = None
    suggest: tuple[str, ...] = ()
    group: str = _OPTIONS


@dataclass(frozen=True)
class Argument:
    """A positional parameter; `files`: whether it may name a file."""

    help: str
    files: bool = True
    names = suggest = ()
    least = value = None


@dataclass(frozen=True)
class Parameter:
    """One parameter of a verb.

    kind: str, Path, int, bool or list.
    words: the only values that it may have, if they are few.
    """

    name: str
    kind: type
    default: Any
    declared: Option | Argument
    words: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of an option; the last is the long one."""
        return self.declared.names or ("--" + self.name.replace("_", "-"),)

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def label(self) -> str:
        return self.name.upper() if isinstance(self.declared, Argument) else self.names[-1]

    @property
    def metavar(self) -> str:
        """The placeholder of its value; nothing for a flag."""
        if self.kind is bool:
            return ""
        if self.declared.value is not None:
            return self.declared.value
        return "|".join(self.words) if self.words else _METAVARS.get(self.kind, "TEXT")

    @property
    def suggested(self) -> tuple[str, ...]:
        """The values that a shell offers."""
        return self.words or self.declared.suggest

    @property
    def names_files(self) -> bool:
        """Whether a shell completes names of files."""
        if isinstance(self.declared, Argument):
            return self.declared.files
        return self.metavar in ("FILE", "FOLDER")

    def value(self, text: str) -> Any:
        """A word as the parameter's type; refused if it is not of that type."""
        name, shown = self.label, text[:60]
        if self.words and text not in self.words:
            near, listed = nearest(text, self.words), ", ".join(self.words)
            raise refuse("cli.value-not-listed", name=name, text=shown, listed=listed, nearest=near)
        if self.kind is not int:
            return Path(text) if self.kind is Path else text
        least = self.declared.least or 0
        if not text.isascii() or not text.removeprefix("-").isdigit() or int(text) < least:
            raise refuse("cli.value-not-whole", name=name, text=shown, least=least)
        return int(text)

    def row(self) -> tuple[str, str]:
        """Its line of the help."""
        if isinstance(self.declared, Argument):
            return self.label, self.declared.help
        has_default = not self.required and self.default not in (None, False)
        facts = [
            "required" if self.required else "",
            f"default: {self.default}" if has_default else "",
            "may be repeated" if self.kind is list else "",
            "" if self.declared.least is None else f"at least {self.declared.least}",
        ]
        remark = "; ".join(filter(None, facts))
        usage = ", ".join(self.names) + (f" {self.metavar}" if self.metavar else "")
        return usage, self.declared.help + (f" [{remark}]" if remark else "")


def parameters(verb: Verb) -> list[Parameter]:
    hints = typing.get_type_hints(verb, include_extras=True)
    found = []
    for name, given in inspect.signature(verb).parameters.items():
        kind, declared = typing.get_args(hints[name])
        if isinstance(kind, types.UnionType):
            (kind,) = (one for one in typing.get_args(kind) if one is not types.NoneType)
        words = typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()
        kind = str if words else typing.get_origin(kind) or kind
        found.append(Parameter(name, kind, given.default, declared, words))
    return found


def read(words: Sequence[str], known: Sequence[Parameter], verb: str = "tenue") -> dict[str, Any]:
    """The values of the parameters, by name; refused if the words do not give them."""
    # missing or invalid values are refused after parsing
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for one in known:
        if isinstance(one.declared, Argument):
            several = one.kind is list
            parser.add_argument(one.name, nargs="*" if several else "?", default=one.default)
        elif one.kind is bool:
            parser.add_argument(*one.names, dest=one.name, action="store_true")
        else:
            action = "append" if one.kind is list else "store"
            parser.add_argument(*one.names, dest=one.name, action=action, default=one.default)
    try:
        found, more = parser.parse_known_args(list(words))
    except argparse.ArgumentError as wrong:
        name = (wrong.argument_name or "").rpartition("/")[2]
        if any(name in one.names for one in known if one.kind is bool):
            raise refuse("cli.flag-with-value", name=name, of=verb) from None
        raise refuse("cli.option-value-missing", name=name, of=verb) from None
    option = next((word.partition("=")[0] for word in more if word.startswith("-")), "--")
    if option != "--":
        names = [name for one in known if isinstance(one.declared, Option) for name in one.names]
        raise unknown_option(option, [*names, *HELP], verb)
    if more:
        extra = " ".join(word for word in more if word != "--")
        raise refuse("cli.too-many-arguments", extra=extra[:60], of=verb)
    values = vars(found)
    for one in known:
        given = values[one.name]
        if given is inspect.Parameter.empty:
            raise refuse("cli.parameter-missing", name=one.label, of=verb)
        if isinstance(given, str) and given is not one.default:
            values[one.name] = one.value(given)
    return values


def unknown_option(name: str, known: Sequence[str], of: str) -> Exception:
    """The refusal of an option that does not exist, with the nearest one, but no list of forty."""
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    near = f"Did you mean `{close[0]}`?" if close else "Correct it, or leave it out"
    return refuse("cli.unknown-option", name=name[:60], of=of, nearest=near)


class App:
    """Verbs by name, each a function or an app of its own.

    Parameters
        name: as it is typed: "tenue ledger".
        version: what `--version` prints; without it there is no such option.
    """

    def __init__(self, name: str, help: str, version: str | None = None) -> None:  # noqa: A002
        self.name, self.help, self.version = name, help, version
        self.verbs: dict[str, Verb | App] = {}

    def command(self, name: str) -> Callable[[Verb], Verb]:
        """Registers a function under a name."""

        def register(verb: Verb) -> Verb:
            self.verbs[name] = verb
            return verb

        return register

    def add(self, name: str, app: App) -> None:
        """Registers verbs that have verbs of their own."""
        self.verbs[name] = app

    def __call__(self, words: Sequence[str]) -> None:
        """Runs the verb that the words name.

        Only the parser of that verb is made, which saves time.
        """
        first, *more = words or HELP[:1]
        if first == "help":
            first, *more = [*more, HELP[0]]
        if first in HELP:
            say(self._page())
        elif first == "--version" and self.version is not None:
            say(self.version)
        elif first.startswith("-"):
            options = HELP if self.version is None else ("--version", *HELP)
            raise unknown_option(first, options, self.name)
        elif first not in self.verbs:
            near = nearest(first, [*self.verbs, "help"])
            raise refuse("cli.unknown-command", name=first[:60], of=self.name, nearest=near)
        else:
            self._call(first, more)

    def _call(self, name: str, words: list[str]) -> None:
        verb = self.verbs[name]
        if isinstance(verb, App):
            verb(words)
            return
        known, title = parameters(verb), f"{self.name} {name}"
        before = words[: words.index("--")] if "--" in words else words
        if any(word in HELP for word in before):
            say(_page_of(title, verb, known))
        else:
            verb(**read(words, known, title))

    def _page(self) -> str:
        version = [] if self.version is None else [("--version", "Print the version.")]
        names = list(self.verbs)
        meanings = [in_short(_text(verb), names) for verb in self.verbs.values()]
        return page(
            f"{self.name} COMMAND [OPTIONS] [ARGUMENTS]",
            self.help,
            {
                "Commands": list(zip(names, meanings, strict=True)),
                _OPTIONS: [*version, _HELP_ROW],
            },
            [f"{self.name} help COMMAND shows the options of a command."],
        )


def _text(verb: Verb | App) -> str:
    return verb.help if isinstance(verb, App) else " ".join(_parts(verb)[0].split())


def _parts(verb: Verb) -> tuple[str, list[str]]:
    """The description of a verb, and the lines of its example."""
    text, _, example = inspect.cleandoc(verb.__doc__ or "").partition("\n\nExample\n")
    return text, inspect.cleandoc("\n" + example).splitlines()


def _page_of(name: str, verb: Verb, known: Sequence[Parameter]) -> str:
    places = [one for one in known if isinstance(one.declared, Argument)]
    shown = "".join(f" {one.label}" if one.required else f" [{one.label}]" for one in places)
    sections = {"Arguments": [one.row() for one in places]}
    for one in known:
        if isinstance(one.declared, Option):
            sections.setdefault(one.declared.group, []).append(one.row())
    sections[_OPTIONS] = [*sections.pop(_OPTIONS, []), _HELP_ROW]  # the last
    example = _parts(verb)[1]
    return page(
        f"{name}{shown} [OPTIONS]",
        _text(verb),
        sections,
        ["Example:", *(f"  {line}" for line in example)] if example else [],
    )


def page(usage: str, text: str, sections: Mapping[str, Rows], end: Sequence[str] = ()) -> str:
    """A page of help, without empty sections. `end`: lines that are not wrapped.

    Example
        >>> print(page("tenue ask", "Ask.", {"Options": [("--json", "As JSON.")]}))
        Usage: tenue ask
        <BLANKLINE>
          Ask.
        <BLANKLINE>
        Options:
          --json  As JSON.
    """
    body = textwrap.fill(text, width(), initial_indent=_MARGIN, subsequent_indent=_MARGIN)
    lines = [f"Usage: {usage}", "", body]
    names = [len(name) for rows in sections.values() for name, _ in rows]
    column = max((many for many in names if many <= _NAMES), default=_NAMES)
    for title, rows in sections.items():
        if rows:
            lines += ["", f"{title}:", *_columns(rows, column)]
    return "\n".join([*lines, *([""] if end else []), *end])


def in_short(text: str, names: Sequence[str]) -> str:
    """The first sentence, shortened to fit beside the longest name."""
    room = width() - 3 * len(_MARGIN) - max(map(len, names))
    sentence = text.partition(". ")[0].rstrip(".") + "."
    return textwrap.shorten(sentence, room, placeholder="...", break_on_hyphens=False)


def width() -> int:
    """The length of a line of the page, in characters."""
    return max(min(shutil.get_terminal_size().columns, WIDEST) - len(_MARGIN), NARROWEST)


def _columns(rows: Rows, first: int) -> list[str]:
    """Two columns; the first is `first` characters wide."""
    lines = []
    for name, meaning in rows:
        wrapped = textwrap.wrap(meaning, width() - first - 2 * _GAP, break_on_hyphens=False) or [""]
        if len(name) > first:  # a long name has a line of its own
            lines.append(_MARGIN + name)
            name = ""
        for line in wrapped:
            lines.append(f"{_MARGIN}{name:<{first + _GAP}}{line}".rstrip())
            name = ""
    return lines
