"""The command line: exit codes, one JSON object, no traceback for a mistake."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

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


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The module of `main`, whose verb fails with a row's own value in two messages."""
    main_module = importlib.import_module("tenue.cli.main")  # the package has a `main` too

    def fails(words: object) -> None:
        value = "a row's own value"
        try:
            raise KeyError(value)
        except KeyError as first:
            raise ValueError(f"{value} is no number") from first

    fails.verbs = {"ask": None}  # type: ignore[attr-defined]
    monkeypatch.setattr(main_module, "app", fails)
    monkeypatch.setattr(sys, "argv", ["tenue", "ask", "own value", "--key=own value", "--json"])
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return main_module


def test_an_error_that_nobody_foresaw_is_one_sentence_and_a_file_without_values(
    failing: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as end:
        failing.main()
    said = capsys.readouterr()
    assert end.value.code == 1
    fault = json.loads(said.out)["fault"]
    assert set(fault) == {"code", "reference", "details"}
    assert fault["code"] == "fault"
    details = Path(fault["details"])
    assert said.err.count("\n") == 1
    assert "ValueError in test_main.py, line " in said.err
    assert fault["reference"] in said.err
    assert str(details) in said.err
    assert details.is_relative_to(tmp_path)
    assert details.stat().st_mode & 0o777 == 0o600
    assert details.parent.stat().st_mode & 0o777 == 0o700
    text = details.read_text()
    assert fault["reference"] in text
    assert re.search("KeyError\n  .*test_main.py, line [0-9]+, in .*fails", text)
    assert "tenue ask --key --json" in text
    assert "own value" not in said.out + said.err + text


def test_the_same_fault_has_the_same_code_and_one_file(
    failing: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for _ in range(3):
        with pytest.raises(SystemExit):
            failing.main()
    assert len(set(capsys.readouterr().err.splitlines())) == 1
    assert len(list((tmp_path / "state" / "tenue" / "faults").iterdir())) == 1


def test_details_that_cannot_be_written_are_not_claimed(
    failing: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("no folder")
    with pytest.raises(SystemExit):
        failing.main()
    said = capsys.readouterr()
    assert json.loads(said.out)["fault"]["details"] is None
    assert "could not be written" in said.err
    assert "own value" not in said.err


def test_a_traceback_is_shown_to_whoever_asks_for_it(
    failing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENUE_TRACEBACK", "1")
    with pytest.raises(ValueError, match="own value"):
        failing.main()


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
