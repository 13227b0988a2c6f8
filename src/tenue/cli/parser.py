"""The words after `tenue`: a verb's signature says what may follow it, and what its help says.

A parameter is `Annotated[type, Option(...)]` or `Annotated[type, Argument(...)]`. Types are str,
Path, int, list[str] for what may be repeated, Literal for one of a few words, and bool for a flag;
each may be `| None`. The docstring of the function is its help, and what stands there under
"Example" is shown as such. The sentences of a misuse are ours, in `refusals.toml`.
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
from typing import Any, NoReturn

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


def say(text: str) -> None:
    """Writes a line on standard output."""
    with written():
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


@contextmanager
def written() -> Iterator[None]:
    """Standard output that is closed or full is a fault; where nobody reads on, `main` ends."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError:
        raise Fault(UNWRITTEN) from None


class Option:
    """A parameter that has a name: `--out FILE`; without names, that of the parameter.

    Parameters
        help: one or two sentences for the page of help.
        least: the least whole number that it may be.
        value: what stands for its value on the page; "FILE" also completes names of files.
        suggest: values that the shell offers; the library decides what else it may be.
        group: the heading under which the page lists it.
    """

    def __init__(
        self,
        *names: str,
        help: str,  # noqa: A002
        least: int | None = None,
        value: str | None = None,
        suggest: Sequence[str] = (),
        group: str = _OPTIONS,
    ) -> None:
        self.names, self.help, self.least, self.group = names, help, least, group
        self.value, self.suggest = value, tuple(suggest)


class Argument:
    """A parameter that is known by its position; `files`: whether it may name a file."""

    def __init__(self, *, help: str, files: bool = True) -> None:  # noqa: A002
        self.help, self.files = help, files


@dataclass(frozen=True)
class Parameter:
    """One parameter of a verb.

    kind: str, Path, int, bool or list.
    words: the only ones that it may be, if they are few.
    """

    name: str
    kind: type
    default: Any
    said: Option | Argument
    words: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """How an option is written; the last is the long one."""
        given = self.said.names if isinstance(self.said, Option) else ()
        return given or ("--" + self.name.replace("_", "-"),)

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def label(self) -> str:
        return self.name.upper() if isinstance(self.said, Argument) else self.names[-1]

    @property
    def metavar(self) -> str:
        """What stands for its value; nothing for a flag."""
        if self.kind is bool:
            return ""
        if isinstance(self.said, Option) and self.said.value is not None:
            return self.said.value
        return "|".join(self.words) if self.words else _METAVARS.get(self.kind, "TEXT")

    @property
    def suggested(self) -> tuple[str, ...]:
        """The values that a shell offers."""
        return self.words or (self.said.suggest if isinstance(self.said, Option) else ())

    @property
    def names_files(self) -> bool:
        """Whether a shell offers names of files."""
        if isinstance(self.said, Argument):
            return self.said.files
        return self.metavar in ("FILE", "FOLDER")

    def value(self, text: str) -> Any:
        """A word as the parameter's type; refused if it is none."""
        if self.words and text not in self.words:
            near, listed = nearest(text, self.words), ", ".join(self.words)
            raise refuse(
                "cli.value-not-listed",
                name=self.label,
                text=text[:60],
                listed=listed,
                nearest=near,
            )
        if self.kind is not int:
            return Path(text) if self.kind is Path else text
        said = self.said
        least = said.least if isinstance(said, Option) and said.least is not None else 0
        if not text.isascii() or not text.removeprefix("-").isdigit() or int(text) < least:
            raise refuse("cli.value-not-whole", name=self.label, text=text[:60], least=least)
        return int(text)

    def row(self) -> tuple[str, str]:
        """Its line of the help."""
        if isinstance(self.said, Argument):
            return self.label, self.said.help
        facts = ["required"] if self.required else []
        if not self.required and self.default not in (None, False):
            facts.append(f"default: {self.default}")
        facts += ["may be repeated"] if self.kind is list else []
        facts += [] if self.said.least is None else [f"at least {self.said.least}"]
        named = " ".join(filter(None, (", ".join(self.names), self.metavar)))
        return named, self.said.help + (f" [{'; '.join(facts)}]" if facts else "")

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Tells argparse of it. What is missing or of another type is refused after reading."""
        if isinstance(self.said, Argument):
            parser.add_argument(self.name, nargs="?", default=self.default)
        elif self.kind is bool:
            parser.add_argument(*self.names, dest=self.name, action="store_true")
        else:
            action = "append" if self.kind is list else "store"
            parser.add_argument(*self.names, dest=self.name, action=action, default=self.default)


def parameters(verb: Verb) -> list[Parameter]:
    """What may follow a verb."""
    hints = typing.get_type_hints(verb, include_extras=True)
    found = []
    for name, given in inspect.signature(verb).parameters.items():
        declared, said = typing.get_args(hints[name])
        kind = declared
        if isinstance(declared, types.UnionType):
            (kind,) = (one for one in typing.get_args(declared) if one is not types.NoneType)
        words = typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()
        kind = str if words else typing.get_origin(kind) or kind
        found.append(Parameter(name, kind, given.default, said, words))
    return found


class _Parser(argparse.ArgumentParser):
    """argparse without its own English: whatever it does not understand is refused."""

    def __init__(self, verb: str, known: Sequence[Parameter]) -> None:
        super().__init__(prog=verb, add_help=False, allow_abbrev=False, exit_on_error=False)
        self.known = known
        for parameter in known:
            parameter.declare(self)

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The values of the parameters, by name."""
        try:
            found, more = self.parse_known_args(list(words))
        except argparse.ArgumentError as wrong:
            name = (wrong.argument_name or "").rpartition("/")[2]
            if any(name in one.names for one in self.known if one.kind is bool):
                raise refuse("cli.flag-with-value", name=name, of=self.prog) from None
            raise refuse("cli.option-value-missing", name=name, of=self.prog) from None
        if more:
            self._refuse_more(more)
        values = vars(found)
        for one in self.known:
            given = values[one.name]
            if given is inspect.Parameter.empty:
                raise refuse("cli.parameter-missing", name=one.label, of=self.prog)
            if isinstance(given, str) and given is not one.default:
                values[one.name] = one.value(given)
        return values

    def error(self, message: str) -> NoReturn:
        raise AssertionError(message)  # what argparse would refuse is refused in `read`

    def _refuse_more(self, more: Sequence[str]) -> NoReturn:
        option = next((word.partition("=")[0] for word in more if word.startswith("-")), None)
        if option is not None and option != "--":
            names = [
                name for one in self.known if isinstance(one.said, Option) for name in one.names
            ]
            raise unknown_option(option, [*names, *HELP], self.prog)
        extra = " ".join(word for word in more if word != "--")
        raise refuse("cli.too-many-arguments", extra=extra[:60], of=self.prog)


