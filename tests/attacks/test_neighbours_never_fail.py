"""No row turns an answer into a fault or a refusal, and none a refusal into another one.

An error that depends on rows is an exact bit for each question, whatever epsilon is. Generated
questions with constants that overflow are asked of a table, of its neighbours and of the worst
table that we know (`neighbours.py`). The two breaks of 0.2 and their relatives stand here by name,
and the plausible wrong versions of the code are found by as many questions as the ordinary run has.
"""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import psycopg
import pyarrow as pa
import pytest

import neighbours
import tenue as tn
from neighbours import (
    BATCH,
    CORE,
    FORMS,
    HEAVY,
    WORLDS,
    Asked,
    Broken,
    Pair,
    Row,
    Told,
    Trio,
    World,
    ask_all,
    fits,
    seed_now,
    select,
)
from postgres_server import Server
from tenue.ask.sql import value
from tenue.engine import computed_column
from tenue.engine.contract import Engine
from tenue.engine.contribution_bounds import rows_by_unit
from tenue.engine.open import open_engine
from tenue.engine.request import CellKey, Group
from tenue.engine.sql import order_statistics, statement
from tenue.engine.sql.logical_table import Logical
from tenue.schema import Bounded, Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTS = 12
"""Into how many tests the ordinary run is cut."""
MANY = 250
"""So many questions has the ordinary run."""
LIGHT = tuple(form for form in FORMS if form not in HEAVY)
LEAST = 0.6
"""The share of generated questions that must be answered, or nothing is tested."""

_numbers = count(1)


class InDuckDB:
    """Tables in files of their own, or in one connection of the holder's."""

    engine = "duckdb"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._connection = duckdb.connect()

    def __call__(self, world: World, rows: Sequence[Row]) -> Engine:
        name, sql = f"t{next(_numbers)}", select(world, rows, "duckdb")
        if world.file:
            path = self._folder / f"{name}.duckdb"
            with duckdb.connect(str(path)) as connection:
                connection.execute(f"CREATE TABLE t AS {sql}")
            return open_engine(f"duckdb://{path}#t", world.schema)
        self._connection.execute(f"CREATE TABLE {name} AS {sql}")
        return open_engine(self._connection.table(name), world.schema)


class InPostgres:
    """Tables in a server."""

    engine = "postgres"

    def __init__(self, server: Server) -> None:
        self._server = server

    def __call__(self, world: World, rows: Sequence[Row]) -> Engine:
        name, sql = f"neighbour_{next(_numbers)}", select(world, rows, "postgres")
        with psycopg.connect(self._server.address(), autocommit=True) as connection:
            connection.execute(f"CREATE TABLE public.{name} AS {sql}".encode())
        return open_engine(f"{self._server.address()}#public.{name}", world.schema)


class InSpark:
    """Data frames in a session."""

    engine = "spark"

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def __call__(self, world: World, rows: Sequence[Row]) -> Engine:
        frame = self._spark.sql(select(world, rows, "spark")).localCheckpoint()
        return open_engine(frame, world.schema)


def opened(
    opener: neighbours.Opener, worlds: Sequence[World], most: int | None, seed: int
) -> list[Pair]:
    chosen = random.Random(seed)
    return [Pair(world, opener, most, chosen) for world in worlds]


def closed(pairs: Sequence[Pair]) -> None:
    for pair in pairs:
        pair.close()


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Pair]]:
    found = opened(InDuckDB(tmp_path_factory.mktemp("neighbours")), WORLDS, 4, 7)
    yield found
    closed(found)


def forms_of(part: int) -> list[str]:
    """The forms of a part of the ordinary run."""
    return (
        list(CORE)
        if part == 0
        else [form for form in FORMS if form not in CORE][part - 1 :: PARTS - 1]
    )


