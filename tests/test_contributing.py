"""Each list of CONTRIBUTING.md, followed with a toy in a copy of the source.

A toy touches the files below `src/tenue` with which the steps begin, and no others but those of
steps that begin with "If": so the list is complete, and what it leads to works.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import correlation
from typing import Any

import pytest

from alarm import claim
from documents import ROOT, SOURCE, found, paths_in, sections, steps_in
from tenue.ask.sql.parse import parse
from tenue.errors import InvalidQuestion
from tenue.schema import Schema

TESTS = ROOT / "tests"
GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
LISTS = {title: body for title, body in sections(GUIDE).items() if title.startswith("Add ")}
TOUR = sections((ROOT / "docs" / "tour.md").read_text())


def blocks_of(title: str) -> list[str]:
    """The code in a recipe of the tour, as it stands in a file."""
    found = re.findall(r"^ *```(?:py|toml)\n(.*?)^ *```", TOUR[title], re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for block in found]


FORMULAS, ENTRY, TEST_OF_R2 = blocks_of("Recipe: add an aggregate")
SUPPRESS, REFUSAL, TEST_OF_SUPPRESS = blocks_of("Recipe: add a publishing method")


@dataclass(frozen=True)
class Toy:
    """What is done to a copy of the source.

    name: what stands for `<family>`, `<law>`, … in the steps.
    new: the texts of new files. changed: what is replaced in existing ones, and by what.
    """

    title: str
    name: str
    new: dict[str, str] = field(default_factory=dict)
    changed: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    @property
    def touched(self) -> set[str]:
        return {*self.new, *self.changed}

    def apply(self, source: Path) -> None:
        for file, text in self.new.items():
            assert not (source / file).exists()
            (source / file).parent.mkdir(exist_ok=True)
            (source / file).write_text(text)
        for file, pairs in self.changed.items():
            text = (source / file).read_text()
            for old, new in pairs:
                assert text.count(old) == 1, f"{file} has {old!r} not once"
                text = text.replace(old, new)
            (source / file).write_text(text)


def pieces(file: str, *names: str, header: str = "") -> str:
    """What a test defines under these names, below what that needs of the test's imports."""
    text = (TESTS / file).read_text()
    lines = text.splitlines(keepends=True)
    segments, used = [], set()
    for node in ast.parse(text).body:
        targets = [getattr(node, "name", None)]
        targets += [getattr(target, "id", None) for target in getattr(node, "targets", [])]
        if set(targets) & set(names):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            segments.append("".join(lines[first - 1 : node.end_lineno]))
            used |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    assert len(segments) == len(names)
    imports = ["from __future__ import annotations"]
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [
                one for one in node.names if (one.asname or one.name).split(".")[0] in used
            ]
            if node.names and not getattr(node, "module", "").startswith("contracts"):
                imports.append(ast.unparse(node))
    return "\n".join([*imports, header, *segments, ""])


# -- the toys --------------------------------------------------------------------------------------

STATISTIC = Toy(
    "Add an aggregate",
    "moments",
    changed={
        "ask/aggregates/moments.py": [
            ("STATISTICS = {\n", f"{FORMULAS}\n\nSTATISTICS = {{\n"),
            ('    "regr_intercept": ', textwrap.indent(ENTRY, "    ") + '    "regr_intercept": '),
        ]
    },
)

FAMILY = Toy(
    "Add an aggregate",
    "last",
    new={
        "ask/aggregates/last.py": '''"""The last category, in the order of frequency."""

from .contract import CATEGORY, Function
from .mode import Mode


class Last(Mode):
    functions = (Function("LAST", "last", CATEGORY),)


LAST = Last()
'''
    },
    changed={
        "ask/aggregates/registry.py": [
            ("from .contract", "from .last import LAST\nfrom .contract"),
            ("MODE, SMOOTH)", "MODE, SMOOTH, LAST)"),
            ("MOMENTS, MODE)", "MOMENTS, MODE, LAST)"),
        ]
    },
)

