"""Kinds are asked, never recognised: no `isinstance` on a kind outside the room it lives in. What a
release costs is a value, and nobody else knows in which units it is counted.

The next law, family or method would be forgotten wherever somebody had listed those that exist.
To guard another kind, add a line to `KINDS`.
"""

from __future__ import annotations

import ast
import importlib
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tenue.ask.aggregates.contract import Family
from tenue.ask.aggregates.reading import Reading
from tenue.ask.aggregates.strategy import Draw
from tenue.engine.sql.dialect import Dialect
from tenue.estimate import count
from tenue.mechanism.additive_noise import Atoms, Component, Part, Term, linear_error
from tenue.noise import DiscreteLaplace, GridLaw
from tenue.noise.likelihood import Likelihood, likelihood_of
from tenue.noise.source import Source
from tenue.prior import Points
from tenue.publish.methods.contract import Method

SOURCE = Path(__file__).parent.parent / "src" / "tenue"
FILES = sorted(SOURCE.rglob("*.py"))
EXTRAS = {"pyspark"}
"""What need not be installed; whoever has it looks at the modules that need it too."""


@dataclass(frozen=True)
class Kind:
    """A kind of thing: its room, and which of the classes defined there are of the kind."""

    home: str
    is_one: Callable[[type], bool]

    def classes(self) -> set[str]:
        """The names of its classes, each with its module: "noise.laplace.Laplace"."""
        found = set()
        root = SOURCE / self.home.replace(".", "/")
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root.with_suffix(".py")]:
            try:
                module = importlib.import_module("tenue." + module_of(path))
            except ModuleNotFoundError as missing:
                if (missing.name or "").split(".")[0] not in EXTRAS:
                    raise
                continue
            for name in dir(module):  # names that are loaded when used, too
                thing = getattr(module, name)
                at_home = getattr(thing, "__module__", "").startswith(f"tenue.{self.home}")
                if isinstance(thing, type) and at_home and self.is_one(thing):
                    found.add(f"{module_of(path)}.{name}")
        return found


def _is_law(thing: type) -> bool:
    return any(hasattr(thing, question) for question in ("loss", "mean_absolute_error", "log_mass"))


KINDS = {
    "law": Kind("noise", _is_law),
    "family": Kind("ask.aggregates", lambda thing: issubclass(thing, Reading | Draw | Family)),
    "method": Kind("publish.methods", lambda thing: issubclass(thing, Method)),
    "dialect": Kind("engine", lambda thing: issubclass(thing, Dialect)),
}


def module_of(path: Path) -> str:
    """The module of a file, from Tenue on: "noise.box.law", "noise" for its `__init__`."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def names_in(path: Path, tree: ast.Module) -> dict[str, str]:
    """What the names that a file imports from Tenue stand for: module and name."""
    package = list(path.relative_to(SOURCE).parts[:-1])
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".") if node.module else []
            if node.level:
                parts = package[: len(package) - (node.level - 1)] + parts
            elif parts[:1] == ["tenue"]:
                parts = parts[1:]
            else:
                continue
            for name in node.names:
                found[name.asname or name.name] = ".".join([*parts, name.name])
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "tenue" and name.asname:
                    found[name.asname] = name.name.removeprefix("tenue").lstrip(".")
    return found


@cache
def seen_in(path: Path, text: str) -> list[tuple[int, str, str]]:
    """The classes by which a file recognises objects: line, as written, what it stands for."""
    tree = ast.parse(text)
    names, found = names_in(path, tree), []
    for line, name in recognised(tree):
        first, _, rest = name.partition(".")
        full = ".".join(filter(None, [names.get(first, first), rest]))
        found.append((line, name, full.removeprefix("tenue.")))
    return found


def recognised(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The classes by which a file recognises objects: `isinstance`, `match`, `type(x) is`."""
    for node in ast.walk(tree):
        asked: list[ast.AST] = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "isinstance",
            "issubclass",
        ):
            asked = [node.args[1]]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        elif isinstance(node, ast.Compare) and any(
            isinstance(side, ast.Call) and getattr(side.func, "id", "") == "type"
            for side in (node.left, *node.comparators)
        ):
            asked = [node.left, *node.comparators]
        for place in asked:
            for part in ast.walk(place):
                if isinstance(part, ast.Name | ast.Attribute):
                    yield node.lineno, ast.unparse(part)


def offences(path: Path, text: str, kind: Kind, classes: set[str]) -> list[str]:
    """Where a file outside the kind's home recognises one of its classes."""
    if f"{module_of(path)}.".startswith(f"{kind.home}."):
        return []
    return [f"line {n}: {name}" for n, name, full in seen_in(path, text) if full in classes]


CLASSES = {name: kind.classes() for name, kind in KINDS.items()}


def test_kinds_are_recognised_only_at_home() -> None:
    for path in FILES:
        text = path.read_text()
        for name, kind in KINDS.items():
            found = offences(path, text, kind, CLASSES[name])
            assert found == [], f"{path}: ask the {name} instead of listing its kinds"


def test_the_classes_of_a_kind_are_found() -> None:
    laws = CLASSES["law"]
    assert {
        "noise.Laplace",
        "noise.laplace.Laplace",
        "noise.law.GridLaw",
        "noise.heavy_tail.HeavyTailSteps",
        "noise.box.law.OptimalBox",
        "noise.box.steps.Margin",
    } <= laws
    assert not laws & {"noise.Seeded", "noise.source.Source", "noise.criterion.Criterion"}


