"""An engine registers itself, and is located, opened, counted, described and doctored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tenue.engine import registry
from tenue.engine.doctor import diagnose
from tenue.engine.finding import Finding
from tenue.engine.open import describe_table, open_engine, open_table, open_tally
from tenue.engine.registry import Backend, backend_for, register, unregister
from tenue.engine.source.location import Frame, locate
from tenue.errors import Fault, InvalidTable
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {"x": {"type": "number", "bounds": [0, 9]}},
    }
)


@dataclass(frozen=True)
class Shelf:
    """A table that only the toy knows."""

    name: str


class Toy(Backend):
    """Reads toy://<shelf>; all it gives says which call it came from."""

    claims = (Shelf,)

    def locate(self, source: object, name: str, folder: Path | None) -> Any:
        if isinstance(source, str) and source.startswith("toy://"):
            return Shelf(source.removeprefix("toy://"))
        return None

    def open_engine(self, source: Any, schema: Any, memory: int | None) -> Any:
        return SimpleNamespace(opened=(source, schema.name, memory), close=lambda: None)

    def open_table(self, source: Any) -> tuple[tuple[str, ...], Any]:
        return (source.name,), lambda names: list(names)

    @contextmanager
    def open_tally(self, source: Any, memory: int) -> Iterator[Any]:
        yield SimpleNamespace(counted=(source, memory))

    def describe(self, source: Any, *, values: bool) -> list[Any]:
        return [SimpleNamespace(name=source.name, type="number")]

    def examine(self, source: Any) -> Iterator[Finding]:
        yield Finding("source", "fine", f"The shelf {source.name}")


@pytest.fixture
def toy() -> Iterator[Toy]:
    backend = Toy()
    register(backend)
    yield backend
    unregister(backend)


def test_an_engine_that_registers_itself_is_used_everywhere(toy: Toy) -> None:
    shelf = Shelf("people")
    assert locate("toy://people", "t") == shelf
    engine: Any = open_engine("toy://people", SCHEMA, None, 7)
    assert engine.opened == (shelf, "t", 7)
    names, load = open_table(shelf)  # type: ignore[arg-type]
    assert (names, load(["x"])) == (("people",), ["x"])
    with open_tally(shelf, 5) as tally:  # type: ignore[arg-type]
        assert tally.counted == (shelf, 5)  # type: ignore[attr-defined]
    assert [column.name for column in describe_table("toy://people")] == ["people"]
    assert [finding.what for finding in diagnose("toy://people")] == [
        "The shelf people",
        "1: people number",
    ]
    assert [finding.verdict for finding in diagnose("toy://people", SCHEMA)] == ["fine", "fine"]


def test_without_it_the_same_address_is_refused() -> None:
    with pytest.raises(InvalidTable):
        locate("toy://people", "t")
    with pytest.raises(Fault, match="no engine claims Shelf"):
        backend_for(Shelf("people"))


def test_every_source_has_one_engine_and_every_room_one_backend() -> None:
    """The mutant registers two engines for one kind of source: whichever comes first would win."""
    claimed: Sequence[type] = [kind for one in registry.backends() for kind in one.claims]
    assert len(claimed) == len(set(claimed)) == 7
    assert len(registry.backends()) == len(registry.ROOMS)
    assert type(backend_for(Frame(None))).__module__ == "tenue.engine.duckdb.backend"
