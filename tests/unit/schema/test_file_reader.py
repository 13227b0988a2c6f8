"""A whole schema file is read, with its lookups, or every mistake is listed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tenue.errors import InvalidSchema
from tenue.schema import Mistake, Schema
from unit.schema.wrong import AGE, TABLE, mistakes, places

GOOD = "code,name,beds\nn,North,3\ns,South,7.5\nx,,\n"


def schema(folder: Path, text: str | bytes = GOOD, **more: Any) -> Schema:
    (folder / "region.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    lookup = {
        "source": "region.csv",
        "key": "code",
        "columns": ["name", "beds"],
        "numbers": ["beds"],
    }
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {"code": {"type": "category", "categories": ["n", "s"]}},
            "lookups": {"region": {**lookup, **more}},
        },
        folder=folder,
    )


def test_a_lookup_is_read_with_the_schema(tmp_path: Path) -> None:
    found = schema(tmp_path)
    region = found.lookups["REGION"]
    assert region.keys == ("n", "s", "x")
    assert region.columns["name"] == ("North", "South", None)
    assert region.columns["beds"] == (3, Fraction(15, 2), None)
    assert Schema.parse(found.to_toml(), folder=tmp_path) == found


def test_what_it_says_is_part_of_the_schemas_digest(tmp_path: Path) -> None:
    one = schema(tmp_path)
    assert schema(tmp_path, "code,beds,name\ns,7.5,South\nn,3,North\nx,,\n").digest == one.digest
    assert schema(tmp_path, GOOD.replace("North", "north")).digest != one.digest
    assert one.replace(lookups=None).digest != one.digest


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ("code,name,beds\nn,a,1\nn,b,2\n", {}, "not unique"),
        ("code,name,beds\n,a,1\n", {}, "not unique"),
        ("code,name\nn,a\n", {}, "no column `beds`"),
        ("code,name,beds\nn,a\n", {}, "fields"),
        ("code,name,beds\nn,a,many\n", {}, "not a number"),
        (b"\xff\xfe\x00", {}, "cannot be read"),
        ("", {}, "no column"),
        (GOOD, {"source": "absent.csv"}, "cannot be read"),
        (GOOD, {"key": None}, "key"),
        (GOOD, {"columns": []}, "columns"),
        (GOOD, {"columns": ["name", "NAME"]}, "columns"),
        (GOOD, {"numbers": ["code"]}, "numbers"),
        (GOOD, {"rows": 3}, "not a key"),
    ],
)
def test_mistakes_are_refused(tmp_path: Path, text: Any, more: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSchema, match=said):
        schema(tmp_path, text, **more)


def test_a_lookup_has_a_name_of_its_own(tmp_path: Path) -> None:
    stated = schema(tmp_path).to_dict()
    stated["lookups"] = {"T": stated["lookups"]["region"]}
    with pytest.raises(InvalidSchema):
        Schema.from_dict(stated, folder=tmp_path)


def parquet(folder: Path, table: dict[str, list[Any]]) -> Schema:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(table), folder / "region.parquet")
    return schema(folder, source="region.parquet")


def test_a_parquet_file_says_the_same_as_a_csv_file(tmp_path: Path) -> None:
    names = ["North", "South", None]
    found = parquet(tmp_path, {"beds": [3.0, 7.5, None], "code": ["n", "s", "x"], "name": names})
    assert found.lookups["region"] == schema(tmp_path).lookups["region"]
    assert found.digest == schema(tmp_path).digest


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"code": ["n", "n"], "name": ["a", "b"], "beds": [1, 2]}, "not unique"),
        ({"code": ["n", None], "name": ["a", "b"], "beds": [1, 2]}, "not unique"),
        ({"code": ["n"], "name": ["a"]}, "no column `beds`"),
        ({"code": ["n"], "name": ["a"], "beds": ["many"]}, "not a number"),
        ({"code": ["n"], "name": [[1]], "beds": [1]}, "cannot be read as Parquet"),
        ({"code": ["n"], "name": ["a"], "beds": [float("inf")]}, "not a number"),
        ({c: ["1"] * 100_001 for c in ("code", "name", "beds")}, "at most 100,000 rows"),
    ],
)
def test_mistakes_of_a_parquet_file_are_refused(
    tmp_path: Path, table: dict[str, list[Any]], said: str
) -> None:
    with pytest.raises(InvalidSchema, match=said):
        parquet(tmp_path, table)
    (tmp_path / "region.parquet").write_text(GOOD)
    with pytest.raises(InvalidSchema, match="cannot be read as Parquet"):
        schema(tmp_path, source="region.parquet")


# Every rule of [table], [budget] and [questions], each with its line; and all of them at once.

EXAMPLE = """\
[table]
name = "census"
source = "census.parquet"          # file, glob, duckdb://, postgresql://, spark://
unit = "record"
neighbours = "replace"

