"""What the documents say about the source is true: files exist, and the tour has every room."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

import tenue
from documents import ROOMS, ROOT, SOURCE, found, paths_in, sections, steps_in
from tenue.cli.main import app
from tenue.cli.parser import App, Option, parameters
from tenue.schema import Schema
from tenue.schema.file.columns import KEYS
from tenue.schema.file.section import Section
from test_arrows import ORDER

DOCUMENTS = ("docs/tour.md", "CONTRIBUTING.md", "SECURITY.md")
TOUR = (ROOT / "docs" / "tour.md").read_text()
ROWS = [line for line in TOUR.splitlines() if line.startswith("| `")]
WALKS = ("One question", "One release", "One draw", "One check")
FOR_USERS = ("src/**/*.py", "src/**/*.toml", "docs/**/*.md", "*.md")
ELSEWHERE = re.compile(
    r"soundness(\.md|,? section|:)|(design|style|stack)\.md|\.\./shared|issue #?\d"
)
"""Documents and threads that users of Tenue do not have."""
WORDS = 1400
"""How many words the tour may have beside its list of rooms and the code of its recipes."""


def rooms_on_the_tour() -> list[str]:
    """The rooms of the list in its order, each before its sub-rooms."""
    named = []
    for row in ROWS:
        room, *inside = [path for path in paths_in(row) if "<" not in path]
        named += [room, *(f"{room}{path}" for path in inside)]
    return named


def missing(text: str) -> list[str]:
    """The paths that stand for nothing; the rows of the tour's list are checked as rooms."""
    return [path for path in dict.fromkeys(paths_in(text)) if not found(path)]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_paths_in_a_document_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    rest = "\n".join(line for line in text.splitlines() if line not in ROWS)
    assert paths_in(rest)
    assert missing(rest) == []


def test_a_path_that_does_not_exist_is_seen() -> None:
    assert missing("`noise/law.py`, `noise/`, `tests/alarm.py`, `noise/<law>.py`") == []
    assert missing("Read `noise/lore.py` and `noises/`.") == ["noise/lore.py", "noises/"]
    assert missing("`noises/<law>.py`") == ["noises/<law>.py"]
    assert missing("`number.py/`") == ["number.py/"]
    assert missing('`tn.publish("census.parquet")` in words/ without `ticks`') == []


def test_every_room_is_on_the_tour_once_and_no_other() -> None:
    folders = {
        f"{path.parent.relative_to(SOURCE).as_posix()}/"
        for path in SOURCE.rglob("__init__.py")
        if path.parent != SOURCE
    }
    files = {path.name for path in SOURCE.glob("*.py")} - {"__init__.py", "__main__.py"}
    named = rooms_on_the_tour()
    assert sorted(named) == sorted(folders | files - {"version.py"})


def test_the_tour_lists_rooms_in_the_order_of_their_arrows() -> None:
    named = [room for room in rooms_on_the_tour() if room.count("/") < 2]
    rooms = [room.rstrip("/").removesuffix(".py") for room in named]
    assert rooms == sorted(rooms, key=ORDER.index)


def test_the_tour_walks_in_short_steps_that_name_files() -> None:
    walks = sections(TOUR)
    assert set(WALKS) <= set(walks)
    for walk in WALKS:
        steps = steps_in(walks[walk])
        assert 5 <= len(steps) <= 8
        assert len([step for step in steps if paths_in(step)]) >= len(steps) - 1


def test_the_tour_is_short() -> None:
    prose = re.sub(r"^ *```.*?^ *```", "", TOUR, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in prose.splitlines() if line not in ROWS]
    assert len(" ".join(lines).split()) <= WORDS


CHANGES = ("ρ", "Gaussian", "HTTP", "PostgreSQL wire", "audit", "BigQuery")
CHANGES += ("an aggregate", "a publishing method", "a law", "async", "widget", "docs site")


def test_the_tour_says_where_a_change_goes_in_at_most_five_files() -> None:
    table = sections(TOUR)["Where does it go"]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert [name for name in CHANGES if not any(name in row.split("|")[1] for row in rows)] == []
    for row in rows:
        assert len(paths_in(row.split("|")[3])) <= 5, row


