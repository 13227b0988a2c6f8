"""What is public about a table: names, values as TOML, lookups, protocols, addresses."""

from __future__ import annotations

import pickle
import tomllib
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.errors import InvalidArgument
from tenue.schema import Protocol, Schema
from tenue.schema.address import is_address, without_password
from tenue.schema.case_insensitive import Named, is_column_name, is_identifier
from tenue.schema.table import Lookup
from tenue.schema.toml_values import key, literal, plain, same, show
from tenue.text import decimal
from unit.schema.wrong import AGE, TABLE, places


def test_an_address_is_told_from_a_path() -> None:
    assert is_address("postgresql://db/books")
    assert is_address("POSTGRES://db/books")
    assert not is_address("postgresql/books.ledger")
    assert not is_address(None)


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://ann:s3cret@db/books",
        "postgresql://ann:@db/books",
        "postgresql://db/books?sslmode=require&PASSWORD=s3cret",
        "postgresql://db/books?pass%77ord=s3cret",
        "postgresql://db/books?passfile=s3cret",
    ],
)
def test_a_password_is_neither_taken_nor_repeated(given: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        without_password(given)
    assert refusal.value.code == "password-in-address"
    assert "s3cret" not in str(refusal.value)


def test_an_address_without_one_is_left_as_it_is() -> None:
    for each_given in ("postgresql:///books?host=/run/pg", "postgres://ann@h1,h2:5433/books"):
        assert without_password(each_given) == each_given
    with pytest.raises(InvalidArgument) as refusal:
        without_password("postgresql://[s3cret")
    assert "s3cret" not in str(refusal.value)


# -- Names are found as SQL finds them -------------------------------------------------------------


def test_order_and_case_do_not_tell_two_of_them_apart() -> None:
    one, other = Named([("a", 1), ("B", 2)]), Named([("B", 2), ("a", 1)])
    assert one == other
    assert hash(one) == hash(other)
    assert list(one) == ["a", "B"]
    assert one["A"] == 1
    assert one.get("c") is None
    with pytest.raises(KeyError):
        one[1]  # type: ignore[index]
    assert "b" in one
    assert 1 not in one  # type: ignore[comparison-overlap]
    assert one != Named([("a", 1), ("B", 3)])
    assert one != Named([("a", 1)])
    assert one != {"a": 1, "B": 2}


def test_they_cannot_be_changed_and_can_be_sent() -> None:
    names = Named([("a", 1)])
    with pytest.raises(TypeError):
        names["a"] = 2  # type: ignore[index]
    assert pickle.loads(pickle.dumps(names)) == names  # noqa: S301


@pytest.mark.parametrize("name", ["a", "_", "Census_2020", "x" * 128])
def test_identifiers(name: str) -> None:
    assert is_identifier(name)
    assert is_column_name(name)


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "é", "a;", "x" * 129, "a\n"])
def test_not_identifiers(name: str) -> None:
    assert not is_identifier(name)


@pytest.mark.parametrize("name", ["native-country", "hours per week", "x.y", "año", "straße"])
def test_column_names_that_sql_quotes(name: str) -> None:
    assert is_column_name(name)


@pytest.mark.parametrize(
    "name", ["", " a", "a ", "1", "-a", 'a"b', "a'b", "a`b", "a\nb", "AÑO", "n\u0303", "x" * 129]
)
def test_not_column_names(name: str) -> None:
    assert not is_column_name(name)


@given(st.text(max_size=8))
def test_a_column_name_folds_alike_by_the_letters_a_to_z_and_by_all_letters(name: str) -> None:
    ascii_only = "".join(letter.lower() if letter.isascii() else letter for letter in name)
    if is_column_name(name):
        assert ascii_only == name.lower()
        assert not set(name) & set("\"'`;\\\n\0")


# -- Values must come back from TOML exactly as they went in ---------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = (
    st.integers()
    | st.booleans()
    | TEXTS
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.dates()
    | st.datetimes()
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
)


@given(VALUES)
def test_what_is_written_reads_back_the_same(value: Any) -> None:
    text = f"x = {literal(value)}"
    assert same(tomllib.loads(text, parse_float=Decimal)["x"], value, unordered=0)


@given(TEXTS)
def test_any_text_can_be_a_key(name: str) -> None:
    assert tomllib.loads(f"{key(name)} = 1") == {name: 1}


