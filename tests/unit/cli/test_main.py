"""The command line: exit codes, one JSON object, no traceback for a mistake."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tenue.cli import ledger
from tenue.cli.main import app
from tenue.cli.messages import in_options

pytestmark = pytest.mark.any_draw("draws nothing")


def tenue(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tenue", *words], capture_output=True, text=True, cwd=cwd
    )


def test_version_and_help() -> None:
    assert tenue("--version").stdout.startswith("tenue ")
    shown = tenue("--help")
    assert shown.returncode == 0
    assert "demo" in shown.stdout


def test_a_refusal_exits_with_2_and_says_three_things() -> None:
    result = tenue("demo", "--epsilon", "0")
    assert result.returncode == 2
    assert result.stderr.startswith("Refused: `epsilon` is 0")
    assert len(result.stderr.strip().splitlines()) == 3
    assert "Traceback" not in result.stderr


def test_a_refusal_in_json_is_one_object() -> None:
    result = tenue("demo", "--epsilon", "nan", "--json")
    assert result.returncode == 2
    refused = json.loads(result.stdout)["refused"]
    assert set(refused) == {"code", "kind", "what", "allowed", "fix"}


@pytest.mark.parametrize("words", [["nothing"], ["demo", "--epsilon", "much"], ["demo", "--no"]])
def test_wrong_words_are_not_tracebacks(words: list[str]) -> None:
    result = tenue(*words)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 3
    as_json = tenue(*words, "--json")
    assert as_json.returncode == 2
    assert set(json.loads(as_json.stdout)["refused"]) == {"code", "kind", "what", "allowed", "fix"}


def test_an_error_that_nobody_foresaw_names_its_place_and_quotes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main_module = importlib.import_module("tenue.cli.main")  # the package has a `main` too

    def fails(words: object) -> None:
        raise KeyError("a row's own value")

    monkeypatch.setattr(main_module, "app", fails)
    monkeypatch.setattr(sys, "argv", ["tenue", "ask", "--json"])
    with pytest.raises(SystemExit) as end:
        main_module.main()
    said = capsys.readouterr()
    assert end.value.code == 1
    assert json.loads(said.out) == {"fault": {"code": "fault"}}
    assert "KeyError in test_main.py, line " in said.err
    assert "own value" not in said.out + said.err

    monkeypatch.setenv("TENUE_TRACEBACK", "1")
    with pytest.raises(KeyError):
        main_module.main()


def test_no_words_show_what_can_be_said() -> None:
    for words in ((), ("ledger",)):
        shown = tenue(*words)
        assert shown.returncode == 0
        assert shown.stdout.startswith("Usage: tenue")
        assert not shown.stderr


@pytest.mark.parametrize(
    ("said", "spoken"),
    [
        ("Add epsilon=0.5.", "Add --epsilon 0.5."),
        ("Ask without individual=True, or not", "Ask without --individual, or not"),
        ("Leave `delta` out, or add prior=...", "Leave `delta` out, or add --prior FILE"),
        ("Add prior=tn.prior.Uniform(low, high), for instance", "Add --prior FILE, for instance"),
        ('Write schema="census.toml"', 'Write --schema "census.toml"'),
        ("WHERE epsilon = 3", "WHERE epsilon = 3"),
    ],
)
def test_refusals_speak_the_words_of_the_command_line(said: str, spoken: str) -> None:
    assert in_options(said) == spoken


def test_help_has_no_types_of_flags() -> None:
    shown = tenue("ask", "--help").stdout
    assert "--fresh" in shown
    assert "<bool>" not in shown


@pytest.mark.parametrize("words", [["--help"], ["ledger", "--help"]])
def test_what_each_command_does_fits_on_its_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    app(words)
    _, commands = capsys.readouterr().out.split("Commands:\n")
    lines = commands.partition("\n\n")[0].splitlines()
    verbs = ledger.app.verbs if words[0] == "ledger" else app.verbs
    assert len(lines) == len(verbs)
    assert [line for line in lines if line.endswith("...") or len(line) > 80] == []


def test_a_refusal_fits_the_terminal_and_stays_whole_in_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    main = importlib.import_module("tenue.cli.main")
    text = "Refused: " + "many words " * 20 + "\n  ^ here" + " " * 90 + ".\nFix it.\n"
    assert main._fitted(text) == text
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    first, *rest = main._fitted(text).splitlines()
    assert len(first) < 80
    assert [line for line in rest if len(line) > 80] == ["  ^ here" + " " * 90 + "."]
    assert rest[-1] == "Fix it."
