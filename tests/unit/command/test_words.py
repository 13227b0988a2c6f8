"""Words become the values of a verb's parameters, or a sentence that says what is wrong."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from command_line import invoke
from tenue.command.main import app as real
from tenue.command.words import (
    App,
    Argument,
    Option,
    examples_of,
    in_short,
    page,
    parameters,
    read,
    width,
)
from tenue.errors import InvalidArgument


def verb(
    table: Annotated[Path, Argument(help="A file.")],
    size: Annotated[str, Option("-k", "--size", help="How many.", value="N", group="Sizes")],
    last: Annotated[int, Option(help="So many.", least=0)] = 10,
    out_file: Annotated[Path | None, Option(help="Where to.")] = None,
    override: Annotated[list[str] | None, Option(help="What is let through.")] = None,
    fresh: Annotated[bool, Option("--fresh", help="Anew.")] = False,
    purpose: Annotated[Literal["ask", "both"], Option("--for", help="What for.")] = "both",
) -> None:
    """Do it. Then more.

    Example
        toy do t.csv -k 5
    """
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
    found = read(["t", "-k=5", "--override", "a", "--override=b"], KNOWN)
    assert (found["size"], found["override"]) == ("5", ["a", "b"])
    assert (found["last"], found["out_file"], found["fresh"]) == (10, None, False)
    assert read(["--size=", "--", "--fresh"], KNOWN)["table"] == Path("--fresh")
    assert read(["-", "-k", "5"], KNOWN)["table"] == Path("-")


@pytest.mark.parametrize(
    ("words", "code", "what", "fix"),
    [
        (["-k5"], "parameter-missing", "TABLE is missing.", "Add TABLE."),
        (["t"], "parameter-missing", "--size is missing.", "Add --size."),
        (["t", "-k"], "option-value-missing", "--size has no value.", "Write --size"),
        (["t", "--size", "-k"], "option-value-missing", "--size has no value.", "Write --size"),
        (["t", "-k5", "--fresh=1"], "flag-with-value", "--fresh is given a value.", "Write --fre"),
        (["t", "-k5", "u", "v"], "too-many-arguments", "u v is too much.", "Put a question, or"),
        (["t", "--sise", "5"], "unknown-option", "--sise is no option of toy do.", "Did you mean"),
        (["t", "--siz=5"], "unknown-option", "--siz is no option of toy do.", "Did you mean"),
        (["t", "-x"], "unknown-option", "-x is no option of toy do.", "Correct it, or leave"),
        (["t", "-k5", "--for", "all"], "value-not-listed", "--for is all.", "Choose one of"),
        (
            ["t", "-k5", "--for", "boht"],
            "value-not-listed",
            "--for is boht.",
            "Did you mean `both`",
        ),
        (["t", "-k5", "--last", "x"], "value-not-whole", "--last is x.", "Give a whole number"),
        (["t", "-k5", "--last", "-1"], "value-not-whole", "--last is -1.", "Give a whole number"),
    ],
)
def test_what_is_not_understood_is_refused(
    words: list[str], code: str, what: str, fix: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        read(words, KNOWN, "toy do")
    assert refused.value.code == code
    assert refused.value.what == what
    assert refused.value.fix.startswith(fix)


def test_an_abbreviated_option_is_not_guessed() -> None:
    """argparse would take --siz for --size, until another option begins so too."""
    with pytest.raises(InvalidArgument):
        read(["t", "--siz", "5"], KNOWN)


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
    for words in ([], ["-h"], ["--help"], ["help"]):
        shown = invoke(app(), words).stdout
        assert shown.startswith("Usage: toy COMMAND [OPTIONS] [ARGUMENTS]\n\n  All of it.\n")
        assert "\n  --version   Print the version.\n" in shown
        assert "\n  do          Do it.\n  inner       Verbs inside.\n" in shown
    pages = [["do", "t", "--help"], ["do", "-k", "--help"], ["help", "do"], ["help", "do", "-h"]]
    for words in pages:
        shown = invoke(app(), words).stdout
        assert shown.startswith("Usage: toy do TABLE [OPTIONS]\n\n  Do it. Then more.\n\nArgu")
        for line in (
            "  TABLE            A file.",
            "Sizes:",
            "  -k, --size N     How many. [required]",
            "  --last N         So many. [default: 10; at least 0]",
            "  --out-file FILE  Where to.",
            "  --override TEXT  What is let through. [may be repeated]",
            "  --fresh          Anew.",
            "  --for ask|both   What for. [default: both]",
        ):
            assert line in shown.splitlines(), line
        assert shown.endswith("\nExample:\n  toy do t.csv -k 5\n")
    assert invoke(app(), ["help", "inner", "go"]).stdout.startswith("Usage: toy inner go TABLE")
    assert "--version" not in invoke(app(), ["inner"]).stdout
    assert not seen
    invoke(app(), ["do", "-k5", "--", "--help"])
    assert seen[0]["table"] == Path("--help")


def test_the_version_is_said_where_there_is_one() -> None:
    assert invoke(app(), ["--version", "do"]).stdout == "toy 7\n"
    assert isinstance(invoke(app(), ["inner", "--version"]).exception, InvalidArgument)


@pytest.mark.parametrize(
    ("words", "what", "page", "fix"),
    [
        (["doo"], "doo is no command of toy.", "toy --help", "Did you mean `do`?"),
        (["help", "doo"], "doo is no command of toy.", "toy --help", "Did you mean `do`?"),
        (
            ["inner", "xyz"],
            "xyz is no command of toy inner.",
            "toy inner --help",
            "Choose one of `go`, `help`.",
        ),
        (["do", "t"], "--size is missing.", "toy do needs --size", "Add --size."),
        (["inner", "go"], "TABLE is missing.", "toy inner go needs TABLE", "Add TABLE."),
        (
            ["--versio"],
            "--versio is no option of toy.",
            "toy --help",
            "Did you mean `--version`?",
        ),
    ],
)
def test_misuse_is_a_refusal_that_names_the_page(
    words: list[str], what: str, page: str, fix: str
) -> None:
    refused = invoke(app(), words).exception
    assert isinstance(refused, InvalidArgument)
    assert refused.what == what
    assert refused.allowed.startswith(page)
    assert refused.fix == fix


def verbs(whole: App) -> list[tuple[str, Any]]:
    """Every verb with its name, those inside other verbs too."""
    return [
        pair
        for name, verb in whole.verbs.items()
        for pair in (verbs(verb) if isinstance(verb, App) else [(f"{whole.name} {name}", verb)])
    ]


@pytest.mark.parametrize(("name", "verb"), verbs(real))
def test_every_command_has_an_example_that_it_understands(name: str, verb: Any) -> None:
    examples = [line.split(" | ")[0].split("#")[0] for line in examples_of(verb)]
    if name == "tenue completion":
        examples.append("tenue completion bash")
    assert examples
    for line in examples:
        words = shlex.split(line)
        assert words[: len(name.split())] == name.split()
        assert read(words[len(name.split()) :], parameters(verb), name)


@pytest.mark.parametrize(("name", "verb"), verbs(real))
def test_no_page_of_help_is_wider_than_the_screen(
    name: str, verb: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = invoke(real, ["help", *name.split()[1:]]).stdout
    assert shown.startswith(f"Usage: {name}")
    assert [line for line in shown.splitlines() if len(line) > 79] == []
    assert shown.count("\nExample:\n") == 1


LONG = "How groups are formed, in words that need more than one line of any screen there is."


@pytest.mark.parametrize(("columns", "wide"), [("300", 78), ("80", 78), ("60", 58), ("10", 50)])
def test_lines_fit_the_screen(columns: str, wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width() == wide
    text = page("x", LONG * 3, {"Options": [("--by <str>", LONG), ("--k", "Few.")]})
    assert max(map(len, text.splitlines())) <= wide
    assert " ".join(text.split()).count("any screen there is.") == 4


def test_meanings_stand_in_one_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = page("x", "y", {"Options": [("--by <str>", LONG), ("--k", "Few."), ("-" * 40, "Wide.")]})
    lines = text.splitlines()[5:]
    assert [
        line.find(word) for line in lines for word in ("How", "Few", "Wide") if word in line
    ] == [
        14,
        14,
        14,
    ]
    assert "  " + "-" * 40 in lines


def test_all_sections_share_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = page("x", "y", {"A": [("--epsilon N", "Price.")], "B": [("--k", "Few-and-far.")]}, ["z"])
    assert text.splitlines()[4:] == [
        "A:",
        "  --epsilon N  Price.",
        "",
        "B:",
        "  --k          Few-and-far.",
        "",
        "z",
    ]


def test_an_empty_section_is_left_out() -> None:
    assert "Arguments" not in page("x", "y", {"Arguments": [], "Options": [("--k", "Few.")]})


def test_short_is_the_first_sentence_or_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert in_short("Do it. Then more.", ["a"]) == "Do it."
    cut = in_short(LONG, ["a" * 20])
    assert cut.endswith("...")
    assert len(cut) <= 78 - 6 - 20
    assert LONG.startswith(cut[:-3])
