"""Words become the values of a verb's parameters, or a sentence that says what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from command_line import invoke
from tenue.command.words import App, Argument, Misused, Option, parameters, read
from tenue.errors import InvalidArgument


def verb(
    table: Annotated[Path, Argument(help="A file.")],
    size: Annotated[str, Option("-k", "--size", help="How many.")],
    last: Annotated[int, Option(help="So many.", least=0)] = 10,
    out_file: Annotated[Path | None, Option(help="Where to.")] = None,
    override: Annotated[list[str] | None, Option(help="What is let through.")] = None,
    fresh: Annotated[bool, Option("--fresh", help="Anew.")] = False,
    purpose: Annotated[Literal["ask", "both"], Option("--for", help="What for.")] = "both",
) -> None:
    """Do it. Then more."""
    seen.append(locals())


seen: list[dict[str, Any]] = []
KNOWN = parameters(verb)


def test_every_way_to_write_an_option_gives_one_value() -> None:
    for words in (["-k", "5"], ["-k5"], ["--size", "5"], ["--size=5"], ["--size", "4", "-k5"]):
        for line in (["t.csv", *words], [*words, "t.csv"], [*words, "--", "t.csv"]):
            found = read(line, KNOWN)
            assert (found["table"], found["size"]) == (Path("t.csv"), "5")


def test_types_and_defaults() -> None:
    found = read(["t", "-k", "-1", "--last=3", "--out-file", "a b", "--fresh"], KNOWN)
    assert found == {
        "table": Path("t"),
        "size": "-1",
        "last": 3,
        "out_file": Path("a b"),
        "override": None,
        "fresh": True,
        "purpose": "both",
    }
    assert read(["t", "-k5", "--for", "ask"], KNOWN)["purpose"] == "ask"
    found = read(["t", "-k=", "--override", "a", "--override=b"], KNOWN)
    assert (found["size"], found["override"]) == ("=", ["a", "b"])
    assert (found["last"], found["out_file"], found["fresh"]) == (10, None, False)
    assert read(["--size=", "--", "--fresh"], KNOWN)["table"] == Path("--fresh")
    assert read(["-", "-k", "5"], KNOWN)["table"] == Path("-")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-k5"], "Missing argument 'table'."),
        (["t"], "Missing option '--size'."),
        (["t", "-k"], "Option '-k' requires an argument."),
        (["t", "-k5", "--fresh=1"], "Option '--fresh' does not take a value."),
        (["t", "-k5", "u", "v"], "Got unexpected extra argument(s) (u v)."),
        (["t", "--sise", "5"], "No such option: --sise Did you mean --size?"),
        (["t", "-x"], "No such option: -x."),
        (["t", "-k5", "--for", "all"], "'all' is not one of 'ask', 'both'."),
        (["t", "-k5", "--last", "many"], "Input should be a whole number."),
        (["t", "-k5", "--last", "-1"], "Input should be greater than or equal to 0."),
    ],
)
def test_what_is_not_understood_is_named(words: list[str], sentence: str) -> None:
    with pytest.raises(Misused) as wrong:
        read(words, KNOWN)
    assert str(wrong.value).endswith(sentence)


def app() -> App:
    inner = App("toy inner", "Verbs inside.")
    inner.command("go")(verb)
    whole = App("toy", "All of it.", version="toy 7")
    whole.command("do")(verb)
    whole.add("inner", inner)
    return whole


def test_a_verb_is_called_with_its_values() -> None:
    for words in (["do", "t", "-k5"], ["inner", "go", "t", "-k5"]):
        seen.clear()
        assert invoke(app(), words).exit_code == 0
        assert [call["size"] for call in seen] == ["5"]


def test_help_is_shown_and_nothing_is_done() -> None:
    seen.clear()
    for words in ([], ["-h"], ["--help"]):
        shown = invoke(app(), words).stdout
        assert shown.startswith("Usage: toy [OPTIONS] COMMAND [ARGS]...\n\n  All of it.\n")
        assert "\n  --version   Print the version.\n" in shown
        assert "\n  do     Do it.\n  inner  Verbs inside.\n" in shown
    shown = invoke(app(), ["do", "t", "--help"]).stdout
    assert shown.startswith("Usage: toy do [OPTIONS] {table}\n\n  Do it. Then more.\n")
    for line in (
        "  table <path>  A file.  [required]",
        "  -k, --size <str>     How many.  [required]",
        "  --last <int range>   So many.  [default: 10; x>=0]",
        "  --out-file <path>    Where to.",
        "  --override <str>...  What is let through.",
        "  --fresh              Anew.",
        "  --for <ask|both>     What for.  [default: both]",
    ):
        assert line in shown.splitlines()
    assert "--version" not in invoke(app(), ["inner"]).stdout
    assert not seen
    invoke(app(), ["do", "-k5", "--", "--help"])
    assert seen[0]["table"] == Path("--help")


def test_the_version_is_said_where_there_is_one() -> None:
    assert invoke(app(), ["--version", "do"]).stdout == "toy 7\n"
    assert isinstance(invoke(app(), ["inner", "--version"]).exception, InvalidArgument)


@pytest.mark.parametrize(
    ("words", "what", "page"),
    [
        (["doo"], "No such command 'doo'. Did you mean 'do'?", "tenue --help"),
        (["inner", "xyz"], "No such command 'xyz'.", "tenue inner --help"),
        (["do", "t"], "Missing option '--size'.", "tenue do --help"),
        (["inner", "go"], "Missing argument 'table'.", "tenue inner go --help"),
        (["--versio"], "No such option: --versio Did you mean --version?", "tenue --help"),
    ],
)
def test_misuse_is_a_refusal_that_names_the_page(words: list[str], what: str, page: str) -> None:
    refused = invoke(app(), words).exception
    assert isinstance(refused, InvalidArgument)
    assert refused.what == what
    assert refused.allowed.startswith(page)