def ordinary(pairs: Sequence[Pair], part: int, seed: int) -> Told:
    """A part of the ordinary run: its forms in each world that they fit, heavy ones in one."""
    total = Told()
    for form in forms_of(part):
        fitting = [pair for pair in pairs if fits(form, pair.world)]
        many = 1 if form in HEAVY else len(fitting)
        total.add(ask_all(fitting, seed, many, [form], quick=True))
    return total


def is_enough(told: Told, forms: Sequence[str]) -> None:
    assert told.share >= LEAST, told.refused.most_common(9)
    assert [form for form in forms if not told.answered[form]] == []


# -- generated questions ---------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(PARTS))
def test_no_neighbour_fails_in_duckdb(pairs: list[Pair], part: int) -> None:
    is_enough(ordinary(pairs, part, seed_now()), forms_of(part))


@pytest.mark.needs("postgres")
@pytest.mark.parametrize("part", range(2))
def test_no_neighbour_fails_in_postgres(postgres_server: Server, part: int) -> None:
    found = opened(InPostgres(postgres_server), WORLDS[part::4], 2, 7)
    is_enough(ask_all(found, seed_now(), 50, LIGHT[part::2], quick=True), ())
    closed(found)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(25))
def test_no_neighbour_fails_in_duckdb_50_000_times(tmp_path: Path, part: int) -> None:
    seed = seed_now()
    found = opened(InDuckDB(tmp_path), WORLDS, None, seed)
    told = ask_all(found, seed, 1_000, depth=1 + part % 3)
    assert told.pairs >= 2_000 - 2 * len(FORMS)
    is_enough(told, list(FORMS))
    closed(found)


@pytest.mark.slow
@pytest.mark.needs("postgres")
@pytest.mark.parametrize("part", range(5))
def test_no_neighbour_fails_in_postgres_5_000_times(postgres_server: Server, part: int) -> None:
    seed = seed_now()
    found = opened(InPostgres(postgres_server), WORLDS, None, seed)
    told = ask_all(found, seed, 500, depth=1 + part % 3)
    assert told.pairs >= 1_000 - 2 * len(FORMS)
    is_enough(told, list(FORMS))
    closed(found)


@pytest.mark.long
@pytest.mark.needs("spark")
@pytest.mark.parametrize("part", range(6))
def test_no_neighbour_fails_in_spark_500_times(spark: SparkSession, part: int) -> None:
    """Eight statements of ten questions each and a few of every other kind, in each world."""
    seed = seed_now()
    found = opened(InSpark(spark), [WORLDS[part]], 1, seed)
    told = ask_all(found, seed, 8, [BATCH], quick=True, depth=1 + part % 2)
    told.add(
        ask_all(found, seed, 5, ("key_shared", "median", "squared", "two_keys", "mode"), quick=True)
    )
    assert told.pairs == 13, told.refused.most_common(9)
    closed(found)


# -- the breaks of 0.2, and their relatives --------------------------------------------------------