[columns.income]
type = "number"
bounds = [0, 200_000]              # stated by the holder, never read from the rows
grid = 1                           # answers and values live on multiples of this
role = "confidential"              # identifier | quasi-identifier | confidential | other

[columns.occupation]
type = "category"
categories = ["Sales", "Tech-support"]     # or: taxonomy = "occupation.json"
role = "quasi-identifier"

[budget]
total = 5.0                        # the data set's cap: always binds
per_analyst = 1.0

[questions.median_income]          # approved questions
sql = "SELECT MEDIAN(income) FROM census"
promise = "individual"
"""


def table(*lines: str) -> str:
    """A schema whose [table] has the lines from line 2 on."""
    return "[table]\n" + "\n".join(lines) + "\n" + AGE + '[columns.id]\ntype = "identifier"\n'


def after(section: str) -> str:
    """A schema whose last section starts in line 9."""
    return TABLE + AGE + section + "\n"


def test_the_example_of_the_design_loads() -> None:
    schema = Schema.parse(EXAMPLE)
    assert (schema.name, schema.unit, schema.neighbours) == ("census", "record", "replace")
    assert schema.source == "census.parquet"
    assert list(schema.columns) == ["income", "occupation"]
    assert schema.budget is not None
    assert (schema.budget.total, schema.budget.per_analyst) == (5, 1)
    question = schema.questions["median_income"]
    assert (question.sql, question.promise) == ("SELECT MEDIAN(income) FROM census", "individual")
    assert not question.limited
    assert schema.private


UNIT = 'unit = "record"'
NAME = 'name = "t"'
REPLACE = 'neighbours = "replace"'
TABLES = [
    ([UNIT, REPLACE], 1, "table.name"),
    ([NAME, REPLACE], 1, "table.unit"),
    ([NAME, UNIT], 1, "table.neighbours"),
    (['name = ""', UNIT, REPLACE], 2, "table.name"),
    (['name = "a b"', UNIT, REPLACE], 2, "table.name"),
    (['name = "1a"', UNIT, REPLACE], 2, "table.name"),
    (["name = 5", UNIT, REPLACE], 2, "table.name"),
    ([f'name = "{"x" * 129}"', UNIT, REPLACE], 2, "table.name"),
    ([NAME, 'unit = "nobody"', REPLACE, "rows_per_unit = 1"], 3, "table.unit"),
    ([NAME, 'unit = "age"', REPLACE, "rows_per_unit = 1"], 3, "table.unit"),
    ([NAME, "unit = true", REPLACE], 3, "table.unit"),
    ([NAME, 'unit = "id"', REPLACE], 1, "table.rows_per_unit"),
    ([NAME, 'unit = "id"', REPLACE, "rows_per_unit = 0"], 5, "table.rows_per_unit"),
    ([NAME, 'unit = "id"', REPLACE, "rows_per_unit = 1.5"], 5, "table.rows_per_unit"),
    ([NAME, 'unit = "id"', REPLACE, 'rows_per_unit = "3"'], 5, "table.rows_per_unit"),
    (
        [NAME, 'unit = "id"', REPLACE, "rows_per_unit = 1", "groups_per_unit = -1"],
        6,
        "table.groups_per_unit",
    ),
    ([NAME, UNIT, REPLACE, "rows_per_unit = 1"], 5, "table.rows_per_unit"),
    ([NAME, UNIT, REPLACE, "groups_per_unit = 1"], 5, "table.groups_per_unit"),
    ([NAME, UNIT, 'neighbours = "add"'], 4, "table.neighbours"),
    ([NAME, UNIT, "neighbours = 1"], 4, "table.neighbours"),
    ([NAME, UNIT, REPLACE, "rows = 0"], 5, "table.rows"),
    ([NAME, UNIT, REPLACE, "rows = 1e3000"], 5, "table.rows"),
    ([NAME, UNIT, REPLACE, "rows = 10.5"], 5, "table.rows"),
    ([NAME, UNIT, REPLACE, "rows = true"], 5, "table.rows"),
    ([NAME, UNIT, REPLACE, 'separator = ";;"'], 5, "table.separator"),
    ([NAME, UNIT, REPLACE, 'separator = "a"'], 5, "table.separator"),
    ([NAME, UNIT, REPLACE, "ledger = 3"], 5, "table.ledger"),
    ([NAME, UNIT, REPLACE, "version = 3"], 5, "table.version"),
    ([NAME, UNIT, REPLACE, 'version = " "'], 5, "table.version"),
    ([NAME, UNIT, REPLACE, "bounds_from_data = 1"], 5, "table.bounds_from_data"),
    ([NAME, UNIT, REPLACE, "source = 1"], 5, "table.source"),
    ([NAME, UNIT, REPLACE, 'source = ""'], 5, "table.source"),
    ([NAME, UNIT, REPLACE, 'source = "https://x/y.csv"'], 5, "table.source"),
    ([NAME, UNIT, REPLACE, 'neigbours = "replace"'], 5, "table.neigbours"),
]


@pytest.mark.parametrize(("lines", "line", "where"), TABLES)
def test_a_mistake_in_the_table_has_its_line(lines: list[str], line: int, where: str) -> None:
    assert places(table(*lines)) == [(line, where)]


def test_a_person_column_is_found_in_any_case() -> None:
    schema = Schema.parse(
        table(NAME, 'unit = "ID"', 'neighbours = "add-or-remove"', "rows_per_unit = 3")
    )
    assert (schema.unit, schema.rows_per_unit, schema.groups_per_unit) == ("id", 3, None)


def test_a_category_may_name_a_person() -> None:
    text = table(NAME, 'unit = "age"', REPLACE, "rows_per_unit = 3", "groups_per_unit = 2")
    text = text.replace(
        'type = "number"\nbounds = [0, 120]', 'type = "category"\ncategories = ["a"]'
    )
    assert Schema.parse(text).groups_per_unit == 2


def test_a_column_called_record_makes_the_unit_unclear() -> None:
    text = table(NAME, UNIT, REPLACE) + '[columns.Record]\ntype = "identifier"\n'
    assert places(text) == [(3, "table.unit")]


@pytest.mark.parametrize("scheme", ["duckdb", "postgresql", "spark"])
def test_sources(scheme: str) -> None:
    text = table(NAME, UNIT, REPLACE, f'source = "{scheme}://x"')
    assert Schema.parse(text).source == f"{scheme}://x"


def test_a_password_is_never_repeated() -> None:
    text = table(NAME, UNIT, REPLACE, 'source = "postgres://u:s3cret@h/db"')
    with pytest.raises(InvalidSchema) as refused:
        Schema.parse(text)
    assert "s3cret" not in str(refused.value)
    assert "Did you mean `postgresql`?" in str(refused.value)
    good = Schema.parse(text.replace("postgres:", "postgresql:"))
    assert "s3cret" not in str(good) + repr(good)


@pytest.mark.parametrize(
    ("section", "found"),
    [
        ("[budget]", [(9, "budget.total")]),
        ("[budget]\ntotal = 0", [(10, "budget.total")]),
        ("[budget]\ntotal = -1.5", [(10, "budget.total")]),
        ('[budget]\ntotal = "5"', [(10, "budget.total")]),
        ("[budget]\ntotal = inf", [(10, "budget.total")]),
        ("[budget]\ntotal = 1\nper_analyst = 2", [(11, "budget.per_analyst")]),
        ("[budget]\ntotal = 1\nper_analyst = 0", [(11, "budget.per_analyst")]),
        ("[budget]\ntotal = 1\nindividual = -1", [(11, "budget.individual")]),
        ("[budget]\ntotal = 1\ndelta = 0", [(11, "budget.delta")]),
        ("[budget]\ntotal = 1\ndelta = 1.0", [(11, "budget.delta")]),
        ("[budget]\ntotal = 1\nepsilon = 1", [(11, "budget.epsilon")]),
        ("[questions.q]", [(9, "questions.q.sql"), (9, "questions.q.promise")]),
        ("[questions.q]\nsql = ''\npromise = 'pure'", [(10, "questions.q.sql")]),
        ("[questions.q]\nsql = 'S'\npromise = 'dp'", [(11, "questions.q.promise")]),
        (
            "[questions.q]\nsql = 'S'\npromise = 'individual'\nepsilon = 1",
            [(9, "questions.q.times")],
        ),
        (
            "[questions.q]\nsql = 'S'\npromise = 'individual'\ntimes = 1",
            [(9, "questions.q.epsilon")],
        ),
        ("[questions.q]\nsql = 'S'\npromise = 'pure'\nepsilon = 0", [(12, "questions.q.epsilon")]),
        ("[questions.q]\nsql = 'S'\npromise = 'pure'\ntimes = 0", [(12, "questions.q.times")]),
        ("[questions.q]\nsql = 'S'\npromise = 'pure'\ntime = 1", [(12, "questions.q.time")]),
        ("[questions.'a b']\nsql = 'S'\npromise = 'pure'", [(9, "questions.a b")]),
        (
            "[questions]\nq = { sql = 'S', promise = 'pure' }\nQ = { sql = 'S', promise = 'pure' }",
            [(11, "questions.Q")],
        ),
        ("[questions]\nq = 5", [(10, "questions.q")]),
        ("[budgets]\ntotal = 1", [(9, "budgets")]),
        ("[table.more]\na = 1", [(9, "table.more")]),
        ("[[columns.y]]\ntype = 'boolean'", [(9, "columns.y")]),
        ("[columns.AGE]\ntype = 'boolean'", [(9, "columns.AGE")]),
        ("[columns.'a\"b']\ntype = 'boolean'", [(9, 'columns.a"b')]),
        ("[columns.'']\ntype = 'boolean'", [(9, "columns.")]),
        (f"[columns.{'x' * 129}]\ntype = 'boolean'", [(9, f"columns.{'x' * 129}")]),
        ("[columns]\ny = 5", [(10, "columns.y")]),
    ],
)
def test_a_mistake_after_the_columns_has_its_line(
    section: str, found: list[tuple[int, str]]
) -> None:
    assert places(after(section)) == found


def test_budget_and_questions_are_exact() -> None:
    text = after(
        "[budget]\ntotal = 0.7\nper_analyst = 0.3\ndelta = 1e-9\nindividual = 2.5\n"
        "[questions.q]\nsql = 'S'\n"
        "promise = 'individual'\nepsilon = 0.1\ntimes = 4"
    )
    schema = Schema.parse(text)
    assert schema.budget is not None
    assert schema.budget.per_analyst is not None
    assert schema.budget.total + schema.budget.per_analyst == 1
    assert schema.budget.delta == Fraction(1, 10**9)
    assert schema.budget.individual == Fraction(5, 2)
    assert "individual epsilon 2.5, counted apart" in str(schema)
    question = schema.questions["Q"]
    assert (question.epsilon, question.times, question.limited) == (Fraction(1, 10), 4, True)


def test_no_privacy_parameter_has_a_default() -> None:
    assert places('[table]\nname = "t"\n' + AGE) == [(1, "table.unit"), (1, "table.neighbours")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [(1, "columns"), (1, "table.name"), (1, "table.unit"), (1, "table.neighbours")]),
        (TABLE, [(1, "columns")]),
        (TABLE + "[columns]\n", [(6, "columns")]),
        ("columns = 3\n" + TABLE, [(1, "columns")]),
        ("table = 3\n" + AGE, [(1, "table")]),
        ("budget = 1\nquestions = 2\n" + TABLE + AGE, [(1, "budget"), (2, "questions")]),
    ],
)
def test_missing_and_flat_sections(text: str, found: list[tuple[int, str]]) -> None:
    assert places(text) == found


MANY = """\
[table]
name = "my census"
unit = "persn"
rows = -5

