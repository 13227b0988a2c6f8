"""What engines spell differently; whole numbers that cannot overflow.

`tests/properties/test_engines_agree.py` reads more texts through whole engines.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postgres_server import Server
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.postgres.dialect import POSTGRES
from tenue.engine.postgres.session import ServerSession
from tenue.engine.spark.dialect import SPARK
from tenue.engine.sql.dialect import Dialect
from tenue.engine.sql.int_expr import Whole, integer
from tenue.engine.storage import Moment
from tenue.errors import InvalidTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


EARLY, LATE = "-infinity", "infinity"
SPELLED: dict[str, str | None] = {
    "2000-01-02": "2000-01-02 00:00:00",
    "2000/01/02": "2000-01-02 00:00:00",
    "2000-1-2": "2000-01-02 00:00:00",
    " \t2000-01-02\r\n": "2000-01-02 00:00:00",
    "2000-02-29": "2000-02-29 00:00:00",
    "0001-01-01": "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.9999999": "9999-12-31 23:59:59.999999",
    "2000-01-02 13:14:15": "2000-01-02 13:14:15",
    " 2000-01-02T13:14:15 ": "2000-01-02 13:14:15",
    "2000/1/2 3:4": "2000-01-02 03:04:00",
    "2000-01-02 1:2:3.5": "2000-01-02 01:02:03.500000",
    "1969-12-31 23:59:59.1234569": "1969-12-31 23:59:59.123456",
    # instants: the mutant, which drops the offset as DuckDB does, reads 13:14:15 in all of them
    "2000-01-02 13:14:15Z": "2000-01-02 13:14:15",
    "2000-01-02 13:14:15 UTC": "2000-01-02 13:14:15",
    "2000-01-02T13:14:15+02": "2000-01-02 11:14:15",
    "2000-01-02 13:14:15 +0230": "2000-01-02 10:44:15",
    "2000-01-02 13:14:15.25-05:30": "2000-01-02 18:44:15.250000",
    "2000/01/02 13:14+15:59": "2000-01-01 21:15:00",
    "2000-01-02 23:14:15-05": "2000-01-03 04:14:15",  # another day
    "2000-02-29 23:00:00-01": "2000-03-01 00:00:00",
    "0001-01-01 00:00:00+05": EARLY,
    "9999-12-31 23:59:59-05": LATE,
    "infinity": LATE,
    " INF ": LATE,
    "-Infinity": EARLY,
    "-inf": EARLY,
    **dict.fromkeys(
        [
            *(
                "",
                " ",
                "x",
                "2000",
                "2000-01",
                "20000102",
                "2000-01/02",
                "2000 01 02",
                "2000\\1\\2",
            ),
            *("02.01.2000", "01/02/2000", "2-1-2000", "99-01-02", "10000-01-01", "-0044-03-15"),
            *("0044-03-15 (BC)", "0044-03-15 BC", "2000-02-30", "1900-02-29", "2001-02-29"),
            *("2000-13-01", "2000-00-10", "2000-01-00", "2000-01-32", "2000-04-31", "2000-001-02"),
            *("2000-01-02x", "2000-01-02T", "0000-01-01", "0000-00-00", "0000-12-31 23:00-05"),
            *(
                "2000-01-02Z",
                "2000-01-02+02",
                "2000-01-02 13",
                "2000-01-02 13:",
                "2000-01-02 24:00",
            ),
            *(
                "2000-01-02 23:59:60",
                "2000-01-02 25:00:00",
                "2000-01-02 13:60",
                "2000-01-02  13:14",
            ),
            *("2000-01-02t13:14:15", "2000-01-02 13:14:15z", "2000-01-02 13:14:15.", "1:2:3"),
            *("2000-01-02 1:02:03 PM", "2000-01-02 13:14:15 Europe/Paris", "2000-01-02 13:14:15,5"),
            *("2000-01-02 13:14:15+2", "2000-01-02 13:14:15+16", "2000-01-02 13:14:15+02:30:15"),
            *("2000-01-02 13:14:15 EST", "2000-01-02 001:02:03", "2000-01-02T 13:14:15"),
            *(
                "epoch",
                "now",
                "today",
                "tomorrow",
                "yesterday",
                "allballs",
                "+2000-01-02",
                "infinit",
            ),
            *("２０００-01-02", "2000-01-٠٢", "\u00a02000-01-02", "2000–01–02", "1999-02-29 1:2Z"),
        ],
        None,
    ),
}


def in_duckdb(texts: Sequence[str], kind: str) -> list[str | None]:
    """By a session in another zone, as a holder's own connection may be."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/New_York'")
        connection.execute("CREATE TABLE t (i BIGINT, x VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(texts)))
        sql = f"SELECT CAST({DUCKDB.read('x', kind)} AS VARCHAR) FROM t ORDER BY i"
        return [value for (value,) in connection.execute(sql).fetchall()]


def in_postgres(server: Server, texts: Sequence[str], kind: str) -> list[str | None]:
    session = ServerSession(server.address(), 60)
    listed = ", ".join(f"({i}, {POSTGRES.literal(text)})" for i, text in enumerate(texts))
    read = POSTGRES.read("x", kind)
    sql = f"SELECT CAST({read} AS text) FROM (VALUES {listed}) AS t (i, x) ORDER BY i"
    with session.snapshot() as state:
        found = [value for (value,) in state.run(sql)]
    session.close()
    return found


def in_spark(spark: SparkSession, texts: Sequence[str], read: str) -> list[str | None]:
    """What Spark counts from 1970, for its dates have years that Python's have not."""
    counted, _, _ = SPARK.micros(Moment(SPARK.moment), -(2**62), 2**62)
    sql = counted[0](f"CAST({read} AS {SPARK.moment})")
    rows = spark.createDataFrame(list(enumerate(texts)), "i bigint, x string")
    found = rows.selectExpr("i", f"{sql} AS micros").orderBy("i").collect()
    start, second = datetime(1970, 1, 1), timedelta(seconds=1)
    ends = [(end - start) // second * 10**6 for end in (datetime.min, datetime.max)]

    def written(micros: int | None) -> str | None:
        if micros is None:
            return None
        if micros < ends[0] or micros >= ends[1] + 10**6:
            return EARLY if micros < 0 else LATE
        return str(start + timedelta(microseconds=micros))

    return [written(micros) for _, micros in found]


def plain(value: str | None) -> str | None:
    """One way to write what an engine says; outside of the years 1 to 9999, before or after."""
    if value is None or value in (EARLY, LATE):
        return value
    if "BC" in value:
        return EARLY
    return str(datetime.fromisoformat(value)) if value[4] == "-" else LATE


def on(kind: str, moment: str | None) -> str | None:
    """The moment, or its day."""
    return (
        f"{moment[:10]} 00:00:00" if moment and moment[0].isdigit() and kind == "DATE" else moment
    )


def by_sign(text: str) -> str | None:
    """What the first lines of `calendar.py` say of a text, which is read sign by sign."""
    word = text.strip(" \t\n\v\f\r")
    if word.lower() in ("infinity", "inf", "-infinity", "-inf"):
        return EARLY if word.startswith("-") else LATE
    signs = list(word)

    def digits(least: int, most: int) -> str:
        found = ""
        while signs and signs[0] in "0123456789" and len(found) < most:
            found += signs.pop(0)
        if len(found) < least:
            raise ValueError
        return found

    def one_of(allowed: str) -> str:
        if not signs or signs[0] not in allowed:
            raise ValueError
        return signs.pop(0)

    def offset() -> int:
        if signs[:1] == [" "]:
            signs.pop(0)
        if "".join(signs) in ("Z", "UTC"):
            signs.clear()
            return 0
        way = int(one_of("+-") + "1")
        hours, minutes = digits(2, 2), "0"
        if signs:
            if signs[0] == ":":
                signs.pop(0)
            minutes = digits(2, 2)
        if int(hours) > 15 or int(minutes) > 59:
            raise ValueError
        return way * (60 * int(hours) + int(minutes))

    try:
        year, between = digits(4, 4), one_of("-/")
        month, _, day = digits(1, 2), one_of(between), digits(1, 2)
        hour = minute = second = fraction = "0"
        ahead = 0
        if signs:
            _, hour, _, minute = one_of(" T"), digits(1, 2), one_of(":"), digits(1, 2)
            if signs[:1] == [":"]:
                _, second = signs.pop(0), digits(1, 2)
                if signs[:1] == ["."]:
                    _, fraction = signs.pop(0), digits(1, 10**6)
            ahead = offset() if signs else 0
        if signs:
            raise ValueError
        clock = int(hour), int(minute), int(second), int((fraction + "00000")[:6])
        moment = datetime(int(year), int(month), int(day), *clock)
    except ValueError:
        return None
    try:
        return str(moment - timedelta(minutes=ahead))
    except OverflowError:
        return EARLY if ahead > 0 else LATE


def mutants(many: int) -> list[str]:
    """Texts that differ from a spelling by a few signs."""
    draw = random.Random(18)  # the same texts in every run
    readable = [text for text, moment in SPELLED.items() if moment]
    known, signs = [*SPELLED, *6 * readable], "0123456789-/: T.+ZUCtz\t"
    made = []
    for _ in range(many):
        text = list(draw.choice(known))
        for _ in range(draw.randint(1, 2)):
            place, sign = draw.randint(0, len(text)), draw.choice(signs)
            text[place : place + draw.randint(0, 1)] = draw.choice([sign, sign, ""])
        made.append("".join(text))
    return made


TEXTS = [*SPELLED, *mutants(3000)]


def test_the_table_says_what_the_rule_says() -> None:
    assert {text: by_sign(text) for text in SPELLED} == SPELLED
    found = [by_sign(text) for text in TEXTS[len(SPELLED) :]]
    assert sum(one is not None for one in found) > 300, "the mutants are not all unreadable"


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP"])
def test_duckdb_reads_every_spelling_as_the_rule_says(kind: str) -> None:
    found = zip(TEXTS, in_duckdb(TEXTS, kind), strict=True)
    assert {t: plain(one) for t, one in found if plain(one) != on(kind, by_sign(t))} == {}


@pytest.mark.needs("postgres")
@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_postgresql_reads_every_spelling_as_the_rule_says(
    kind: str, postgres_server: Server
) -> None:
    found = zip(TEXTS, in_postgres(postgres_server, TEXTS, kind), strict=True)
    assert {t: plain(one) for t, one in found if plain(one) != on(kind.upper(), by_sign(t))} == {}


@pytest.mark.needs("spark")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP_NTZ"])
def test_spark_reads_every_spelling_as_the_rule_says(kind: str, spark: SparkSession) -> None:
    """In a session of another zone; the mutant is Spark's own cast, which drops offsets."""
    before = str(spark.conf.get("spark.sql.session.timeZone"))
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        found = in_spark(spark, TEXTS, SPARK.read("x", kind))
        mutant = in_spark(spark, list(SPELLED), f"try_cast(x AS {kind})")
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    said = [on(kind, by_sign(text)) for text in TEXTS]
    wrong = {t: one for t, one, rule in zip(TEXTS, found, said, strict=True) if one != rule}
    assert wrong == {}
    assert mutant != said[: len(SPELLED)]


def test_a_cast_of_the_engine_is_another_rule() -> None:
    """The mutant, as it was: DuckDB drops offsets, reads 1 o'clock for 1 PM and the year 99."""
    with duckdb.connect() as connection:
        wrong = [
            text
            for text in SPELLED
            if plain(_one(connection, "SELECT CAST(TRY_CAST(? AS TIMESTAMP) AS VARCHAR)", text))
            != SPELLED[text]
        ]
    assert {"2000-01-02T13:14:15+02", "2000-01-02 1:02:03 PM", "99-01-02"} <= set(wrong)


def _one(connection: duckdb.DuckDBPyConnection, sql: str, text: str) -> str | None:
    row = connection.execute(sql, [text]).fetchone()
    assert row is not None
    return None if row[0] is None else str(row[0])


# -- What a dialect says unless its engine says otherwise ------------------------------------------

NARROW = replace(DUCKDB, long="int8", huge=None, divide="div", alias=" AS t")


def test_texts_and_names_cannot_leave_their_quotes() -> None:
    assert DUCKDB.literal("it's") == "'it''s'"
    assert DUCKDB.quoted('hours "per" week') == '"hours ""per"" week"'


def test_doubles_are_typed_and_may_follow_any_operator() -> None:
    written = [DUCKDB.number(x) for x in (100.0, -1e-7, float("inf"))]
    assert written == ["100.0e0", "(-1e-07)", "CAST('inf' AS DOUBLE)"]


def test_a_range_gets_the_narrowest_type_that_the_engine_has() -> None:
    assert (DUCKDB.holding(0, 255), DUCKDB.holding(0, 2**63)) == ("BIGINT", "HUGEINT")
    assert NARROW.holding(-(2**63), 2**63 - 1) == "int8"
    with pytest.raises(InvalidTable, match="too many digits"):
        NARROW.holding(0, 2**63)


def test_arithmetic_is_written_in_the_words_of_the_dialect() -> None:
    assert Whole("x", -10, 10, DUCKDB).plus(1).floor_divide(4).sql == "(((x + 13) // 4) - 3)"
    assert Whole("x", -10, 10, NARROW).plus(1).floor_divide(4).sql == "(((x + 13) div 4) - 3)"
    assert Whole("x", 0, 10, NARROW).clamp(1, 2).sql.endswith("END AS int8)")
    with pytest.raises(InvalidTable):
        Whole("x", 0, 2**62, NARROW).times(4)


def test_a_select_in_brackets_gets_the_alias_that_an_engine_needs() -> None:
    assert DUCKDB.nested("SELECT 1") == "(SELECT 1)"
    assert NARROW.nested("SELECT 1") == "(SELECT 1) AS t"


def test_a_dialect_cannot_be_changed_or_left_half_said() -> None:
    with pytest.raises(FrozenInstanceError):
        DUCKDB.long = "TEXT"  # type: ignore[misc]
    with pytest.raises(TypeError):
        Dialect(**dict.fromkeys(("long", "double", "text"), ""))  # type: ignore[abstract]


# -- Integer SQL is exact over its whole range, and never leaves the type it has -------------------

# ruff: noqa: S608 - tests write their own SQL


CONNECTION = duckdb.connect()
holding = DUCKDB.holding


def computed(value: Whole, x: int, kind: str) -> int:
    sql = f"SELECT {value.sql} FROM (SELECT CAST({x} AS {kind}) AS x)"
    (row,) = CONNECTION.execute(sql).fetchall()
    return row[0]


SIZES = st.sampled_from([3, 1000, 2**31, 2**62, 2**63 - 1, 2**100])


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_every_operation_equals_python_at_the_ends_of_the_range(data: st.DataObject) -> None:
    size = data.draw(SIZES)
    low = data.draw(st.integers(-size, size - 1))
    high = data.draw(st.integers(low + 1, size))
    number = data.draw(st.integers(1, 2**20))
    kind = holding(low, high)
    start = Whole("x", low, high, DUCKDB, kind)
    cut = sorted(data.draw(st.tuples(st.integers(-size, size), st.integers(-size, size))))
    for x in {low, high, (low + high) // 2, min(max(0, low), high)}:
        assert computed(start.plus(number), x, kind) == x + number
        assert computed(start.plus(-number), x, kind) == x - number
        assert computed(start.times(number), x, kind) == x * number
        assert computed(start.floor_divide(number), x, kind) == x // number
        assert computed(start.floor_divide(2**90), x, kind) == x // 2**90
        assert (
            computed(start.times(number).plus(3).floor_divide(7), x, kind) == (x * number + 3) // 7
        )
        if cut[0] < cut[1]:
            clamped = min(max(x, cut[0]), cut[1])
            assert computed(start.clamp(*cut), x, kind) == clamped
    for made in (start.plus(number), start.times(number), start.floor_divide(number)):
        assert made.low <= made.high
        holding(made.low, made.high)


@pytest.mark.parametrize(
    "value",
    [
        Whole("x", -9, 9, DUCKDB).plus(1),
        Whole("x", -9, 9, DUCKDB).times(3),
        Whole("x", -9, 9, DUCKDB).floor_divide(4),
        Whole("x", -9, 9, DUCKDB).floor_divide(10),
        Whole("x", 1, 9, DUCKDB).floor_divide(10),
        Whole("x", -9, 9, DUCKDB).clamp(0, 4),
        Whole("x", -9, 9, DUCKDB).clamp(10, 40),
        Whole("x", -9, 9, DUCKDB).narrow(),
    ],
)
def test_a_missing_value_stays_missing(value: Whole) -> None:
    sql = f"SELECT {value.sql} FROM (SELECT CAST(NULL AS BIGINT) AS x)"
    assert CONNECTION.execute(sql).fetchall() == [(None,)]


def test_sql_division_would_round_towards_zero() -> None:
    # the mutant: what floor_divide would be without its shift
    (row,) = CONNECTION.execute("SELECT -7 // 2").fetchall()
    assert row[0] == -3
    assert computed(Whole("x", -10, 10, DUCKDB).floor_divide(2), -7, "BIGINT") == -4


def test_constants_in_a_row_are_added_here_and_not_by_duckdb() -> None:
    whole = Whole("x", -(2**63), 0, DUCKDB)
    in_a_row = f"SELECT ((x + 10) + {2**63 - 1}) FROM (SELECT CAST(-11 AS BIGINT) AS x)"
    with pytest.raises(duckdb.Error, match="Overflow in addition"):
        CONNECTION.execute(in_a_row)
    assert computed(whole.plus(10).plus(2**63 - 1), -11, "BIGINT") == 2**63 - 2
    assert computed(whole.plus(10).floor_divide(20), -(2**63), "BIGINT") == (10 - 2**63) // 20
    assert whole.plus(7).plus(-7) == whole


def test_a_range_that_no_type_holds_is_refused() -> None:
    with pytest.raises(InvalidTable, match="too many digits"):
        Whole("x", 0, 2**62, DUCKDB).times(2**64)
    with pytest.raises(InvalidTable):
        holding(0, 2**126)
    assert holding(-(2**63), 2**63 - 1) == "BIGINT"
    assert holding(-(2**63) - 1, 0) == "HUGEINT"


def test_a_negative_literal_is_one_token() -> None:
    assert integer(-3) == "(-3)"
    assert integer(3) == "3"