C = "CASE WHEN ill = TRUE AND pay = 3017 THEN 4000000000 ELSE 1 END"
E = "CASE WHEN ill = TRUE AND age = 37 THEN 3000000001 ELSE 7 END"
BY_PERSON = "(SELECT who, {} AS v FROM t GROUP BY who)"
BREAKS: dict[str, str] = {
    "multiplied by 0": "SELECT SUM({C} * {C} * 0) FROM t",
    "cancels": "SELECT AVG(age + {C} * {C} - {C} * {C}) FROM t",
    "times nothing": "SELECT SUM(a * (b - b)) FROM t",
    "times nothing, twice": "SELECT SUM(a * (b - b) + age * (a - a)) FROM t",
    "cancels, wide": "SELECT SUM(age + a * b - b * a) FROM t",
    "in WHERE": "SELECT COUNT(*) FROM t WHERE age + {C} * {C} * 0 > 30",
    "in WHERE, cancels": "SELECT COUNT(*) FROM t WHERE {C} * {C} - {C} * {C} + age > 30",
    "in FILTER": "SELECT COUNT(*) FILTER (WHERE age + {C} * {C} * 0 > 30) FROM t",
    "of a median": "SELECT MEDIAN(age + {C} * {C} * 0) FROM t",
    "of a maximum": "SELECT MAX(age + {C} * {C} - {C} * {C}) FROM t",
    "of a variance": "SELECT VARIANCE(age + {C} * {C} * 0) FROM t",
    "of distinct values": "SELECT COUNT(DISTINCT age + {C} * {C} * 0) FROM t",
    "in a key": "SELECT FLOOR((age + {C} * {C} * 0) / 10) AS k, COUNT(*) FROM t GROUP BY 1",
    "by groups": "SELECT ward, SUM(age + {C} * {C} * 0) FROM t GROUP BY ward",
    "in ROLLUP": "SELECT ward, SUM(age + {C} * {C} * 0) FROM t GROUP BY ROLLUP (ward)",
    "in CASE": "SELECT SUM(CASE WHEN {C} * {C} * 0 = 0 THEN age END) FROM t",
    "in FLOOR": "SELECT SUM(FLOOR({C} * {C} / 16000000000) + age) FROM t",
    "in CEIL": "SELECT SUM(CEIL(-{C} * {C} / 16000000000) + age) FROM t",
    "of a lookup": "SELECT SUM(beds * beds * 0 + age) FROM t LEFT JOIN wards USING (ward)",
    "of a derived column": "SELECT SUM(wide * pay * 0 + age) FROM t",
    "a bit more than 64": "SELECT SUM(age + {C} * 4000000000 - 4000000000 * {C}) FROM t",
    "of a quotient": "SELECT SUM(a / GREATEST(b, 1)) FROM t",
    "of a negative quotient": "SELECT SUM(a / LEAST(b, -1)) FROM t",
    "of a quotient of CASE": "SELECT AVG(b / (1 + ABS({C}))) FROM t",
    "in a quotient": "SELECT SUM(1 / (age + 1 + {C} * {C} * 0)) FROM t",
    "of nothing": "SELECT SUM(age / NULLIF(age, 0)) FROM t",
    "of a logarithm": "SELECT SUM(LN(GREATEST(a, 1)) + age) FROM t",
    "of a root": "SELECT SUM(SQRT(ABS(a))) FROM t",
    "of a power": "SELECT SUM(POWER(1 + ABS({C}), -0.5) + EXP(LEAST(b, 9))) FROM t",
    "rounded": "SELECT SUM(ROUND(-{C}, -1) + ROUND(a / 3) * 0) FROM t",
    "absolute": "SELECT SUM(ABS(a * 8) * 0 + ABS(-{C} * {C}) * 0 + age) FROM t",
    "least": "SELECT SUM((LEAST(a, b) - GREATEST(a, b, {C})) * 0 + age) FROM t",
    "one text": "SELECT {E} AS k, COUNT(*) FILTER (WHERE {E} > 7) FROM t GROUP BY 1",
    "one text, summed": "SELECT {E} AS k, SUM({E}) FROM t GROUP BY 1",
    "one text, mean": "SELECT {E} AS k, AVG({E} * 2 + age) FROM t GROUP BY {E}",
    "one text, in WHERE": "SELECT {E} AS k, COUNT(*) FROM t WHERE {E} > 6 GROUP BY 1",
    "one text, median": "SELECT {E} AS k, MEDIAN(age + {E}) FROM t GROUP BY 1",
    "one text, FILTER and HAVING": (
        "SELECT {E} AS k, COUNT(*) FILTER (WHERE {E} > 7) AS n FROM t GROUP BY 1 HAVING n > -5"
    ),
    "one text, ORDER BY": "SELECT {E} AS k, SUM({E}) AS s FROM t GROUP BY 1 ORDER BY s LIMIT 1",
    "one text, ROLLUP": (
        "SELECT {E} AS k, ward, COUNT(*) FILTER (WHERE {E} > 7) FROM t GROUP BY ROLLUP ({E}, ward)"
    ),
    "one text, CUBE": "SELECT {E} AS k, ward, SUM({E}) FROM t GROUP BY CUBE ({E}, ward)",
    "one text, sets": "SELECT {E} AS k, SUM({E}) FROM t GROUP BY GROUPING SETS (({E}), ())",
    "one text, two keys": "SELECT {E} AS k, {C} AS l, SUM({E} + {C}) FROM t GROUP BY 1, 2",
}
OF_PERSONS: dict[str, str] = {
    "of a person": "SELECT SUM(v) FROM " + BY_PERSON.format("SUM(age + {C} * {C} * 0)"),
    "of a person's mean": "SELECT AVG(v) FROM " + BY_PERSON.format("MAX(age + {C} * {C} * 0)"),
    "of persons": "SELECT SUM(v * v * 0 + 1) FROM " + BY_PERSON.format("MIN(b)"),
    "of persons, cancels": "SELECT MEDIAN(v * v - v * v + 1) FROM " + BY_PERSON.format("MAX(a)"),
    "one text of persons": (
        "SELECT CASE WHEN v > 99 THEN 3000000001 ELSE 7 END AS k, "
        "COUNT(*) FILTER (WHERE CASE WHEN v > 99 THEN 3000000001 ELSE 7 END > 7) FROM "
        + BY_PERSON.format("SUM(pay)")
        + " GROUP BY 1"
    ),
}
WARDS = "ward,beds\nx,4000000000\ny,-4000000000\n"