[columns.person]
type = "identifier"
bounds = [0, 1]

[columns.income]
type = "number"
bounds = [100, 0]
rol = "confidential"

[columns.born]
type = "date"
bounds = [
  1900-01-01,
  "?",
]

[budgt]
total = 1
"""


def test_every_mistake_is_told_at_once_and_in_order() -> None:
    assert places(MANY) == [
        (1, "table.neighbours"),
        (1, "table.rows_per_unit"),
        (2, "table.name"),
        (3, "table.unit"),
        (4, "table.rows"),
        (8, "columns.person.bounds"),
        (12, "columns.income.bounds"),
        (13, "columns.income.rol"),
        (19, "columns.born.bounds[1]"),
        (22, "budgt"),
    ]
    fixes = {mistake.where: mistake.fix for mistake in mistakes(MANY)}
    assert fixes["table.unit"] == "Did you mean `person`?"
    assert fixes["columns.income.rol"] == "Did you mean `role`?"
    assert fixes["budgt"] == "Did you mean `budget`?"


def test_a_long_list_is_cut_in_the_text_only() -> None:
    text = TABLE + "".join(f"[columns.c{number}]\n" for number in range(50))
    with pytest.raises(InvalidSchema) as refused:
        Schema.parse(text)
    found = refused.value.mistakes
    assert isinstance(found, tuple)
    assert len(found) == 50
    assert all(isinstance(mistake, Mistake) for mistake in found)
    assert "has 50 mistakes" in str(refused.value)
    assert "and 30 more" in str(refused.value)
    assert "line 25, columns.c19.type" in str(refused.value)
    assert "columns.c20.type" not in str(refused.value)


@pytest.mark.parametrize("sign", [";", "\t", ":"])
def test_a_separator_is_one_sign_and_survives_writing(sign: str) -> None:
    stated = EXAMPLE.replace('unit = "record"', f'unit = "record"\nseparator = {json.dumps(sign)}')
    schema = Schema.parse(stated)
    assert schema.separator == sign
    assert Schema.parse(schema.to_toml()).separator == sign
    assert schema.digest == Schema.parse(EXAMPLE).digest, "how a file is written is no meaning"
