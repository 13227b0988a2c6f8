"""The words after `tenue`, and refusals in those words."""

from __future__ import annotations

import inspect
import io
import os
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from command_line import Ended, invoke, tenue
from tenue.arguments import exact
from tenue.cli.main import app as real
from tenue.cli.messages import in_options, spoken
from tenue.cli.options import accuracy_of, minimise_of, one_or_file, opened, questions_in, shown
from tenue.cli.papers import line
from tenue.cli.parser import (
    App,
    Argument,
    Option,
    in_short,
    page,
    parameters,
    read,
    width,
)
from tenue.errors import InvalidArgument, InvalidTable, Refused, Unreachable


def verb(
    table: Annotated[Path, Argument("A file.")],
    size: Annotated[str, Option("How many.", names=("-k", "--size"), value="N", group="Sizes")],
    last: Annotated[int, Option("So many.", least=0)] = 10,
    out_file: Annotated[Path | None, Option("Where to.")] = None,
    override: Annotated[list[str] | None, Option("What is let through.")] = None,
    fresh: Annotated[bool, Option("Anew.", names=("--fresh",))] = False,
    purpose: Annotated[Literal["ask", "both"], Option("What for.", names=("--for",))] = "both",
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
        for each_line in (["t.csv", *words], [*words, "t.csv"], [*words, "--", "t.csv"]):
            found = read(each_line, KNOWN)
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
        (["t", "-k5", "u", "v"], "too-many-arguments", "Unexpected arguments: u v.", "Quote a "),
        (["t", "--sise", "5"], "unknown-option", "--sise is not an option of toy do.", "Did you"),
        (["t", "--siz=5"], "unknown-option", "--siz is not an option of toy do.", "Did you mean"),
        (["t", "-x"], "unknown-option", "-x is not an option of toy do.", "Correct it, or leave"),
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
        for each_line in (
            "  TABLE            A file.",
            "Sizes:",
            "  -k, --size N     How many. [required]",
            "  --last N         So many. [default: 10; at least 0]",
            "  --out-file FILE  Where to.",
            "  --override TEXT  What is let through. [may be repeated]",
            "  --fresh          Anew.",
            "  --for ask|both   What for. [default: both]",
        ):
            assert each_line in shown.splitlines(), each_line
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
        (["doo"], "doo is not a command of toy.", "toy --help", "Did you mean `do`?"),
        (["help", "doo"], "doo is not a command of toy.", "toy --help", "Did you mean `do`?"),
        (
            ["inner", "xyz"],
            "xyz is not a command of toy inner.",
            "toy inner --help",
            "Choose one of `go`, `help`.",
        ),
        (["do", "t"], "--size is missing.", "toy do needs --size", "Add --size."),
        (["inner", "go"], "TABLE is missing.", "toy inner go needs TABLE", "Add TABLE."),
        (
            ["--versio"],
            "--versio is not an option of toy.",
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


def examples_of(verb: Any) -> list[str]:
    """The commands of a verb's example, each on one line."""
    example = inspect.cleandoc(verb.__doc__).partition("\n\nExample\n")[2].replace("\\\n", " ")
    return [line for line in map(str.strip, example.splitlines()) if line.startswith("tenue ")]


@pytest.mark.parametrize(("name", "verb"), verbs(real))
def test_every_command_has_an_example_that_it_understands(name: str, verb: Any) -> None:
    examples = [line.split(" | ")[0].split("#")[0] for line in examples_of(verb)]
    if name == "tenue completion":
        examples.append("tenue completion bash")
    assert examples
    for each_line in examples:
        words = shlex.split(each_line)
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


# -- Options of `ask` and `explain` in the words of the command line -------------------------------


def test_words_become_criteria() -> None:
    assert minimise_of("variance") == "variance"
    assert minimise_of("interval:0.9") == ("interval", "0.9")
    assert accuracy_of(None) is None
    assert accuracy_of("0.95:10") == ("interval", "0.95", "10")
    with pytest.raises(InvalidArgument):
        accuracy_of("10")


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("4", "4")])
def test_numpy_starts_no_threads_unless_somebody_wants_them(
    given: str | None, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", given or "")
    if given is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    with pytest.raises(Refused):
        opened(Path("nothing.toml"), None, None, None)
    assert os.environ["OPENBLAS_NUM_THREADS"] == used


SCHEMA = """
[table]
name = "people"
source = "people.csv"
unit = "record"
neighbours = "replace"
[columns.age]
type = "number"
bounds = [0, 100]
[budget]
total = 10
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.toml").write_text(SCHEMA)
    (tmp_path / "people.csv").write_text("age\n30\n40\n")
    return tmp_path


def ask(folder: Path, *words: str) -> Ended:
    question = "SELECT COUNT(*) FROM people WHERE age > 35"
    return tenue("ask", question, "--schema", "people.toml", "--epsilon", "1", *words, cwd=folder)


def test_a_new_ledger_is_told_about_once_and_where_it_lies(folder: Path) -> None:
    assert "A new ledger was made: people.ledger." in ask(folder).stderr
    assert ask(folder).stderr == ""
    assert f"made: {folder.parent / 'x.ledger'}." in ask(folder, "--ledger", "../x.ledger").stderr


def test_whoever_asks_sees_their_own_quota_and_nobody_else_s(folder: Path) -> None:
    assert ask(folder).stdout.endswith("epsilon 1 of 10 spent, 9 remains\n")  # no quota, no line
    (folder / "people.toml").write_text(SCHEMA + "per_analyst = 2\n")
    assert ask(folder, "--fresh").stdout.endswith("8 remains\n  holder: epsilon 2 of 2 spent\n")
    assert ask(folder, "--fresh", "--analyst", "ann").stdout.endswith(
        "7 remains\n  ann: epsilon 1 of 2 spent\n"
    )


def test_a_path_is_shown_as_one_would_type_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown(tmp_path / "a" / "b.ledger") == os.path.join("a", "b.ledger")
    assert shown(tmp_path.parent / "b.ledger") == str(tmp_path.parent / "b.ledger")


QUESTIONS = """-- ages; of everybody
SELECT COUNT(*) FROM t WHERE c = 'a;b--c';
SELECT "x;y" -- a column
FROM t;;
"""


def test_questions_end_with_semicolons_outside_quotes(tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_text(QUESTIONS)
    first, second = questions_in(file)
    assert first == "SELECT COUNT(*) FROM t WHERE c = 'a;b--c'"
    assert second.split() == ["SELECT", '"x;y"', "FROM", "t"]


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        questions_in(tmp_path / "none.sql")


def test_a_question_or_a_file() -> None:
    one_or_file("SELECT", None, {"prior": "p"})
    one_or_file(None, Path("q.sql"), {"prior": None, "individual": False})
    for sql, file, others in (
        (None, None, {}),
        ("SELECT", Path("q.sql"), {}),
        (None, Path("q.sql"), {"mechanism": "box"}),
    ):
        with pytest.raises(Refused):
            one_or_file(sql, file, others)


# -- Whoever types options is told about options ---------------------------------------------------

SAID = [
    ('Use by="quasi-identifiers" with l=2', "Use --by quasi-identifiers with --l 2."),
    ("Publish with method='microaggregate'", "Publish with --method microaggregate."),
    ('state override="second-release"', "state --override second-release."),
    ("Give one number, such as k=5", "Give one number, such as -k 5."),
    ("Try t=0.3", "Try --t 0.3."),
    ('Give quasi_identifiers=["age", "zip"]', "Give --quasi-identifiers age,zip."),
    (
        "Name another folder, or say that it may be replaced",
        "Name another folder, or add --replace.",
    ),
    ("Choose k = 60 at most", "Choose k = 60 at most."),
    ("Add epsilon=1, or what you decide", "Add --epsilon 1, or what you decide."),
    ('ledger="a.ledger", not ledger=False', "--ledger a.ledger, not --no-register."),
    ("Write --sweep k=3,5,10", "Write --sweep k=3,5,10."),
    ("Try risk=0.05", "Try --risk 0.05."),
    (
        "See tn.plan_release, which says how good it would be",
        "See --method private --epsilon 1 --preview, which says how good it would be.",
    ),
    ("Try quantiles=[0.5, 0.95]", "Try --quantiles 0.5,0.95."),
]


@pytest.mark.parametrize(("python", "words"), SAID)
def test_python_becomes_options(python: str, words: str) -> None:
    with pytest.raises(Unreachable) as refused, spoken():
        raise Unreachable("x", "y", python, code="c")
    assert refused.value.fix == words
    assert refused.value.code == "c"


def test_names_of_arguments_do_and_names_of_columns_do_not() -> None:
    def fails(kind: type[Refused]) -> str:
        with pytest.raises(kind) as refused, spoken():
            raise kind("`k` is 1", "`income` stays", "z")
        assert refused.value.allowed == "`income` stays."
        return refused.value.what

    assert fails(InvalidArgument) == "-k is 1."
    assert fails(InvalidTable) == "`k` is 1."


def test_nobody_types_a_fraction_object() -> None:
    with pytest.raises(InvalidArgument) as refused:
        exact("ten", "epsilon")
    assert in_options(refused.value.fix) == "Give `epsilon` as a decimal number, such as 0.5."


def test_an_option_of_two_words_is_written_as_it_is_typed() -> None:
    assert in_options("Leave `measure_cut` out") == "Leave --measure-cut out"


# -- progress --------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_how_far_it_is_and_nothing_in_the_end() -> None:
    seen = Terminal()
    tell = line(seen)
    assert tell is not None
    tell("4.1", 0, 2)
    assert "0/2  4.1" in seen.getvalue()
    tell("4.2", 1, 2)
    assert seen.getvalue().endswith("\r\x1b[K")
    assert "██████████░░░░░░░░░░ 1/2" in seen.getvalue()


def test_a_file_gets_no_line() -> None:
    assert line(io.StringIO()) is None