@pytest.mark.parametrize(
    "text",
    [
        "from ..noise.laplace import Laplace\nisinstance(x, Laplace)",
        "from ..noise import OptimalBox as Box\nisinstance(x, int | Box)",
        "def f(x):\n    from tenue.noise.optimal import Optimal\n    isinstance(x, (str, Optimal))",
        "from .. import noise\nisinstance(x, noise.HeavyTail)",
        "import tenue as tn\nisinstance(x, tn.noise.HeavyTail)",
        "from ..noise.laplace import Laplace\ntype(x) is Laplace",
        "from ..noise.law import GridLaw\nmatch x:\n    case GridLaw():\n        pass",
    ],
)
def test_a_kind_that_is_recognised_elsewhere_is_seen(text: str) -> None:
    path = SOURCE / "estimate" / "likelihood.py"
    assert len(offences(path, text, KINDS["law"], CLASSES["law"])) == 1
    assert offences(SOURCE / "noise" / "table.py", text, KINDS["law"], CLASSES["law"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "from ..noise.criterion import Criterion\nisinstance(x, Criterion)",
        "class Laplace: ...\nisinstance(x, Laplace)",
        "from ..noise.laplace import Laplace\nisinstance(Laplace(sensitivity=1, epsilon=1), int)",
    ],
)
def test_what_is_not_of_the_kind_is_let_be(text: str) -> None:
    path = SOURCE / "estimate" / "likelihood.py"
    assert offences(path, text, KINDS["law"], CLASSES["law"]) == []


# -- what a release costs --------------------------------------------------------------------------

UNITS_OF_LOSS = re.compile(r"(?i)(^|_)(nano|atto)s?$")
KNOW_THE_UNITS = {
    "privacy.loss": "what a loss is",
    "ledger.composition": "Charge, charge_in and delta_in: public since 0.1.0",
    "ledger.facts": "facts as they are stored",
    "ledger.totals": "running totals as they are stored",
    "ledger.results": "Reservation: public since 0.1.0",
    "ledger.transactions.reserve": "writes the fact of a reservation",
}
"""Who may speak of nano-epsilon and atto-delta; everybody else speaks of losses."""


def names_of(text: str) -> Iterator[tuple[int, str]]:
    """Every name that a file gives, uses or imports, with its line."""
    for node in ast.walk(ast.parse(text)):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Name):
            yield line, node.id
        elif isinstance(node, ast.Attribute):
            yield line, node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            yield line, node.arg or ""
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield line, node.name
        elif isinstance(node, ast.alias):
            yield line, node.asname or node.name


def units_in(text: str) -> list[str]:
    if not re.search("nano|atto", text, re.IGNORECASE):
        return []
    return [f"line {line}: {name}" for line, name in names_of(text) if UNITS_OF_LOSS.search(name)]


def test_only_losses_and_what_is_stored_know_the_units_of_a_price() -> None:
    found = {module_of(path) for path in FILES if units_in(path.read_text())}
    assert found - {"engine.duckdb.dialect"} == set(KNOW_THE_UNITS), "speak of a Loss instead"


@pytest.mark.parametrize(
    "text",
    ["x.nano", "f(nano=1)", "def f(atto): ...", "from y import NANO", "per_analyst_nano = 1"],
)
def test_a_unit_elsewhere_is_seen(text: str) -> None:
    assert len(units_in(text)) == 1
    assert units_in("'nano'; nanometre = combinatto_r = 1") == []


# -- a law that nobody knows but its own lines -----------------------------------------------------


class Coin(GridLaw):
    """One step down, none or one step up, with probabilities 1/4, 1/2 and 1/4."""

    epsilon = Fraction(1)
    grid = Fraction(1)

    def mass(self, i: Any) -> Any:
        return np.select([np.asarray(i) == 0, np.abs(i) == 1], [0.5, 0.25], 0.0)

    def _tail(self, m: Any) -> Any:
        return np.where(np.asarray(m) <= 1, 0.5, 0.0)

    @property
    def _moments(self) -> tuple[float, float]:
        return 0.5, 0.5

    def _draw(self, size: int, source: Source) -> Any:
        return np.array([0, 1, 0, -1])[source.words(size, 8) % 4]

    def _check_draw(self) -> None:
        """It needs no table."""

    def _loss_of_steps(self, steps: Fraction) -> Fraction | float:
        return math.inf if steps else Fraction(0)

    def __repr__(self) -> str:
        return "Coin()"


@likelihood_of.register(Coin)
def _likelihood(law: Coin) -> Likelihood:
    with np.errstate(divide="ignore"):
        logs = np.log([0.5, 0.25, 0.0])
    return Likelihood(
        lambda k: logs[np.minimum(k, 2).astype(int)], 1.0, 2.0, law.grid, True, law.mass
    )


def test_a_law_made_here_is_used_by_mechanisms_and_estimates() -> None:
    coin, laplace = Coin(), DiscreteLaplace(sensitivity=1, epsilon=1)
    rows = (Component("rows"),)
    parts = tuple(Part("p", rows, law, Fraction(1)) for law in (coin, laplace))
    released = parts[0].release([Atoms(rows=10, present={}, total={})] * 500)
    assert {value for (value,) in released} == {9, 10, 11}
    assert parts[0].noise.words == "Coin()"
    alone = linear_error(parts, (Term(0, 0, Fraction(3)),))
    assert (alone.variance, alone.half_width(Fraction(1, 4))) == (4.5, 0)
    both = linear_error(parts, (Term(0, 0, Fraction(1)), Term(1, 0, Fraction(1))))
    assert both.half_width(Fraction(9, 10)) == 1 + laplace.interval(Fraction(19, 20))[1]
    assert parts[0].noise.alone(0, Fraction(5)).grid == 5
    found = count(7, coin, Points({6: "0.25", 7: "0.25", 9: "0.5"}))
    assert [found.mass(k) for k in (6, 7, 9)] == pytest.approx([1 / 3, 2 / 3, 0])
