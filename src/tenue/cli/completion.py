"""Print a script with which a shell completes verbs, options, values and names of files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Literal, NamedTuple

from .options import AsJson
from .parser import HELP, App, Argument, Option, Parameter, Verb, parameters, say

BASH = r"""# Completion of tenue for bash: eval "$(tenue completion bash)"
_tenue() {
    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
    local path="tenue" word i
    [[ $current == "=" ]] && current=""
    [[ $before == "=" ]] && before="${COMP_WORDS[COMP_CWORD-2]}"
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        case "$path $word" in
            COMMANDS) path="$path $word" ;;
        esac
    done
    COMPREPLY=()
    case "$path $before" in
VALUES
    esac
    case "$path" in
WORDS
    esac
}
complete -o filenames -F _tenue tenue
"""
ZSH = r"""#compdef tenue
# Completion of tenue for zsh: eval "$(tenue completion zsh)"
_tenue() {
    local before="${words[CURRENT-1]}" path="tenue" word
    for word in "${(@)words[2,CURRENT-1]}"; do
        case "$path $word" in
            COMMANDS) path="$path $word" ;;
        esac
    done
    case "$path $before" in
VALUES
    esac
    case "$path" in
WORDS
    esac
}
compdef _tenue tenue
"""


class Choice(NamedTuple):
    """The possible next words: some words, and names of files."""

    words: tuple[str, ...] = ()
    files: bool = False


class Place(NamedTuple):
    """A command.

    path: as it is typed: "tenue ledger show".
    verbs: the commands below it.
    known: its parameters.
    """

    path: str
    verbs: tuple[str, ...]
    known: tuple[Parameter, ...]

    @property
    def options(self) -> tuple[Parameter, ...]:
        return tuple(one for one in self.known if isinstance(one.declared, Option))

    @property
    def follows(self) -> Choice:
        """The next word, if no option lacks its value."""
        names = [name for one in self.options for name in one.names]
        version = () if " " in self.path else ("--version",)
        words, files = self.arguments
        return Choice((*self.verbs, *words, *names, *version, *HELP), files)

    @property
    def arguments(self) -> Choice:
        found = [one for one in self.known if isinstance(one.declared, Argument)]
        words = tuple(word for one in found for word in one.words)
        return Choice(words, any(one.names_files and not one.words for one in found))

    @property
    def values(self) -> Iterator[tuple[tuple[str, ...], Choice]]:
        """The names of each option with a value, and its possible values."""
        for one in self.options:
            if one.metavar:
                yield one.names, Choice(one.suggested, one.names_files)


def places(app: App) -> list[Place]:
    """Every command, those with commands below them first."""
    own = ("help", *app.verbs) if app.version is not None else tuple(app.verbs)
    found = [Place(app.name, own, ())]
    for name, verb in app.verbs.items():
        if isinstance(verb, App):
            found += places(verb)
        else:
            found.append(Place(f"{app.name} {name}", (), tuple(parameters(verb))))
    return found


def completion_of(app: App) -> Verb:
    """The verb that prints the script of one of the shells."""

    def completion(
        shell: Annotated[
            Literal["bash", "zsh", "fish"], Argument("bash, zsh or fish.", files=False)
        ],
        as_json: AsJson = False,
    ) -> None:
        """Print a script that completes commands in a shell. It knows commands, options, their
        values and names of files.

        Example
            eval "$(tenue completion bash)"   # in ~/.bashrc; zsh likewise in ~/.zshrc
            tenue completion fish | source    # in ~/.config/fish/config.fish
        """
        text = {"bash": bash, "zsh": zsh, "fish": fish}[shell](places(app))
        say(json.dumps({"shell": shell, "script": text}) if as_json else text)

    return completion


def bash(found: list[Place]) -> str:
    """A function that bash calls with the words before the cursor."""

    def reply(choice: Choice) -> str:
        words = f'COMPREPLY=($(compgen -W "{" ".join(choice.words)}" -- "$current"))'
        files = "local IFS=$'\\n'; COMPREPLY+=($(compgen -f -- \"$current\"))"
        steps = (words if choice.words else "", files if choice.files else "", "return")
        return "; ".join(filter(None, steps))

    return _filled(BASH, found, reply)


def zsh(found: list[Place]) -> str:

    def reply(choice: Choice) -> str:
        words = f"compadd -- {' '.join(choice.words)}" if choice.words else ""
        return "; ".join(filter(None, (words, "_files" if choice.files else "", "return")))

    return _filled(ZSH, found, reply)


def _filled(script: str, found: list[Place], reply: Callable[[Choice], str]) -> str:
    commands = [f'"{place.path}"' for place in found if place.path != found[0].path]
    values = [
        "        " + "|".join(f'"{place.path} {name}"' for name in names) + f") {reply(choice)} ;;"
        for place in found
        for names, choice in place.values
    ]
    words = [f'        "{place.path}") {reply(place.follows)} ;;' for place in found]
    script = script.replace("COMMANDS", "|".join(commands))
    return script.replace("VALUES", "\n".join(values)).replace("WORDS\n", "\n".join(words) + "\n")


def fish(found: list[Place]) -> str:
    """One `complete` for each command, option and argument."""
    lines = ["# Completion of tenue for fish: tenue completion fish | source"]
    lines.append("complete -c tenue -f")
    for place in found:
        typed = place.path.split()[1:]
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in typed)
        if place.verbs:
            more = f"not __fish_seen_subcommand_from {' '.join(place.verbs)}"
            where = f"{seen}; and {more}" if seen else "__fish_use_subcommand"
            lines.append(f"complete -c tenue -n '{where}' -a '{' '.join(place.verbs)}'")
            continue
        start = f"complete -c tenue -n '{seen}'"
        if any(place.arguments):
            lines.append(start + _fish_choice(place.arguments))
        for one in place.options:
            names = "".join(
                f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
                for name in one.names
            )
            choice = Choice(one.suggested, one.names_files)
            value = f" -r{_fish_choice(choice)}" if one.metavar else ""
            about = one.declared.help.partition(". ")[0].replace("'", "\\'")
            lines.append(f"{start}{names}{value} -d '{about}'")
    return "\n".join(lines)


def _fish_choice(choice: Choice) -> str:
    words = f" -a '{' '.join(choice.words)}'" if choice.words else ""
    return words + (" -F" if choice.files else "")