@given(st.integers(), st.integers(0, 40), st.integers(0, 40))
def test_a_decimal_equals_its_fraction(numerator: int, twos: int, fives: int) -> None:
    number = Fraction(numerator, 2**twos * 5**fives)
    found = decimal(number)
    assert found is not None
    assert Fraction(found) == number


@given(st.integers(1, 10**6), st.sampled_from([3, 7, 30, 14]))
def test_other_fractions_have_no_decimal(numerator: int, denominator: int) -> None:
    number = Fraction(numerator, denominator)
    finite = Fraction(numerator * 10**9, denominator).denominator == 1
    assert (decimal(number) is not None) == finite


def test_floats_mean_their_shortest_decimal() -> None:
    assert plain(0.1) == Decimal("0.1")
    assert plain([0.7, np.float64(0.3), np.float32(0.1), np.int64(3)]) == [
        Decimal("0.7"),
        Decimal("0.3"),
        Decimal("0.1"),
        3,
    ]
    assert plain(Fraction(1, 8)) == Decimal("0.125")
    assert plain(Fraction(1, 3)) == Fraction(1, 3)


def test_none_is_an_absent_key() -> None:
    assert plain({"a": None, "b": {"c": None}}) == {"b": {}}


def test_a_mapping_inside_itself_ends() -> None:
    endless: dict[str, Any] = {}
    endless["a"] = endless
    with pytest.raises(RecursionError):
        plain(endless)


def test_true_is_not_one() -> None:
    assert same({"a": [1]}, {"a": [Decimal("1.0")]}, unordered=0)
    assert not same({"a": [1]}, {"a": [True]}, unordered=0)
    assert not same({"a": 1}, {"a": 1, "b": 2}, unordered=1)
    assert not same([1], [1, 2], unordered=0)


def test_order_counts_below_the_level_given() -> None:
    one, other = {"x": {"a": 1, "b": 2}, "y": 3}, {"y": 3, "x": {"b": 2, "a": 1}}
    assert same(one, other, unordered=2)
    assert not same(one, other, unordered=1)
    assert not same({"x": 1, "y": 2}, {"y": 2, "x": 1}, unordered=0)


def test_what_is_shown_is_short_and_can_be_printed() -> None:
    values: list[object] = ["x" * 500, [1] * 500, "\ud800", 10**9999, Fraction(1, 10**9999)]
    values += [{"a" * 99: 1}, {1: 2}, object(), None, b"\xff", Decimal("NaN"), [["x" * 99] * 99]]
    values += [date(2020, 1, 1), datetime(2020, 1, 1), True]
    for value in values:
        shown = show(value)
        assert 0 < len(shown) <= 60
        shown.encode("utf-8")


# -- A lookup is what it says, in whatever order ---------------------------------------------------

REGION = Lookup(
    name="region",
    key="code",
    keys=("n", "s"),
    columns=Named([("name", ("North", None)), ("beds", (Fraction(3), Fraction(15, 2)))]),
)


def test_the_digest_covers_keys_and_cells_and_no_order() -> None:
    turned = replace(
        REGION,
        keys=("s", "n"),
        columns=Named([("NAME", (None, "North")), ("beds", (Fraction(15, 2), Fraction(3)))]),
    )
    assert turned.digest == REGION.digest
    for other in (
        replace(REGION, keys=("n", "t")),
        replace(
            REGION, columns=Named([("name", ("North", "None")), ("beds", (3, Fraction(15, 2)))])
        ),
        replace(REGION, key="id"),
    ):
        assert other.digest != REGION.digest


# The section [protocol]: what it says and what is wrong with it; the hash is blind to it.


def stated(section: str) -> str:
    return f"{TABLE}{AGE}{section}"


@pytest.mark.parametrize(
    ("section", "protocol", "text"),
    [
        (
            '[protocol]\nkind = "fixed-noise"\nscale = 2.5\n',
            Protocol(kind="fixed-noise", scale=Fraction(5, 2)),
            "fixed-noise of scale 2.5",
        ),
        ('[protocol]\nkind = "refinement"\n', Protocol(kind="refinement"), "refinement"),
    ],
)
def test_a_protocol_is_read_and_shown(section: str, protocol: Protocol, text: str) -> None:
    schema = Schema.parse(stated(section))
    assert schema.protocol == protocol
    assert str(protocol) == text
    assert f"  protocol: {text}" in str(schema).splitlines()
    assert Schema.from_dict(schema.to_dict()).protocol == protocol
    without = Schema.parse(stated(""))
    assert without.protocol is None
    assert without.digest == schema.digest