LAW = Toy(
    "Add a law",
    "coin",
    new={
        "noise/coin.py": pieces("test_seams.py", "Coin", "_likelihood").replace(
            "from tenue.noise import GridLaw", "from tenue.noise.law import GridLaw"
        )
    },
    changed={
        "noise/__init__.py": [
            ("    from .discrete_l", "    from .coin import Coin\n    from .discrete_l"),
            ("__all__ = [", '__all__ = [\n    "Coin",'),
            ('".box.law": ', '".coin": "Coin",\n        ".box.law": '),
        ]
    },
)

METHOD = Toy(
    "Add a method",
    "blank",
    new={
        "publish/methods/blank.py": pieces("journeys/test_toy_method.py", "Blank", "LINKED"),
    },
    changed={
        "publish/methods/catalogue.py": [
            ("from .contract", "from .blank import Blank\nfrom .contract"),
            (", Private)", ", Private, Blank)"),
        ],
        "publish/publish.py": [
            ("        k: the least", "        crowd: how many look alike.\n        k: the least"),
        ],
    },
)

METHOD_OF_THE_TOUR = Toy(
    "Add a method",
    "suppress",
    new={"publish/methods/suppress.py": SUPPRESS},
    changed={
        "publish/methods/catalogue.py": [
            ("from .swap", "from .suppress import Suppress\nfrom .swap"),
            (", Private", ", Suppress, Private"),
        ],
        "publish/publish.py": [
            (
                "        All of these count units",
                '        "suppress": every row whose class has fewer than `k` units is left out.\n'
                "        All of these count units",
            ),
        ],
        "publish/refusals.toml": [("[roles-missing]", f"{REFUSAL}\n[roles-missing]")],
    },
)

_SQLITE = "contracts/test_sqlite_engine.py"
ENGINE = Toy(
    "Add an engine",
    "sqlite",
    new={
        "engine/sqlite/__init__.py": '"""Tables in SQLite."""\n',
        "engine/sqlite/dialect.py": pieces(
            *(_SQLITE, "EPOCH", "SQLite", "SQLITE"), header='INF = float("inf")'
        ),
        "engine/sqlite/engine.py": pieces(
            *(_SQLITE, "ExactSum", "stored_as", "SQLiteEngine", "plain"),
            header="from .dialect import SQLITE",
        ),
        "engine/sqlite/backend.py": '''"""SQLite reads lists of rows."""

from ..registry import Backend
from ..source.location import Frame


class Rows(Frame):
    pass


class _SQLite(Backend):
    claims = (Rows,)

    def locate(self, source, name, folder):
        return Rows(source) if isinstance(source, list) else None

    def open_engine(self, source, schema, memory):
        from .engine import SQLiteEngine

        return SQLiteEngine(source.data, schema)

    def open_table(self, source):
        raise NotImplementedError

    def open_tally(self, source, memory):
        raise NotImplementedError

    def describe(self, source, *, values):
        raise NotImplementedError

    def examine(self, source):
        yield from ()


BACKEND = _SQLite()
''',
    },
    changed={
        "engine/registry.py": [
            ('ROOMS = ("duckdb",', 'ROOMS = ("sqlite", "duckdb",'),
        ]
    },
)

COMMAND = Toy(
    "Add a command",
    "spread",
    new={
        "cli/spread.py": '''"""How far noise is off."""

import json
from typing import Annotated

from ..errors import refuse
from .options import AsJson
from .messages import spoken
from .parser import Argument, Option, say


def spread(
    law: Annotated[str, Argument("optimal")],
    epsilon: Annotated[str, Option("What it may cost.")],
    as_json: AsJson = False,
) -> None:
    """Tell the variance of a law."""
    from ..noise import Optimal

    if law != "optimal":
        raise refuse("cli.unknown-law", law=law)
    with spoken():
        found = Optimal(sensitivity=1, epsilon=epsilon).variance
    say(json.dumps({"variance": found}) if as_json else f"variance {found:.4g}")
'''
    },
    changed={
        "cli/main.py": [
            ("    explain,\n", "    explain,\n    spread,\n"),
            ("app.add(", 'app.command("spread")(spread.spread)\napp.add('),
        ],
        "cli/refusals.toml": [
            (
                "[not-a-table-file]",
                '[unknown-law]\nkind = "invalid-argument"\nwhat = "{law} is no law"\n'
                'allowed = "The one law is optimal"\nfix = "Write optimal"\n\n[not-a-table-file]',
            )
        ],
    },
)
TOYS = (STATISTIC, FAMILY, LAW, METHOD, METHOD_OF_THE_TOUR, ENGINE, COMMAND)