def stated(unit: str, how: str) -> dict[str, Any]:
    """The table of the issue: age, pay and ill, and wide columns beside them."""
    table: dict[str, Any] = {"name": "t", "unit": unit, "neighbours": how}
    if unit != "record":
        table |= {"rows_per_unit": 3}
    wide = {"type": "number", "bounds": [-(2**62), 2**62]}
    return {
        "table": table,
        "columns": {
            "who": {"type": "identifier"},
            "age": {"type": "number", "bounds": [0, 120]},
            "pay": {"type": "number", "bounds": [0, 10_000]},
            "ill": {"type": "boolean"},
            "ward": {"type": "category", "categories": ["x", "y"]},
            "a": {"type": "number", "bounds": [-(2**59), 2**59]},
            "b": {"type": "number", "bounds": [-(2**59), 2**59]},
            "wide": {**wide, "expression": "a * 8"},
        },
        "budget": {"total": 10**6},
        "lookups": {
            "wards": {
                "source": "wards.csv",
                "key": "ward",
                "columns": ["beds"],
                "numbers": ["beds"],
            }
        },
    }


ROWS = [
    {"who": f"p{i // 2}", "age": 20 + i, "pay": 1000 + i, "ill": False, "ward": "x", "a": i, "b": 1}
    for i in range(12)
]
TARGET = {"who": "p9", "age": 37, "pay": 3017, "ill": True, "ward": "y", "a": 2**59, "b": -(2**59)}


class Case:
    """Both tables of a schema, in DuckDB: the person of the issue is in one of them."""

    def __init__(self, unit: str, how: str, folder: Path) -> None:
        (folder / "wards.csv").write_text(WARDS)
        self.schema = Schema.from_dict(stated(unit, how), folder=folder)
        gone = 0 if how == "add-or-remove" else 1 if unit == "record" else 2
        many = 1 if unit == "record" else 2
        tables = ROWS, [*ROWS[gone:], *[TARGET] * many]
        self.engines = [open_engine(pa.Table.from_pylist(rows), self.schema) for rows in tables]
        self.session = Trio(self.schema, self.engines[0])

    def outcomes(self, asked: Asked) -> list[neighbours.Outcome]:
        return self.session.outcomes(self.engines, asked)


UNITS = [(unit, how) for unit in ("record", "who") for how in ("add-or-remove", "replace")]


@pytest.fixture(scope="module", params=UNITS, ids=lambda given: " ".join(given))
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(*request.param, tmp_path_factory.mktemp("case"))


def text(name: str) -> str:
    return (BREAKS | OF_PERSONS)[name].replace("{C}", f"({C})").replace("{E}", E)


