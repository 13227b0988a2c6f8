"""A schema file as text: lines, mistakes, sections, blanks, markers of missing values."""

from __future__ import annotations

import tomllib
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.arguments import whole
from tenue.errors import InvalidArgument, InvalidSchema
from tenue.schema import BLANK, Column, Schema
from tenue.schema.file.section import Section, is_text
from tenue.schema.file.text import Lines, Mistake, Mistakes, find_lines, refusal
from tenue.schema.toml_values import same
from unit.schema.layout import layouts
from unit.schema.wrong import AGE, mistakes, places, with_column
from unit.schema.wrong import TABLE as BLANK_TABLE
from unit.schema.wrong import TABLE as TEXT_TABLE

LINES_WORDS = st.sampled_from(
    ["a", "b", "b-c", "columns", "x y", "é", 'q"q', "k=v", "[h]", "#c", "1"]
)
STRINGS = st.sampled_from(
    ["", "[fake]", "k = 1 # c", "it's", 'say "hi"', "a\nb = 2\n[z]", "c:\\d", '"""', "'''", "]},"]
)
SCALARS = (
    st.integers(-5, 5)
    | st.booleans()
    | STRINGS
    | st.sampled_from([date(2020, 1, 2), datetime(2020, 1, 2, 3, 4), Decimal("1.5")])
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LINES_WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(st.data(), st.dictionaries(LINES_WORDS, VALUES, max_size=4))
@settings(max_examples=120, deadline=None)
def test_every_key_header_and_entry_is_found_in_any_layout(
    data: st.DataObject, tree: dict[str, Any]
) -> None:
    text, lines = data.draw(layouts(tree))
    assert same(tomllib.loads(text, parse_float=Decimal), tree, unordered=99)
    found = find_lines(text)
    assert {path: found.of(path) for path in lines} == lines


def test_a_key_in_a_string_or_a_comment_is_not_a_key() -> None:
    text = '''\
a = """
[columns.age]
b = 1
""" # c = 1
# b = 1
d = [ # b = 1
  "b = 1", {
b = 2 }]
b = 3
'''.replace("{\nb = 2 }", "{ b = 2 }")
    found = find_lines(text)
    assert [found.of((key,)) for key in "abd"] == [1, 8, 6]
    assert found.of(("d", 1, "b")) == 7
    assert found.of(("columns", "age")) == 1  # not known: the top


@pytest.mark.parametrize(
    "text",
    [
        'x = """a"""""\ny = 1\n',  # two quotes before the closing three
        "x = '''a'''''\ny = 1\n",
        'x = """\\"""\\""""\ny = 1\n',
        'x = ""\ny = 1\n',
        "x = ''''''\ny = 1\n",
        'x = "\\\\"\ny = 1\n',
        'x = "\\""\ny = 1\n',
        "x = 1979-05-27 07:32:00 # y = 2\ny = 1\n",
        "x = { a.b = 1, c = [ 1,\n2 ] }\ny = 1\n".replace("\n2", " 2"),
        "x = []\ny = 1\n",
        "x = {}\ny = 1\n",
    ],
)
def test_a_value_ends_where_toml_says(text: str) -> None:
    assert tomllib.loads(text)["y"] == 1
    assert find_lines(text).of(("y",)) == 2


def test_an_absent_key_is_on_the_line_of_its_section() -> None:
    found = find_lines("[table]\nname = 'x'\n\n[columns.age]\ntype = 1\n")
    assert found.of(("table", "unit")) == 1
    assert found.of(("columns", "age", "bounds", 0)) == 4
    assert found.of(("budget", "total")) == 1


def test_a_header_counts_more_than_an_earlier_mention_of_its_section() -> None:
    assert find_lines("[a.b]\nx = 1\n[a]\ny = 1\n").of(("a",)) == 3


def test_arrays_of_tables_are_numbered() -> None:
    found = find_lines("[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\nc = 1\n")
    assert [found.of(("a", 0, "x")), found.of(("a", 1, "x")), found.of(("a", 1, "b", "c"))] == [
        2,
        4,
        6,
    ]


def test_quoted_keys_are_decoded() -> None:
    assert find_lines('\n"\\u0061.b"."c\\"d" = 1\n').of(("a.b", 'c"d')) == 2


def test_without_a_text_there_are_no_lines() -> None:
    assert Lines().of(("table",)) is None


# -- Mistakes as a person and a program read them --------------------------------------------------


def test_a_mistake_reads_as_one_line() -> None:
    mistake = Mistake(4, "columns.x.bounds", "It is 5.", "Two numbers.", "Write [0, 1].")
    assert str(mistake) == "line 4, columns.x.bounds: It is 5. Two numbers. Write [0, 1]."
    assert Mistake(None, "table.name", "", "", "").place == "table.name"
    assert Mistake(3, "", "", "", "").place == "line 3"
    assert str(Mistake(None, "", "a.", "b.", "c.")) == "a. b. c."


def test_one_mistake_is_the_whole_refusal() -> None:
    found = refusal([Mistake(4, "table.rows", "It is 0.", "At least 1.", "Write 1.")], "s.toml")
    assert isinstance(found, InvalidSchema)
    assert found.what == "s.toml, line 4, table.rows: It is 0."
    assert (found.allowed, found.fix) == ("At least 1.", "Write 1.")
    assert found.to_dict()["code"] == "schema-mistakes"


def test_several_are_sorted_by_line_and_keep_their_order_within_one() -> None:
    lines = (7, 2, None, 2)
    given = [Mistake(line, f"k{place}", "a.", "b.", "c.") for place, line in enumerate(lines)]
    found = refusal(given, "s.toml").mistakes
    assert [mistake.where for mistake in found] == ["k2", "k1", "k3", "k0"]  # type: ignore[attr-defined]


def test_the_collector_names_places_and_stops() -> None:
    mistakes = Mistakes(find_lines("[columns.x]\nbounds = [\n1,\n2]\n"))
    mistakes.stop("nothing is wrong")
    mistakes.add(("columns", "x", "bounds", 1), "a", "b", "c")
    mistakes.add(("columns", "x", "grid"), "a", "b", "c", at=("columns", "x"))
    mistakes.add_refusal(("table",), InvalidArgument("x", "y", "z"))
    assert [(mistake.line, mistake.where, mistake.what) for mistake in mistakes.found] == [
        (4, "columns.x.bounds[1]", "a."),
        (1, "columns.x.grid", "a."),
        (1, "table", "x."),
    ]
    with pytest.raises(InvalidSchema):
        mistakes.stop("s.toml")


def test_many_mistakes_fit_on_a_screen_and_say_once_what_holds_of_all() -> None:
    blank = ["It is blank.", "Every blank is filled.", "Write what you know, " * 9]
    many = [Mistake(line, f"columns.x{line}", *blank) for line in range(1, 4)]
    refused = refusal(many, "t.toml")
    assert refused.allowed == "Every blank is filled."
    assert str(refused).count("Every blank is filled.") == 1
    assert max(map(len, refused.fix.splitlines())) < 80
    assert refused.fix.count("\n  * line") == 3
    other = Mistake(9, "table", "It is wrong.", "It is right.", "Correct it.")
    refused = refusal([*many, other], "t.toml")
    assert refused.allowed == "A schema loads only without mistakes."
    assert str(refused).count("Every blank is filled.") == 3


# -- Files that are no schema at all ---------------------------------------------------------------

GOOD = TEXT_TABLE + AGE


def refusal_of(path: Path) -> tuple[str, Mistake]:
    with pytest.raises(InvalidSchema) as refused:
        Schema.load(path)
    found = refused.value.mistakes
    assert isinstance(found, tuple)
    assert len(found) == 1
    return str(refused.value), found[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[table\n", 1),
        ("[table]\nname = \n", 2),
        ("[table]\nname = 'a'\nname = 'b'\n", 3),
        ("[table]\n[table]\n", 2),
        ("[table]\nname = 'a' unit = 'b'\n", 2),
        ("[table]\r\nname = 'a'\r\nunit\r\n", 3),
        ("a = 1\nb = 2020-13-45\n", 2),
        ('a = 1\nb = """\n\n', 4),
        ("a = 1\n\nb = [1,\n", 4),
        ("a = " + "9" * 5000 + "\n", 2),
    ],
)
def test_what_is_not_toml_is_refused_with_its_line(text: str, line: int) -> None:
    found = mistakes(text)
    assert len(found) == 1
    assert found[0].line == line
    assert "at line" not in found[0].what


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000,
        "a = " + "[" * 5000 + "]" * 5000,
        "a = " + "{ b = " * 3000 + "1" + "}" * 3000,
        "a" + ".a" * 2000 + " = 1",
        "[a" + ".a" * 2000 + "]",
        "columns.x = " + "[" * 41 + "]" * 41,
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    assert mistakes(text)


def test_files(tmp_path: Path) -> None:
    text, mistake = refusal_of(tmp_path / "absent.toml")
    assert text.startswith("absent.toml: There is no such file.")
    assert "absent.toml" in text
    assert str(tmp_path) not in text
    assert mistake.line is None
    assert refusal_of(tmp_path)[1].what == "There is no such file."
    (tmp_path / "latin.toml").write_bytes(b"[table]\n# ok\nname = '\xe9'\n")
    assert refusal_of(tmp_path / "latin.toml")[1].line == 3
    (tmp_path / "large.toml").write_text(GOOD + "#" * 10**6)
    assert refusal_of(tmp_path / "large.toml")[1].what == "It is too large."
    assert refusal_of(Path("a\0b"))[1].line is None


def test_a_file_just_small_enough_loads(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(GOOD + "#" * (10**6 - len(GOOD)))
    assert Schema.load(tmp_path / "s.toml").name == "census"
    with pytest.raises(InvalidSchema):
        Schema.parse(GOOD + "#" * 10**6)


def test_a_byte_order_mark_and_windows_line_ends_load(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert Schema.load(str(tmp_path / "s.toml")) == Schema.parse(GOOD)
    with pytest.raises(InvalidSchema) as refused:
        Schema.parse(GOOD.replace("\n", "\r\n").replace("120", "-1"))
    assert refused.value.mistakes[0].line == 8  # type: ignore[index]


@pytest.mark.parametrize("path", [None, 3, b"x", ["a"]])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidArgument):
        Schema.load(path)


@pytest.mark.parametrize("folder", [None, 3, b"x"])
def test_what_is_no_folder_is_refused(folder: str) -> None:
    with pytest.raises(InvalidArgument):
        Schema.parse(GOOD, folder=folder)
    with pytest.raises(InvalidArgument):
        Schema.from_dict({}, folder=folder)
    with pytest.raises(InvalidArgument):
        Schema.parse(GOOD).save(folder)


@pytest.mark.parametrize("text", [None, 3, b"x"])
def test_what_is_no_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        Schema.parse(text)


# -- A schema with a blank does not load, and every blank says what to write -----------------------


def test_each_blank_is_a_mistake_of_its_own() -> None:
    text = with_column('type = "number"\nbounds = ["?",\n "?"]\ngrid = "FILL IN"')
    found = mistakes(text)
    assert [(mistake.line, mistake.where) for mistake in found] == [
        (8, "columns.x.bounds[0]"),
        (9, "columns.x.bounds[1]"),
        (10, "columns.x.grid"),
    ]
    assert "without looking at the rows" in found[0].fix
    assert "still holds the blank" in found[0].what
    assert "step between values" in found[2].fix


@pytest.mark.parametrize("blank", ["?", BLANK])
@pytest.mark.parametrize("key", ["name", "unit", "neighbours", "rows", "version", "source"])
def test_blanks_in_the_table(blank: str, key: str) -> None:
    lines = [line for line in BLANK_TABLE.splitlines() if not line.startswith(key)]
    text = "\n".join([*lines, f'{key} = "{blank}"', AGE])
    found = places(text)
    assert found == [(len(lines) + 1, f"table.{key}")]


def test_a_blank_list_is_one_blank() -> None:
    assert places(with_column(f'type = "number"\nbounds = "{BLANK}"')) == [(8, "columns.x.bounds")]
    assert places(with_column(f'type = "category"\ncategories = ["{BLANK}"]')) == [
        (8, "columns.x.categories[0]")
    ]


def test_a_question_mark_may_be_a_category() -> None:
    text = with_column('type = "category"\ncategories = ["?", "a"]\nmissing = "?"')
    assert Schema.parse(text).column("x").missing == "?"


def test_a_blank_budget_and_question() -> None:
    text = (
        f'{BLANK_TABLE}{AGE}[budget]\ntotal = "?"\n[questions.q]\nsql = "?"\npromise = "{BLANK}"\n'
    )
    assert places(text) == [
        (10, "budget.total"),
        (12, "questions.q.sql"),
        (13, "questions.q.promise"),
    ]


# -- Reading keys one by one, going on after a mistake ---------------------------------------------


def section(**values: object) -> Section:
    return Section(values, ("s",), Mistakes())


def test_reading_goes_on_after_a_mistake() -> None:
    read = section(a=1, b="x", c="maybe", d="y")
    assert read.text("a", "Text", "Quote it") is None
    assert read.text("b", "Text", "Quote it") == "x"
    assert read.flag("c") is None
    assert read.choice("d", ["x", "z"]) is None
    assert read.text("e", "Text", "Quote it") is None
    assert read.text("f", "Text", "Quote it", required=True) is None
    assert [mistake.where for mistake in read.mistakes.found] == ["s.a", "s.c", "s.d", "s.f"]


@pytest.mark.parametrize("value", ["", " \n", "a\0", "\ud800", 5, None, ["a"]])
def test_what_is_no_text(value: object) -> None:
    assert not is_text(value)


@pytest.mark.parametrize(
    "value", [True, "3", None, [], Fraction(1, 3), 1.5, 2**300, Decimal("1e101"), Decimal("1e-101")]
)
def test_what_is_no_number_of_a_file(value: object) -> None:
    read = section(a=value)
    assert read.checked(("a",), value, lambda given: given, "A number", "Write one") is None
    assert len(read.mistakes.found) == 1


def test_numbers_are_checked_by_the_room_of_numbers() -> None:
    read = section(a=3, b=Decimal("2.0"), c=0)
    for key in "abc":
        read.number(key, lambda value: whole(value, "n", least=1), "", "", required=False)
    assert [mistake.where for mistake in read.mistakes.found] == ["s.c"]
    assert read.mistakes.found[0].allowed == "`n` must be a whole number, at least 1."


def test_a_section_must_be_one() -> None:
    mistakes = Mistakes()
    assert Section.read({}, ("a",), mistakes) is not None
    assert Section.read([1], ("a", "b"), mistakes) is None
    assert mistakes.found[0].fix == "Write [a.b]."


def test_unknown_keys_are_compared_with_the_known() -> None:
    read = section(bounds=1, bonds=2)
    read.known(["bounds", "grid"], "a column")
    assert [mistake.fix for mistake in read.mistakes.found] == ["Did you mean `bounds`?"]


# -- Marks of missing values: stated for a column or for all, as texts or as numbers ---------------

TABLE = '[table]\nname = "t"\nunit = "record"\nneighbours = "replace"\n'
NUMBER = '[columns.x]\ntype = "number"\nbounds = [0, 9]\n'
WORDS = '[columns.x]\ntype = "category"\ncategories = ["a", "NA"]\n'


def read(text: str) -> Column:
    return Schema.parse(text).column("x")


def test_texts_and_numbers_mark_and_a_value_stands_for_what_is_missing() -> None:
    assert read(TABLE + NUMBER).marks == ()
    assert read(TABLE + NUMBER + 'missing = [" ? ", -9, 0.5]').marks == (
        "?",
        Fraction(-9),
        Fraction(1, 2),
    )
    value = read(TABLE + 'missing = ["?"]\n' + NUMBER + "missing = 3")
    assert (value.missing, value.marks) == (3, ("?",))


def test_a_list_of_a_column_takes_the_place_of_the_table_s() -> None:
    everywhere = TABLE + 'missing = ["?", -9]\n'
    assert read(everywhere + NUMBER).marks == ("?", Fraction(-9))
    assert read(everywhere + NUMBER + 'missing = ["NA"]').marks == ("NA",)
    assert read(everywhere + NUMBER + "missing = []").marks == ()
    for kind in ('type = "boolean"', 'type = "identifier"'):
        assert read(f"{everywhere}[columns.x]\n{kind}\n").marks == ("?",)
    derived = '[columns.x]\ntype = "number"\nbounds = [0, 9]\nexpression = "y"\n'
    assert read(everywhere + derived + NUMBER.replace("x", "y", 1)).marks == ()


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        (TABLE + NUMBER + 'missing = ["?", "? "]', "columns.x.missing", "twice"),
        (TABLE + NUMBER + "missing = [true]", "columns.x.missing", "true"),
        (TABLE + NUMBER + "missing = [[1]]", "columns.x.missing", "[1]"),
        (TABLE + NUMBER + 'missing = ["FILL IN"]', "columns.x.missing", "blank"),
        (TABLE + 'missing = "?"\n' + NUMBER, "table.missing", '"?"'),
        (TABLE + WORDS + "missing = [9]", "columns.x.missing", "9"),
        (TABLE + WORDS + 'missing = ["NA"]', "columns.x.missing", "both a category"),
        (TABLE + 'missing = ["NA"]\n' + WORDS, "columns.x.missing", "both a category"),
        (TABLE + '[columns.x]\ntype = "identifier"\nmissing = "a"', "columns.x.missing", '"a"'),
        (
            TABLE + NUMBER + 'missing = ["?"]\nexpression = "y"\n' + NUMBER.replace("x", "y", 1),
            "columns.x.missing",
            "missing",
        ),
    ],
)
def test_what_cannot_be_a_mark_is_told(text: str, where: str, said: str) -> None:
    (mistake,) = mistakes(text)
    assert mistake.where.startswith(where)
    assert said in mistake.what


def test_a_mark_that_is_a_category_is_told_with_what_to_do() -> None:
    (mistake,) = mistakes(TABLE + 'missing = ["NA"]\n' + WORDS)
    assert "missing = []" in mistake.fix
    assert read(TABLE + 'missing = ["NA"]\n' + WORDS + "missing = []").marks == ()


def test_marks_are_part_of_what_a_schema_means() -> None:
    def digest(more: str, table: str = "") -> str:
        return Schema.parse(TABLE + table + NUMBER + more).digest

    assert digest('missing = ["?"]') != digest("")
    assert digest('missing = ["9"]') != digest("missing = [9]")
    assert digest('missing = ["?", 9]') == digest("missing = [9.0, '?']")
    assert digest('missing = ["?"]') == digest("", 'missing = ["?"]\n')
    assert digest("missing = []") == digest("")


def test_a_schema_shows_its_marks_and_is_written_back() -> None:
    schema = Schema.parse(TABLE + NUMBER + 'missing = ["?", -9]\n')
    assert 'missing where "?", -9' in str(schema)
    assert Schema.parse(schema.to_toml()) == schema
    assert schema.replace(columns={"x": {"missing": None}}).column("x").marks == ()