# -- the lists -------------------------------------------------------------------------------------


def below_source(path: str) -> bool:
    return any(one.is_relative_to(SOURCE) for one in found(path))


def named(name: str, path: str) -> str:
    head, opened, tail = path.partition("<")
    return head + name + tail.partition(">")[2] if opened else path


def test_there_is_a_list_for_each_kind_and_it_is_short() -> None:
    assert sorted(LISTS) == sorted({toy.title for toy in TOYS})
    assert GUIDE.index("## Add an aggregate") == min(GUIDE.index(f"## {one}") for one in LISTS)
    assert GUIDE[: GUIDE.index("## Add an aggregate")].count("\n") < 40
    for title, body in LISTS.items():
        assert len(body.strip().splitlines()) <= 18, title
        assert 5 <= len(steps_in(body)) <= 8, title


@pytest.mark.parametrize("title", LISTS)
def test_a_step_begins_with_its_file_or_with_if(title: str) -> None:
    for step in steps_in(LISTS[title]):
        assert paths_in(step), step
        assert step.startswith((f"`{paths_in(step)[0]}`", "If ")), step
        for path in paths_in(step):
            assert found(path), f"nothing is like {path}"


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
def test_a_toy_touches_what_the_steps_name(toy: Toy) -> None:
    text = LISTS[toy.title]
    steps = steps_in(text)
    needed = {
        named(toy.name, paths_in(step)[0])
        for step in steps
        if step.startswith("`") and below_source(paths_in(step)[0])
    }
    perhaps = {path for step in steps if step.startswith("If ") for path in paths_in(step)}
    assert needed
    assert needed <= toy.touched <= needed | perhaps
    for file in toy.new:  # there are others of its kind
        assert any(named(toy.name, path) == file and found(path) for path in paths_in(text))


# -- the toys at work ------------------------------------------------------------------------------

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source with all the toys in it."""
    copy = tmp_path_factory.mktemp("house")
    shutil.copytree(SOURCE, copy / "tenue")
    for toy in TOYS:
        toy.apply(copy / "tenue")
    return copy


@pytest.fixture
def run(house: Path, request: pytest.FixtureRequest) -> Run:
    """Runs Python in the copy, and reads what it printed. What is asked has next to no noise."""
    claim("elsewhere", f"test_contributing: {request.function.__name__}")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(house), str(TESTS)])}
    env.pop("PYTHONDONTWRITEBYTECODE", None)

    def python(*words: str, exit_code: int = 0) -> Any:
        done = subprocess.run(
            [sys.executable, *words], cwd=house, env=env, capture_output=True, text=True
        )
        assert done.returncode == exit_code, done.stderr
        return json.loads(done.stdout)

    return python


Y = [i % 7 for i in range(900)]
ASKED = """
import json
import pandas, tenue as tn
columns = {
    "x": {"type": "number", "bounds": [0, 10]},
    "y": {"type": "number", "bounds": [0, 10]},
    "town": {"type": "category", "categories": ["Rome", "Oslo"]},
}
schema = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "columns": columns,
    "budget": {"total": 10**6},
}
rows = [{"x": i % 9, "y": i % 7, "town": "Oslo" if i % 3 else "Rome"} for i in range(900)]
given = rows if SOURCE == "list" else pandas.DataFrame(rows)
with tn.protect(given, schema=schema, ledger=tn.ledger.Memory()) as data:
    answers = [data.ask(sql, epsilon=5000) for sql in ASKED]  # in effect without noise
    shown = [[one.value, one.interval("0.9999999999") if NUMBERS else None] for one in answers]
