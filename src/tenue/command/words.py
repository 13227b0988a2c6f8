"""The words after `tenue`: a verb's signature says what may follow it.

A parameter is `Annotated[type, Option(...)]` or `Annotated[type, Argument(...)]`. Types are str,
Path, int, list[str] for what may be repeated, Literal for one of a few words, and bool for what is
said or not; each may be `| None`. The docstring of the function is its help.

This is so little that no library is needed, and libraries take longer to load than a question.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import Fault, refuse
from ..frozen import dataclass
from .help import in_short, page

Verb = Callable[..., None]
HELP = ("-h", "--help")
UNWRITTEN = "standard output cannot be written"
_HELP_ROW = (", ".join(HELP), "Show this message and exit.")


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
    """A parameter that has a name: `--out FILE`; without names, that of the parameter."""

    def __init__(self, *names: str, help: str, least: int | None = None) -> None:  # noqa: A002
        self.names, self.help, self.least = names, help, least


class Argument:
    """A parameter that is known by its place."""

    def __init__(self, *, help: str) -> None:  # noqa: A002
        self.help = help


class Misused(Exception):
    """Words that are not understood; the text says which."""


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
        return self.name if isinstance(self.said, Argument) else self.names[-1]

    def value(self, text: str) -> Any:
        """A word as the parameter's type."""
        if self.words and text not in self.words:
            known = ", ".join(map(repr, self.words))
            raise Misused(f"Invalid value for '{self.label}': {text!r} is not one of {known}.")
        if self.kind is not int:
            return Path(text) if self.kind is Path else text
        least = self.said.least if isinstance(self.said, Option) else None
        try:
            number = int(text)
        except ValueError:
            raise Misused(
                f"Invalid value for '{self.label}': Input should be a whole number."
            ) from None
        if least is not None and number < least:
            raise Misused(
                f"Invalid value for '{self.label}': Input should be greater than or equal to "
                f"{least}."
            )
        return number

    def row(self) -> tuple[str, str]:
        """Its line of the help."""
        least = self.said.least if isinstance(self.said, Option) else None
        kinds = {list: " <str>...", bool: ""}
        kind = kinds.get(self.kind, f" <{self.kind.__name__.lower()}>")
        kind = " <int range>" if least is not None else kind
        kind = f" <{'|'.join(self.words)}>" if self.words else kind
        shown = [] if self.required or self.default in (None, False) else [str(self.default)]
        facts = [f"default: {text}" for text in shown]
        facts += ["required"] if self.required else []
        facts += [] if least is None else [f"x>={least}"]
        named = self.name if isinstance(self.said, Argument) else ", ".join(self.names)
        return named + kind, self.said.help + (f"  [{'; '.join(facts)}]" if facts else "")


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


def read(words: Sequence[str], known: Sequence[Parameter]) -> dict[str, Any]:
    """The values of the parameters, by name; `Misused` if the words do not give them."""
    by_name = {name: p for p in known if isinstance(p.said, Option) for name in p.names}
    places = [p for p in known if isinstance(p.said, Argument)]
    values: dict[str, Any] = {}
    alone: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            alone += waiting
            break
        if word == "-" or not word.startswith("-"):
            alone.append(word)
            continue
        name, equals, text = _split(word)
        if name not in by_name:
            raise Misused(no_such_option(name, [*by_name, *HELP]))
        option = by_name[name]
        if option.kind is bool:
            if equals:
                raise Misused(f"Option '{name}' does not take a value.")
            values[option.name] = True
            continue
        if not equals:
            if not waiting:
                raise Misused(f"Option '{name}' requires an argument.")
            text = waiting.pop(0)
        if option.kind is list:
            values.setdefault(option.name, []).append(text)
        else:
            values[option.name] = option.value(text)
    for parameter, text in zip(places, alone, strict=False):
        values[parameter.name] = parameter.value(text)
    for parameter in known:
        if parameter.name not in values:
            if parameter.required:
                kind = "argument" if isinstance(parameter.said, Argument) else "option"
                raise Misused(f"Missing {kind} '{parameter.label}'.")
            values[parameter.name] = parameter.default
    if len(alone) > len(places):
        raise Misused(f"Got unexpected extra argument(s) ({' '.join(alone[len(places) :])}).")
    return values


def _split(word: str) -> tuple[str, bool, str]:
    """`--out=x`, `-kx` or the name alone: its name, whether a value came with it, the value."""
    if word.startswith("--"):
        name, equals, text = word.partition("=")
        return name, bool(equals), text
    return word[:2], len(word) > 2, word[2:]


def no_such_option(name: str, known: Sequence[str]) -> str:
    """A sentence with the options most like it."""
    import difflib

    close = sorted(difflib.get_close_matches(name, known))
    if len(close) == 1:
        return f"No such option: {name} Did you mean {close[0]}?"
    more = f" (Possible options: {', '.join(close)})" if close else ""
    return f"No such option: {name}{more}."


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
        """Does what the words say; refuses words that say nothing known."""
        try:
            self._follow(list(words))
        except Misused as wrong:
            raise refuse(
                "command.command-line-misused", said=str(wrong), of=self._whose(words)
            ) from None

    def _whose(self, words: Sequence[str]) -> str:
        """Whose help lists what can be said: the verb of the words, or the verb of that verb."""
        for place, word in enumerate(words):
            if word in self.verbs:
                verb = self.verbs[word]
                inner = verb._whose(words[place + 1 :]) if isinstance(verb, App) else ""
                return f" {word}{inner}"
        return ""

    def _follow(self, words: list[str]) -> None:
        first = words[0] if words else HELP[0]
        if first in HELP:
            say(self._page())
        elif first == "--version" and self.version is not None:
            say(self.version)
        elif first.startswith("-"):
            raise Misused(no_such_option(first, self._options()))
        elif first not in self.verbs:
            import difflib

            close = difflib.get_close_matches(first, self.verbs, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            raise Misused(f"No such command '{first}'.{hint}")
        else:
            self._call(first, words[1:])

    def _call(self, name: str, words: list[str]) -> None:
        verb = self.verbs[name]
        if isinstance(verb, App):
            verb._follow(words)
            return
        known = parameters(verb)
        before = words[: words.index("--")] if "--" in words else words
        if any(word in HELP for word in before):
            say(_page_of(f"{self.name} {name}", verb, known))
        else:
            verb(**read(words, known))

    def _options(self) -> list[str]:
        return [*HELP] if self.version is None else ["--version", *HELP]

    def _page(self) -> str:
        version = [] if self.version is None else [("--version", "Print the version.")]
        names = list(self.verbs)
        meanings = [in_short(_text(verb), names) for verb in self.verbs.values()]
        return page(
            f"{self.name} [OPTIONS] COMMAND [ARGS]...",
            self.help,
            {
                "Options": [*version, _HELP_ROW],
                "Commands": list(zip(names, meanings, strict=True)),
            },
        )


def _text(verb: Verb | App) -> str:
    return verb.help if isinstance(verb, App) else " ".join((verb.__doc__ or "").split())


def _page_of(name: str, verb: Verb, known: Sequence[Parameter]) -> str:
    places = [p for p in known if isinstance(p.said, Argument)]
    shown = "".join(f" {{{p.name}}}" for p in places)
    options = [p.row() for p in known if isinstance(p.said, Option)]
    return page(
        f"{name} [OPTIONS]{shown}",
        _text(verb),
        {"Arguments": [p.row() for p in places], "Options": [*options, _HELP_ROW]},
    )