COINAGES = re.compile(
    r"(?i)\b(whoever|told|bought|look-alikes?|for nothing|he|him|his|telling columns?)\b"
)
"""Words that stand for a term of the glossary, or make a sentence be read twice."""
OF_THE_PROGRAM = ("commands.md", "report.md", "refusals.md")
"""Pages that follow the words of the program, where these are tested."""


def prose(text: str) -> str:
    """A document without its code, whose output is the program's."""
    without_blocks = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`]*`", "", without_blocks)


def test_documents_keep_to_the_glossary() -> None:
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    found = {
        path.name: [match[0] for match in COINAGES.finditer(prose(path.read_text()))]
        for path in files
        if path.name not in OF_THE_PROGRAM
    }
    assert {name: words for name, words in found.items() if words} == {}


def test_a_coinage_is_seen() -> None:
    assert COINAGES.findall(prose("Whoever is told `told` reads his row.")) == [
        *("Whoever", "told", "his"),
    ]
    assert COINAGES.findall(prose("```\ntold\n```\nThe history of this.")) == []


def pointers_elsewhere(text: str) -> list[str]:
    return [found[0] for found in ELSEWHERE.finditer(" ".join(text.split()).lower())]


def test_nothing_that_users_read_points_at_what_they_lack() -> None:
    files = [path for pattern in FOR_USERS for path in sorted(ROOT.glob(pattern))]
    assert len(files) > 300
    found = {path.name: pointers_elsewhere(path.read_text()) for path in files}
    assert {name: words for name, words in found.items() if words} == {}


def test_a_pointer_elsewhere_is_seen() -> None:
    for text in (
        "Thesis, section 2.8; soundness.md, section 6.",
        "constants: soundness\n        section 3",
        "see design.md",
        "as issue 13 asks",
    ):
        assert pointers_elsewhere(text)
    assert pointers_elsewhere("Thesis, section 2.8, on the soundness of groups") == []


REFERENCE = {path.stem: path.read_text() for path in (ROOT / "docs" / "reference").glob("*.md")}
EVERY_SECTION = """
[table]
name = "t"
unit = "record"
neighbours = "replace"
[columns.x]
type = "number"
bounds = [0, 9]
[budget]
total = 1
[protocol]
kind = "fixed-noise"
scale = 20
[questions.q]
sql = "SELECT MEDIAN(x) FROM t"
promise = "individual"
"""


def unnamed(names: Iterable[str], text: str) -> list[str]:
    """The names that a text does not have as words of their own."""
    return [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]


def test_the_reference_has_every_public_name() -> None:
    table, rooms = REFERENCE["names"].split("## The rooms")
    for room in ROOMS:
        (own,) = [row for row in rooms.split("\n* ") if row.startswith(f"`tn.{room}`")]
        whole = own + table
        assert unnamed(getattr(tenue, room).__all__, whole) == [], room


def test_the_reference_has_every_command_and_option() -> None:
    text = REFERENCE["commands"] + REFERENCE["publishing"]
    for name, verb in app.verbs.items():
        inner = verb.verbs if isinstance(verb, App) else {"": verb}
        for word, function in inner.items():
            assert not isinstance(function, App)
            assert f"`tenue {f'{name} {word}'.strip()}" in REFERENCE["commands"]
            options = [one for one in parameters(function) if isinstance(one.declared, Option)]
            assert unnamed([one.names[-1] for one in options], text) == [], name


def test_the_reference_has_every_key_of_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set().union(*KEYS.values())
    monkeypatch.setattr(Section, "known", lambda self, keys, of: seen.update(keys))
    Schema.parse(EVERY_SECTION)
    assert {"rows_per_unit", "per_analyst", "times", "scale", "taxonomy"} <= seen
    assert unnamed(sorted(seen), REFERENCE["schema"]) == []


def test_a_name_that_is_missing_is_seen() -> None:
    assert unnamed(["rows", "k"], "`rows_per_unit`, `-k`") == ["rows", "k"]
    assert unnamed(["--out", "rows"], "`--out`, rows = 3") == []
    assert unnamed(["--l"], "`--last 10`") == ["--l"]
