"""What `import tenue` offers, and what it must not load."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tenue
from documents import ROOMS

ROOT = Path(__file__).parent.parent


def documented_names() -> set[str]:
    text = (ROOT / "docs" / "reference" / "names.md").read_text()
    return set(re.findall(r"^\| `([A-Za-z_]+)`", text, re.MULTILINE))


def test_all_names_exist_and_are_documented() -> None:
    for name in tenue.__all__:
        assert getattr(tenue, name) is not None
    assert set(tenue.__all__) == documented_names()
    assert len(set(tenue.__all__)) == len(tenue.__all__)


def test_rooms_have_the_names_they_promise() -> None:
    for room in ROOMS:
        module = getattr(tenue, room)
        for name in module.__all__:
            assert hasattr(module, name), f"{room}.{name} is promised and missing"


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(tenue, "no_such_room")


def test_an_extra_installs_only_what_the_source_imports() -> None:
    """An extra whose code does not exist yet installs a server that nobody starts."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {**project["optional-dependencies"]}
    del extras["dev"]
    everything = re.fullmatch(r"tenue\[(.*)\]", *extras.pop("all"))
    assert everything is not None
    assert set(everything[1].split(",")) == set(extras)
    written = "\n".join(file.read_text() for file in (ROOT / "src").rglob("*.py"))
    for name, packages in extras.items():
        for package in (re.split(r"[\[><=]", one)[0] for one in packages):
            module = package.removesuffix("-python").replace("-", "_")
            imports = rf'^\s*(import|from) {module}\b|_installed\("{module}"'
            used = re.search(imports, written, re.MULTILINE) is not None
            assert used, f"{name} installs {package}, which nothing imports"


@pytest.mark.any_draw("modules are loaded whatever is drawn")
def test_import_is_light() -> None:
    heavy = (
        "scipy pandas polars pyarrow numba fastapi uvicorn altair duckdb sqlglot matplotlib "
        "pyspark psycopg typer rich numpy tomlkit cryptography"
    )
    code = f"import sys, tenue; print([m for m in {heavy.split()!r} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.any_draw("modules are loaded whatever is drawn")
def test_noise_needs_no_heavy_library() -> None:
    heavy = "scipy pandas polars pyarrow numba fastapi altair duckdb sqlglot typer rich"
    code = (
        "import sys, tenue as tn; tn.noise.OptimalBox(sensitivities=[1, 2], epsilon=1).sample(3);"
        f"print([m for m in {heavy.split()!r} if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


NUMBERS = frozenset(
    {
        *("epsilon", "delta", "gamma", "alpha", "beta", "alpha_up", "k", "q", "l", "t", "ridge"),
        *("low", "high", "grid", "n", "a", "b", "p", "mean", "sd", "percent", "suppress"),
        *("total", "per_analyst", "total_delta", "individual", "minimise", "accuracy"),
        *("sse", "record_linkage"),
    }
)
"""The parameters that are numbers, or one of a few words, wherever they occur."""


def members(given: Any) -> Iterator[tuple[str, Any]]:
    """A public function, or the constructor and the public methods of a class."""
    yield given.__name__, given.__init__ if inspect.isclass(given) else given
    for name in vars(given) if inspect.isclass(given) else ():
        if not name.startswith("_") and callable(getattr(given, name, None)):
            yield f"{given.__name__}.{name}", getattr(given, name)


def _called(given: Any) -> bool:
    return inspect.isclass(given) or inspect.isfunction(given)


def test_numbers_are_typed() -> None:
    """An editor, and mypy, were told that epsilon is an object."""
    rooms = [tenue, *(getattr(tenue, room) for room in ROOMS)]
    public = [getattr(room, name) for room in rooms for name in room.__all__]
    untyped, seen = set[str](), set[str]()
    for given in filter(_called, public):
        for name, function in members(given):
            signature = inspect.signature(function)
            for one in signature.parameters.values():
                if one.name in NUMBERS:
                    seen.add(one.name)
                    if str(one.annotation) in ("object", "Any", "object | None"):
                        untyped.add(f"{name}({one.name})")
    assert untyped == set()
    assert len(seen) > 25