@pytest.mark.parametrize(
    "section",
    [
        "[protocol]\n",
        '[protocol]\nkind = "fixed-noise"\n',
        '[protocol]\nkind = "fixed-noise"\nscale = 0\n',
        '[protocol]\nkind = "fixed-noise"\nscale = -1\n',
        '[protocol]\nkind = "fixed-noise"\nscale = "20"\n',
        '[protocol]\nkind = "fixed-noise"\nscale = 1e200\n',
        '[protocol]\nkind = "fixed_noise"\nscale = 20\n',
        '[protocol]\nkind = "refinement"\nscale = 20\n',
        '[protocol]\nkind = "refinement"\nlambda = 20\n',
        "protocol = 1\n",
    ],
)
def test_a_wrong_protocol_is_refused_with_its_place(section: str) -> None:
    text = section + stated("") if section.startswith("protocol") else stated(section)
    assert all(place[1].startswith("protocol") for place in places(text))
    assert places(text)


# -- What a schema tells once it is read -----------------------------------------------------------

STATED = {
    "table": {
        "name": "visits",
        "unit": "patient",
        "neighbours": "add-or-remove",
        "rows": 5000,
        "rows_per_unit": 20,
        "version": "7",
    },
    "columns": {
        "patient": {"type": "identifier"},
        "born": {
            "type": "date",
            "bounds": ["1900-01-01", "2024-12-31"],
            "role": "quasi-identifier",
        },
        "sex": {"type": "category", "categories": ["f", "m"], "role": "quasi-identifier"},
        "cost": {"type": "number", "bounds": [0, 0.5], "grid": 0.01, "role": "confidential"},
        "hiv": {"type": "boolean", "role": "confidential", "sensitive": True},
    },
    "budget": {"total": 5, "per_analyst": 0.5},
    "questions": {"q": {"sql": "SELECT", "promise": "pure"}},
}


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.from_dict(STATED)


def test_columns_by_role(schema: Schema) -> None:
    assert [column.name for column in schema.quasi_identifiers] == ["born", "sex"]
    assert [column.name for column in schema.confidential] == ["cost", "hiv"]
    assert [column.name for column in schema.identifiers] == ["patient"]


def test_a_column_by_name(schema: Schema) -> None:
    assert schema.column("BORN") is schema.columns["born"]
    with pytest.raises(InvalidArgument) as refused:
        schema.column("bron")
    assert refused.value.fix == "Did you mean `born`?"
    assert refused.value.what == '`visits` has no column "bron".'
    with pytest.raises(InvalidArgument):
        schema.column(3)  # type: ignore[arg-type]


def test_bounds_from_data_are_not_private(schema: Schema) -> None:
    assert schema.private
    marked = schema.replace(table={"bounds_from_data": True})
    assert not marked.private
    assert "NOT PRIVATE" in str(marked)


PRINTED = """\
visits: protects each patient (at most 20 rows), neighbours add-or-remove, 5000 rows
  patient  identifier                                 identifier
  born     date        1900-01-01 to 2024-12-31 by 1  quasi-identifier
  sex      category    f, m                           quasi-identifier
  cost     number      0 to 0.5 by 0.01               confidential
  hiv      boolean                                    confidential, sensitive
  budget: epsilon 5, 0.5 for each analyst
  approved questions: q"""


def test_it_prints_short(schema: Schema) -> None:
    assert str(schema) == PRINTED


def test_it_is_a_table_in_a_notebook(schema: Schema) -> None:
    assert repr(schema) == str(schema)
    names = ["<i>", "s" * 30, "t" * 30]
    shown = schema.replace(columns={"sex": {"categories": names}})._repr_html_()
    assert "<td>3 categories: &lt;i&gt;, ssssss" in shown
    assert "<th>column</th><th>type</th><th>may hold</th><th>role</th>" in shown
    assert "<p>budget: epsilon 5, 0.5 for each analyst</p>" in shown
    assert shown.count("<tr>") == 6


def test_its_source_is_shown_nowhere(schema: Schema) -> None:
    with_source = schema.replace(table={"source": "duckdb://secret-place#t"})
    for view in (str(with_source), repr(with_source), with_source._repr_html_()):
        assert "secret" not in view
