"""Options of `ask` and `explain` in the words of the command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command_line import Ended, tenue
from tenue.command.options import (
    accuracy_of,
    minimise_of,
    one_or_file,
    opened,
    questions_in,
    shown,
)
from tenue.errors import InvalidArgument, Refused


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