@pytest.mark.parametrize("name", BREAKS)
def test_the_breaks_of_0_2_tell_nothing(case: Case, name: str) -> None:
    """Every one of them is answered, with the person and without."""
    assert case.outcomes(Asked("ask", (text(name),))) == [("answer",)] * 2


@pytest.mark.parametrize("name", OF_PERSONS)
def test_the_breaks_of_persons_tell_nothing(case: Case, name: str) -> None:
    """Answered; records are no persons, which is a refusal of the text."""
    persons = case.schema.unit != "record"
    found = case.outcomes(Asked("ask", (text(name),)))
    assert {what for what, *_ in found} == {"answer" if persons else "refused"}, found
    assert found[0] == found[1]


def test_the_breaks_asked_together_tell_nothing(case: Case) -> None:
    texts = ["multiplied by 0", "cancels", "in WHERE", "of a median", "one text", "by groups"]
    texts += ["one text, summed"]
    for several in (texts, texts[:3], texts[3:]):
        found = case.outcomes(Asked("many", tuple(map(text, several))))
        assert found == [("answer",)] * 2


@pytest.mark.parametrize(
    "options",
    [
        {"clip": "auto", "epsilon": 1},
        {"interval": 0.9, "epsilon": 1},
        {"prior": tn.prior.Points({0: "0.5", 3: "0.5"}), "epsilon": 1},
        {"measure_cut": 0.1, "epsilon": 1},
    ],
    ids=lambda given: next(iter(given)),
)
def test_the_breaks_with_options_tell_nothing(case: Case, options: dict[str, Any]) -> None:
    what = {"interval": "MEDIAN", "clip": "SUM"}.get(next(iter(options)), "AVG")
    value = "pay" if "clip" in options else f"age + ({C}) * ({C}) * 0"
    for where in ("", f" WHERE ({C}) * ({C}) * 0 = 0"):
        found = case.outcomes(Asked("ask", (f"SELECT {what}({value}) FROM t{where}",), options))
        assert found[0] == found[1]
        assert found[0][0] != "failed", found


# -- the judge is no empty one ---------------------------------------------------------------------


def test_the_worst_table_has_every_awful_value() -> None:
    for world in WORLDS:
        tables = neighbours.Tables.of(world)
        for name in neighbours.COLUMNS:
            there = {row[name] for row in tables.worst}
            missing = set(neighbours.values_of(world, name, "duckdb")) - there
            assert missing <= {None}, (world.name, name)
        assert len(tables.plain) == len(tables.one[0]) or not world.replaces or world.persons


@pytest.mark.parametrize("error", [tn.Refused("a", "b", "c"), tn.errors.EngineFault("no")])
@pytest.mark.parametrize("of", ["worst", "plain"])
def test_a_table_that_fails_is_seen(
    pairs: list[Pair], monkeypatch: pytest.MonkeyPatch, error: Exception, of: str
) -> None:
    """A refusal and a fault of one table alone, whichever it is."""
    pair = pairs[0]
    asked = Asked("ask", ("SELECT SUM(n) FROM t",))
    assert pair.ask(asked, random.Random(1)) == ("answer",)

    def failing(request: object) -> object:
        raise error

    monkeypatch.setattr(getattr(pair, of), "measure", failing)
    with pytest.raises(Broken, match=r"SELECT SUM\(n\)"):
        pair.ask(asked, random.Random(1))