def unknown_option(name: str, known: Sequence[str], of: str) -> Exception:
    """The refusal of an option that does not exist, with the one most like it."""
    return refuse("cli.unknown-option", name=name[:60], of=of, nearest=_like(name, known))


def _like(word: str, known: Sequence[str]) -> str:
    """The nearest name, or where all stand: a list of forty options helps nobody."""
    import difflib

    close = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean `{close[0]}`?" if close else "Correct it, or leave it out"


def read(words: Sequence[str], known: Sequence[Parameter], verb: str = "tenue") -> dict[str, Any]:
    """The values of the parameters, by name; refused if the words do not give them."""
    return _Parser(verb, known).read(words)


class App:
    """Verbs by name, each a function or an app of its own.

    Parameters
        name: how it is called: "tenue ledger".
        help: what it does.
        version: what `--version` prints, if that can be said.
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
        """Does what the words say; refuses words that say nothing known.

        Only the parser of the verb that was typed is made: the others would take longer.
        """
        first, *more = words or HELP[:1]
        if first == "help":
            first, *more = [*more, HELP[0]]
        if first in HELP:
            say(self._page())
        elif first == "--version" and self.version is not None:
            say(self.version)
        elif first.startswith("-"):
            raise unknown_option(first, self._options(), self.name)
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
        known = parameters(verb)
        before = words[: words.index("--")] if "--" in words else words
        if any(word in HELP for word in before):
            say(_page_of(f"{self.name} {name}", verb, known))
        else:
            verb(**read(words, known, f"{self.name} {name}"))

    def _options(self) -> list[str]:
        return [*HELP] if self.version is None else ["--version", *HELP]

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
    """What a verb does, and the lines of its example."""
    text, _, example = inspect.cleandoc(verb.__doc__ or "").partition("\n\nExample\n")
    return text, inspect.cleandoc("\n" + example).splitlines()


def examples_of(verb: Verb) -> list[str]:
    """The commands of a verb's example, each on one line."""
    joined = "\n".join(_parts(verb)[1]).replace("\\\n", " ")
    return [" ".join(line.split()) for line in joined.splitlines() if line.startswith("tenue ")]


def _page_of(name: str, verb: Verb, known: Sequence[Parameter]) -> str:
    places = [one for one in known if isinstance(one.said, Argument)]
    shown = "".join(f" {one.label}" if one.required else f" [{one.label}]" for one in places)
    sections = {"Arguments": [one.row() for one in places]}
    for one in known:
        if isinstance(one.said, Option):
            sections.setdefault(one.said.group, []).append(one.row())
    sections[_OPTIONS] = [*sections.pop(_OPTIONS, []), _HELP_ROW]  # the last
    example = _parts(verb)[1]
    return page(
        f"{name}{shown} [OPTIONS]",
        _text(verb),
        sections,
        ["Example:", *(f"  {line}" for line in example)] if example else [],
    )


def page(usage: str, text: str, sections: Mapping[str, Rows], end: Sequence[str] = ()) -> str:
    """The page; a section without rows is left out. `end`: lines that stay as they are.

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
    """The first sentence, cut to what fits beside the longest name."""
    room = width() - 3 * len(_MARGIN) - max(map(len, names))
    sentence = text.partition(". ")[0].rstrip(".") + "."
    return textwrap.shorten(sentence, room, placeholder="...", break_on_hyphens=False)


def width() -> int:
    """How many characters a line of the page may have."""
    return max(min(shutil.get_terminal_size().columns, WIDEST) - len(_MARGIN), NARROWEST)


def _columns(rows: Rows, first: int) -> list[str]:
    """Two columns; the first is `first` wide, on the whole page."""
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
