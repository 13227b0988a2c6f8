"""A room imports only rooms above it, and only the named rooms touch entropy, rows and both."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "tenue"

ORDER = [
    "version",
    "lazy",
    "frozen",
    "errors",
    "screen",
    "number",
    "promise",
    "taxonomy",
    "schema",
    "noise",
    "order",
    "prior",
    "sensitivity",
    "mechanism",
    "estimate",
    "ledger",
    "engine",
    "query",
    "evaluate",
    "report",
    "microdata",
    "audit",
    "papers",
    "gateway",
    "command",
    "__init__",
    "__main__",
]
FILES = sorted(SOURCE.rglob("*.py"))


_INSIDE = {
    "command": (
        "words options completion ask wording check example_table demo explain init ledger limits "
        "measure papers publish source main process"
    ),
    "engine": (
        "predicate formula request watch server contract parts runs random_order held storage "
        "finding registry sql people relational source duckdb postgres spark open doctor"
    ),
    "estimate": (
        "laplace_integral likelihood posterior window comparison refined refined_error "
        "single vector"
    ),
    "evaluate": (
        "verdict certificate code rows value group klt facts counts in_passes check pair risk "
        "generalisation score utility compare"
    ),
    "ledger": (
        "text composition fact chain row totals dictionaries record proof "
        "fork transaction contract sql sqlite postgres given memory statement"
    ),
    "mechanism": "bernstein choose part error individual refinement smooth",
    "microdata": (
        "permute kernels partition table recode bucket stream assessment private method certify "
        "report leave protected_copy release sweep"
    ),
    "noise": (
        "criterion enclosure source keyed table exact law joint likelihood box discrete_laplace "
        "heavy_tail laplace_sum independent laplace optimal_steps optimal"
    ),
    "order": "hilbert category key",
    "papers": (
        "cell figure data chance printed exhibit draw stand_in optimal_noise refinement individual "
        "bayes swapping private_data closeness catalogue outcome book reproduce"
    ),
    "prior": (
        "belief draw finite mass categorical lattice points counts density joint distance "
        "histogram uniform normal text"
    ),
    "promise": "promise loss certificate",
    "query": (
        "question computed cells family plan posterior workload release consistent answer certify "
        "inquiry opening read coarse terms write belief explain grouping_sets individual suggest "
        "view session dataset"
    ),
    "report": (
        "theme picture vega svg page chart figure document measure release trade_off subject plot "
        "write"
    ),
    "schema": "address literal expression column named lookup protocol table file schema",
    "screen": "number page table",
    "sensitivity": (
        "admissible chain column order_statistic pair parameters local window smooth "
        "worst_case norms"
    ),
    "taxonomy": "given graph distance label nested file taxonomy tree",
}
INSIDE = {room: names.split() for room, names in _INSIDE.items()}
"""The files and sub-rooms of each room, each importing only what stands before it."""


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def imported_paths(path: Path, text: str) -> set[tuple[str, ...]]:
    """Every module of Tenue that a file imports, at the top or inside a function, as its path."""
    package = list(path.relative_to(SOURCE).parts[:-1])
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for name in node.names:
                first, *rest = name.name.split(".")
                if first == "tenue":
                    found.add(tuple(rest) or ("__init__",))
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".") if node.module else []
            if node.level == 0:
                if module[:1] != ["tenue"]:
                    continue
                base = module[1:]
            else:
                base = package[: len(package) - (node.level - 1)] + module
            named = [(*base, name.name) for name in node.names]
            found.update([tuple(base)] if node.module and base else named)
    return found


def imported_rooms(path: Path, text: str) -> set[str]:
    """Every room of Tenue that a file imports."""
    return {parts[0] for parts in imported_paths(path, text)}


def arrows(path: Path, text: str) -> list[str]:
    home = room_of(path)
    if home in ("__init__", "__main__"):
        return []
    wrong = []
    for room in imported_rooms(path, text) - {home}:
        if room not in ORDER or ORDER.index(room) > ORDER.index(home):
            wrong.append(f"{home} imports {room}")
    return wrong


def test_rooms_import_only_rooms_above() -> None:
    assert [path for path in FILES if room_of(path) not in ORDER] == [], "no room of design.md"
    assert {path: found for path in FILES if (found := arrows(path, path.read_text()))} == {}


def imported_inside(path: Path, text: str) -> set[str]:
    """The files and sub-rooms of its own room that a file imports, without its own."""
    room, *rest = path.relative_to(SOURCE).parts
    own = rest[0].removesuffix(".py")
    found = imported_paths(path, text)
    return {parts[1] for parts in found if len(parts) > 1 and parts[0] == room} - {own}


def arrows_inside(path: Path, text: str) -> list[str]:
    room, *rest = path.relative_to(SOURCE).parts
    if not rest or rest == ["__init__.py"]:
        return []
    order, own = INSIDE[room], rest[0].removesuffix(".py")
    before = order[: order.index(own)]
    return sorted(f"{own} imports {name}" for name in imported_inside(path, text) - set(before))


def test_every_room_has_its_order() -> None:
    rooms = [path for path in SOURCE.iterdir() if (path / "__init__.py").exists()]
    found = {
        room.name: {
            entry.stem
            for entry in room.iterdir()
            if (entry.suffix == ".py" and entry.stem != "__init__")
            or (entry / "__init__.py").exists()
        }
        for room in rooms
    }
    assert {room: set(order) for room, order in INSIDE.items()} == found


def test_files_and_sub_rooms_import_only_what_stands_before_them() -> None:
    assert {path: found for path in FILES if (found := arrows_inside(path, path.read_text()))} == {}


def test_a_wrong_arrow_inside_a_room_is_seen() -> None:
    path = SOURCE / "noise" / "law.py"
    assert arrows_inside(path, "from .box.law import OptimalBox") == ["law imports box"]
    assert arrows_inside(path, "from . import laplace") == ["law imports laplace"]
    deep = SOURCE / "noise" / "box" / "ball.py"
    assert arrows_inside(deep, "from ..laplace import Laplace\nfrom .law import x") == (
        []
        if "laplace" in INSIDE["noise"][: INSIDE["noise"].index("box")]
        else ["box imports laplace"]
    )


def test_a_wrong_arrow_is_seen() -> None:
    path = SOURCE / "noise" / "laplace.py"
    assert arrows(path, "from ..query import session") == ["noise imports query"]
    assert arrows(path, "from .. import ledger") == ["noise imports ledger"]
    assert arrows(path, "import tenue.engine.duckdb.engine") == ["noise imports engine"]
    assert arrows(path, "def f():\n    from ..command.main import app") == ["noise imports command"]
    assert arrows(path, "from .law import Law\nfrom ..number import exact") == []


ENTROPY = re.compile(
    r"np\.random|numpy\.random|default_rng|\bsecrets\b|os\.urandom|\bimport random\b|getrandbits"
)


def test_only_the_source_touches_entropy() -> None:
    found = {path: words for path in FILES if (words := ENTROPY.findall(path.read_text()))}
    assert found == {SOURCE / "noise" / "source.py": ["os.urandom", "os.urandom"]}


def test_only_the_journeys_and_what_they_open_touch_ledger_and_engine_together() -> None:
    both = {
        path for path in FILES if {"ledger", "engine"} <= imported_rooms(path, path.read_text())
    }
    assert both <= {
        SOURCE / "query" / "session.py",
        SOURCE / "query" / "dataset.py",
        SOURCE / "microdata" / "release.py",
        SOURCE / "__init__.py",
    }