print(json.dumps([shown, type(data._dataset._engine).__name__, tn.__file__], default=float))
"""


def asked(*sql: str, source: str = "frame", numbers: bool = True) -> tuple[str, str]:
    return "-c", f"ASKED, SOURCE, NUMBERS = {sql!r}, {source!r}, {numbers!r}\n{ASKED}"


@pytest.mark.random
def test_an_aggregate_of_a_family_answers(run: Run, house: Path) -> None:
    shown, engine, file = run(*asked("SELECT REGR_R2(y, x) FROM t"))
    assert engine == "DuckDB"  # every source but a list; see below
    assert Path(file).is_relative_to(house)
    ((value, (low, high)),) = shown
    expected = correlation([i % 9 for i in range(900)], Y) ** 2
    assert value == pytest.approx(expected, abs=0.01)
    assert low <= expected <= high


@pytest.mark.any_draw("the tests of the tour draw bits that follow from their names")
def test_the_tests_of_the_tour_pass(house: Path) -> None:
    moments = TESTS / "unit" / "ask" / "test_aggregates_moments.py"
    (house / "test_moments.py").write_text(f"{moments.read_text()}\n\n{TEST_OF_R2}")
    (house / "test_suppress.py").write_text(TEST_OF_SUPPRESS)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(house), str(TESTS)])}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "chance"),
            *("test_suppress.py", "test_moments.py", "-k", "test_suppress or r2"),
        ],
        cwd=house,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


@pytest.mark.random
def test_an_aggregate_of_a_new_family_answers(run: Run) -> None:
    (((value, _),), *_) = run(*asked("SELECT LAST(town) FROM t", numbers=False))
    assert value == "Oslo"


@pytest.mark.parametrize("sql", ["SELECT REGR_R2(x, y) FROM t", "SELECT LAST(x) FROM t"])
def test_without_the_toy_its_aggregate_is_refused(sql: str) -> None:
    columns = {name: {"type": "number", "bounds": [0, 1]} for name in ("x", "y")}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    with pytest.raises(InvalidQuestion, match="is not available"):
        parse(sql, Schema.from_dict({"table": table, "columns": columns}))


@pytest.mark.random
def test_a_law_is_used_by_mechanisms_and_estimates(run: Run) -> None:
    code = """
import json
from fractions import Fraction
import tenue as tn
from tenue.mechanism.additive_noise import Atoms, Component, Part
coin = tn.noise.Coin()
part = Part("p", (Component("rows"),), coin, Fraction(1))
released = part.release([Atoms(rows=10, present={}, total={})] * 500)
found = tn.estimate.count(7, coin, tn.prior.Points({6: "0.25", 7: "0.25", 9: "0.5"}))
seen = sorted({value for (value,) in released})
print(json.dumps([part.noise.words, seen, [found.mass(k) for k in (6, 7, 9)]]))
"""
    words, seen, masses = run("-c", code)
    assert (words, seen) == ("Coin()", [9, 10, 11])
    assert masses == pytest.approx([1 / 3, 2 / 3, 0])


@pytest.mark.random
def test_a_method_is_published(run: Run) -> None:
    code = """
import json
import tenue as tn
from unit.publish.census import people, schema
release = tn.publish(people(), schema=schema(), method="blank", crowd=20)
print(json.dumps([release.certificate.to_dict(), release.table.num_rows, list(release.tables)]))
"""
    certificate, rows, tables = run("-c", code)
    assert certificate["parameters"]["method"] == "blank"
    assert certificate["parameters"]["crowd"] == "20"
    assert (rows, tables) == (60, ["people", "values"])


@pytest.mark.random
def test_an_engine_answers_a_question(run: Run) -> None:
    questions = ("SELECT COUNT(*) FROM t WHERE town = 'Oslo'", "SELECT SUM(y) FROM t")
    (((count, _), (total, _)), engine, _) = run(*asked(*questions, source="list"))
    assert engine == "SQLiteEngine"
    assert count == pytest.approx(600, abs=1)
    assert total == pytest.approx(sum(Y), abs=1)


@pytest.mark.random
def test_a_command_answers_with_json_and_refuses_with_it(run: Run) -> None:
    words = ("-m", "tenue", "spread")
    found = run(*words, "optimal", "--epsilon", "1", "--json")
    assert found["variance"] == pytest.approx(1.9181, abs=1e-4)
    refused = run(*words, "any", "--epsilon", "1", "--json", exit_code=2)
    assert refused["refused"]["what"] == "any is no law."
    refused = run(*words, "optimal", "--epsilon", "0", "--json", exit_code=2)
    assert refused["refused"]["kind"] == "invalid-argument"
