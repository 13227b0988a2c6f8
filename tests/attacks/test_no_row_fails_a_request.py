"""No value of a row makes a request fail, whatever is asked, on any engine.

`hostile_requests.py` writes the requests, `neighbours.py` the rows. Each mutant is a plausible
wrong version of what keeps this; few requests find it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from hostile_requests import Writer, ask
from neighbours import WORLDS, Row, Tables, World, seed_now, select
from postgres_server import Server
from tenue.engine import computed_column as formulas
from tenue.engine.computed_column import Sized, Sum
from tenue.engine.contract import Engine
from tenue.engine.open import open_engine
from tenue.engine.sql import logical_table as writing
from tenue.engine.sql import statement as cells
from tenue.errors import EngineFault

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Opener = Callable[[World], Engine]


@pytest.fixture
def opened() -> Iterator[Opener]:
    """The worst table of a world, in DuckDB."""
    connection = duckdb.connect()
    engines: list[Engine] = []

    def opener(world: World) -> Engine:
        rows = select(world, Tables.of(world).worst, "duckdb")
        connection.execute(f"CREATE OR REPLACE TABLE given AS {rows}")
        engines.append(open_engine(connection.table("given"), world.schema))
        return engines[-1]

    yield opener
    for engine in engines:
        engine.close()
    connection.close()


def asked(engine: Engine, world: World, seed: int, many: int) -> Writer:
    """Asks so many requests; raises with the request and what the engine said."""
    writer, answered = Writer(random.Random(seed), world.schema), 0
    for number in range(many):
        request = writer.request()
        try:
            answered += ask(engine, request)
        except Exception as failed:
            behind = failed.__cause__ or failed.__context__
            told = f"request {number} of seed {seed} in {world.name}: {request}\n{behind!r:.600}"
            raise AssertionError(told) from failed
    assert answered > 0.7 * many, "most requests must be answered, or nothing is shown"
    return writer


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_duckdb_answers_every_request(world: World, opened: Opener) -> None:
    asked(opened(world), world, seed_now(), 40)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_duckdb_answers_50000_requests(world: World, part: int, opened: Opener) -> None:
    asked(opened(world), world, seed_now() + part, 834)


def store(server: Server, world: World, rows: Sequence[Row]) -> str:
    """A table of these rows; its address."""
    import psycopg

    name = world.name.replace(" ", "_") + "_requests"
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS public.{name}")
        connection.execute(f"CREATE TABLE public.{name} AS {select(world, rows, 'postgres')}")  # type: ignore[call-overload]
    return f"{server.address()}#public.{name}"


def of_postgres(server: Server, world: World, many: int) -> None:
    engine = open_engine(store(server, world, Tables.of(world, "postgres").worst), world.schema)
    try:
        asked(engine, world, seed_now(), many)
    finally:
        engine.close()


@pytest.mark.needs("postgres")
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_postgres_answers_every_request(world: World, postgres_server: Server) -> None:
    of_postgres(postgres_server, world, 15)


@pytest.mark.slow
@pytest.mark.needs("postgres")
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_postgres_answers_5000_requests(world: World, postgres_server: Server) -> None:
    of_postgres(postgres_server, world, 834)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.needs("spark")
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_spark_answers_500_requests(world: World, spark: SparkSession) -> None:
    frame = spark.sql(select(world, Tables.of(world, "spark").worst, "spark")).cache()
    engine = open_engine(frame, world.schema)
    try:
        asked(engine, world, seed_now(), 84)
    finally:
        engine.close()


# -- plausible wrong versions ----------------------------------------------------------------------


def without_weight_0(formula: Any, ends: Any) -> Sized:
    """What is multiplied by 0 takes no part in the size: the break of 0.2."""
    found = _SIZED(formula, ends)
    if not isinstance(formula, Sum):
        return found
    parts = zip(formula.terms, found.parts, strict=True)
    reach = abs(formula.constant) + sum(
        abs(weight) * max(map(abs, part.ends)) for (weight, _), part in parts
    )
    return replace(found, reach=max(reach, *map(abs, found.ends)))


def result_alone(formula: Any, ends: Any) -> Sized:
    """The type of the result for all that leads to it."""
    found = _SIZED(formula, ends)
    return replace(found, reach=max(map(abs, found.ends)))


def one_bit_less(formula: Any, ends: Any) -> Sized:
    found = _SIZED(formula, ends)
    return replace(found, reach=found.reach // 2)


def unchecked_cell(key: Any, logical: Any) -> str:
    """The cell of a computed key, cast to the type that its labels have."""
    if isinstance(key, cells.Group) and logical.is_computed(key.column):
        return f"CAST({logical.value(key.column)} AS INTEGER)"
    return _CELL(key, logical)


def dividend_alone(formula: Any, of: Sized, by: Sized) -> int:
    """The type of a quotient holds its dividend, and not what rounds it."""
    return 2 * int(formula.times) * max(1, *map(abs, of.ends))


def results_alone(*given: Any) -> Any:
    """The type of a curve holds its results, and not its lines."""
    found = _TERMS(*given)
    return replace(found, reach=max(map(abs, found.ends)))


_SIZED, _CELL, _TERMS = formulas.sized, cells.cell, formulas.curve_terms
MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "weight 0 forgotten": (formulas, "sized", without_weight_0),
    "the type of the result": (formulas, "sized", result_alone),
    "one bit too narrow": (formulas, "sized", one_bit_less),
    "a divisor forgotten": (formulas, "_ratio_reach", dividend_alone),
    "lines forgotten": (formulas, "curve_terms", results_alone),
    "an unchecked cast": (cells, "cell", unchecked_cell),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_version_is_found(
    name: str, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, what, wrong = MUTANTS[name]
    monkeypatch.setattr(home, what, wrong)
    world = WORLDS[0]
    with pytest.raises(AssertionError) as found:
        asked(opened(world), world, 1, 1_000)
    assert isinstance(found.value.__cause__, EngineFault)
    assert writing.check_sizes is formulas.check_sizes, "what is patched is what is used"