def test_another_refusal_is_seen(pairs: list[Pair], monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(what: str) -> Callable[[object], object]:
        def measure(request: object) -> object:
            raise tn.Refused(what, "b", "c")

        return measure

    pair, asked = pairs[0], Asked("ask", ("SELECT SUM(n) FROM t",))
    for engine, what in ((pair.plain, "a"), (pair.worst, "a")):
        monkeypatch.setattr(engine, "measure", refusing(what))
    assert pair.session.outcomes([pair.plain, pair.worst], asked)[0][0] == "refused"
    monkeypatch.setattr(pair.worst, "measure", refusing("another"))
    one, other = pair.session.outcomes([pair.plain, pair.worst], asked)
    assert one != other


# -- wrong versions of the code --------------------------------------------------------------------

_sized = computed_column.sized
_cell = statement.cell
_labelled_name = value.labelled_name


def without_weight_0(tree: computed_column.Formula, ends: Any) -> computed_column.Sized:
    """What is multiplied by 0 does not count for the type of the sum."""
    found = _sized(tree, ends)
    if not isinstance(tree, computed_column.Sum):
        return found
    sizes = [max(map(abs, part.ends)) for part in found.parts]
    terms = zip(tree.terms, sizes, strict=True)
    reach = abs(tree.constant) + sum(abs(weight) * max(size, 1) for (weight, _), size in terms)
    return replace(found, reach=reach)


def a_bit_too_narrow(tree: computed_column.Formula, ends: Any) -> computed_column.Sized:
    """What is computed on the way is held by a type of one bit less."""
    found = _sized(tree, ends)
    return replace(found, reach=found.reach >> 1) if found.parts else found


def without_divisor(formula: computed_column.Ratio, of: Any, by: Any) -> int:
    """Only the dividend counts for the type of a quotient."""
    return 2 * formula.times * max(1, *map(abs, of.ends))


def one_name(*given: Any) -> str:
    """Labels are named as amounts of the same text are."""
    return f"({_labelled_name(*given)[1:-1]})"


def unchecked(given: CellKey, logical: Logical) -> str:
    """The cell of a computed key is cast to the type of its labels, whatever it is."""
    column = logical.column(given.column)
    if isinstance(given, Group) and isinstance(column, Bounded):
        return f"CAST({logical.value(column.name)} AS INTEGER)"
    return _cell(given, logical)


def patched(monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    if mutant == "weight 0 forgotten":
        monkeypatch.setattr(computed_column, "sized", without_weight_0)
    if mutant == "one bit too narrow":
        monkeypatch.setattr(computed_column, "sized", a_bit_too_narrow)
    if mutant == "divisor forgotten":
        monkeypatch.setattr(computed_column, "_ratio_reach", without_divisor)
    if mutant in ("one name", "unchecked cast"):
        monkeypatch.setattr(value, "labelled_name", one_name)
    if mutant == "unchecked cast":
        for module in (statement, rows_by_unit, order_statistics):
            monkeypatch.setattr(module, "cell", unchecked)


MUTANTS = (
    *("weight 0 forgotten", "one bit too narrow", "one name", "unchecked cast"),
    "divisor forgotten",
)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_ordinary_run_finds_a_wrong_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mutant: str
) -> None:
    """With as many questions as it asks; the first dozens are enough."""
    patched(monkeypatch, mutant)
    found = opened(InDuckDB(tmp_path), WORLDS, 4, 7)
    forms = ("function",) if mutant == "divisor forgotten" else CORE

    with pytest.raises(Broken):
        ask_all(found, seed_now(), MANY, forms, quick=True)
    closed(found)


FOUND = {
    "weight 0 forgotten": ("multiplied by 0", "cancels", "in WHERE", "of a median", "in CASE"),
    "one bit too narrow": ("multiplied by 0", "in FLOOR", "of a maximum"),
    "divisor forgotten": ("of a negative quotient",),
    "one name": ("one text", "one text, summed", "one text, FILTER and HAVING"),
    "unchecked cast": ("one text", "one text, summed", "one text, FILTER and HAVING"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_breaks_find_a_wrong_version(
    case: Case, monkeypatch: pytest.MonkeyPatch, mutant: str
) -> None:
    patched(monkeypatch, mutant)
    monkeypatch.setattr(case, "session", Trio(case.schema, case.engines[0]))  # without its plans
    for name in FOUND[mutant]:
        found = case.outcomes(Asked("ask", (text(name),)))
        assert "failed" in {what for what, *_ in found}, name
